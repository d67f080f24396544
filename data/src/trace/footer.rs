//! The metadata in the footer of a labelled trace.

use crate::small_file::{caps, check_size};
use crate::table::Table;
use crate::trace_meta::TRACE_SCHEMA_VERSION;
use crate::{DataError, TraceMeta};
use serde::Deserialize;

/// Footer key of a labelled trace: its [`TraceMeta`], as JSON.
pub(crate) const TRACE_KEY: &str = "dropcast.trace";

/// What is read first: this program may not understand the rest of a later version.
#[derive(Deserialize)]
struct Version {
    schema_version: u64,
}

/// The metadata of a table, if it is a labelled trace written by dropcast.
pub(crate) fn meta_in_footer(file: &str, table: &Table) -> Result<Option<TraceMeta>, DataError> {
    let Some(text) = table.metadata(TRACE_KEY) else { return Ok(None) };
    let broken = |source| DataError::Footer { file: file.to_owned(), source };
    check_size(file, TRACE_KEY, text, caps::TRACE_META)?;
    let Version { schema_version: version } = serde_json::from_str(text).map_err(broken)?;
    if version > u64::from(TRACE_SCHEMA_VERSION) {
        return Err(DataError::NewerVersion { file: file.to_owned(), version });
    }
    serde_json::from_str(text).map(Some).map_err(broken)
}
