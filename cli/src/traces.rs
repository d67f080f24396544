//! Labelled traces in files, as a source to train on.

use anyhow::Context;
use dropcast_data::{DataError, InputProvenance, SwitchSpecs, TraceMeta, TraceReader, sha256_file};
use dropcast_features::FeatureSet;
use dropcast_train::{BatchSource, Batches, DataOrigin, RunBatch, SwitchContext};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// One labelled trace.
#[derive(Clone, Debug)]
pub(crate) struct TraceFile {
    pub(crate) path: PathBuf,
    pub(crate) origin: DataOrigin,
    pub(crate) meta: TraceMeta,
    /// What was read of it, once it has been read to its end.
    pub(crate) read: RefCell<InputProvenance>,
}

/// Labelled traces whose batches have the columns of `features`, in that order.
#[derive(Clone, Debug)]
pub(crate) struct TraceFiles {
    pub(crate) files: Vec<TraceFile>,
    features: Vec<String>,
}

impl TraceFiles {
    /// Opens traces, checks that each has the features, and takes their hashes.
    pub(crate) fn open(paths: &[PathBuf], features: &FeatureSet) -> anyhow::Result<Self> {
        let features = features.names();
        let files = paths
            .iter()
            .map(|path| TraceFile::open(path, &features))
            .collect::<anyhow::Result<_>>()?;
        Ok(TraceFiles { files, features })
    }

    /// What models record of the traces.
    pub(crate) fn origins(&self) -> Vec<DataOrigin> {
        self.files.iter().map(|file| file.origin.clone()).collect()
    }

    /// What all switches of all traces have in common.
    pub(crate) fn switch_context(&self) -> SwitchContext {
        let mut specs = self.files.iter().flat_map(|file| match &file.meta.switches {
            None => Vec::new(),
            Some(SwitchSpecs::Same(spec)) => vec![spec],
            Some(SwitchSpecs::Each(specs)) => specs.values().collect(),
        });
        let Some(first) = specs.next() else { return SwitchContext::default() };
        let mut context = SwitchContext {
            ports: u16::try_from(first.ports()).ok(),
            buffer_bytes: Some(first.buffer_bytes),
            base_rtt_ns: Some(first.base_rtt_ns),
        };
        for spec in specs {
            context.ports = context.ports.filter(|&ports| usize::from(ports) == spec.ports());
            context.buffer_bytes = context.buffer_bytes.filter(|&b| b == spec.buffer_bytes);
            context.base_rtt_ns = context.base_rtt_ns.filter(|&rtt| rtt == spec.base_rtt_ns);
        }
        context
    }
}

impl TraceFile {
    fn open(path: &Path, features: &[String]) -> anyhow::Result<Self> {
        let meta = TraceReader::open(path, features)?.meta().clone();
        let sha256 = sha256_file(path)?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let run = u64::from_str_radix(&sha256[..16], 16).context("a hash is hexadecimal")?;
        let origin = DataOrigin { name, sha256, run };
        Ok(TraceFile { path: path.to_owned(), origin, meta, read: RefCell::default() })
    }
}

impl BatchSource for TraceFiles {
    type Error = DataError;

    fn batches(&self) -> Result<Batches<'_, DataError>, DataError> {
        Ok(Box::new(self.files.iter().flat_map(|file| -> Batches<'_, DataError> {
            match TraceReader::open(&file.path, &self.features) {
                Ok(reader) => Box::new(FileBatches { file, reader }),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        })))
    }
}

/// The batches of one file; leaves behind what was read.
struct FileBatches<'a> {
    file: &'a TraceFile,
    reader: TraceReader,
}

impl Iterator for FileBatches<'_> {
    type Item = Result<RunBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.reader.next();
        if next.is_none() {
            *self.file.read.borrow_mut() = self.reader.provenance();
        }
        next.map(|batch| Ok(RunBatch { run: self.file.origin.run, batch: batch? }))
    }
}
