//! Files that are read whole.

use crate::DataError;
use crate::error::shown;
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
    let file = shown(path);
    check_regular(path)?;
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(DataError::io(&file, "be read"))?;
    if bytes.len() as u64 > MOST_BYTES {
        let hint = "expected a model, a switch description or settings";
        return Err(DataError::file(&file, "is larger than 256 MiB", hint));
    }
    Ok(bytes)
}
