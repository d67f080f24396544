//! The record batches of Arrow IPC, all columns.

use super::arrow_file::ArrowFile;
use super::arrow_stream::ArrowStream;
use super::batch::BATCH_ROWS;
use crate::DataError;
use arrow_array::RecordBatch;

/// Batches that are read from front to back.
pub(crate) struct ArrowBatches {
    input: ArrowInput,
    /// What is left of a batch of more than [`BATCH_ROWS`] rows.
    rest: Option<RecordBatch>,
}

/// Where batches are read from.
pub(crate) enum ArrowInput {
    Stream(ArrowStream),
    File(ArrowFile),
}

impl ArrowBatches {
    pub(crate) fn new(input: ArrowInput) -> Self {
        ArrowBatches { input, rest: None }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let batch = loop {
            let next = match (self.rest.take(), &mut self.input) {
                (None, ArrowInput::Stream(stream)) => stream.next()?,
                (None, ArrowInput::File(file)) => file.next()?,
                (rest, _) => rest,
            };
            match next {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => break batch,
                None => return Ok(None),
            }
        };
        let rows = batch.num_rows().min(BATCH_ROWS);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }

    /// The hash of the input, to its end.
    pub(crate) fn hash(&mut self) -> Result<String, DataError> {
        match &mut self.input {
            ArrowInput::Stream(stream) => stream.hash(),
            ArrowInput::File(file) => file.hash(),
        }
    }
}
