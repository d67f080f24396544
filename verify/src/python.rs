//! Programs in Python, which answer rows through [`pipe`](crate::pipe).

use crate::error::io_error;
use crate::{Answers, Emitted, FoundTool, Program, Tool, VerifyError, pipe};
use std::fs;
use std::path::PathBuf;

/// A program in Python that predicts from one emitted file.
pub(crate) struct Script {
    name: String,
    python: FoundTool,
    folder: PathBuf,
    script: &'static str,
    arguments: [String; 2],
}

impl Script {
    /// Writes the script `source` into the folder of `emitted`, to be run by `python` on the file
    /// with this extension. Its arguments are the file and the number of features.
    ///
    /// # Errors
    /// If there is no such file, or the script cannot be written.
    pub(crate) fn new(
        emitted: &Emitted<'_>,
        extension: &str,
        python: Tool,
        (script, source): (&'static str, &str),
    ) -> Result<Self, VerifyError> {
        let (file, _) = emitted.file(extension)?;
        let python = python.find()?;
        let path = emitted.folder.join(script);
        fs::write(&path, source).map_err(io_error(&path, "be written"))?;
        Ok(Script {
            name: python.version().to_owned(),
            python,
            folder: emitted.folder.to_owned(),
            script,
            arguments: [file.display().to_string(), emitted.features.to_string()],
        })
    }
}

impl Program for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let mut command = self.python.in_folder(&self.folder);
        pipe::ask(command.arg(self.script).args(&self.arguments), rows)
    }
}
