//! Why something exported could not be run.

use dropcast_export::ExportError;
use std::io;
use std::path::Path;

/// Why an export could not be run. Wrong answers are not errors but a
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
    /// Nothing runs this target's files, for this reason.
    #[error("{0}")]
    NoRunner(&'static str),
    /// A tool is not installed.
    #[error("{tool} is not installed; {install}")]
    MissingTool {
        /// The command, several commands of which one is needed, or the module of a language.
        tool: String,
        /// How to install it.
        install: String,
    },
    /// A tool failed.
    #[error("{doing}: {command} failed ({status}){output}")]
    ToolFailed {
        /// Its task.
        doing: String,
        /// What was run.
        command: String,
        /// Its exit status.
        status: String,
        /// Its output, on separate lines; may be empty.
        output: String,
    },
    /// A program's answer is malformed.
    #[error("{program}: {problem}")]
    BadAnswer {
        /// What was run.
        program: String,
        /// The fault in its answer.
        problem: String,
    },
    /// An emitted file is missing or unreadable.
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
        /// The failed operation, as in "be written".
        doing: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl VerifyError {
    /// A tool from a Debian package is not installed.
    pub fn missing(tool: &str, package: &str) -> Self {
        let install = format!("on Debian: apt-get install {package}");
        VerifyError::MissingTool { tool: tool.to_owned(), install }
    }
}

/// Turns an IO error into ours, naming the file or command.
pub(crate) fn io_error(what: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> VerifyError {
    let what = what.display().to_string();
    move |source| VerifyError::Io { what, doing, source }
}
