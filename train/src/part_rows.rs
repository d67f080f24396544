//! The rows that a split keeps for one purpose, to measure a model on rows it has not seen.

use crate::row_numbers::RowNumbers;
use crate::source::{Batches, RunRows};
use crate::split::{RunTimes, SplitPlan};
use crate::{BatchSource, Part, RunBatch, Split, TrainError};

/// Reads `source` again and yields, batch by batch, only the rows that `split` with `seed` gives
/// to `part`. The same rows that [`crate::fit`] trains or tests on.
///
/// # Errors
/// Those of the source, and [`TrainError::NoTimes`] for a split by time of rows without times.
pub fn rows_of_part<'a, S: BatchSource + ?Sized>(
    source: &'a S,
    features: usize,
    split: &'a Split,
    seed: u64,
    part: Part,
) -> Result<impl Iterator<Item = Result<RunBatch, TrainError>> + 'a, TrainError> {
    let times = RunTimes::read(source, features, split)?;
    Ok(PartRows {
        batches: source.batches().map_err(TrainError::source)?,
        plan: SplitPlan::new(split, seed, times),
        numbers: RowNumbers::default(),
        features,
        part,
    })
}

struct PartRows<'a, E> {
    batches: Batches<'a, E>,
    plan: SplitPlan<'a>,
    numbers: RowNumbers,
    features: usize,
    part: Part,
}

impl<E: std::error::Error + Send + Sync + 'static> PartRows<'_, E> {
    fn select(&mut self, batch: Result<RunBatch, E>) -> Result<RunBatch, TrainError> {
        let mut batch = batch.map_err(TrainError::source)?;
        let rows = RunRows::from(&batch);
        rows.check(self.features)?;
        let parts = self.plan.parts(&rows, &self.numbers.number(&rows))?;
        let keep: Vec<bool> = (0..rows.len()).map(|at| parts.of(at) == self.part).collect();
        batch.batch.retain(&keep);
        Ok(batch)
    }
}

impl<E: std::error::Error + Send + Sync + 'static> Iterator for PartRows<'_, E> {
    type Item = Result<RunBatch, TrainError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(self.select(batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::LabelledBatch;

    #[test]
    fn the_parts_of_a_split_are_all_rows_once() {
        let mut batch = LabelledBatch::with_arrivals(1);
        if let Some(arrivals) = &mut batch.arrivals {
            arrivals.time_ns = (0..100).collect();
            arrivals.switch_id = (0..100).map(|row| row / 30).collect();
        }
        batch.features = vec![(0..100).collect()];
        batch.drop = (0..100).map(|row| row % 7 == 0).collect();
        let source = [RunBatch { run: 9, batch }];
        for split in [Split::time(), Split::time_blocks(), Split::random(), Split::None] {
            let mut values = Vec::new();
            for part in [Part::Train, Part::Validation, Part::Test, Part::Gap] {
                for rows in rows_of_part(&source[..], 1, &split, 3, part).unwrap() {
                    let rows = rows.unwrap().batch;
                    assert_eq!(rows.arrivals.as_ref().unwrap().time_ns.len(), rows.len());
                    assert!(rows.features[0].iter().all(|v| {
                        let at = rows.features[0].iter().position(|w| w == v).unwrap();
                        rows.drop[at] == (v % 7 == 0)
                    }));
                    values.extend(rows.features[0].clone());
                }
            }
            values.sort_unstable();
            assert_eq!(values, (0..100).collect::<Vec<u32>>(), "{split:?}");
        }
    }
}
