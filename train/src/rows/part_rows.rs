//! The rows of one part of a split, to measure a model on rows it has not seen.

use crate::row_numbers::RowNumbers;
use crate::source::RunRows;
use crate::splits::{RunTimes, SplitPlan};
use crate::{BatchSource, Part, RunBatch, Split, TrainError};
use std::borrow::Cow;

/// Reads `source` again and yields, batch by batch, only the rows that `split` with `seed` gives
/// to `part`. [`crate::fit`] trains and tests on the same rows.
///
/// # Errors
/// Those of the source, and [`TrainError::NoTimes`] for a split by time if rows have no times.
pub fn rows_of_part<'a, S: BatchSource + ?Sized>(
    source: &'a S,
    features: usize,
    split: &'a Split,
    seed: u64,
    part: Part,
) -> Result<impl Iterator<Item = Result<RunBatch, TrainError>> + 'a, TrainError> {
    let marked = marked_rows(source, features, split, seed, vec![part])?;
    Ok(marked.map(|marked| {
        let ReplayRows { rows, are_of_part, .. } = marked?;
        let mut rows = rows.into_owned();
        rows.batch.retain(&are_of_part);
        Ok(rows)
    }))
}

/// Rows of a run, some of which belong to the replayed parts.
#[derive(Clone, Debug)]
pub struct ReplayRows<'a> {
    /// The rows; borrowed if the source has them in memory.
    pub rows: Cow<'a, RunBatch>,
    /// Whether each belongs to one of the parts.
    pub are_of_part: Vec<bool>,
    /// Whether later rows may.
    pub goes_on: bool,
}

/// As [`rows_of_part`], of some parts together, but with all arrivals at the same switches: a replay of the part alone
/// would start each stretch with empty buffers, and drop different packets than the labels say.
///
/// # Errors
/// Those of [`rows_of_part`].
pub fn rows_to_replay<'a, S: BatchSource + ?Sized>(
    source: &'a S,
    features: usize,
    split: &'a Split,
    seed: u64,
    parts: Vec<Part>,
) -> Result<impl Iterator<Item = Result<ReplayRows<'a>, TrainError>> + 'a, TrainError> {
    let marked = marked_rows(source, features, split, seed, parts.clone())?;
    Ok(marked.map(move |marked| {
        let mut marked = marked?;
        if let Some(arrivals) = &marked.rows.batch.arrivals {
            let part_of = |switch| split.part_of_switch(marked.rows.run, switch);
            let mut keep = Vec::with_capacity(marked.are_of_part.len());
            for same in arrivals.switch_id.chunk_by(|a, b| a == b) {
                let is_kept = part_of(same[0]).is_none_or(|of| parts.contains(&of));
                keep.extend(std::iter::repeat_n(is_kept, same.len()));
            }
            if keep.contains(&false) {
                let mut flags = keep.iter();
                marked.are_of_part.retain(|_| flags.next().copied().unwrap_or(false));
                marked.rows.to_mut().batch.retain(&keep);
            }
        }
        Ok(marked)
    }))
}

