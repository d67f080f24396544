//! Programs compiled from headers.

use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, FoundTool, Program, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A language of emitted headers.
pub(crate) struct Language {
    /// Its display name.
    pub(crate) name: &'static str,
    /// Extension of its source files.
    pub(crate) ending: &'static str,
    /// Any of these compilers will do.
    pub(crate) compilers: [Tool; 2],
    /// Typical flags of a header's user: the standard and the optimisation level.
    pub(crate) flags: [&'static str; 2],
}

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
}

impl Language {
    /// Compiles `source` in `folder`; its files are named after `file` and the compiler.
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
