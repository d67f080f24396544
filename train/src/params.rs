//! Parameters of a forest, with scikit-learn's names and meanings.

use dropcast_features::FeatureSet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

/// Unchecked parameters of a forest; [`ForestParams::check`] validates them.
///
/// Names, meanings and defaults follow scikit-learn's `RandomForestClassifier`, except the
/// defaults of `n_estimators` and `max_depth`, which are the Credence paper's 4 and 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForestParams {
    /// Number of trees, 1 to 128.
    pub n_estimators: u16,
    /// Longest path from a root to a leaf, in splits, 1 to 8.
    pub max_depth: u8,
    /// How many features are drawn to search for a node's split. If none of them has a valid split,
    /// the others are searched.
    pub max_features: MaxFeatures,
    /// Fewest distinct rows on either side of a split.
    pub min_samples_leaf: u32,
    /// Fewest distinct rows in a node that may split.
    pub min_samples_split: u32,
    /// The impurity that splits lower.
    pub criterion: Criterion,
    /// Weights of the classes.
    pub class_weight: ClassWeight,
    /// Whether the score never falls when a feature that [rises](dropcast_features::Feature::rises) is higher. Models
    /// made before there was a choice may fall.
    #[serde(default = "Monotone::before_there_was_a_choice")]
    pub monotone: Monotone,
    /// Whether each tree grows on a bootstrap sample: rows drawn Poisson(1) times each.
    pub bootstrap: bool,
    /// The mean number of draws per row, 0.001 to 1 (probabilities are rounded to 1/65,536); needs
    /// `bootstrap`.
    pub max_samples: Option<f64>,
    /// The seed of all randomness; in files and Python it has scikit-learn's name.
    #[serde(rename = "random_state")]
    pub seed: u64,
    /// Maximum bins of a feature, 2 to 256. scikit-learn's forest has no bins; the name is from its
    /// histogram gradient boosting.
    pub max_bins: u16,
}

impl Default for ForestParams {
    fn default() -> Self {
        ForestParams {
            n_estimators: 4,
            max_depth: 4,
            max_features: MaxFeatures::Sqrt,
            min_samples_leaf: 1,
            min_samples_split: 2,
            criterion: Criterion::Gini,
            class_weight: ClassWeight::None,
            monotone: Monotone::Auto,
            bootstrap: true,
            max_samples: None,
            seed: 1,
            max_bins: 255,
        }
    }
}

/// Checked parameters, ready to train with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ForestParams", into = "ForestParams")]
pub struct CheckedForestParams(ForestParams);

/// A parameter out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}, expected {expected}")]
pub struct ParamError {
    /// The parameter.
    pub name: &'static str,
    /// The given value.
    pub value: String,
    /// The allowed values.
    pub expected: &'static str,
}

impl ForestParams {
    /// Checks every parameter.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(self) -> Result<CheckedForestParams, ParamError> {
        let check = |fine: bool, name, value: &dyn fmt::Display, expected| {
            fine.then_some(()).ok_or_else(|| ParamError {
                name,
                value: value.to_string(),
                expected,
            })
        };
        let trees = self.n_estimators;
        check((1..=128).contains(&trees), "n_estimators", &trees, "1 to 128")?;
        let depth = self.max_depth;
        check((1..=8).contains(&depth), "max_depth", &depth, "1 to 8")?;
        let leaf = self.min_samples_leaf;
        check(leaf >= 1, "min_samples_leaf", &leaf, "at least 1")?;
        let split = self.min_samples_split;
        check(split >= 2, "min_samples_split", &split, "at least 2")?;
        let bins = self.max_bins;
        check((2..=256).contains(&bins), "max_bins", &bins, "2 to 256")?;
        if let Some(share) = self.max_samples {
            // Near 1/65,536 rounding would distort the share, and well below it no row would be
            // drawn.
            let expected = "0.001 to 1: probabilities are rounded to 1/65,536";
            check((1e-3..=1.0).contains(&share), "max_samples", &share, expected)?;
            check(self.bootstrap, "max_samples", &share, "none without bootstrap")?;
        }
        if let ClassWeight::Explicit { accept, drop } = self.class_weight {
            let fine = |weight| (1e-6..=1e6).contains(&weight);
            let expected = "two weights of 1e-6 to 1e6";
            check(fine(accept) && fine(drop), "class_weight", &self.class_weight, expected)?;
        }
        Ok(CheckedForestParams(self))
    }
}

