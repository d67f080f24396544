//! The best forest of each feature set.

use super::{FrontRule, SweepBest, SweepRow};
use dropcast_features::FeatureSet;
use std::cmp::Ordering;

/// Longer names of files are replaced by a number.
const LONGEST_NAME: usize = 100;

impl FrontRule {
    /// The best of the rows in these `places` of each feature set, in their order: the one with the best measure,
    /// of equal ones the smallest, then the first. Each is Pareto-optimal among its feature set. A
    /// set without a row that has both a size and a measure has none.
    pub fn best(&self, rows: &[SweepRow], places: &[usize]) -> Vec<SweepBest> {
        let mut sets: Vec<&[String]> = Vec::new();
        let mut best: Vec<Option<(f64, u64, usize)>> = Vec::new();
        for (at, row) in places.iter().map(|&at| (at, &rows[at])) {
            let features = row.setting.features.as_slice();
            let set = sets.iter().position(|&set| set == features).unwrap_or_else(|| {
                sets.push(features);
                best.push(None);
                sets.len() - 1
            });
            let Some((badness, entries)) = self.badness(row).zip(row.size.ternary_entries) else {
                continue;
            };
            let is_better = |&(best, fewest, _): &(f64, u64, usize)| {
                badness.total_cmp(&best).then(entries.cmp(&fewest)) == Ordering::Less
            };
            if best[set].as_ref().is_none_or(is_better) {
                best[set] = Some((badness, entries, at));
            }
        }
        let named = sets.into_iter().zip(best).enumerate();
        let found = named.filter_map(|(nth, (features, best))| {
            let (_, _, at) = best?;
            Some(SweepBest::from_row(file_name(features, nth + 1), at, &rows[at]))
        });
        found.collect()
    }
}

impl SweepBest {
    /// The forest of the row in place `at`, as it was grown.
    fn from_row(model: String, at: usize, row: &SweepRow) -> Self {
        SweepBest {
            features: row.setting.features.clone(),
            row: at,
            vote_threshold: row.vote_threshold,
            train: row.train,
            validation: row.validation,
            test: row.test,
            size: row.size,
            model,
        }
    }
}

/// Where the best model of the `nth` feature set goes.
fn file_name(features: &[String], nth: usize) -> String {
    let set = FeatureSet::try_from(features.to_vec()).ok();
    let name = match set.as_ref().and_then(FeatureSet::name) {
        Some(name) => name.to_owned(),
        None => features.join("-").replace(':', "_"),
    };
    let name = if name.len() > LONGEST_NAME { format!("set-{nth}") } else { name };
    format!("models/best-{name}.json")
}
