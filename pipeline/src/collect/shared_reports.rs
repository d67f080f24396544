//! Reports of drops that all folders of a job share.

use crate::PipelineError;
use crate::files::manifest::{FolderEntry, Manifest};
use dropcast_data::{DropReports, InputProvenance};
use std::collections::BTreeSet;
use std::path::Path;

/// The files of events of a folder, and what became of the reports in it.
pub(crate) fn parted<'a>(
    entry: &'a FolderEntry,
    drops: Option<&DropReports>,
) -> (&'a [InputProvenance], &'a [InputProvenance]) {
    let reports = drops.map_or(0, |drops| drops.inputs().len());
    entry.inputs.split_at(entry.inputs.len().saturating_sub(reports))
}

/// Refuses packets of several switches: reports do not say which of them dropped.
pub(crate) fn check_one_switch(input: &Path, manifest: &Manifest) -> Result<(), PipelineError> {
    refuse_several(input, manifest.traces().map(|trace| trace.switch_id))
}

/// Refuses more than one switch.
pub(crate) fn refuse_several<T: Ord>(
    input: &Path,
    switches: impl Iterator<Item = T>,
) -> Result<(), PipelineError> {
    if switches.collect::<BTreeSet<_>>().len() <= 1 {
        return Ok(());
    }
    let problem = "holds packets of several switches, and drop reports are of one; collect each switch's \
                   folder on its own";
    Err(PipelineError::unfit(input.display(), problem))
}
