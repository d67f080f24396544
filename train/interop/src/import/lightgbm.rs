//! LightGBM's text model, as `Booster.save_model` writes it.

use super::foreign::{Foreign, Reading, check_trees, refused, unknown_objective, wrong};
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};
use std::collections::BTreeMap;
use std::str::FromStr;

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let text = std::str::from_utf8(file).map_err(|error| {
        wrong("the file", format!("is not text from byte {} on", error.valid_up_to()))
    })?;
    let (header, trees) = sections(text)?;
    for (field, only) in [("num_class", 1), ("num_tree_per_iteration", 1)] {
        let found: usize = header.number(field)?;
        if found != only {
            return Err(refused(
                field,
                format!("is {found}; only forests of two classes are imported"),
            ));
        }
    }
    check_trees(trees.len())?;
    let features = header.number::<usize>("max_feature_idx")?.saturating_add(1);
    let objective = header.fields.get("objective").map_or("none", |&(_, objective)| objective);
    let decision = DropRule::parse(objective, reading.threshold)?;
    let decision = decision.averaged(header.fields.contains_key("average_output"), trees.len());
    let trees = trees.iter().enumerate().map(|(at, tree)| read_tree(at, tree, features));
    Ok(Foreign {
        producer: header
            .fields
            .get("version")
            .map(|(_, version)| format!("lightgbm model {version}")),
        names: header.text("feature_names")?.split(' ').map(str::to_owned).collect(),
        features,
        zero_elsewhere: 0,
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: 0.0,
            threshold: decision.threshold,
            sums: Values::F64,
            blur: decision.blur,
        },
    })
}

/// Above which score a drop is predicted, and how near to it a logistic function may blur it.
pub(super) struct DropRule {
    pub(super) threshold: f64,
    pub(super) blur: f64,
}

impl DropRule {
    /// What the scores of an objective mean, unless the threshold is given.
    pub(super) fn parse(objective: &str, given: Option<f64>) -> Result<Self, ImportError> {
        let mut words = objective.split(' ');
        let name = words.next().unwrap_or_default();
        let options: Vec<&str> = words.collect();
        let above = |threshold, blur| Ok(DropRule { threshold, blur });
        match (given, name) {
            (Some(threshold), _) => above(threshold, 0.0),
            (None, "binary") => {
                let sigmoid = options.iter().find_map(|option| option.strip_prefix("sigmoid:"));
                let sigmoid: f64 = sigmoid.and_then(|text| text.parse().ok()).unwrap_or(1.0);
                if sigmoid > 0.0 && sigmoid.is_finite() {
                    return above(0.0, 8.0 * f64::EPSILON / sigmoid);
                }
                Err(wrong("objective", format!("{objective:?} has a sigmoid that is not above 0")))
            }
            (None, "cross_entropy") => above(0.0, 8.0 * f64::EPSILON),
            (None, "regression" | "regression_l1" | "huber" | "fair" | "quantile")
                if !options.contains(&"sqrt") =>
            {
                above(0.5, 0.0)
            }
            _ => Err(unknown_objective("objective", objective)),
        }
    }

    /// The same for the sum of `trees` trees, if scores are their average.
    pub(super) fn averaged(self, is_average: bool, trees: usize) -> Self {
        let threshold = if is_average { self.threshold * trees as f64 } else { self.threshold };
        // Averages and factors are rounded too.
        DropRule { threshold, blur: self.blur + 4.0 * f64::EPSILON * threshold.abs() }
    }
}

/// A block of `key=value` lines.
struct Section<'a> {
    name: String,
    line: usize,
    /// Line and value by key; a line without `=` is a key without a value.
    fields: BTreeMap<&'a str, (usize, &'a str)>,
}

/// The header and the trees.
fn sections(text: &str) -> Result<(Section<'_>, Vec<Section<'_>>), ImportError> {
    let section = |name: String, line| Section { name, line, fields: BTreeMap::new() };
    let mut header = section("the header".to_owned(), 1);
    let mut trees: Vec<Section<'_>> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_end();
        // Version 2 goes on with what features are worth.
        if ["end of trees", "feature importances:"].contains(&text) {
            return Ok((header, trees));
        }
        if text.is_empty() {
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        if key == "Tree" {
            trees.push(section(format!("tree {}", trees.len()), line));
            // Before many of them take memory.
            check_trees(trees.len())?;
            continue;
        }
        let current = trees.last_mut().unwrap_or(&mut header);
        if current.fields.insert(key, (line, value)).is_some() {
            return Err(wrong(&format!("line {line}"), format!("{key} is there twice")));
        }
    }
    Err(wrong("the end", "\"end of trees\" is missing: the file is cut off".to_owned()))
}

