//! What values the features of a labelled trace have, for `dropcast inspect`.

use crate::PipelineError;
use dropcast_data::{LabelledBatch, TraceReader};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What values the features of labelled rows have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Rows.
    pub rows: u64,
    /// Rows that LQD dropped.
    pub drops: u64,
    /// Each feature.
    pub features: Vec<FeatureStatistics>,
}

/// What values a feature has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureStatistics {
    /// Its name.
    pub name: String,
    /// How many different values it has.
    pub distinct: u64,
    /// Its values in rows that LQD accepted; null if there are none.
    pub accepted: Option<Values>,
    /// Its values in rows that LQD dropped; null if there are none.
    pub dropped: Option<Values>,
}

/// Some numbers about values. A quantile is the smallest value that so large a share of the rows
/// does not exceed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "names of quantiles")]
pub struct Values {
    pub mean: f64,
    pub min: u32,
    pub p01: u32,
    pub p25: u32,
    pub p50: u32,
    pub p75: u32,
    pub p99: u32,
    pub max: u32,
}

/// Counts the values of `features` in the labelled trace at `path`, by label. All numbers are exact.
///
/// # Errors
/// If the trace cannot be read.
pub fn count_values(path: &Path, features: &[String]) -> Result<Statistics, PipelineError> {
    let mut counts = ValueCounts::of(features.len());
    for batch in TraceReader::open(path, features)? {
        counts.add(&batch?);
    }
    Ok(counts.statistics(features))
}

/// Rows that LQD accepted, and rows that it dropped.
type ByLabel = [u64; 2];

/// Rows so far. Takes memory for each different value of a feature: no more than its range has
/// (docs/features.md).
struct ValueCounts {
    rows: ByLabel,
    /// Of each feature the rows of each value.
    values: Vec<BTreeMap<u32, ByLabel>>,
}

impl ValueCounts {
    fn of(features: usize) -> Self {
        ValueCounts { rows: [0; 2], values: vec![BTreeMap::new(); features] }
    }

    fn add(&mut self, batch: &LabelledBatch) {
        batch.drop.iter().for_each(|&drop| self.rows[usize::from(drop)] += 1);
        let mut labelled = Vec::with_capacity(batch.len());
        for (counts, column) in self.values.iter_mut().zip(&batch.features) {
            labelled.clear();
            labelled.extend(column.iter().copied().zip(batch.drop.iter().copied()));
            labelled.sort_unstable();
            for same in labelled.chunk_by(PartialEq::eq) {
                let (value, drop) = same[0];
                counts.entry(value).or_default()[usize::from(drop)] += same.len() as u64;
            }
        }
    }

    fn statistics(&self, names: &[String]) -> Statistics {
        let [accepted, drops] = self.rows;
        let features = self.values.iter().zip(names).map(|(counts, name)| FeatureStatistics {
            name: name.clone(),
            distinct: counts.len() as u64,
            accepted: Values::of(counts, 0),
            dropped: Values::of(counts, 1),
        });
        Statistics { rows: accepted + drops, drops, features: features.collect() }
    }
}

impl Values {
    /// Those of the rows of a label.
    fn of(counts: &BTreeMap<u32, ByLabel>, label: usize) -> Option<Self> {
        let counted = || {
            let of_label = counts.iter().map(|(&value, rows)| (value, rows[label]));
            of_label.filter(|&(_, rows)| rows > 0)
        };
        let (min, max) = (counted().next()?.0, counted().next_back()?.0);
        let rows: u64 = counted().map(|(_, rows)| rows).sum();
        let sum: u128 = counted().map(|(value, rows)| u128::from(value) * u128::from(rows)).sum();
        let quantile = |percent: u64| {
            let needed = (u128::from(rows) * u128::from(percent)).div_ceil(100);
            let mut seen = 0_u128;
            let reached = counted().find(|&(_, rows)| {
                seen += u128::from(rows);
                seen >= needed
            });
            reached.map_or(max, |(value, _)| value)
        };
        Some(Values {
            mean: sum as f64 / rows as f64,
            min,
            p01: quantile(1),
            p25: quantile(25),
            p50: quantile(50),
            p75: quantile(75),
            p99: quantile(99),
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From the sorted list of all values.
    fn slow(rows: &[(u32, bool)], label: bool) -> Option<Values> {
        let of_label = rows.iter().filter(|(_, drop)| *drop == label);
        let mut values: Vec<u32> = of_label.map(|(value, _)| *value).collect();
        values.sort_unstable();
        // The smallest value that at least so many rows do not exceed.
        let quantile = |percent: usize| {
            values.iter().copied().find(|&value| {
                let below = values.iter().filter(|&&other| other <= value).count();
                100 * below >= percent * values.len()
            })
        };
        Some(Values {
            mean: values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64,
            min: *values.first()?,
            p01: quantile(1)?,
            p25: quantile(25)?,
            p50: quantile(50)?,
            p75: quantile(75)?,
            p99: quantile(99)?,
            max: *values.last()?,
        })
    }

    proptest! {
        #[test]
        fn statistics_are_those_of_all_values(
            rows in prop::collection::vec((0_u32..40, any::<bool>()), 0..300),
            batch_rows in 1_usize..300,
        ) {
            let mut counts = ValueCounts::of(1);
            for part in rows.chunks(batch_rows) {
                let (values, drop) = part.iter().copied().unzip();
                counts.add(&LabelledBatch { features: vec![values], drop, ..LabelledBatch::default() });
            }
            let found = counts.statistics(&["rank".to_owned()]);
            let mut distinct: Vec<u32> = rows.iter().map(|(value, _)| *value).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(found, Statistics {
                rows: rows.len() as u64,
                drops: rows.iter().filter(|(_, drop)| *drop).count() as u64,
                features: vec![FeatureStatistics {
                    name: "rank".to_owned(),
                    distinct: distinct.len() as u64,
                    accepted: slow(&rows, false),
                    dropped: slow(&rows, true),
                }],
            });
        }
    }
}
