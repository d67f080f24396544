//! The tools of this machine: compilers, simulators, loaders.

use crate::VerifyError;
use crate::error::io_error;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A tool that may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The command.
    pub command: &'static str,
    /// Arguments that make it print its version and do nothing else.
    pub version_arguments: &'static [&'static str],
    /// Its Debian package.
    pub package: &'static str,
}

/// A tool that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTool {
    command: &'static str,
    version: String,
}

impl Tool {
    /// Finds the tool by running it for its version.
    ///
    /// # Errors
    /// [`VerifyError::MissingTool`], which names the tool and its package.
    pub fn find(self) -> Result<FoundTool, VerifyError> {
        let output = Command::new(self.command)
            .args(self.version_arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let text = [output.stdout, output.stderr].concat();
                let text = String::from_utf8_lossy(&text);
                let version = text.lines().map(str::trim).find(|line| !line.is_empty());
                let version = version.unwrap_or(self.command).to_owned();
                Ok(FoundTool { command: self.command, version })
            }
            _ => Err(VerifyError::missing(self.command, self.package)),
        }
    }

    /// The installed ones of several tools, at least one.
    ///
    /// # Errors
    /// [`VerifyError::MissingTool`], which names all of them, if none is installed.
    pub fn find_any(tools: &[Tool]) -> Result<Vec<FoundTool>, VerifyError> {
        let found: Vec<FoundTool> = tools.iter().filter_map(|tool| tool.find().ok()).collect();
        if found.is_empty() {
            let names = |of: fn(&Tool) -> &'static str| {
                tools.iter().map(of).collect::<Vec<_>>().join(" or ")
            };
            let (tool, package) = (names(|tool| tool.command), names(|tool| tool.package));
            return Err(VerifyError::missing(&tool, &package));
        }
        Ok(found)
    }
}

impl FoundTool {
    /// Its command.
    pub fn name(&self) -> &'static str {
        self.command
    }

    /// The first line of its version output.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The tool, to run in `folder`, with messages in English.
    pub fn in_folder(&self, folder: &Path) -> Command {
        let mut command = Command::new(self.command);
        command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
        command
    }
}

/// Runs a command that must succeed and returns its standard output. `doing` is its task, for
/// messages.
///
/// # Errors
/// [`VerifyError::ToolFailed`] with its output, if it cannot be started or fails.
pub(crate) fn run(command: &mut Command, doing: &str) -> Result<Vec<u8>, VerifyError> {
    let program = Path::new(command.get_program()).to_owned();
    let output = command.output().map_err(io_error(&program, "be started"))?;
    checked(output, command, doing)
}

/// The standard output of a successful command.
///
/// # Errors
/// [`VerifyError::ToolFailed`] with its output, if it failed.
pub(crate) fn checked(
    output: Output,
    command: &Command,
    doing: &str,
) -> Result<Vec<u8>, VerifyError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let printed = [output.stderr, output.stdout].concat();
    Err(VerifyError::ToolFailed {
        doing: doing.to_owned(),
        command: format!("{command:?}"),
        status: output.status.to_string(),
        output: excerpt(&String::from_utf8_lossy(&printed)),
    })
}

/// The first lines of a tool's output: the first errors matter.
fn excerpt(text: &str) -> String {
    const MOST_LINES: usize = 40;
    let mut lines: Vec<&str> = text.lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        lines[MOST_LINES] = "...";
    }
    lines.iter().map(|line| format!("\n{line}")).collect()
}
