//! Files that commands write: named on the command line, and none of those they read.

use crate::failure::UserError;
use clap::builder::{PathBufValueParser, TypedValueParser};
use dropcast_data::AtomicFile;
use std::path::{Path, PathBuf};

/// Reads the path of a file to write.
pub(crate) fn parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            let problem = "nothing is written to standard output this way, name a file (./- for one of this name)";
            return Err(UserError(problem.to_owned()));
        }
        Ok(path)
    })
}

/// Makes sure, before any work, that `output` can be written and is none of the files that are
/// read for it.
pub(crate) fn check<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> anyhow::Result<()> {
    spare_inputs(output, inputs)?;
    AtomicFile::create(output)?;
    Ok(())
}

/// Makes sure, before any work, that files of a folder that are there may be replaced.
pub(crate) fn check_replaced(
    folder: &Path,
    names: impl IntoIterator<Item: AsRef<Path>>,
) -> anyhow::Result<()> {
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
) -> Result<(), UserError> {
    // What is not there yet is no input.
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_target = |input: &&PathBuf| input.canonicalize().is_ok_and(|input| input == target);
    match inputs.into_iter().find(is_target) {
        None => Ok(()),
        Some(input) => {
            let (output, input) = (output.display(), input.display());
            Err(UserError(format!("{output}: would replace the input {input}; name another file")))
        }
    }
}
