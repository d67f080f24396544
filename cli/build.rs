//! Records in the command which commit it was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DROPCAST_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let named = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=DROPCAST_VERSION={named}");
}

/// The commit that the sources are of: the packager's word, or git's. None where neither knows, as in
/// an archive of the sources.
fn commit() -> Option<String> {
    if let Ok(commit) = std::env::var("DROPCAST_COMMIT") {
        return (!commit.is_empty()).then_some(commit);
    }
    // A file that changes with the commit, and the only thing that is looked at on the next build.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    // The sources may lie in a folder of another project's repository.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
