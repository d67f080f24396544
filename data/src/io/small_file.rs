//! Files that are read whole.

use super::error::{DataError, shown};
use super::objects;
use crate::types::other_kind;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes of texts that are read whole. Reading them takes many times their size.
pub(crate) mod caps {
    /// A model, an exported table, or the table of a sweep: half a million nodes. A list of short names takes
    /// fifteen times its text.
    pub(crate) const MODEL: u64 = 56 << 20;
    /// Settings or a switch description, in TOML.
    pub(crate) const TOML: u64 = 8 << 20;
    /// The metadata of a labelled trace, in JSON: 262,144 pauses and as many rates of ports take less.
    pub(crate) const TRACE_META: u64 = 20 << 20;
}

/// Refuses what is read more than once but is no regular file: a pipe gives its bytes once, and without
/// a writer it waits forever. A file that is missing is left to whoever opens it.
///
/// # Errors
/// If it is standard input, a directory, a pipe or a device.
pub fn check_regular(path: &Path) -> Result<(), DataError> {
    let problem = match std::fs::metadata(path) {
        _ if path.as_os_str() == "-" => "is not read here",
        Ok(found) if found.is_dir() => "is a directory",
        Ok(found) if !found.is_file() => "is a pipe or a device",
        _ => return Ok(()),
    };
    Err(DataError::file(&shown(path), problem, "name a file"))
}

/// Reads a model, an exported table or the table of a sweep, at most 56 MiB.
///
/// # Errors
/// If the file cannot be read, is larger, or is [no regular file](check_regular): a device may have no
/// end.
pub fn read_small(path: &Path) -> Result<Vec<u8>, DataError> {
    read_most(path, caps::MODEL, "expected a model, an exported table or the table of a sweep")
}

/// Reads settings or a switch description in TOML, at most 8 MiB.
///
/// # Errors
/// As [`read_small`], and if it is not text.
pub fn read_toml(path: &Path) -> Result<String, DataError> {
    let expected = "expected settings or a switch description, in TOML";
    String::from_utf8(read_most(path, caps::TOML, expected)?)
        .map_err(|_| DataError::file(&shown(path), "is not text", expected))
}

fn read_most(path: &Path, most: u64, expected: &str) -> Result<Vec<u8>, DataError> {
    let bytes = read_head(path, most + 1)?;
    let read = bytes.len() as u64;
    if read <= most {
        return Ok(bytes);
    }
    let size = std::fs::metadata(path).map_or(read, |found| found.len());
    Err(DataError::file(&shown(path), too_large(size, most), expected))
}

/// Checks the size of the text under a key of a footer.
pub(crate) fn check_size(file: &str, key: &str, text: &str, most: u64) -> Result<(), DataError> {
    let size = text.len() as u64;
    let problem = || format!("its {key} {}", too_large(size, most));
    let error = || DataError::file(file, problem(), "it is damaged, make or copy it again");
    if size <= most { Ok(()) } else { Err(error()) }
}

fn too_large(size: u64, most: u64) -> String {
    format!("has {size} bytes, more than the limit of {} MiB", most >> 20)
}

/// Reads the beginning of a file or an object, this many bytes at most.
///
/// # Errors
/// If it cannot be read, is [no regular file](check_regular), or is [something else](other_kind).
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
    match other_kind(&bytes) {
        Some((problem, hint)) => Err(DataError::file(&file, problem, hint)),
        None => Ok(bytes),
    }
}
