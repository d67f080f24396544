//! A forest, exported and built.

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::runners::build_of;
use crate::{Program, VerifyError};
use dropcast_export::{EmittedFile, Origin, Target, export};
use dropcast_forest::Forest;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A target's output for a forest, built and ready to run. Its files are in a temporary folder,
/// which is removed on drop.
pub struct Built {
    /// Outlives the programs.
    folder: TempDir,
    programs: Vec<Box<dyn Program>>,
}

impl Built {
    /// Exports `forest` and builds the emitted files.
    ///
    /// # Errors
    /// If it cannot be exported or built here.
    pub fn new(forest: &Forest, origin: &Origin, target: Target) -> Result<Self, VerifyError> {
        let files = export(forest, origin, target)
            .map_err(|source| VerifyError::Export { target: target.name(), source })?;
        Built::from_files(&files, forest.features.len(), target)
    }

    /// Builds files that `target` emitted for a forest of this many features.
    ///
    /// # Errors
    /// If they cannot be built here.
    pub fn from_files(
        files: &[EmittedFile],
        features: usize,
        target: Target,
    ) -> Result<Self, VerifyError> {
        let build = build_of(target).map_err(VerifyError::NoRunner)?;
        let folder = folder()?;
        for file in files {
            let path = folder.path().join(&file.name);
            fs::write(&path, &file.bytes).map_err(io_error(&path, "be written"))?;
        }
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let emitted = Emitted { folder: folder.path(), files: &names, features };
        let programs = build(&emitted)?;
        Ok(Built { programs, folder })
    }

    /// Programs that need no files.
    #[cfg(test)]
    pub(crate) fn of_programs(programs: Vec<Box<dyn Program>>) -> Result<Self, VerifyError> {
        Ok(Built { folder: folder()?, programs })
    }

    /// The programs, at least one.
    pub fn programs(&mut self) -> &mut [Box<dyn Program>] {
        &mut self.programs
    }

    /// The folder they were built in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn folder() -> Result<TempDir, VerifyError> {
    let made = tempfile::Builder::new().prefix("dropcast-").tempdir();
    made.map_err(io_error(&std::env::temp_dir(), "take a temporary folder"))
}
