//! XGBoost's JSON model, as `save_model("m.json")` writes it.

use super::foreign::{
    Foreign, LOGISTIC_BLUR, Reading, check_trees, refused, unknown_objective, wrong,
};
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
    /// A linear model has none.
    #[serde(default)]
    trees: Vec<TreeText>,
}

#[derive(Deserialize)]
struct TreeText {
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    /// Thresholds, and values of leaves.
    split_conditions: Vec<f32>,
    split_indices: Vec<usize>,
    /// Whether a missing value goes left.
    #[serde(default)]
    default_left: Vec<u8>,
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
            let why = format!("is {value}; only forests of two classes are imported");
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
        ("gbtree", None) => {
            let problem =
                "has no trees; it seems to be what save_config() gives: give what save_model wrote";
            return Err(wrong("the file", problem.to_owned()));
        }
        (name, _) => {
            let has = if name == "gblinear" { ", a linear model without trees" } else { "" };
            let why = format!("is {name:?}{has}; only \"gbtree\" is imported");
            return Err(refused("learner.gradient_booster", why));
        }
    };
    check_trees(trees.len())?;
    let features: usize = params.num_feature.parse().map_err(|_| {
        wrong("num_feature", format!("{:?} is not a number of features", params.num_feature))
    })?;
    let objective = &learner.objective.name;
    let decision = DropRule::parse(objective, &params.base_score, &version, reading.threshold)?;
    let zero_elsewhere = trees.iter().map(TreeText::zero_elsewhere).sum();
    let trees = trees.iter().enumerate().map(|(at, tree)| tree.read(at, features));
    Ok(Foreign {
        producer: (!version.is_empty()).then(|| {
            let version: Vec<String> = version.iter().map(u64::to_string).collect();
            format!("xgboost {}", version.join("."))
        }),
        names: learner.feature_names,
        features,
        zero_elsewhere,
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: decision.base,
            threshold: decision.threshold,
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
    /// `given` is the threshold of scores, which objectives that predict no drop need.
    fn parse(
        objective: &str,
        base_score: &str,
        version: &[u64],
        given: Option<f64>,
    ) -> Result<Self, ImportError> {
        // Since version 3 a list, of one.
        let text = base_score.trim_start_matches('[').trim_end_matches(']');
        let base: f32 = text
            .parse()
            .ok()
            .filter(|base: &f32| base.is_finite())
            .ok_or_else(|| wrong("base_score", format!("{base_score:?} is not a number")))?;
        let base = f64::from(base);
        let out_of_range =
            |range: &str| wrong("base_score", format!("{base_score} is not {range}"));
        // Logarithms are XGBoost's, in f32.
        let error = |of: f64| 4.0 * f64::from(f32::EPSILON) * (1.0 + of.abs());
        let at = "learner.objective";
        let (base, blur) = match objective {
            "binary:logistic" | "reg:logistic" => {
                if !(base > 0.0 && base < 1.0) {
                    return Err(out_of_range("between 0 and 1"));
                }
                let margin = -(1.0 / base - 1.0).ln();
                (margin, LOGISTIC_BLUR + error(margin.abs() + 1.0 / (1.0 - base)))
            }
            "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:aft" | "survival:cox" => {
                if base <= 0.0 {
                    return Err(out_of_range("above 0"));
                }
                (base.ln(), error(base.ln()))
            }
            "binary:logitraw" if version < &[2, 1] => {
                let why = "is \"binary:logitraw\" of a version before 2.1, whose base score is not known to be a sum or a share; load and save the model with a newer one";
                return Err(refused(at, why.to_owned()));
            }
            "binary:hinge"
            | "binary:logitraw"
            | "rank:map"
            | "rank:ndcg"
            | "rank:pairwise"
            | "reg:absoluteerror"
            | "reg:pseudohubererror"
            | "reg:quantileerror"
            | "reg:squarederror"
            | "reg:squaredlogerror" => (base, 0.0),
            _ => {
                let why = format!(
                    "is {objective:?}, whose encoding of the base score is unknown; import its dump (dump_model) with a threshold"
                );
                return Err(refused(at, why));
            }
        };
        let threshold = match (given, objective) {
            (Some(given), _) => given,
            (None, "binary:logistic" | "reg:logistic") => 0.0,
            (None, "reg:squarederror") => 0.5,
            _ => return Err(unknown_objective(at, objective)),
        };
        Ok(DropRule { base, threshold, blur })
    }
}

impl TreeText {
    /// Splits that send a missing value to another side than 0.
    fn zero_elsewhere(&self) -> usize {
        let nodes = self.left_children.iter().zip(&self.split_conditions).zip(&self.default_left);
        let differs = |&((&left, &threshold), &default): &((&i64, &f32), &u8)| {
            left != -1 && (default != 0) != (0.0 < threshold)
        };
        nodes.filter(differs).count()
    }

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
