//! Headers in programs that compilers make of them.

use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, FoundTool, Program, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A language that headers are emitted in.
pub(crate) struct Language {
    /// What is shown of it.
    pub(crate) name: &'static str,
    /// Ending of its source files.
    pub(crate) ending: &'static str,
    /// Any of these will do.
    pub(crate) compilers: [Tool; 2],
    /// What a header's user most likely compiles with: the standard, and how much to optimise.
    pub(crate) flags: [&'static str; 2],
}

/// A program that was compiled.
pub(crate) struct Compiled {
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
}

impl Language {
    /// Compiles `source` in `folder`, for which the files there are called `file` and the
    /// compiler's name.
    pub(crate) fn compile(
        &self,
        folder: &Path,
        file: &str,
        source: &str,
        compiler: &FoundTool,
        libraries: &[&str],
    ) -> Result<Compiled, VerifyError> {
        let name = format!("{file}_{}", compiler.name());
        let file = format!("{name}.{}", self.ending);
        let path = folder.join(&file);
        fs::write(&path, source).map_err(io_error(&path, "be written"))?;
        let mut command = compiler.in_folder(folder);
        command.args(self.flags).arg(file).args(["-o", &name]).args(libraries);
        run(&mut command, &format!("compiling the {} header", self.name))?;
        Ok(Compiled {
            name: format!("{} {}", compiler.version(), self.flags[1]),
            executable: folder.join(name),
        })
    }
}

impl Program for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        pipe::ask(&mut Command::new(&self.executable), rows)
    }
}
