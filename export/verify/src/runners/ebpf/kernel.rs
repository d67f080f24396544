//! The kernel's own eBPF, if this machine permits it.

use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, Program, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program loaded and run by the kernel.
pub(crate) struct Kernel {
    name: String,
    loader: PathBuf,
    folder: PathBuf,
    object: String,
    features: usize,
}

const GCC: Tool = Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };

/// The loader: loads an object with libbpf, and runs its program on rows.
const LOADER: &str = include_str!("kernel.c");

/// The loader's exit status if loading programs is not permitted.
const NOT_PERMITTED: i32 = 77;

impl Kernel {
    /// Loads an object, or says why this machine does not permit it.
    ///
    /// # Errors
    /// If it is permitted and fails: the verifier's message.
    pub(crate) fn new(
        folder: &Path,
        object: &str,
        features: usize,
    ) -> Result<Result<Self, String>, VerifyError> {
        let gcc = match GCC.find() {
            Ok(gcc) => gcc,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let source = folder.join("loader.c");
        fs::write(&source, LOADER).map_err(io_error(&source, "be written"))?;
        let mut has_libbpf = gcc.in_folder(folder);
        has_libbpf.args([
            "-E",
            "-include",
            "bpf/libbpf.h",
            "-x",
            "c",
            "/dev/null",
            "-o",
            "/dev/null",
        ]);
        if run(&mut has_libbpf, "looking for libbpf").is_err() {
            let hint = "libbpf is not installed; on Debian: apt-get install libbpf-dev";
            return Ok(Err(hint.to_owned()));
        }
        let mut compile = gcc.in_folder(folder);
        run(compile.args(["-O2", "loader.c", "-o", "loader", "-lbpf"]), "compiling the loader")?;
        let mut kernel = Kernel {
            name: String::new(),
            loader: folder.join("loader"),
            folder: folder.to_owned(),
            object: object.to_owned(),
            features,
        };
        let mut command = kernel.command();
        let output = pipe::fed(command.arg("load"), &[])?;
        if output.status.code() == Some(NOT_PERMITTED) {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let printed = crate::tool::checked(output, &command, "loading into the kernel")?;
        kernel.name = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok(Ok(kernel))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.loader);
        command.current_dir(&self.folder).arg(&self.object).arg(self.features.to_string());
        command
    }
}

impl Program for Kernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        pipe::ask(&mut self.command(), rows)
    }
}
