//! What readers of all formats are given and give back.

use crate::ImportError;
use crate::values::{MAX_TREES, ValueForest};
use dropcast_features::FeatureSet;

/// What a reader of a format finds.
pub(super) struct Foreign {
    pub(super) producer: Option<String>,
    /// Names of the features, where the file has them.
    pub(super) names: Vec<String>,
    /// How many features a row has.
    pub(super) features: usize,
    pub(super) forest: ValueForest,
    /// Splits that send a missing value to another side than 0. Where it is not recorded what was missing, these decide 0
    /// otherwise if it was.
    pub(super) zero_elsewhere: usize,
}

/// What readers are given.
pub(super) struct Reading<'a> {
    pub(super) features: Option<&'a FeatureSet>,
    pub(super) threshold: Option<f64>,
}

/// A logistic function in `f32` gives one half for scores this near 0.
pub(super) const LOGISTIC_BLUR: f64 = 1e-6;

impl Foreign {
    /// The features, in the order of the file's columns.
    pub(super) fn features(&self, given: Option<&FeatureSet>) -> Result<FeatureSet, ImportError> {
        let wrong = |problem: String| Err(ImportError::Features(problem));
        let count = self.features;
        let named = FeatureSet::try_from(self.names.clone())
            .ok()
            .filter(|named| named.len() == count && self.names.len() == count);
        match (given, named) {
            (Some(given), Some(named)) if *given != named => {
                wrong(format!("the file has {named}, in this order, but {given} was given"))
            }
            (Some(given), _) if given.len() != count => wrong(format!(
                "the file has {count} columns, but {} features were given: {given}",
                given.len()
            )),
            (Some(given), _) => Ok(given.clone()),
            (None, Some(named)) => Ok(named),
            (None, None) => wrong(format!(
                "the file does not name its {count} columns as features; give their names in order"
            )),
        }
    }
}

/// Refuses more trees than are imported, and none.
pub(super) fn check_trees(count: usize) -> Result<(), ImportError> {
    let at = "the forest";
    match count {
        0 => Err(wrong(at, "has no trees".to_owned())),
        1..=MAX_TREES => Ok(()),
        _ => Err(refused(at, format!("has {count} trees; at most {MAX_TREES} are imported"))),
    }
}

/// Whether `part` is somewhere in a file.
pub(super) fn has(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|found| found == part)
}

/// Refuses an objective whose scores predict no drop without a threshold.
pub(super) fn unknown_objective(at: &str, objective: &str) -> ImportError {
    let why = format!(
        "is {objective:?}, whose scores have no known threshold for a drop; give the threshold, the score above which it does"
    );
    refused(at, why)
}

pub(super) fn wrong(at: &str, problem: String) -> ImportError {
    ImportError::Wrong { at: at.to_owned(), problem }
}

pub(super) fn refused(at: &str, why: String) -> ImportError {
    ImportError::Refused { at: at.to_owned(), why }
}
