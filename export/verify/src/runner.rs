//! Runners for targets.

use crate::{Program, VerifyError};
use std::path::{Path, PathBuf};

/// Builds one target's exports.
pub trait Runner: Sync {
    /// Name of the target, as in [`Target::name`](dropcast_export::Target::name).
    fn target(&self) -> &'static str;

    /// Builds emitted files into programs, one per variant of the code and installed tool. It
    /// writes only into the files' folder.
    ///
    /// # Errors
    /// [`VerifyError::MissingTool`] if a required tool is not installed;
    /// [`VerifyError::ToolFailed`] with a tool's output if it refuses the files.
    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError>;
}

/// The files that a target emitted for one forest.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    /// Their folder; a runner may write here.
    pub folder: &'a Path,
    /// Their names.
    pub files: &'a [String],
    /// Number of values per row.
    pub features: usize,
}

impl Emitted<'_> {
    /// The one file with the extension `.extension`, and its stem, the prefix of identifiers in
    /// emitted code.
    ///
    /// # Errors
    /// [`VerifyError::BadFile`] if there is none, or more than one.
    pub fn file(&self, extension: &str) -> Result<(PathBuf, String), VerifyError> {
        self.file_ending(&format!(".{extension}"))
    }

    /// The one file whose name has this ending, and the name without it.
    ///
    /// # Errors
    /// [`VerifyError::BadFile`] if there is none, or more than one.
    pub fn file_ending(&self, ending: &str) -> Result<(PathBuf, String), VerifyError> {
        let mut stems = self.files.iter().filter_map(|name| name.strip_suffix(ending));
        match (stems.next(), stems.next()) {
            (Some(stem), None) => {
                Ok((self.folder.join(format!("{stem}{ending}")), stem.to_owned()))
            }
            (first, _) => Err(VerifyError::BadFile {
                file: format!("*{ending}"),
                problem: if first.is_none() { "was not emitted" } else { "is more than one file" }
                    .to_owned(),
            }),
        }
    }
}
