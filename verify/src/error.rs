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
    /// Nothing here runs what this target emits.
    #[error("{}", why_not_run(.0))]
    NoRunner(&'static str),
    /// A tool is not installed.
    #[error("{tool} is not installed; {install}")]
    MissingTool {
        /// The command, or commands of which one is needed, or the module of a language.
        tool: String,
        /// How to install it.
        install: String,
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

/// What a target without a runner would need.
fn why_not_run(target: &str) -> String {
    let no_tool = |needs: &str| {
        format!("dropcast knows no tool to install that runs what {target} emits: {needs}")
    };
    match target {
        "ovs" => "dropcast verify does not run what ovs emits: it needs Open vSwitch (on Debian: \
                  apt-get install openvswitch-switch), which takes milliseconds for each row. \
                  dropcast's own tests run it on a few hundred rows"
            .to_owned(),
        "p4" => no_tool("p4c and BMv2 are in no package registry; docs/p4.md tells what they did"),
        "tna" => no_tool("Intel's compiler is in no package registry; docs/tna.md tells more"),
        _ => no_tool("it has no runner"),
    }
}

impl VerifyError {
    /// A tool that a Debian package has is not installed.
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