impl CheckedForestParams {
    /// The parameters.
    pub fn get(&self) -> &ForestParams {
        &self.0
    }

    /// The same, and scores may fall.
    #[must_use]
    pub fn not_monotone(self) -> Self {
        CheckedForestParams(ForestParams { monotone: Monotone::Off, ..self.0 })
    }

    /// The same with the `nth` seed after this one; after the highest comes 0.
    pub(crate) fn after_seed(&self, nth: u64) -> Self {
        let seed = self.0.seed.wrapping_add(nth);
        CheckedForestParams(ForestParams { seed, ..self.0.clone() })
    }
}

impl TryFrom<ForestParams> for CheckedForestParams {
    type Error = ParamError;

    fn try_from(params: ForestParams) -> Result<Self, ParamError> {
        params.check()
    }
}

impl From<CheckedForestParams> for ForestParams {
    fn from(params: CheckedForestParams) -> Self {
        params.0
    }
}

/// How many features are drawn for a node: `sqrt`, `all` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MaxFeatures {
    /// The square root of their number, rounded down.
    #[default]
    Sqrt,
    /// All of them.
    All,
    /// This many, or all if there are fewer.
    Count(NonZeroU16),
}

impl MaxFeatures {
    /// How many of `features` features are drawn.
    pub fn count(self, features: usize) -> usize {
        match self {
            MaxFeatures::Sqrt => features.isqrt(),
            MaxFeatures::All => features,
            MaxFeatures::Count(count) => usize::from(count.get()).min(features),
        }
    }
}

/// Whether scores never fall with a feature that rises: `auto`, `on` or `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = ParamError, parse_err_fn = unknown_monotone)]
pub enum Monotone {
    /// If all features rise. Beside others, such as averages, it costs accuracy.
    #[default]
    Auto,
    /// They never do.
    On,
    /// They may.
    Off,
}

impl Monotone {
    fn before_there_was_a_choice() -> Self {
        Monotone::Off
    }

    /// Whether scores of forests on these features are kept from falling.
    pub fn is_on(self, features: &FeatureSet) -> bool {
        match self {
            Monotone::Auto => features.features().iter().all(|feature| feature.rises()),
            Monotone::On => true,
            Monotone::Off => false,
        }
    }
}

fn unknown_monotone(text: &str) -> ParamError {
    ParamError { name: "monotone", value: format!("{text:?}"), expected: "auto, on or off" }
}

/// The impurity of the classes that splits lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = ParamError, parse_err_fn = unknown_criterion)]
pub enum Criterion {
    /// Gini impurity.
    #[default]
    Gini,
    /// Shannon entropy.
    Entropy,
}

/// Weights of the two classes: `none`, `balanced`, or `ACCEPT:DROP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ClassWeight {
    /// Every row has weight 1.
    #[default]
    None,
    /// `rows / (2 * rows of the class)`, counted over the training rows: both classes have equal
    /// total weight.
    Balanced,
    /// These.
    Explicit {
        /// Of an accepted row.
        accept: f64,
        /// Of a dropped row.
        drop: f64,
    },
}

impl ClassWeight {
    /// The weights `[accept, drop]` for training rows with these counts, neither 0.
    pub fn weights(self, accepts: u64, drops: u64) -> [f64; 2] {
        match self {
            ClassWeight::None => [1.0, 1.0],
            ClassWeight::Balanced => {
                let rows = (accepts + drops) as f64;
                [rows / (2.0 * accepts as f64), rows / (2.0 * drops as f64)]
            }
            ClassWeight::Explicit { accept, drop } => [accept, drop],
        }
    }
}

