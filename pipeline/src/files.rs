//! Files that are read whole, and files that are written.

use crate::PipelineError;
use dropcast_data::{AtomicFile, DataError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reads a text file of the user's.
pub(crate) fn read_text(path: &Path) -> Result<String, DataError> {
    let file = path.display().to_string();
    std::fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::InvalidData => DataError::File {
            file,
            problem: "is not text".to_owned(),
            hint: "expected JSON (a model) or TOML (settings)".to_owned(),
        },
        _ => DataError::Io { file, doing: "be read", source },
    })
}

/// Reads a TOML file of settings.
///
/// # Errors
/// If it cannot be read or says something else.
pub fn read_settings<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, PipelineError> {
    let text = read_text(path)?;
    let file = || path.display().to_string();
    toml::from_str(&text).map_err(|source| PipelineError::Toml { file: file(), source })
}

/// Creates a folder for output, and those it lies in.
///
/// # Errors
/// If it cannot be created.
pub fn create_folder(path: &Path) -> Result<(), DataError> {
    let failed =
        |source| DataError::Io { file: path.display().to_string(), doing: "be created", source };
    std::fs::create_dir_all(path).map_err(failed)
}

/// Checks, before any work, that `output` can be written and is none of the `inputs`.
///
/// # Errors
/// If it can't, or is.
pub fn check_output<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), PipelineError> {
    spare_inputs(output, inputs)?;
    AtomicFile::create(output)?;
    Ok(())
}

/// Checks, before any work, that the files of these names in a folder may be replaced.
///
/// # Errors
/// If one may not.
pub fn check_replaced(
    folder: &Path,
    names: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), DataError> {
    let paths = names.into_iter().map(|name| folder.join(name));
    for path in paths.filter(|path| path.exists() || path.is_symlink()) {
        AtomicFile::create(&path)?;
    }
    Ok(())
}

/// Refuses an output that is one of the files read for it.
pub(crate) fn spare_inputs<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), PipelineError> {
    // A file that does not exist yet is no input.
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_target = |input: &&PathBuf| input.canonicalize().is_ok_and(|input| input == target);
    match inputs.into_iter().find(is_target) {
        None => Ok(()),
        Some(input) => {
            let problem = format!("would replace the input {}; name another file", input.display());
            Err(PipelineError::unfit(output.display(), problem))
        }
    }
}
