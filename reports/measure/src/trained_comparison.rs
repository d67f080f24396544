//! The one comparison that predicts the drops of training rows best: the simplest rival of a forest.

use super::verdict::{COMPARED, above};
use dropcast_forest::{Confusion, Forest};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_train::{Part, ReplayRows, Split, rows_to_replay};

/// The comparison with the highest F1 on the rows that are not for testing: it takes no replay, so one that a replay chooses may
/// transmit more.
pub(super) struct TrainedComparison {
    pub(super) feature: &'static str,
    /// A drop is predicted above this, per mille of the buffer.
    pub(super) threshold_permille: u32,
    /// As a forest.
    pub(super) forest: Forest,
}

/// A level that is compared.
struct Level {
    feature: &'static str,
    column: usize,
    thresholds_permille: &'static [u32],
    thresholds_bytes: Vec<u32>,
    /// Rows, accepted and dropped, by how many thresholds they are above.
    counts: Vec<[u64; 2]>,
}

impl TrainedComparison {
    /// None if no level is among the features of the traces, the buffer is not known, or nothing is dropped.
    pub(super) fn find(
        traces: &LabelledTraces,
        split: &Split,
        seed: u64,
    ) -> Result<Option<Self>, PipelineError> {
        let names = traces.features().names();
        let Some(buffer_bytes) = traces.switch_context().buffer_bytes else { return Ok(None) };
        let level = |(feature, thresholds_permille): (&'static str, &'static [u32])| {
            let bytes = |&permille: &u32| u64::from(buffer_bytes) * u64::from(permille) / 1_000;
            let bytes = thresholds_permille.iter().map(bytes);
            Some(Level {
                feature,
                column: names.iter().position(|name| name == feature)?,
                thresholds_permille,
                thresholds_bytes: bytes.map(|of| u32::try_from(of).unwrap_or(u32::MAX)).collect(),
                counts: vec![[0; 2]; thresholds_permille.len() + 1],
            })
        };
        let mut levels: Vec<Level> = COMPARED.into_iter().filter_map(level).collect();
        if levels.is_empty() {
            return Ok(None);
        }
        for one in traces.one_by_one() {
            let parts = vec![Part::Train, Part::Validation];
            for rows in rows_to_replay(&one, names.len(), split, seed, parts)? {
                let ReplayRows { rows, are_of_part, .. } = rows?;
                for level in &mut levels {
                    level.count(&rows.batch.features[level.column], &rows.batch.drop, &are_of_part);
                }
            }
        }
        let tried = levels.iter().flat_map(Level::scores);
        let tried =
            tried.filter_map(|(level, place, confusion)| Some((confusion.f1()?, level, place)));
        let best = tried.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(f1, ..)| *f1 > 0.0);
        Ok(best.map(|(_, level, place)| TrainedComparison {
            feature: level.feature,
            threshold_permille: level.thresholds_permille[place],
            forest: above(level.feature, level.thresholds_bytes[place]),
        }))
    }
}

impl Level {
    fn count(&mut self, values: &[u32], drops: &[bool], are_counted: &[bool]) {
        let lowest = self.thresholds_bytes.first().copied().unwrap_or_default();
        for ((&value, &drop), &is_counted) in values.iter().zip(drops).zip(are_counted) {
            // Most rows are below all of them.
            let above = match value > lowest {
                true => self.thresholds_bytes.partition_point(|bytes| *bytes < value),
                false => 0,
            };
            self.counts[above][usize::from(drop)] += u64::from(is_counted);
        }
    }

    /// Of each threshold, by its place.
    fn scores(&self) -> impl Iterator<Item = (&Level, usize, Confusion)> {
        let sum = |counts: &[[u64; 2]]| {
            counts.iter().fold([0, 0], |[a, d], [accepts, drops]| [a + accepts, d + drops])
        };
        (0..self.thresholds_bytes.len()).map(move |place| {
            let (below, above) = self.counts.split_at(place + 1);
            let ([tn, fn_], [fp, tp]) = (sum(below), sum(above));
            (self, place, Confusion { tp, fp, tn, fn_ })
        })
    }
}
