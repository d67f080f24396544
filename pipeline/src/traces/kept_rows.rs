//! Rows of open traces that are kept in memory, so that a training reads them once.

use crate::PipelineError;
use crate::progress::{Progress, check};
use dropcast_data::{DataError, LabelledBatch};
use dropcast_train::{BatchSource, Batches, RunBatch, RunRows};
use std::sync::Arc;

/// A source whose rows are counted as they are read.
pub(crate) struct Counted<'a, S> {
    pub(crate) source: &'a S,
    pub(crate) progress: &'a dyn Progress,
}

impl<S: BatchSource<Error = DataError>> BatchSource for Counted<'_, S> {
    type Error = DataError;

    fn batches(&self) -> Result<Batches<'_, DataError>, DataError> {
        self.progress.restart();
        let count = |batch: &Result<RunBatch, DataError>| {
            self.progress.advance(batch.as_ref().map_or(0, |batch| batch.batch.len()));
            // Whoever reads asks why there was no more.
            !self.progress.is_cancelled()
        };
        Ok(Box::new(self.source.batches()?.take_while(count)))
    }

    fn lent(&self) -> Option<Vec<RunRows<'_>>> {
        let lent = self.source.lent()?;
        self.progress.restart();
        self.progress.advance(lent.iter().map(RunRows::len).sum());
        Some(lent)
    }
}

/// The rows of each trace, if they take no more than `most_bytes` together. `rows` is their number, if
/// it is known: what cannot fit is not read.
///
/// # Errors
/// If they cannot be read, or the work is cancelled.
pub(crate) fn keep_rows<S: BatchSource<Error = DataError>>(
    traces: impl Iterator<Item = S>,
    rows: Option<u64>,
    most_bytes: usize,
    progress: &dyn Progress,
) -> Result<Option<Vec<Arc<Vec<RunBatch>>>>, PipelineError> {
    let (mut kept, mut bytes) = (Vec::new(), 0);
    let mut rows_left = rows.map_or(0, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
    for one in traces {
        let mut batches = Vec::new();
        for batch in (Counted { source: &one, progress }).batches()? {
            let batch = batch?;
            let of_batch = bytes_of(&batch.batch);
            bytes += of_batch;
            rows_left = rows_left.saturating_sub(batch.batch.len());
            let of_rest = (of_batch / batch.batch.len().max(1)).saturating_mul(rows_left);
            if bytes.saturating_add(of_rest) > most_bytes {
                return Ok(None);
            }
            batches.push(batch);
        }
        check(progress)?;
        kept.push(Arc::new(batches));
    }
    Ok(Some(kept))
}

/// What the columns of a batch take.
fn bytes_of(batch: &LabelledBatch) -> usize {
    let LabelledBatch { arrivals, features, drop, outcome, real_drop, ecn_mark } = batch;
    let arrival = arrivals.as_ref().map_or(0, |arrivals| {
        // Time, switch, port, queue and size; its flow and whether it is of the first round trip.
        8 + 2 + 2 + 1 + 4 + if arrivals.flows.is_some() { 8 + 1 } else { 0 }
    });
    let marks = [outcome.is_some(), real_drop.is_some(), ecn_mark.is_some()];
    let marks = marks.into_iter().filter(|is_there| *is_there).count();
    drop.len() * (1 + arrival + marks + 4 * features.len())
}
