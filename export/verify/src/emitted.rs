//! What is built.

use crate::VerifyError;
use std::path::{Path, PathBuf};

/// The files that a target emitted for one forest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emitted<'a> {
    /// Their folder; a runner may write here.
    pub(crate) folder: &'a Path,
    /// Their names.
    pub(crate) files: &'a [String],
    /// Number of values per row.
    pub(crate) features: usize,
}

impl Emitted<'_> {
    /// The one file with the extension `.extension`, and its stem, the prefix of identifiers in
    /// emitted code.
    ///
    /// # Errors
    /// [`VerifyError::BadFile`] if there is none, or more than one.
    pub(crate) fn file(&self, extension: &str) -> Result<(PathBuf, String), VerifyError> {
        self.file_ending(&format!(".{extension}"))
    }

    /// The one file whose name has this ending, and the name without it.
    ///
    /// # Errors
    /// [`VerifyError::BadFile`] if there is none, or more than one.
    pub(crate) fn file_ending(&self, ending: &str) -> Result<(PathBuf, String), VerifyError> {
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