/// All rows, and whether each belongs to the part.
fn marked_rows<'a, S: BatchSource + ?Sized>(
    source: &'a S,
    features: usize,
    split: &'a Split,
    seed: u64,
    parts: Vec<Part>,
) -> Result<impl Iterator<Item = Result<ReplayRows<'a>, TrainError>> + 'a, TrainError> {
    let times = RunTimes::read(source, features, split)?;
    let plan = SplitPlan::new(split, seed, times);
    let mut numbers = RowNumbers::default();
    let mut mark = move |batch: &RunBatch| {
        let rows = RunRows::from(batch);
        rows.check(features)?;
        let numbers = if plan.needs_numbers() { numbers.number(&rows) } else { Vec::new() };
        Ok(plan.parts(&rows, &numbers)?.are(&parts, rows.len()))
    };
    let (mut kept, mut read) = (None, None);
    match source.kept() {
        Some(batches) => {
            let marks = batches.iter().map(|batch| mark(batch));
            let marks: Vec<Vec<bool>> = marks.collect::<Result<_, TrainError>>()?;
            let last = marks.iter().rposition(|of_part| of_part.contains(&true));
            kept = Some(batches.into_iter().zip(marks).enumerate().map(
                move |(at, (batch, are_of_part))| {
                    let goes_on = last.is_some_and(|last| at < last);
                    Ok(ReplayRows { rows: Cow::Borrowed(batch), are_of_part, goes_on })
                },
            ));
        }
        None => {
            let batches = source.batches().map_err(TrainError::source)?;
            read = Some(batches.map(move |batch| {
                let batch = batch.map_err(TrainError::source)?;
                let are_of_part = mark(&batch)?;
                Ok(ReplayRows { rows: Cow::Owned(batch), are_of_part, goes_on: true })
            }));
        }
    }
    Ok(kept.into_iter().flatten().chain(read.into_iter().flatten()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::LabelledBatch;

    /// A hundred rows, one per nanosecond; the switches take turns for 30 rows.
    fn source() -> [RunBatch; 1] {
        let mut batch = LabelledBatch::with_arrivals(1);
        if let Some(arrivals) = &mut batch.arrivals {
            arrivals.time_ns = (0..100).collect();
            arrivals.switch_id = (0..100).map(|row| row / 30).collect();
        }
        batch.features = vec![(0..100).collect()];
        batch.drop = (0..100).map(|row| row % 7 == 0).collect();
        [RunBatch { run: 9, batch }]
    }

    #[test]
    fn what_is_replayed_is_a_part_and_all_at_its_switches() {
        let source = source();
        let switches = vec![(9, 0), (9, 2)];
        let only = Split::Only { switches: switches.clone(), of: Box::new(Split::time_blocks()) };
        let apart = Split::Switches { test: vec![1], validation: vec![2] };
        for split in [Split::None, Split::time(), Split::time_blocks(), only, apart] {
            for part in [Part::Train, Part::Validation, Part::Test] {
                let rows = rows_of_part(&source[..], 1, &split, 3, part).unwrap();
                let own: Vec<u32> =
                    rows.flat_map(|rows| rows.unwrap().batch.features[0].clone()).collect();
                let rows = rows_to_replay(&source[..], 1, &split, 3, vec![part]).unwrap();
                let rows: Vec<(u32, bool)> = rows
                    .flat_map(|rows| {
                        let ReplayRows { rows, are_of_part, .. } = rows.unwrap();
                        assert_eq!(rows.batch.len(), are_of_part.len());
                        rows.batch.features[0].clone().into_iter().zip(are_of_part)
                    })
                    .collect();
                let counted = rows.iter().filter(|row| row.1).map(|row| row.0);
                assert!(counted.eq(own.iter().copied()), "{split:?} {part:?}");
                let at_switches = |row: &u32| match &split {
                    Split::Only { .. } => switches.contains(&(9, *row as u16 / 30)),
                    Split::Switches { .. } | Split::None => own.contains(row),
                    _ => true,
                };
                let all = (0..100).filter(at_switches);
                assert!(all.eq(rows.iter().map(|row| row.0)), "{split:?} {part:?}");
            }
        }
    }

    /// Batches that are in memory are lent, and say which is the last of the part.
    #[test]
    fn kept_rows_are_borrowed_and_end() {
        let [whole] = source();
        let pieces: Vec<RunBatch> = (0..10)
            .map(|piece| {
                let mut batch = whole.clone();
                let keep: Vec<bool> = (0..100).map(|row| row / 10 == piece).collect();
                batch.batch.retain(&keep);
                batch
            })
            .collect();
        let split = Split::time();
        for (part, last) in [(Part::Train, 5), (Part::Validation, 0), (Part::Test, 9)] {
            let rows = rows_to_replay(&pieces[..], 1, &split, 3, vec![part]).unwrap();
            for (piece, rows) in rows.map(Result::unwrap).enumerate() {
                assert!(matches!(rows.rows, Cow::Borrowed(_)));
                assert_eq!(rows.goes_on, piece < last, "{part:?} {piece}");
            }
        }
    }

    #[test]
    fn the_parts_of_a_split_are_all_rows_once() {
        let source = source();
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
