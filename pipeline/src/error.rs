//! Why something could not be done.

mod report;

use dropcast_arrivals::WorkloadError;
use dropcast_collect::CollectError;
use dropcast_data::{DataError, printable_line};
use dropcast_export::ExportError;
use dropcast_features::UnknownFeature;
use dropcast_forest::{ModelError, UnknownBuffer};
use dropcast_interop::{ImportError, TrainerError};
use dropcast_replay::ForestReplayError;
use dropcast_train::{ParamError, SplitError, SweepPartError, TrainError, VoteError};
use dropcast_verify::VerifyError;
use std::path::Path;

pub use report::ReportError;

/// Why something could not be done: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Events cannot be labelled.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// A forest cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Another crate's trainer cannot train.
    #[error(transparent)]
    Trainer(TrainerError),
    /// A parameter of the forest is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A split cannot be.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A vote threshold cannot be chosen.
    #[error(transparent)]
    Vote(#[from] VoteError),
    /// A file holds no model, or one that cannot be used.
    #[error("{}: {source}", printable_line(file))]
    Model {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ModelError,
    },
    /// A model does not say which buffer it is for.
    #[error(
        "{}: {problem}; train it on traces that describe their switch, or import it with a \
         switch description",
        printable_line(file)
    )]
    Rescale {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: UnknownBuffer,
    },
    /// A file holds no forest that can be imported.
    #[error("{}: {source}", printable_line(file))]
    Import {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ImportError,
    },
    /// A forest cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A tool that verifies or measures an export failed.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A model cannot be measured on a trace.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A trace cannot be replayed.
    #[error("{}: {source}", printable_line(trace))]
    Replay {
        /// The trace.
        trace: String,
        /// Why not.
        source: ForestReplayError,
    },
    /// A workload cannot be generated.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// What the user states to something that builds on the pipeline cannot be, such as an experiment of the lab.
    #[error(transparent)]
    Statement(Box<dyn std::error::Error + Send + Sync>),
    /// A feature that nobody knows.
    #[error(transparent)]
    UnknownFeature(#[from] UnknownFeature),
    /// A file of settings is not what it should be.
    #[error("{}: {source}", printable_line(file))]
    Toml {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: toml::de::Error,
    },
    /// A setting is wrong, or does not go with another.
    #[error("{}: {problem}", printable_line(name))]
    Setting {
        /// The setting.
        name: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A setting or an event in a file is wrong.
    #[error("{}: {source}", printable_line(file))]
    InFile {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: Box<PipelineError>,
    },
    /// A file, or what is in it, does not serve.
    #[error("{}: {problem}", printable_line(file))]
    Unfit {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The work was stopped before it was done.
    #[error("stopped before it was done; nothing was written")]
    Cancelled,
    /// The parts of a sweep do not fit together. A defect of ours.
    #[error(transparent)]
    SweepPart(#[from] SweepPartError),
    /// A value could not be written as JSON or TOML. A defect of ours.
    #[error("cannot write {what}: {problem}")]
    Encode {
        /// What was to be written.
        what: &'static str,
        /// What the encoder said.
        problem: String,
    },
}

impl PipelineError {
    /// What the user states to what builds on the pipeline cannot be.
    pub fn stated(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        PipelineError::Statement(Box::new(error))
    }

    /// A setting that is wrong.
    pub fn setting(name: impl Into<String>, problem: impl Into<String>) -> Self {
        PipelineError::Setting { name: name.into(), problem: problem.into() }
    }

    /// A file that does not serve.
    pub fn unfit(file: impl std::fmt::Display, problem: impl Into<String>) -> Self {
        PipelineError::Unfit { file: file.to_string(), problem: problem.into() }
    }

    /// The same error, found in a file of settings or events.
    pub fn in_file(self, file: impl std::fmt::Display) -> Self {
        PipelineError::InFile { file: file.to_string(), source: Box::new(self) }
    }

    /// The same error, with the name of the file of settings if it is about one of them and there is
    /// such a file.
    pub fn in_settings(self, file: Option<&Path>) -> Self {
        match (&self, file) {
            (PipelineError::Workload(_) | PipelineError::Setting { .. }, Some(file)) => {
                self.in_file(file.display())
            }
            _ => self,
        }
    }

    /// Whether the user's input or settings are at fault; if not, dropcast is.
    pub fn is_the_users(&self) -> bool {
        match self {
            PipelineError::InFile { source, .. } => source.is_the_users(),
            PipelineError::Trainer(TrainerError::Failed { .. })
            | PipelineError::SweepPart(_)
            | PipelineError::Encode { .. } => false,
            PipelineError::Data(_)
            | PipelineError::Collect(_)
            | PipelineError::Train(_)
            | PipelineError::Trainer(_)
            | PipelineError::Param(_)
            | PipelineError::Split(_)
            | PipelineError::Vote(_)
            | PipelineError::Model { .. }
            | PipelineError::Rescale { .. }
            | PipelineError::Import { .. }
            | PipelineError::Export(_)
            | PipelineError::Verify(_)
            | PipelineError::Report(_)
            | PipelineError::Replay { .. }
            | PipelineError::Workload(_)
            | PipelineError::Statement(_)
            | PipelineError::UnknownFeature(_)
            | PipelineError::Toml { .. }
            | PipelineError::Setting { .. }
            | PipelineError::Cancelled
            | PipelineError::Unfit { .. } => true,
        }
    }
}
