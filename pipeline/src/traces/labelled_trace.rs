//! One labelled trace that is open.

use super::rows_digest::RowsDigest;
use crate::PipelineError;
use crate::files::trace_files;
use dropcast_data::{
    DataError, Frame, InputProvenance, Label, LabelledBatch, RowOrder, SwitchSpec, SwitchSpecs,
    TraceMeta, TraceReader, check_regular,
};
use dropcast_features::FeatureSet;
use dropcast_train::DataOrigin;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the rows of a trace come from: a file, memory, or whatever implements this.
pub trait TraceRows: fmt::Debug + Send + Sync {
    /// One pass over the rows, from the first, with the columns of `features`.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError>;
}

/// One pass over the rows of a trace.
pub trait TraceBatches: Iterator<Item = Result<LabelledBatch, DataError>> {
    /// What was read, once the iterator has ended.
    fn provenance(&self) -> InputProvenance;
}

impl TraceBatches for TraceReader {
    fn provenance(&self) -> InputProvenance {
        TraceReader::provenance(self)
    }
}

/// One labelled trace.
#[derive(Clone, Debug)]
pub struct LabelledTrace {
    /// What errors call it: its path, if it is a file.
    pub name: String,
    /// What models record of it.
    pub origin: DataOrigin,
    /// What it says of itself.
    pub meta: TraceMeta,
    rows: Arc<dyn TraceRows>,
    /// Number of rows, if it is known.
    pub(crate) row_count: Option<u64>,
    /// What was read of it, once it has been read to its end.
    pub(super) read: Arc<Mutex<InputProvenance>>,
}

impl LabelledTrace {
    /// A trace whose rows come from `rows`. `name` is what errors call it.
    pub fn new(
        name: impl Into<String>,
        origin: DataOrigin,
        meta: TraceMeta,
        rows: Arc<dyn TraceRows>,
    ) -> Self {
        let (name, read) = (name.into(), Arc::default());
        LabelledTrace { name, origin, meta, rows, row_count: None, read }
    }

    /// Opens trace files, and those in folders, which must have these features.
    ///
    /// # Errors
    /// If one cannot be read or lacks a feature, or a folder holds none.
    pub fn open_all(paths: &[PathBuf], features: &[String]) -> Result<Vec<Self>, PipelineError> {
        trace_files(paths)?.iter().map(|path| LabelledTrace::open(path, features)).collect()
    }

    /// Opens a trace file, which must have these features.
    ///
    /// # Errors
    /// If it cannot be read, or lacks one.
    pub fn open(path: &Path, features: &[String]) -> Result<Self, PipelineError> {
        if path.as_os_str() == "-" {
            let problem = "labelled traces are read several times; save standard input in a file";
            return Err(PipelineError::unfit("standard input", problem));
        }
        check_regular(path)?;
        let meta = TraceReader::read_meta(path, features)?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let (origin, rows) = identify(name, TraceReader::open(path, &[])?)?;
        let trace = LabelledTrace::in_file(path.to_owned(), origin, meta, None);
        Ok(LabelledTrace { row_count: Some(rows), ..trace })
    }

    /// A trace whose rows are in a file; if `rows` are given, only these.
    pub(crate) fn in_file(
        path: PathBuf,
        origin: DataOrigin,
        meta: TraceMeta,
        rows: Option<Range<u64>>,
    ) -> Self {
        let (name, sha256) = (path.display().to_string(), origin.sha256.clone());
        LabelledTrace::new(name, origin, meta, Arc::new(TraceFile { path, sha256, rows }))
    }

    /// A trace whose rows are a frame. `switches` describes its switches, if it does not.
    ///
    /// # Errors
    /// If it is not a labelled trace.
    pub fn of_frame(frame: Frame, switches: Option<SwitchSpecs>) -> Result<Self, PipelineError> {
        let reader = TraceReader::of_frame(&frame, switches.as_ref(), &[])?;
        let (name, meta) = (frame.name().to_owned(), reader.meta().clone());
        let (origin, rows) = identify(name.clone(), reader)?;
        let trace =
            LabelledTrace::new(name, origin, meta, Arc::new(TraceFrame { frame, switches }));
        Ok(LabelledTrace { row_count: Some(rows), ..trace })
    }

