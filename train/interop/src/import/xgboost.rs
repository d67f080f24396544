//! XGBoost's JSON model, as `save_model("m.json")` writes it.

use super::foreign::{Foreign, LOGISTIC_BLUR, Reading, check_trees, refused, wrong};
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct ModelText {
    learner: Learner,
    #[serde(default)]
    version: Vec<u64>,
}

#[derive(Deserialize)]
struct Learner {
    #[serde(default)]
    attributes: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    feature_names: Vec<String>,
    gradient_booster: Booster,
    learner_model_param: Params,
    objective: Objective,
}

#[derive(Deserialize)]
struct Objective {
    name: String,
}

#[derive(Deserialize)]
struct Params {
    base_score: String,
    #[serde(default)]
    num_class: String,
    num_feature: String,
    #[serde(default)]
    num_target: String,
}

#[derive(Deserialize)]
struct Booster {
    name: String,
    model: Option<Trees>,
}

#[derive(Deserialize)]
struct Trees {
    trees: Vec<TreeText>,
}

#[derive(Deserialize)]
struct TreeText {
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    /// Thresholds, and values of leaves.
    split_conditions: Vec<f32>,
    split_indices: Vec<usize>,
    #[serde(default)]
    split_type: Vec<u8>,
}

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let ModelText { learner, version } = serde_json::from_slice(file).map_err(|error| {
        wrong("the file", format!("is not a model that XGBoost saved as JSON: {error}"))
    })?;
    let params = &learner.learner_model_param;
    for (name, value) in [("num_class", &params.num_class), ("num_target", &params.num_target)] {
        if !matches!(value.as_str(), "" | "0" | "1") {
            let why = format!("is {value}; only forests that tell two classes apart are imported");
            return Err(refused(name, why));
        }
    }
    if learner.attributes.contains_key("best_iteration") {
        let why = "the model was stopped early, and predictions may leave out its last trees; save booster[: best_iteration + 1]";
        return Err(refused("learner.attributes.best_iteration", why.to_owned()));
    }
    let booster = learner.gradient_booster;
    let trees = match (booster.name.as_str(), booster.model) {
        ("gbtree", Some(model)) => model.trees,
        (name, _) => {
            return Err(refused(
                "learner.gradient_booster",
                format!("is {name:?}; only \"gbtree\" is imported"),
            ));
        }
    };
    check_trees(trees.len())?;
    let features: usize = params.num_feature.parse().map_err(|_| {
        wrong("num_feature", format!("{:?} is not a number of features", params.num_feature))
    })?;
    let decision = DropRule::parse(&learner.objective.name, &params.base_score)?;
    let trees = trees.iter().enumerate().map(|(at, tree)| tree.read(at, features));
    Ok(Foreign {
        producer: (!version.is_empty()).then(|| {
            let version: Vec<String> = version.iter().map(u64::to_string).collect();
            format!("xgboost {}", version.join("."))
        }),
        names: learner.feature_names,
        features,
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: decision.base,
            threshold: reading.threshold.unwrap_or(decision.threshold),
            sums: Values::F32,
            blur: decision.blur,
        },
    })
}

/// What the scores of an objective mean.
struct DropRule {
    base: f64,
    threshold: f64,
    blur: f64,
}

impl DropRule {
    fn parse(objective: &str, base_score: &str) -> Result<Self, ImportError> {
        // Since version 3 a list, of one.
        let text = base_score.trim_start_matches('[').trim_end_matches(']');
        let base: f32 = text
            .parse()
            .ok()
            .filter(|base: &f32| base.is_finite())
            .ok_or_else(|| wrong("base_score", format!("{base_score:?} is not a number")))?;
        match objective {
            "binary:logistic" | "reg:logistic" => {
                let share = f64::from(base);
                if !(share > 0.0 && share < 1.0) {
                    return Err(wrong(
                        "base_score",
                        format!("{base_score} is not between 0 and 1"),
                    ));
                }
                let base = -(1.0 / share - 1.0).ln();
                // The logarithm is XGBoost's, in f32, of a quotient in f32.
                let error =
                    4.0 * f64::from(f32::EPSILON) * (1.0 + base.abs() + 1.0 / (1.0 - share));
                Ok(DropRule { base, threshold: 0.0, blur: LOGISTIC_BLUR + error })
            }
            "reg:squarederror" => Ok(DropRule { base: f64::from(base), threshold: 0.5, blur: 0.0 }),
            _ => Err(refused(
                "learner.objective",
                format!(
                    "is {objective:?}; known are binary:logistic, reg:logistic and reg:squarederror"
                ),
            )),
        }
    }
}

impl TreeText {
    fn read(&self, at: usize, features: usize) -> Result<ValueTree, ImportError> {
        let nodes = self.left_children.len();
        let lengths = [
            ("right_children", self.right_children.len()),
            ("split_conditions", self.split_conditions.len()),
            ("split_indices", self.split_indices.len()),
        ];
        for (name, length) in lengths {
            if length != nodes {
                let problem = format!("{name} has {length} values, expected {nodes}");
                return Err(wrong(&format!("tree {at}"), problem));
            }
        }
        if self.split_type.iter().any(|&kind| kind != 0) {
            let why = "it splits on categories, which integer trees do not".to_owned();
            return Err(refused(&format!("tree {at}"), why));
        }
        ValueTree::build(at, 0, features, Values::F32, |node| {
            let left = *self.left_children.get(node).ok_or("is not there")?;
            let right = self.right_children[node];
            let number = f64::from(self.split_conditions[node]);
            if left == -1 && right == -1 {
                return Ok(ForeignNode::Leaf(Leaf::new(number)));
            }
            let child =
                |child: i64| usize::try_from(child).map_err(|_| format!("has child {child}"));
            Ok(ForeignNode::Split {
                feature: self.split_indices[node],
                threshold: number,
                comparison: Comparison::Below,
                left: child(left)?,
                right: child(right)?,
            })
        })
    }
}
