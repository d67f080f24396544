//! What files are.

use crate::{SwitchSpecs, TraceMeta};

/// What a file is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FileKind {
    /// Packet events in Parquet or Arrow IPC.
    EventTable {
        /// Its columns and size.
        table: TableShape,
        /// The switches, where the footer describes them.
        switches: Option<Box<SwitchSpecs>>,
    },
    /// Packet events in text.
    EventCsv {
        /// Names of the columns.
        columns: Vec<String>,
    },
    /// Packet events that are no table.
    EventStream {
        /// The format, in words.
        format: &'static str,
        /// The page that documents it.
        page: &'static str,
    },
    /// Packets of a capture.
    Capture {
        /// Its format and how exact its times are, in words.
        format: &'static str,
    },
    /// A labelled trace in Parquet or Arrow IPC.
    Trace {
        /// Its columns and size.
        table: TableShape,
        /// Whether it has metadata; if not, `meta` is what its columns show.
        own: bool,
        /// Its metadata.
        meta: Box<TraceMeta>,
    },
    /// A labelled trace in the Credence artifact's CSV.
    ArtifactCsv {
        /// Names of the columns.
        columns: Vec<String>,
    },
    /// A table with columns that are neither events nor labels.
    OtherTable {
        /// Its columns and size.
        table: TableShape,
    },
    /// Something else.
    Unknown {
        /// Why it is no table of events, in words.
        problem: String,
    },
}

/// Columns and size of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Number of rows; unknown of Arrow IPC, which has no count.
    pub rows: Option<u64>,
}