impl FromStr for MaxFeatures {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        match text {
            "sqrt" => Ok(MaxFeatures::Sqrt),
            "all" => Ok(MaxFeatures::All),
            _ => text.parse().map(MaxFeatures::Count).map_err(|_| ParamError {
                name: "max_features",
                value: format!("{text:?}"),
                expected: "sqrt, all, or a number from 1",
            }),
        }
    }
}

impl fmt::Display for MaxFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxFeatures::Sqrt => f.write_str("sqrt"),
            MaxFeatures::All => f.write_str("all"),
            MaxFeatures::Count(count) => count.fmt(f),
        }
    }
}

fn unknown_criterion(text: &str) -> ParamError {
    ParamError { name: "criterion", value: format!("{text:?}"), expected: "gini or entropy" }
}

impl FromStr for ClassWeight {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        let pair = |text: &str| {
            let (accept, drop) = text.split_once(':')?;
            Some((accept.parse().ok()?, drop.parse().ok()?))
        };
        match text {
            "none" => Ok(ClassWeight::None),
            "balanced" => Ok(ClassWeight::Balanced),
            _ => pair(text)
                .map(|(accept, drop)| ClassWeight::Explicit { accept, drop })
                .ok_or_else(|| ParamError {
                    name: "class_weight",
                    value: format!("{text:?}"),
                    expected: "none, balanced, or ACCEPT:DROP",
                }),
        }
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeight::None => f.write_str("none"),
            ClassWeight::Balanced => f.write_str("balanced"),
            ClassWeight::Explicit { accept, drop } => write!(f, "{accept}:{drop}"),
        }
    }
}

/// Serialised as the command-line text.
macro_rules! as_text {
    ($($name:ty),*) => {$(
        impl TryFrom<String> for $name {
            type Error = ParamError;

            fn try_from(text: String) -> Result<Self, ParamError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    )*};
}

as_text!(MaxFeatures, ClassWeight);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parameter_out_of_range_is_named() {
        let fault = |change: fn(&mut ForestParams)| {
            let mut params = ForestParams::default();
            change(&mut params);
            params.check().unwrap_err().to_string()
        };
        assert!(ForestParams::default().check().is_ok());
        assert_eq!(fault(|p| p.n_estimators = 129), "n_estimators is 129, expected 1 to 128");
        assert_eq!(fault(|p| p.max_depth = 0), "max_depth is 0, expected 1 to 8");
        assert_eq!(fault(|p| p.max_bins = 257), "max_bins is 257, expected 2 to 256");
        for share in [f64::NAN, 7e-6, 1.5] {
            let mut params = ForestParams { max_samples: Some(share), ..ForestParams::default() };
            let message = params.clone().check().unwrap_err().to_string();
            let expected = "expected 0.001 to 1: probabilities are rounded to 1/65,536";
            assert_eq!(message, format!("max_samples is {share}, {expected}"));
            params.max_samples = Some(1e-3);
            assert!(params.check().is_ok());
        }
        assert_eq!(
            fault(|p| p.class_weight = ClassWeight::Explicit { accept: 0.0, drop: 1.0 }),
            "class_weight is 0:1, expected two weights of 1e-6 to 1e6"
        );
    }

    #[test]
    fn texts_are_read_as_they_are_written() {
        for text in ["sqrt", "all", "3"] {
            assert_eq!(text.parse::<MaxFeatures>().unwrap().to_string(), text);
        }
        for text in ["none", "balanced", "1:2.5"] {
            assert_eq!(text.parse::<ClassWeight>().unwrap().to_string(), text);
        }
        assert!("0".parse::<MaxFeatures>().is_err());
        assert!("1".parse::<ClassWeight>().is_err());
        assert!("mse".parse::<Criterion>().is_err());
    }

    #[test]
    fn the_square_root_is_rounded_down_as_in_scikit_learn() {
        let drawn: Vec<usize> = (1..=9).map(|count| MaxFeatures::Sqrt.count(count)).collect();
        assert_eq!(drawn, [1, 1, 1, 2, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn balanced_classes_weigh_alike() {
        assert_eq!(ClassWeight::Balanced.weights(90, 10), [100.0 / 180.0, 5.0]);
    }
}
