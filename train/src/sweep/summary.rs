//! Summaries of configurations over their seeds.

use super::{FrontRule, Spread, SpreadScores, SweepRow, SweepScores, SweepSummary};
use dropcast_forest::ScoreRange;

/// The places of the rows that stand for configurations, whose `seeds` rows are adjacent.
pub(crate) fn medians(front: FrontRule, rows: &[SweepRow], seeds: usize) -> Vec<usize> {
    let seeds = seeds.max(1);
    let of = |(nth, rows): (usize, &[SweepRow])| Some(nth * seeds + front.median(rows)?);
    rows.chunks(seeds).enumerate().filter_map(of).collect()
}

/// Summaries of rows in the order of the axes: the `seeds` rows of one configuration are adjacent; `medians` stand for
/// them, and `best` is the place of the best of these.
pub(crate) fn summaries(
    front: FrontRule,
    rows: &[SweepRow],
    medians: &[usize],
    (seeds, best): (usize, Option<usize>),
) -> Vec<SweepSummary> {
    let seeds = seeds.max(1);
    let best = best.and_then(|at| rows.chunks(seeds).nth(at / seeds));
    let of = |(own, &row): (&[SweepRow], &usize)| {
        let within_noise = best.is_some_and(|best| front.is_within_noise(own, best));
        summary(own, row, within_noise)
    };
    rows.chunks(seeds).zip(medians).filter_map(of).collect()
}

fn summary(rows: &[SweepRow], row: usize, within_noise: bool) -> Option<SweepSummary> {
    let first = rows.first()?;
    let size = |of: &dyn Fn(&SweepRow) -> Option<u64>| {
        spread(rows.iter().map(|row| of(row).map(|size| size as f64)))
    };
    Some(SweepSummary {
        setting: first.setting.clone(),
        seeds: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        row,
        within_noise,
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
    /// Range, mean and standard deviation of `values`; `None` if there are none.
    pub fn measure(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let ScoreRange { lowest, median, highest } = ScoreRange::measure(values.to_vec())?;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Some(Spread { lowest, median, highest, mean, sd })
    }
}

fn spread(values: impl Iterator<Item = Option<f64>>) -> Option<Spread> {
    Spread::measure(&values.collect::<Option<Vec<f64>>>()?)
}
