//! Our trees against linfa's own, on the rows they were trained on and around their thresholds.

use super::*;
use crate::trainer::samples::{neighbours, rows, task};
use linfa::traits::Predict;
use std::collections::BTreeMap;

type Theirs = DecisionTree<f64, bool>;

fn dataset(count: usize) -> Dataset {
    let rows = rows(count);
    let values = Array2::from_shape_vec((count, 4), rows.values).unwrap();
    Dataset::new(values, Array1::from_vec(rows.drop))
}

/// The leaf that a row ends in, as something to distinguish leaves by.
fn leaf<'a>(tree: &'a Theirs, row: &[f64]) -> *const TreeNode<f64, bool> {
    let mut node: &'a TreeNode<f64, bool> = tree.root_node();
    while !node.is_leaf() {
        let (column, threshold, _) = node.split();
        let side = usize::from(row[column] >= threshold);
        node = node.children()[side].as_deref().unwrap();
    }
    node
}

/// Rows minus drops of each leaf, weighted: where that is 0 linfa draws what it predicts.
fn balance(tree: &Theirs, sample: &Dataset, weights: [f32; 2]) -> BTreeMap<usize, f64> {
    let mut balance: BTreeMap<usize, f64> = BTreeMap::new();
    for (row, &drop) in sample.records.rows().into_iter().zip(&sample.targets) {
        let weight = f64::from(weights[usize::from(drop)]);
        let place = leaf(tree, &row.to_vec()) as usize;
        *balance.entry(place).or_default() += if drop { -weight } else { weight };
    }
    balance
}

#[test]
fn a_tree_predicts_what_linfas_does() {
    for (depth, weight) in [
        (1, ClassWeight::None),
        (4, ClassWeight::None),
        (8, ClassWeight::None),
        (4, ClassWeight::Explicit { accept: 1.0, drop: 7.0 }),
    ] {
        let params =
            ForestParams { max_depth: depth, class_weight: weight, ..ForestParams::default() };
        let learner = TreeLearner::new(&params);
        let data = dataset(1_500);
        let theirs = learner.fit_theirs(&data).unwrap();
        let ours = learner.tree(&data).unwrap().over(&[0, 1, 2, 3]).unwrap();
        assert_eq!(ours.depth(), usize::from(depth));
        let balance = balance(&theirs, &data, learner.weights);
        let (mut compared, cases) = (0, neighbours(std::slice::from_ref(&ours), &rows(1_500)));
        for row in &cases {
            let floats: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            if balance[&(leaf(&theirs, &floats) as usize)] == 0.0 {
                continue;
            }
            compared += 1;
            let predicted = theirs.predict(&Array2::from_shape_vec((1, 4), floats).unwrap());
            assert_eq!(ours.weight(row) == 255, predicted[0], "{row:?}");
        }
        assert!(compared * 10 > cases.len() * 9, "{compared} of {}", cases.len());
    }
}

#[test]
fn a_forest_votes_as_linfa_ensembles_does() {
    let (trees, depth) = (5, 3);
    let task =
        task(ForestParams { n_estimators: trees, max_depth: depth, ..ForestParams::default() });
    let params = task.params.get();
    let data = dataset(1_200);
    let rng = || ChaCha8Rng::seed_from_u64(params.seed);
    let theirs = EnsembleLearnerParams::new_fixed_rng(TreeLearner::new(params).params, rng())
        .ensemble_size(usize::from(trees))
        .feature_proportion(0.5)
        .fit(&data)
        .unwrap();
    let ours = grow(rows(1_200), &task).unwrap();
    // The samples again, to know the leaves that linfa labels at random.
    let mut again = rng();
    let samples: Vec<_> =
        data.bootstrap_with_indices((1_200, 2), &mut again).take(usize::from(trees)).collect();
    let balances: Vec<_> = theirs
        .models
        .iter()
        .zip(&samples)
        .map(|(tree, (sample, _, columns))| (columns, balance(tree, sample, [1.0, 1.0])))
        .collect();
    let voted = theirs.predict(&data.records);
    let mut compared = 0;
    for (at, values) in data.records.rows().into_iter().enumerate() {
        let row: Vec<u32> = values.iter().map(|&value| value as u32).collect();
        let mut is_random = false;
        for ((tree, (columns, balance)), ours) in theirs.models.iter().zip(&balances).zip(&ours) {
            let seen: Vec<f64> = columns.iter().map(|&column| values[column]).collect();
            if balance[&(leaf(tree, &seen) as usize)] == 0.0 {
                is_random = true;
                continue;
            }
            let seen = Array2::from_shape_vec((1, seen.len()), seen).unwrap();
            assert_eq!(ours.weight(&row) == 255, tree.predict(&seen)[0]);
        }
        if !is_random {
            let votes: u32 = ours.iter().map(|tree| u32::from(tree.weight(&row))).sum();
            assert_eq!(votes > 255 * u32::from(trees) / 2, voted[at]);
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// What linfa draws for leaves with as many accepts as drops changes nothing here.
#[test]
fn ties_in_leaves_do_not_matter() {
    let params = ForestParams { max_depth: 6, ..ForestParams::default() };
    let learner = TreeLearner::new(&params);
    let mut data = dataset(60);
    // Every row twice, once as a drop and once not, and a few that break the tie.
    let extra = data.records.select(ndarray::Axis(0), &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let records = [data.records.view(), data.records.view(), extra.view()];
    let drop: Vec<bool> = (0..129).map(|row| row < 60 || row % 2 == 0).collect();
    data = Dataset::new(
        ndarray::concatenate(ndarray::Axis(0), &records).unwrap(),
        Array1::from_vec(drop),
    );
    let first = learner.tree(&data).unwrap();
    let theirs = learner.fit_theirs(&data).unwrap();
    let ties = balance(&theirs, &data, [1.0, 1.0]).values().filter(|&&sum| sum == 0.0).count();
    assert!(ties > 0, "nothing is drawn");
    for _ in 0..50 {
        assert_eq!(learner.tree(&data).unwrap(), first);
    }
}
