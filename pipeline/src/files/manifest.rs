//! What a job over a folder read and wrote.

use super::whole_files::read_text;
use crate::PipelineError;
use crate::counts::Counts;
use dropcast_data::{
    DataError, InputProvenance, is_object, remove_object, sha256_file, write_atomic,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Its name in the folder of labelled traces.
pub(crate) const MANIFEST: &str = "manifest.json";

/// Version of the manifest as JSON.
pub const MANIFEST_VERSION: u32 = 1;

/// The name of every trace, in a folder of its own.
pub(crate) const PART: &str = "part-0.parquet";

/// What was read and written, by folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub format_version: u32,
    /// The program that wrote it.
    pub tool: String,
    /// What to label, and how: `dropcast collect`'s settings.
    pub collect: serde_json::Value,
    /// SHA-256 of how events are read: the switches, the columns, the unit of time, bad rows, reports of drops.
    pub reading_sha256: String,
    /// Whether the job came to its end. Until then, traces are missing.
    pub finished: bool,
    /// By folder, relative to that of the events; in order of their names.
    pub folders: BTreeMap<String, FolderEntry>,
}

/// One folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FolderEntry {
    /// What was read.
    pub inputs: Vec<InputProvenance>,
    /// What was written.
    pub traces: Vec<TraceEntry>,
}

/// One labelled trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TraceEntry {
    /// The file, relative to the manifest.
    pub file: String,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// The switch.
    pub switch_id: u16,
    /// What was counted in it.
    #[serde(flatten)]
    pub counts: Counts,
}

impl Manifest {
    /// The manifest of a folder of traces; `None` if there is none.
    ///
    /// # Errors
    /// If what is called so is none of ours.
    pub(crate) fn read(traces: &Path) -> Result<Option<Self>, PipelineError> {
        let path = traces.join(MANIFEST);
        let Ok(text) = read_text(&path) else { return Ok(None) };
        let refused = || {
            let problem =
                "is not a manifest that this version of the program wrote; choose another folder";
            PipelineError::unfit(path.display(), problem)
        };
        let found: Manifest = serde_json::from_str(&text).map_err(|_| refused())?;
        let is_ours = found.format_version == MANIFEST_VERSION;
        // What is removed later must lie in this folder.
        if !is_ours || !found.traces().all(|trace| is_trace_below(Path::new(&trace.file))) {
            return Err(refused());
        }
        Ok(Some(found))
    }

    pub(crate) fn write(&self, traces: &Path) -> Result<(), PipelineError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| PipelineError::Encode {
            what: "the manifest",
            problem: error.to_string(),
        })?;
        Ok(write_atomic(&traces.join(MANIFEST), format!("{text}\n").as_bytes())?)
    }

    /// All traces, in order of the folders' names.
    pub(crate) fn traces(&self) -> impl Iterator<Item = &TraceEntry> {
        self.folders.values().flat_map(|entry| &entry.traces)
    }

    /// Whether both are of jobs that read and label alike.
    pub(crate) fn is_like(&self, other: &Manifest) -> bool {
        self.tool == other.tool
            && self.collect == other.collect
            && self.reading_sha256 == other.reading_sha256
    }

    /// The traces that only the earlier manifest has.
    fn others<'a>(&'a self, earlier: &'a Manifest) -> impl Iterator<Item = &'a TraceEntry> {
        let is_kept = |file: &str| self.traces().any(|trace| trace.file == file);
        earlier.traces().filter(move |trace| !is_kept(&trace.file))
    }

    /// Whether the earlier manifest has traces that this one has not.
    pub(crate) fn lacks_some_of(&self, earlier: &Manifest) -> bool {
        self.others(earlier).next().is_some()
    }

    /// Removes the traces that only the earlier manifest has.
    pub(crate) fn remove_others(&self, earlier: &Manifest, traces: &Path) -> Result<(), DataError> {
        for gone in self.others(earlier) {
            let path = traces.join(&gone.file);
            if is_object(&path) {
                remove_object(&path)?;
                continue;
            }
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    let file = path.display().to_string();
                    return Err(DataError::Io { file, doing: "be removed", source });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl FolderEntry {
    /// Whether the files that were read and those that were written are as it says.
    ///
    /// The bytes of `reports` of drops, which come last, are known to be the same ([`Manifest::reading_sha256`]).
    pub(crate) fn is_unchanged(
        &self,
        inputs: &[PathBuf],
        reports: &[InputProvenance],
        traces: &Path,
    ) -> bool {
        let names =
            inputs.iter().map(|file| file.file_name().unwrap_or_default().to_string_lossy());
        let names = names.chain(reports.iter().map(|report| report.name.as_str().into()));
        let is_same = |file: &Path, hash: &str| sha256_file(file).is_ok_and(|found| found == hash);
        names.eq(self.inputs.iter().map(|input| input.name.as_str()))
            && inputs.iter().zip(&self.inputs).all(|(file, input)| is_same(file, &input.sha256))
            && self.traces.iter().all(|trace| is_same(&traces.join(&trace.file), &trace.sha256))
    }
}

/// Whether a path of a manifest can be one of its traces.
fn is_trace_below(file: &Path) -> bool {
    file.components().all(|part| matches!(part, Component::Normal(_))) && file.ends_with(PART)
}
