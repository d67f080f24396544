//! Labelled traces in files, as a source to train on.

use crate::failure::UserError;
use anyhow::Context;
use dropcast_data::{
    AVERAGE_NS3_TRUNC, DataError, InputProvenance, RowOrder, SwitchSpec, SwitchSpecs, TraceMeta,
    TraceReader, sha256_file,
};
use dropcast_features::FeatureSet;
use dropcast_forest::{SwitchContext, scale_to_buffer};
use dropcast_train::{BatchSource, Batches, DataOrigin, Model, RunBatch, TrainError};
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

/// Labelled traces whose batches have the columns of `features`, in that order, those in bytes on the
/// scale of one buffer (docs/features.md).
#[derive(Clone, Debug)]
pub(crate) struct TraceFiles {
    pub(crate) files: Vec<TraceFile>,
    features: FeatureSet,
    /// That buffer; none where rows stay as they are in the files.
    buffer_bytes: Option<u32>,
}

impl TraceFiles {
    /// Opens traces, checks that each has the features, and takes their hashes. Their scale is that
    /// of the largest buffer.
    pub(crate) fn open(paths: &[PathBuf], features: &FeatureSet) -> anyhow::Result<Self> {
        let names = features.names();
        let files = paths
            .iter()
            .map(|path| TraceFile::open(path, &names))
            .collect::<anyhow::Result<Vec<_>>>()?;
        refuse_repeats(&files)?;
        let buffers = files.iter().flat_map(TraceFile::specs).map(|spec| spec.buffer_bytes);
        let buffer_bytes = buffers.max();
        let files = TraceFiles { files, features: features.clone(), buffer_bytes };
        files.time_constant_ns()?;
        Ok(files)
    }

    /// Opens traces for the features of a model, on its scale.
    pub(crate) fn open_for(paths: &[PathBuf], model: &Model) -> anyhow::Result<Self> {
        let buffer_bytes = model.switch.buffer_bytes;
        Ok(TraceFiles { buffer_bytes, ..TraceFiles::open(paths, &model.features)? })
    }

    /// The features, in the order of the columns of batches.
    pub(crate) fn features(&self) -> &FeatureSet {
        &self.features
    }

    /// The time constant of the averages and projections among the features; none where there are
    /// none of these, or no trace tells.
    ///
    /// Those of another definition or time constant are other features (docs/features.md).
    pub(crate) fn time_constant_ns(&self) -> Result<Option<u64>, UserError> {
        let features = self.features.features();
        if !features.iter().any(|feature| feature.has_time_constant()) {
            return Ok(None);
        }
        let mut found: Option<(u64, &TraceFile)> = None;
        for file in &self.files {
            let name = file.path.display();
            if let Some(average) = file.meta.average.as_deref().filter(|&a| a != AVERAGE_NS3_TRUNC)
            {
                let problem =
                    format!("its moving averages are {average:?}, known is {AVERAGE_NS3_TRUNC:?}");
                return Err(UserError(format!("{name}: {problem}")));
            }
            for rtt_ns in file.specs().map(|spec| spec.base_rtt_ns) {
                match found {
                    Some((other_ns, other)) if other_ns != rtt_ns => {
                        return Err(UserError(format!(
                            "{name}: its averages and projections have a time constant of {rtt_ns} \
                             ns (the base RTT), those of {} {other_ns} ns; use traces with one base \
                             RTT, or features without a time constant",
                            other.path.display()
                        )));
                    }
                    _ => found = Some((rtt_ns, file)),
                }
            }
        }
        Ok(found.map(|(rtt_ns, _)| rtt_ns))
    }

    /// Names the file in an error that knows only the number of its run.
    pub(crate) fn explain(&self, error: TrainError) -> anyhow::Error {
        let file = match &error {
            TrainError::NoTimes { run, .. } | TrainError::NoSwitches { run } => {
                self.files.iter().find(|file| file.origin.run == *run)
            }
            _ => None,
        };
        match file {
            None => error.into(),
            Some(file) => {
                DataError::NotInArrivalOrder { file: file.path.display().to_string() }.into()
            }
        }
    }

    /// The description of a switch of a run.
    pub(crate) fn spec(&self, run: u64, switch: u16) -> Option<&SwitchSpec> {
        let file = self.files.iter().find(|file| file.origin.run == run)?;
        file.meta.switches.as_ref()?.get(switch)
    }

    /// The same traces with the columns of other features.
    pub(crate) fn with_features(&self, features: FeatureSet) -> Self {
        TraceFiles { features, ..self.clone() }
    }

    /// Each file alone.
    pub(crate) fn one_by_one(self) -> impl Iterator<Item = TraceFiles> {
        let TraceFiles { files, features, buffer_bytes } = self;
        files.into_iter().map(move |file| TraceFiles {
            files: vec![file],
            features: features.clone(),
            buffer_bytes,
        })
    }

    /// What models record of the traces.
    pub(crate) fn origins(&self) -> Vec<DataOrigin> {
        self.files.iter().map(|file| file.origin.clone()).collect()
    }

    /// What all switches of all traces have in common, and the buffer on whose scale they are.
    pub(crate) fn switch_context(&self) -> SwitchContext {
        let in_common = in_common(self.files.iter().flat_map(TraceFile::specs));
        SwitchContext { buffer_bytes: self.buffer_bytes, ..in_common }
    }
}

/// What switches have in common.
pub(crate) fn in_common<'a>(specs: impl IntoIterator<Item = &'a SwitchSpec>) -> SwitchContext {
    let mut specs = specs.into_iter();
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

/// Rows that are there twice would be counted twice, and would be trained on and tested on.
fn refuse_repeats(files: &[TraceFile]) -> Result<(), UserError> {
    for (place, file) in files.iter().enumerate() {
        if let Some(same) = files[..place].iter().find(|same| same.origin.run == file.origin.run) {
            let (file, same) = (file.path.display(), same.path.display());
            return Err(UserError(format!("{file}: has the same rows as {same}; give them once")));
        }
    }
    Ok(())
}

impl TraceFile {
    /// Whether it tells what a replay of its arrivals needs.
    pub(crate) fn is_replayable(&self) -> bool {
        self.meta.order != RowOrder::Departure && self.meta.switches.is_some()
    }

    /// The switches that it tells of.
    fn specs(&self) -> impl Iterator<Item = &SwitchSpec> {
        self.meta.switches.iter().flat_map(SwitchSpecs::all)
    }

    fn open(path: &Path, features: &[String]) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let problem = "labelled traces are read several times; save standard input in a file";
            return Err(UserError(problem.to_owned()).into());
        }
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
        let names = self.features.names();
        Ok(Box::new(self.files.iter().flat_map(move |file| -> Batches<'_, DataError> {
            match TraceReader::open(&file.path, &names) {
                Ok(reader) => Box::new(FileBatches { files: self, file, reader }),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        })))
    }
}

/// The batches of one file; leaves behind what was read.
struct FileBatches<'a> {
    files: &'a TraceFiles,
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
        next.map(|batch| {
            let (TraceFiles { features, buffer_bytes, .. }, file) = (self.files, self.file);
            let mut batch = batch?;
            if let (Some(switches), Some(bytes)) = (&file.meta.switches, *buffer_bytes) {
                scale_to_buffer(&mut batch, features.features(), switches, bytes);
            }
            Ok(RunBatch { run: file.origin.run, batch })
        })
    }
}
