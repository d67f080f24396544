//! Compilers and interpreters that tests run: a missing one is a failure in CI and a loud notice
//! elsewhere.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// The command `tool`, to run in `folder`, if it is installed.
///
/// # Panics
/// If it is not installed and `CI=true`.
pub(crate) fn tool(tool: &str, folder: &Path) -> Option<Command> {
    let mut command = Command::new(tool);
    command.current_dir(folder);
    if Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(command);
    }
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "{tool} is not installed, and CI=true");
    // Not eprintln!, which the test harness captures.
    writeln!(std::io::stderr(), "\n*** {tool} IS NOT INSTALLED: NOTHING WAS TESTED WITH IT ***\n")
        .expect("stderr is writable");
    None
}

/// Runs a command that must succeed; returns its output.
pub(crate) fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{out}\n{err}");
    out.into_owned()
}