    /// One pass over its rows as they are, with the columns of `features`.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        self.rows.read(features)
    }

    /// What its labels are of; LQD's if it does not say.
    pub fn label(&self) -> Label {
        self.meta.collect.unwrap_or_default().label
    }

    /// Refuses labels that are not LQD's, where numbers are called so.
    ///
    /// # Errors
    /// If they are the optimum's, or of flows.
    pub fn check_label(&self) -> Result<(), PipelineError> {
        let problem = match self.label() {
            Label::Lqd => return Ok(()),
            Label::Opt => {
                "has the optimum's drops as labels, so what LQD drops is not known; train on it, and \
                 measure on a trace that is collected without --label opt"
            }
            Label::Follows => {
                "says which packets are followed, not what LQD drops; train on it, and measure on a \
                 trace that is collected without --label follows"
            }
        };
        Err(PipelineError::unfit(&self.name, problem))
    }

    /// Refuses features of flows for labels that are not, and the reverse: no policy asks such a model.
    pub(super) fn check_flows(&self, features: &FeatureSet) -> Result<(), PipelineError> {
        let problem = match (self.label(), features.looks_at_flows()) {
            (Label::Follows, true) | (Label::Lqd | Label::Opt, false) => return Ok(()),
            (Label::Follows, false) if features.is_empty() => return Ok(()),
            (Label::Follows, false) => {
                "says which packets are followed, which only features of flows can predict; choose flow11, or collect \
                 without --label follows"
            }
            (Label::Lqd | Label::Opt, true) => {
                "does not say which packets are followed, while features of flows predict that; collect with --label \
                 follows, or choose other features"
            }
        };
        Err(PipelineError::unfit(&self.name, problem))
    }

    /// Whether it has what a replay of its arrivals needs.
    pub fn is_replayable(&self) -> bool {
        self.meta.order != RowOrder::Departure && self.meta.switches.is_some()
    }

    /// What was read of it, once it has been read to its end.
    pub fn provenance(&self) -> InputProvenance {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The switches that it describes.
    pub fn specs(&self) -> impl Iterator<Item = &SwitchSpec> {
        self.meta.switches.iter().flat_map(SwitchSpecs::all)
    }
}

/// Reads a trace to its end: what models record of it, and its number of rows.
fn identify(name: String, mut reader: TraceReader) -> Result<(DataOrigin, u64), DataError> {
    let mut digest = RowsDigest::default();
    for batch in &mut reader {
        digest.add(&batch?);
    }
    let sha256 = reader.provenance().sha256;
    Ok((DataOrigin { name, sha256, run: digest.run() }, digest.rows()))
}

/// A trace in a file.
#[derive(Debug)]
struct TraceFile {
    path: PathBuf,
    sha256: String,
    /// All, if none are given.
    rows: Option<Range<u64>>,
}

impl TraceRows for TraceFile {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        // Of some rows there is no hash to compare.
        let batches = match self.rows.clone() {
            None => TraceReader::open(&self.path, features)?,
            Some(rows) => TraceReader::open_rows(&self.path, features, rows)?,
        };
        Ok(Box::new(SameFile { file: self, batches, ended: false }))
    }
}

/// The batches of a file, which must still be what it was when it was opened: the rows of each
/// reading are taken together.
struct SameFile<'a> {
    file: &'a TraceFile,
    batches: TraceReader,
    ended: bool,
}

impl Iterator for SameFile<'_> {
    type Item = Result<LabelledBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.batches.next() {
            return Some(batch);
        }
        // Empty after an error.
        let sha256 = self.batches.provenance().sha256;
        let changed = !sha256.is_empty() && sha256 != self.file.sha256;
        if !changed || std::mem::replace(&mut self.ended, true) {
            return None;
        }
        Some(Err(DataError::File {
            file: self.file.path.display().to_string(),
            problem: "changed while it was read".to_owned(),
            hint: "start again, and leave it alone meanwhile".to_owned(),
        }))
    }
}

impl TraceBatches for SameFile<'_> {
    fn provenance(&self) -> InputProvenance {
        self.batches.provenance()
    }
}

/// A trace in memory.
#[derive(Debug)]
struct TraceFrame {
    frame: Frame,
    switches: Option<SwitchSpecs>,
}

impl TraceRows for TraceFrame {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        Ok(Box::new(TraceReader::of_frame(&self.frame, self.switches.as_ref(), features)?))
    }
}