impl<'a> Section<'a> {
    fn text(&self, key: &str) -> Result<&'a str, ImportError> {
        let missing = || {
            wrong(&format!("{} (from line {})", self.name, self.line), format!("{key} is missing"))
        };
        self.fields.get(key).map(|&(_, value)| value).ok_or_else(missing)
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<T, ImportError> {
        self.text(key)?;
        self.numbers(key)?.pop().ok_or_else(|| wrong(key, "has no value".to_owned()))
    }

    /// Numbers separated by spaces.
    fn numbers<T: FromStr>(&self, key: &str) -> Result<Vec<T>, ImportError> {
        let Some(&(line, value)) = self.fields.get(key) else { return Ok(Vec::new()) };
        let parse = |word: &str| {
            word.parse().map_err(|_| {
                wrong(&format!("line {line}, {key}"), format!("{word:?} is not such a number"))
            })
        };
        value.split_ascii_whitespace().map(parse).collect()
    }

    /// As many numbers as there should be.
    fn column<T: FromStr>(&self, key: &str, count: usize) -> Result<Vec<T>, ImportError> {
        let column = self.numbers(key)?;
        if column.len() == count {
            return Ok(column);
        }
        let problem = format!("{key} has {} values, expected {count}", column.len());
        Err(wrong(&format!("{} (from line {})", self.name, self.line), problem))
    }
}

fn read_tree(at: usize, tree: &Section<'_>, features: usize) -> Result<ValueTree, ImportError> {
    let leaves: usize = tree.number("num_leaves")?;
    let Some(splits) = leaves.checked_sub(1) else {
        return Err(wrong(&tree.name, "num_leaves is 0".to_owned()));
    };
    for (field, what) in
        [("num_cat", "splits on categories"), ("is_linear", "has linear functions in its leaves")]
    {
        if tree.numbers::<i64>(field)?.iter().any(|&count| count != 0) {
            return Err(refused(&tree.name, format!("it {what}, which integer trees do not")));
        }
    }
    let values: Vec<f64> = tree.column("leaf_value", leaves)?;
    let split_features: Vec<usize> = tree.column("split_feature", splits)?;
    let thresholds: Vec<f64> = tree.column("threshold", splits)?;
    let kinds: Vec<u8> = tree.column("decision_type", splits)?;
    let left: Vec<i64> = tree.column("left_child", splits)?;
    let right: Vec<i64> = tree.column("right_child", splits)?;
    // Of the first versions 2: what 0 is replaced by.
    let instead: Vec<f64> = tree.numbers("default_value")?;
    // Splits are numbered first, then leaves: -1 is the first leaf.
    let number = |child: i64| {
        if child < 0 { splits.saturating_add((-(child + 1)) as usize) } else { child as usize }
    };
    ValueTree::build(at, 0, features, Values::F64, |node| {
        if node >= splits {
            let value = values.get(node - splits).ok_or("is not there")?;
            return Ok(ForeignNode::Leaf(Leaf::new(*value)));
        }
        let threshold = thresholds[node];
        check_kind(kinds[node], threshold)?;
        if let Some(&instead) = instead.get(node) {
            check_missing(true, instead <= threshold, threshold)?;
        }
        Ok(ForeignNode::Split {
            feature: split_features[node],
            threshold,
            comparison: Comparison::AtMost,
            left: number(left[node]),
            right: number(right[node]),
        })
    })
}

/// Checks LightGBM's `decision_type`: bit 0 categories, bit 1 missing values go left, bits 2 and 3
/// what is missing (0 nothing, 1 zero, 2 NaN).
fn check_kind(kind: u8, threshold: f64) -> Result<(), String> {
    match (kind & 1, (kind >> 2) & 3) {
        (1, _) => Err("splits on categories, which integer trees do not".to_owned()),
        (_, missing @ 0..=2) => check_missing(missing == 1, kind & 2 != 0, threshold),
        _ => Err(format!("has decision_type {kind}, which is unknown")),
    }
}

/// Refuses a split that sends 0, taken for a missing value, to the other side than its threshold
/// does. No integer is NaN, so nothing else is missing.
pub(super) fn check_missing(
    zero_is_missing: bool,
    missing_goes_left: bool,
    threshold: f64,
) -> Result<(), String> {
    let zero_goes_left = 0.0 <= threshold;
    if zero_is_missing && missing_goes_left != zero_goes_left {
        return Err(
            "sends 0, as a missing value, against its threshold; train with zero_as_missing=false"
                .to_owned(),
        );
    }
    Ok(())
}
