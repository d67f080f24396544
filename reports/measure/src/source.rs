//! What a report knows about models and traces before it reads rows, and what can be wrong with
//! them.

use dropcast_data::{LabelledBatch, RowOrder, TraceMeta};
use dropcast_pipeline::ReportError;
#[cfg(doc)]
use dropcast_train::DataOrigin;

/// Where a model came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSource {
    /// File name, if it has one.
    pub name: Option<String>,
    /// SHA-256 of its file, lower-case hex.
    pub sha256: Option<String>,
}

/// A labelled trace that is about to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSource {
    /// What the report calls it.
    pub name: String,
    /// What it says of itself. Without switches in it, it is not replayed.
    pub meta: TraceMeta,
    /// Names of the features in its batches, in order: at least those of the model. Values in bytes
    /// are on the scale of the model's buffer (`dropcast_forest::scale_to_buffer`).
    pub columns: Vec<String>,
    /// The number of its rows in every random draw, if it is known ([`DataOrigin::run`]).
    pub run: Option<u64>,
    /// Whether the batches hold only the rows that the model's own split kept for testing.
    pub held_out: bool,
}

impl TraceSource {
    /// The column of each of these features.
    pub(crate) fn places_of(&self, features: &[String]) -> Result<Vec<usize>, ReportError> {
        let place = |feature: &String| {
            self.columns.iter().position(|column| column == feature).ok_or_else(|| {
                let (trace, has) = (self.name.clone(), self.columns.clone());
                ReportError::MissingFeature { trace, feature: feature.clone(), has }
            })
        };
        features.iter().map(place).collect()
    }

    /// Why it cannot be replayed, if it cannot.
    pub(crate) fn why_not_replayed(&self) -> Option<String> {
        let name = &self.name;
        if self.meta.order == RowOrder::Departure {
            return Some(format!(
                "the rows of {name} are in order of departure; a replay needs order of arrival"
            ));
        }
        let is_unknown = self.meta.switches.is_none();
        is_unknown.then(|| format!("trace {name} does not describe its switch"))
    }

    /// Refuses a batch whose columns differ in length or number.
    pub(crate) fn check(&self, batch: &LabelledBatch) -> Result<(), ReportError> {
        let rows = batch.len();
        let uneven = |problem: String| {
            Err(ReportError::UnevenBatch { trace: self.name.clone(), rows, problem })
        };
        let (columns, expected) = (batch.features.len(), self.columns.len());
        if columns != expected {
            return uneven(format!("{columns} feature columns, expected {expected}"));
        }
        let arrivals = batch.arrivals.iter().flat_map(|arrivals| {
            [
                arrivals.time_ns.len(),
                arrivals.switch_id.len(),
                arrivals.port.len(),
                arrivals.queue.len(),
                arrivals.size_bytes.len(),
            ]
        });
        let outcomes = batch.outcome.iter().map(Vec::len);
        let real_drops = batch.real_drop.iter().map(Vec::len);
        let features = batch.features.iter().map(Vec::len);
        let mut lengths = features.chain(arrivals).chain(outcomes).chain(real_drops);
        match lengths.find(|&length| length != rows) {
            Some(length) => uneven(format!("a column of {length}")),
            None => Ok(()),
        }
    }
}
