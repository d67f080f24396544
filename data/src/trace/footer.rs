//! The metadata in the footer of a labelled trace.

use crate::table::Table;
use crate::trace_meta::TRACE_SCHEMA_VERSION;
use crate::{DataError, TraceMeta};

/// Footer key of a labelled trace: its [`TraceMeta`], as JSON.
pub(crate) const TRACE_KEY: &str = "dropcast.trace";

/// The metadata of a table, if it is a labelled trace written by dropcast.
pub(crate) fn meta_in_footer(file: &str, table: &Table) -> Result<Option<TraceMeta>, DataError> {
    let Some(text) = table.metadata(TRACE_KEY) else { return Ok(None) };
    let broken = |source| DataError::Footer { file: file.to_owned(), source };
    let json: serde_json::Value = serde_json::from_str(text).map_err(broken)?;
    // The version first: this program may not understand the rest of a later version.
    let version = json.get("schema_version").and_then(serde_json::Value::as_u64);
    if let Some(version) = version.filter(|&version| version > u64::from(TRACE_SCHEMA_VERSION)) {
        return Err(DataError::NewerVersion { file: file.to_owned(), version });
    }
    serde_json::from_value(json).map(Some).map_err(broken)
}
