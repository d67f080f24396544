//! Summaries of configurations over their seeds.

use super::{Spread, SpreadScores, SweepRow, SweepScores, SweepSummary};

/// Summaries of rows in the order of the axes: the `seeds` rows of one configuration are adjacent.
pub(crate) fn summaries(rows: &[SweepRow], seeds: usize) -> Vec<SweepSummary> {
    rows.chunks(seeds.max(1)).filter_map(summary).collect()
}

fn summary(rows: &[SweepRow]) -> Option<SweepSummary> {
    let first = rows.first()?;
    let size = |of: &dyn Fn(&SweepRow) -> Option<u64>| {
        spread(rows.iter().map(|row| of(row).map(|size| size as f64)))
    };
    Some(SweepSummary {
        setting: first.setting.clone(),
        seeds: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        train: scores(rows.iter().map(|row| Some(&row.train))).unwrap_or_default(),
        validation: scores(rows.iter().map(|row| row.validation.as_ref())),
        test: scores(rows.iter().map(|row| row.test.as_ref())),
        dct_bytes: size(&|row| row.size.dct_bytes),
        ternary_entries: size(&|row| row.size.ternary_entries),
        thresholds: size(&|row| Some(row.size.thresholds)),
    })
}

fn scores<'a>(rows: impl Iterator<Item = Option<&'a SweepScores>>) -> Option<SpreadScores> {
    SpreadScores::measure(&rows.map(|row| row.copied()).collect::<Option<Vec<_>>>()?)
}

impl SpreadScores {
    /// Scores over several forests or folds; `None` if there are none.
    pub fn measure(all: &[SweepScores]) -> Option<Self> {
        let over = |of: fn(&SweepScores) -> Option<f64>| spread(all.iter().map(of));
        (!all.is_empty()).then(|| SpreadScores {
            precision: over(|scores| scores.precision),
            recall: over(|scores| scores.recall),
            f1: over(|scores| scores.f1),
            average_precision: over(|scores| scores.average_precision),
            eta_packets: over(|scores| scores.eta_packets),
            eta_bound: over(|scores| scores.eta_bound),
        })
    }
}

impl Spread {
    /// Mean and standard deviation of `values`; `None` if there are none.
    pub fn measure(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Some(Spread { mean, sd })
    }
}

fn spread(values: impl Iterator<Item = Option<f64>>) -> Option<Spread> {
    Spread::measure(&values.collect::<Option<Vec<f64>>>()?)
}
