//! Files that are read whole.

use crate::error::shown;
use crate::{DataError, objects};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More bytes than any model, switch description or file of settings has.
const MOST_BYTES: u64 = 256 << 20;

/// Refuses what is read more than once but is no regular file: a pipe gives its bytes once, and without
/// a writer it waits forever. A file that is missing is left to whoever opens it.
///
/// # Errors
/// If it is a directory, a pipe or a device.
pub fn check_regular(path: &Path) -> Result<(), DataError> {
    let problem = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => "is a directory",
        Ok(found) if !found.is_file() => "is a pipe or a device",
        _ => return Ok(()),
    };
    Err(DataError::file(&shown(path), problem, "name a file"))
}

/// Reads a model, a switch description or settings, at most 256 MiB.
///
/// # Errors
/// If the file cannot be read, is larger, or is [no regular file](check_regular): a device may have no
/// end.
pub fn read_small(path: &Path) -> Result<Vec<u8>, DataError> {
    let bytes = read_head(path, MOST_BYTES + 1)?;
    if bytes.len() as u64 > MOST_BYTES {
        let hint = "expected a model, a switch description or settings";
        return Err(DataError::file(&shown(path), "is larger than 256 MiB", hint));
    }
    Ok(bytes)
}

/// Reads the beginning of a file or an object, this many bytes at most.
///
/// # Errors
/// If it cannot be read, or is [no regular file](check_regular).
pub fn read_head(path: &Path, most_bytes: u64) -> Result<Vec<u8>, DataError> {
    let file = shown(path);
    let failed = || DataError::io(&file, "be read");
    check_regular(path)?;
    let source: Box<dyn Read> = match objects::is_object(path) {
        true => objects::open(path)?,
        false => Box::new(File::open(path).map_err(failed())?),
    };
    let mut bytes = Vec::new();
    source.take(most_bytes).read_to_end(&mut bytes).map_err(failed())?;
    Ok(bytes)
}
