//! The metadata in the footer of a labelled trace.

use crate::TRACE_SCHEMA_VERSION;
use crate::io::{caps, check_size};
use crate::tables::Table;
use crate::{DataError, Pause, SwitchSpec, SwitchSpecs, TraceMeta};
use serde::Deserialize;

/// Footer key of a labelled trace: its [`TraceMeta`], as JSON.
pub(crate) const TRACE_KEY: &str = "dropcast.trace";

/// What is read first: this program may not understand the rest of another version.
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
    if version != u64::from(TRACE_SCHEMA_VERSION) {
        return Err(DataError::OtherVersion { file: file.to_owned(), version });
    }
    let meta: TraceMeta = serde_json::from_str(text).map_err(broken)?;
    match meta.pauses.iter().find(|pause| !can_be(pause, meta.switches.as_ref())) {
        None => Ok(Some(meta)),
        Some(pause) => {
            let problem = format!("its {TRACE_KEY} has a pause that cannot be: {pause:?}");
            Err(DataError::file(file, problem, "it is damaged, make or copy it again"))
        }
    }
}

/// Whether a pause takes time, at a queue that its switch has.
fn can_be(pause: &Pause, switches: Option<&SwitchSpecs>) -> bool {
    let &Pause { from_ns, until_ns, switch_id, port, queue } = pause;
    let has_queue = |specs: &SwitchSpecs| {
        let has =
            |spec: &SwitchSpec| usize::from(port) < spec.ports() && queue < spec.queues_per_port;
        specs.get(switch_id).is_some_and(has)
    };
    from_ns < until_ns && switches.is_none_or(has_queue)
}
