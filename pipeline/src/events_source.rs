//! Where events come from.

use dropcast_data::{DataError, EventBatch, EventFiles, EventReader, InputProvenance};

/// Where events come from.
pub trait Events: Iterator<Item = Result<EventBatch, DataError>> {
    /// What was read of each input, once the iterator has ended.
    fn inputs(&self) -> Vec<InputProvenance>;
}

impl Events for EventReader {
    fn inputs(&self) -> Vec<InputProvenance> {
        vec![self.provenance()]
    }
}

impl Events for EventFiles {
    fn inputs(&self) -> Vec<InputProvenance> {
        self.provenance()
    }
}
