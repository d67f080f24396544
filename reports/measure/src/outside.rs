//! Rows whose features lie outside what a model was trained on.

use super::replay_section::ratio;
use dropcast_forest::FeatureRange;
use dropcast_train::TrainedModel;
use serde::{Deserialize, Serialize};

/// How many rows have a value of a feature that the model's training hardly had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureOutside {
    /// Name of the feature.
    pub name: String,
    /// Its values on the rows that trained the model, but for the lowest and the highest thousandth.
    pub range: FeatureRange,
    /// Rows whose value is below the range.
    pub below: u64,
    /// Rows whose value is above the range.
    pub above: u64,
    /// Both, as a share of all rows; at most 0.002 of the rows that trained. Null without rows.
    pub share: Option<f64>,
}

/// Counts rows outside the ranges of a model's features.
pub(crate) struct OutsideCounts {
    /// None if the model has no ranges.
    features: Option<Vec<FeatureOutside>>,
    rows: u64,
}

impl OutsideCounts {
    pub(crate) fn new(model: &TrainedModel) -> Self {
        let feature =
            |(name, &range)| FeatureOutside { name, range, below: 0, above: 0, share: None };
        let names = model.features.names();
        let features = model.ranges.as_ref();
        let features = features.map(|ranges| names.into_iter().zip(ranges).map(feature).collect());
        OutsideCounts { features, rows: 0 }
    }

    /// The next rows: the columns of the model's features.
    pub(crate) fn add(&mut self, columns: &[&[u32]]) {
        self.rows += columns.first().map_or(0, |column| column.len() as u64);
        for (feature, column) in self.features.iter_mut().flatten().zip(columns) {
            let FeatureRange { lowest, highest } = feature.range;
            feature.below += column.iter().map(|&value| u64::from(value < lowest)).sum::<u64>();
            feature.above += column.iter().map(|&value| u64::from(value > highest)).sum::<u64>();
        }
    }

    /// The counts of each feature, or why there are none.
    pub(crate) fn finish(self) -> Result<Vec<FeatureOutside>, String> {
        let mut features = self.features.ok_or_else(|| {
            "the model's file has no ranges of features: dropcast train writes them (format_version 2), other \
             trainers and earlier versions do not"
                .to_owned()
        })?;
        for feature in &mut features {
            feature.share = ratio(feature.below + feature.above, self.rows);
        }
        Ok(features)
    }
}
