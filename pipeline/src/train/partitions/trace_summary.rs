//! What a training needs to know of a trace before it is read.

use crate::PipelineError;
use crate::traces::LabelledTrace;
use dropcast_data::{EventColumns, FileKind, TraceMeta, describe};
use dropcast_features::FeatureSet;
use dropcast_train::DataOrigin;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What a trace file says of itself, and the hash of its content.
///
/// Whoever can read the file can make it: hashing takes as long as reading, so an engine lets one
/// worker summarize each file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSummary {
    /// Where workers find it.
    pub path: PathBuf,
    /// What models record of it.
    pub origin: DataOrigin,
    /// What it says of itself.
    pub meta: TraceMeta,
    /// Number of rows; none if only reading shows it.
    pub rows: Option<u64>,
}

impl TraceSummary {
    /// Reads the footer of a trace with these features, and hashes the file.
    ///
    /// # Errors
    /// If it is not a trace, or lacks a feature.
    pub fn read(path: &Path, features: &FeatureSet) -> Result<Self, PipelineError> {
        let names = features.names();
        let LabelledTrace { origin, meta, .. } = LabelledTrace::open(path, &names)?;
        let rows = match describe(path, &EventColumns::default())? {
            FileKind::Trace { table, .. } => table.rows,
            _ => None,
        };
        Ok(TraceSummary { path: path.to_owned(), origin, meta, rows })
    }

    /// The trace; if `rows` are given, only these.
    pub(crate) fn open(&self, rows: Option<Range<u64>>) -> LabelledTrace {
        let row_count = rows.as_ref().map_or(self.rows, |rows| Some(rows.end - rows.start));
        let (path, origin, meta) = (self.path.clone(), self.origin.clone(), self.meta.clone());
        let mut trace = LabelledTrace::in_file(path, origin, meta, rows);
        trace.row_count = row_count;
        trace
    }
}
