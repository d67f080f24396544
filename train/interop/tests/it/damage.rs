//! Damaged files are refused with a reason, or read; nothing panics.

use crate::fixtures::{folder, names, task};
use dropcast_interop::{ImportError, ImportFormat, ImportTask, import};
use dropcast_onnx::{Message, ModelProto};
use dropcast_train::TrainedModel;
use proptest::prelude::*;
use std::fs;

fn read(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

fn imported(name: &str, file: &[u8]) -> Result<TrainedModel, ImportError> {
    import(file, &ImportTask { allow_rounding: true, ..task(name) }).map(|imported| imported.model)
}

/// What is wrong with `name` after `from` in it became `to`.
fn fault(name: &str, from: &str, to: &str) -> String {
    let text = String::from_utf8(read(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    imported(name, text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
}

#[test]
fn faults_say_where_they_are() {
    let light = "boosted.lightgbm.txt";
    let dump = "boosted.lightgbm.json";
    let faults = [
        fault(light, "end of trees", ""),
        fault(light, "num_class=1", "num_class=3"),
        fault(light, "objective=binary", "objective=poisson"),
        fault(light, "\nsplit_feature=", "\nsplit_feature=x "),
        fault(light, "\nsplit_feature=", "\nsplit_feature=1 "),
        fault(light, "\nnum_cat=0", "\nnum_cat=1"),
        fault(light, "\nis_linear=0", "\nis_linear=1"),
        fault(light, "\nleft_child=", "\nleft_child=0 "),
        fault("boosted.xgboost.json", "binary:logistic", "rank:ndcg"),
        fault("boosted.xgboost.json", "\"left_children\":[1,", "\"left_children\":[0,"),
        fault("boosted.xgboost.json", "\"split_type\":[0", "\"split_type\":[1"),
        fault("boosted.xgboost.json", "\"name\":\"gbtree\"", "\"name\":\"dart\""),
        fault("boosted.xgboost.json", "\"name\":\"gbtree\"", "\"name\":\"gblinear\""),
        fault(
            "boosted.xgboost.json",
            "\"gradient_booster\":{\"model\"",
            "\"gradient_booster\":{\"m\"",
        ),
        fault("boosted.xgboost.json", "binary:logistic", "my:own"),
        fault("dump.xgboost.json", "\"yes\": 1", "\"yes\": 77"),
        fault("dump.xgboost.json", "\"split\": \"f", "\"split\": \"g"),
        fault("dump.xgboost.json", "-0.196721315", "-0.196721"),
        fault("dump.xgboost.txt", "\t7:leaf=-0.196721315", "\t7:leaf=-0.19672132"),
        fault("dump.xgboost.txt", "[f0<49968]", "[f0]"),
        fault("dump.xgboost.txt", "[f0<49968]", "[f0<x]"),
        fault("dump.xgboost.txt", "\t7:leaf", "\t8:leaf"),
        fault("dump.xgboost.txt", "yes=1,", ""),
        fault("dump.xgboost.txt", "booster[0]:\n", "booster[0]\n"),
        fault("dump.xgboost.txt", "booster[0]:\n", "booster[0]:\nbooster[1]:\n"),
        fault(dump, "\"num_class\": 1", "\"num_class\": 3"),
        fault(dump, "\"average_output\": false, ", ""),
        fault(dump, "\"binary sigmoid:1\"", "\"poisson\""),
        fault(dump, "\"<=\"", "\"==\""),
        fault(dump, "true, \"missing_type\": \"None\"", "false, \"missing_type\": \"Zero\""),
        fault(dump, "\"leaf_count\"", "\"leaf_coeff\": [], \"leaf_count\""),
        fault(dump, "\"right_child\"", "\"no_child\""),
    ];
    let expected = [
        "the end: \"end of trees\" is missing: the file is cut off",
        "num_class: is 3; only forests of two classes are imported",
        "objective: is \"poisson sigmoid:1\", whose scores have no known threshold for a drop",
        "line 15, split_feature: \"x\" is not such a number",
        "tree 0 (from line 12): split_feature has 6 values, expected 5",
        "tree 0: it splits on categories, which integer trees do not",
        "tree 0: it has linear functions in its leaves, which integer trees do not",
        "tree 0 (from line 12): left_child has 6 values, expected 5",
        "learner.objective: is \"rank:ndcg\", whose scores have no known threshold for a drop; give the threshold",
        "tree 0, node 0: is reached twice from the root",
        "tree 0: it splits on categories, which integer trees do not",
        "learner.gradient_booster: is \"dart\"; only \"gbtree\" is imported",
        "learner.gradient_booster: is \"gblinear\", a linear model without trees; only \"gbtree\"",
        "the file: has no trees; it seems to be what save_config() gives: give what save_model wrote",
        "learner.objective: is \"my:own\", whose encoding of the base score is unknown",
        "tree 0, node 77: is not there",
        "tree 0, node 0: splits on \"g",
        "tree 0, node 7: has -0.196721, which is not how nine digits print",
        "tree 0, node 7: has -0.19672132, which is not how nine digits print",
        "line 2: does not compare a feature with a number",
        "line 2: the threshold is not a number",
        "tree 0: has two nodes with number 8",
        "tree 0, node 0: has neither a leaf nor a yes",
        "line 1: a tree begins with booster[...]:",
        "tree 0: has no nodes",
        "num_class: is 3; only forests of two classes are imported",
        "the file: is not LightGBM's JSON dump: missing field `average_output`",
        "objective: is \"poisson\", whose scores have no known threshold for a drop",
        "tree 0, node 0: splits on categories, which integer trees do not",
        "tree 0, node 0: sends 0, as a missing value, against its threshold",
        "tree 0, node 3: has a linear function, which integer trees do not",
        "tree 0, node 1: is a split without two children",
    ];
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault}\nexpected {expected}");
    }
}

#[test]
fn onnx_nodes_that_the_root_does_not_lead_to_are_refused() {
    let mut model = ModelProto::decode(&*read("tree.onnx")).unwrap();
    let nodes = &mut model.graph.as_mut().unwrap().node;
    let ensemble = nodes.iter_mut().find(|node| node.op_type.starts_with("TreeEnsemble")).unwrap();
    let mut children = |name: &str, to: &dyn Fn(&mut Vec<i64>)| {
        let attribute = ensemble.attribute.iter_mut().find(|attribute| attribute.name == name);
        to(&mut attribute.unwrap().ints);
    };
    // The root, node 0, leads to itself and to the second half; the other side's first node is the only one that
    // is nobody's child.
    children("nodes_truenodeids", &|ids| ids[0] = 0);
    let error = imported("tree.onnx", &model.encode_to_vec()).unwrap_err().to_string();
    assert!(error.contains("tree 0, node 0: is not reached from the root, node 1"), "{error}");
}

#[test]
fn what_is_no_forest_says_what_would_be() {
    for (file, reason) in [
        (&b""[..], "it is empty"),
        (b"{L\0\0", "UBJSON"),
        (b"\x80\x04\x95", "pickle"),
        (b"hello", "begins like none"),
        (b"{}", "is not a model that XGBoost saved as JSON"),
        (b"{\"features_info\":{},\"oblivious_trees\":[]}", "it is CatBoost's JSON"),
        (b"[]", "has no trees"),
        (b"tree\n", "the file is cut off"),
        (b"\x08", "is not ONNX"),
    ] {
        let fault = imported("dump.xgboost.json", file).unwrap_err().to_string();
        assert!(fault.contains(reason), "{fault}");
    }
    assert!("pickle".parse::<ImportFormat>().unwrap_err().to_string().contains("onnx, lightgbm"));
    let infinite = ImportTask { threshold: Some(f64::NAN), ..task("tree.onnx") };
    assert!(import(&read("tree.onnx"), &infinite).is_err());
}

/// What happens to a file.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize),
    Set(usize, u8),
    Repeat(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        1 => any::<usize>().prop_map(Damage::Cut),
        6 => (any::<usize>(), prop_oneof![any::<u8>(), Just(b'9'), Just(b'-'), Just(b'0')])
            .prop_map(|(at, byte)| Damage::Set(at, byte)),
        1 => (any::<usize>(), 1_usize..200).prop_map(|(at, bytes)| Damage::Repeat(at, bytes)),
    ]
}

impl Damage {
    fn to(&self, file: &mut Vec<u8>) {
        let place = |at: usize| at % file.len().max(1);
        match *self {
            Damage::Cut(at) => file.truncate(place(at)),
            Damage::Set(at, byte) => {
                let at = place(at);
                file[at..].iter_mut().take(1).for_each(|old| *old = byte);
            }
            Damage::Repeat(at, bytes) => {
                let at = place(at);
                let part: Vec<u8> = file[at..].iter().copied().take(bytes).collect();
                file.splice(at..at, part);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever is still read is a sound forest.
    #[test]
    fn damage_never_panics(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec(damage(), 1..4),
    ) {
        let names = names();
        let name = &names[which.index(names.len())];
        let mut file = read(name);
        damage.iter().for_each(|damage| damage.to(&mut file));
        if let Ok(model) = imported(name, &file) {
            prop_assert_eq!(model.forest.check(), Ok(()));
            prop_assert_eq!(&TrainedModel::from_json(&model.to_json()).unwrap(), &model);
        }
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..300), format in 0..3) {
        let format = ["onnx", "lightgbm", "xgboost"][format as usize].parse().unwrap();
        let task = ImportTask { format: Some(format), ..task("tree.onnx") };
        prop_assert!(import(&noise, &task).is_err());
    }
}
