//! The axes of a sweep.

use crate::{ClassWeight, Criterion, ForestParams, MaxFeatures, ParamError, VoteRule};
use dropcast_features::FeatureSet;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::str::FromStr;

/// The values of every axis of a sweep; every combination is trained. Each axis is a value or a
/// list of distinct values. Rows follow the order of these fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SweepAxes {
    /// Sets of features, each as names separated by commas.
    #[serde(deserialize_with = "axis_of_texts", serialize_with = "texts")]
    pub features: Vec<FeatureSet>,
    /// Numbers of trees, 1 to 128.
    #[serde(deserialize_with = "axis_of_trees")]
    pub trees: Vec<u16>,
    /// Depths, 1 to 8.
    #[serde(deserialize_with = "axis_of_depths")]
    pub max_depth: Vec<u8>,
    /// Maximum bins of a feature, 2 to 256.
    #[serde(deserialize_with = "axis_of_bins")]
    pub max_bins: Vec<u16>,
    /// How many features are drawn for a node.
    #[serde(deserialize_with = "axis_of_texts", serialize_with = "texts")]
    pub max_features: Vec<MaxFeatures>,
    /// The impurity that splits lower.
    #[serde(deserialize_with = "axis_of_texts", serialize_with = "texts")]
    pub criterion: Vec<Criterion>,
    /// Weights of the classes.
    #[serde(deserialize_with = "axis_of_class_weights", serialize_with = "texts")]
    pub class_weight: Vec<ClassWeight>,
    /// Fewest distinct rows on either side of a split.
    #[serde(deserialize_with = "axis_of_leaf_rows")]
    pub min_samples_leaf: Vec<u32>,
    /// How vote thresholds are chosen.
    #[serde(deserialize_with = "axis_of_texts", serialize_with = "texts")]
    pub votes: Vec<VoteRule>,
    /// Seeds of the forests. One stands for itself and the seven after it.
    #[serde(deserialize_with = "axis_of_seeds")]
    pub seeds: Vec<u64>,
}

/// Seeds that are trained together: what one forest is by luck, the next is not.
pub const SEEDS: u16 = 8;

impl SweepAxes {
    /// The same with enough seeds to compare configurations by: for a single one, that and those after it.
    #[must_use]
    pub fn with_seeds(mut self) -> Self {
        if let [seed] = *self.seeds {
            self.seeds = (0..u64::from(SEEDS)).map(|nth| seed.wrapping_add(nth)).collect();
        }
        self
    }
}

impl Default for SweepAxes {
    fn default() -> Self {
        let params = ForestParams::default();
        SweepAxes {
            features: vec![FeatureSet::level4()],
            trees: vec![params.n_estimators],
            max_depth: vec![params.max_depth],
            max_bins: vec![params.max_bins],
            max_features: vec![params.max_features],
            criterion: vec![params.criterion],
            class_weight: vec![params.class_weight],
            min_samples_leaf: vec![params.min_samples_leaf],
            votes: vec![VoteRule::default()],
            seeds: vec![params.seed],
        }
    }
}

/// One or several values.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

/// Reads the distinct values of an axis, at least one; `expected` describes them.
fn axis<'de, D, T>(deserializer: D, expected: &str) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialEq + Display,
{
    let values = match OneOrMore::deserialize(deserializer) {
        Ok(OneOrMore::One(value)) => vec![value],
        Ok(OneOrMore::More(values)) => values,
        Err(_) => return Err(D::Error::custom(format!("expected {expected}, or a list of such"))),
    };
    distinct(values)
}

fn distinct<T: PartialEq + Display, E: Error>(values: Vec<T>) -> Result<Vec<T>, E> {
    if values.is_empty() {
        return Err(E::custom("expected at least one value"));
    }
    for (at, value) in values.iter().enumerate() {
        if values[..at].contains(value) {
            return Err(E::custom(format!("{value} is in the list twice")));
        }
    }
    Ok(values)
}

fn axis_of_seeds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    axis(deserializer, "a whole number from 0")
}

/// Reads values written as text.
fn axis_of_texts<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display> + PartialEq + Display,
{
    let texts: Vec<String> = axis(deserializer, "text in quotes")?;
    let parse = |text: &String| text.parse().map_err(D::Error::custom);
    distinct(texts.iter().map(parse).collect::<Result<_, _>>()?)
}

fn texts<T: ToString, S: serde::Serializer>(
    values: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

/// Reads numbers that are valid for the parameter that `set` sets; 0 never is.
fn axis_of_numbers<'de, D, T>(
    deserializer: D,
    set: fn(&mut ForestParams, T),
) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Copy + Default + TryFrom<i64>,
{
    let numbers: Vec<i64> = axis(deserializer, "a whole number")?;
    let read = |number: i64| {
        let value = T::try_from(number).unwrap_or_default();
        check(value, &number, set)?;
        Ok(value)
    };
    numbers.into_iter().map(read).collect()
}

/// Refuses a value that is invalid for the parameter that `set` sets; `given` is its text.
fn check<T: Copy, E: Error>(
    value: T,
    given: &dyn Display,
    set: fn(&mut ForestParams, T),
) -> Result<(), E> {
    let mut params = ForestParams::default();
    set(&mut params, value);
    // The error already has the key, which may differ from the parameter's name.
    let error = |error: ParamError| E::custom(format!("expected {}, not {given}", error.expected));
    params.check().map_err(error)?;
    Ok(())
}

fn axis_of_trees<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u16>, D::Error> {
    axis_of_numbers(deserializer, |params, trees| params.n_estimators = trees)
}

fn axis_of_depths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    axis_of_numbers(deserializer, |params, depth| params.max_depth = depth)
}

fn axis_of_bins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u16>, D::Error> {
    axis_of_numbers(deserializer, |params, bins| params.max_bins = bins)
}

fn axis_of_leaf_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    axis_of_numbers(deserializer, |params, rows| params.min_samples_leaf = rows)
}

fn axis_of_class_weights<'de, D>(deserializer: D) -> Result<Vec<ClassWeight>, D::Error>
where
    D: Deserializer<'de>,
{
    let weights: Vec<ClassWeight> = axis_of_texts(deserializer)?;
    for &weight in &weights {
        check(weight, &weight, |params, weight| params.class_weight = weight)?;
    }
    Ok(weights)
}
