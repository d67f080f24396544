//! Forests in memory, as arrays of nodes.

use dropcast_interop::{ArrayTree, ImportError, ImportTask, import_arrays};

fn stump(threshold: f64, margins: [f64; 2]) -> ArrayTree {
    ArrayTree {
        left: vec![1, -1, -1],
        right: vec![2, -1, -1],
        feature: vec![0, -2, -2],
        threshold: vec![threshold, -2.0, -2.0],
        margin: vec![0.0, margins[0], margins[1]],
    }
}

fn model(trees: &[ArrayTree]) -> Result<dropcast_train::TrainedModel, ImportError> {
    let features = "queue_length".parse().ok();
    import_arrays(trees, 1, "scikit-learn", &ImportTask { features, ..ImportTask::default() })
}

#[test]
fn ties_are_no_drops() {
    let forest = model(&[stump(9.0, [-1.0, 1.0]), stump(19.0, [-1.0, 1.0])]).unwrap().forest;
    let drops = [9, 10, 19, 20].map(|x| forest.predicts_drop(&[x]));
    assert_eq!(drops, [false, false, false, true]);
}

#[test]
fn shares_that_are_no_binary_fractions_are_decided_alike() {
    let trees = [stump(9.0, [-0.2, 0.4]), stump(19.0, [-0.6, 0.1]), stump(4.0, [-0.3, 0.3])];
    let forest = model(&trees).unwrap().forest;
    for x in 0..25 {
        let sum: f64 = trees
            .iter()
            .map(|tree| tree.margin[if f64::from(x) <= tree.threshold[0] { 1 } else { 2 }])
            .sum();
        assert_eq!(forest.predicts_drop(&[x]), sum > 0.0, "{x}");
    }
}

#[test]
fn damage_is_named() {
    let fault = |tree: ArrayTree| model(&[tree]).unwrap_err().to_string();
    let good = stump(9.0, [-1.0, 1.0]);
    let loops = ArrayTree { left: vec![0, -1, -1], ..good.clone() };
    assert_eq!(fault(loops), "tree 0, node 0: is reached twice from the root");
    let short = ArrayTree { margin: vec![0.0], ..good.clone() };
    assert_eq!(fault(short), "tree 0: has arrays of different lengths");
    let far = ArrayTree { right: vec![7, -1, -1], ..good.clone() };
    assert_eq!(fault(far), "tree 0, node 7: is not there");
    let other = ArrayTree { feature: vec![3, -2, -2], ..good };
    assert!(fault(other).contains("splits on feature 3, but there are 1"));
}
