//! Why something exported could not be run.

use dropcast_export::ExportError;
use std::io;
use std::path::Path;

/// Why something exported could not be run. That it ran and was wrong is no error, but a
/// [`Comparison`](crate::Comparison).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The forest cannot be exported to this target.
    #[error("the forest cannot be exported to {target}")]
    Export {
        /// The target.
        target: &'static str,
        /// Why.
        #[source]
        source: ExportError,
    },
    /// dropcast knows no tool that runs what this target emits.
    #[error("dropcast knows no tool to install that runs what {0} emits")]
    NoRunner(&'static str),
    /// A tool is not installed.
    #[error("{tool} is not installed; on Debian: apt-get install {package}")]
    MissingTool {
        /// The command, or commands of which one is needed.
        tool: String,
        /// The package that has it.
        package: String,
    },
    /// A tool did not do what it was started for.
    #[error("{doing}: {command} failed ({status}){output}")]
    ToolFailed {
        /// What it was to do.
        doing: String,
        /// What was run.
        command: String,
        /// How it ended.
        status: String,
        /// What it printed, on lines of its own; may be empty.
        output: String,
    },
    /// Something that was run answered in a way nobody understands.
    #[error("{program}: {problem}")]
    BadAnswer {
        /// What was run.
        program: String,
        /// What is wrong with its answer.
        problem: String,
    },
    /// An emitted file is not there, or cannot be read back.
    #[error("{file}: {problem}")]
    BadFile {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A temporary file or a process could not be used.
    #[error("{what} could not {doing}")]
    Io {
        /// The file or command.
        what: String,
        /// What could not be done, as in "be written".
        doing: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Turns an IO error into ours, naming the file or command.
pub(crate) fn io_error(what: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> VerifyError {
    let what = what.display().to_string();
    move |source| VerifyError::Io { what, doing, source }
}
