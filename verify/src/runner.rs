//! What runs what a target emits.

use crate::{Program, VerifyError};
use std::path::{Path, PathBuf};

/// Builds what one target emits.
pub trait Runner: Sync {
    /// Name of the target, as in [`Target::name`](dropcast_export::Target::name).
    fn target(&self) -> &'static str;

    /// Builds emitted files into programs: one for each variant of the code, and for each tool
    /// that is installed. Whatever it writes goes into the files' folder.
    ///
    /// # Errors
    /// [`VerifyError::MissingTool`] if a tool without which nothing can be run is not installed;
    /// [`VerifyError::ToolFailed`] with a tool's output if it refuses what was emitted.
    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError>;
}

/// The files that a target emitted for one forest.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    /// Where they are; a runner may write here.
    pub folder: &'a Path,
    /// Their names.
    pub files: &'a [String],
    /// How many values a row has.
    pub features: usize,
}

impl Emitted<'_> {
    /// The one file whose name ends in `.extension`, and its stem, which is what identifiers in
    /// emitted code begin with.
    ///
    /// # Errors
    /// [`VerifyError::BadFile`] if there is none, or more than one.
    pub fn file(&self, extension: &str) -> Result<(PathBuf, String), VerifyError> {
        self.file_ending(&format!(".{extension}"))
    }

    /// The one file whose name ends so, and what is before.
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
