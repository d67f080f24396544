//! Objects of S3, Google Cloud Storage and Azure Blob Storage by their URLs, in place of files
//! (`docs/objects.md`).
//!
//! An object is read from front to back, and written whole: a store shows an object once all its parts are
//! there. Credentials, regions and endpoints are those of the environment (`AWS_ACCESS_KEY_ID` and so on).

use crate::DataError;
use crate::error::shown;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[cfg(feature = "object-store")]
mod store;

/// URLs of these schemes are objects.
const SCHEMES: [&str; 4] = ["s3://", "gs://", "az://", "abfs://"];

/// Whether a path is the URL of an object, or of a folder of objects, which ends in `/`.
pub fn is_object(path: &Path) -> bool {
    path.to_str().is_some_and(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
}

/// Whether a path that is no object's is a URL all the same: one that begins with a scheme, and is no file.
pub(crate) fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| Some(text.split_once("://")?.0));
    let is_scheme =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    scheme.is_some_and(is_scheme) && !is_object(path) && !path.exists()
}

/// Whether a path is a folder: one of a disk, or the URL of a folder of objects.
pub fn is_folder(path: &Path) -> bool {
    match is_object(path) {
        true => path.to_str().is_some_and(|text| text.ends_with('/')),
        false => path.is_dir(),
    }
}

/// The bytes of an object, in order.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, DataError> {
    store::open(path).map_err(|problem| failed(path, "be opened", problem))
}

/// The bytes of an object in a range, in order.
pub(crate) fn open_range(
    path: &Path,
    range: Range<u64>,
) -> Result<Box<dyn Read + Send>, DataError> {
    store::open_range(path, range).map_err(|problem| failed(path, "be opened", problem))
}

/// How many bytes an object has.
pub(crate) fn size(path: &Path) -> Result<u64, DataError> {
    store::size(path).map_err(|problem| failed(path, "be opened", problem))
}

/// Puts all bytes of a file into an object, in place of one that is there.
pub(crate) fn put(path: &Path, file: &mut File) -> Result<(), DataError> {
    store::put(path, file).map_err(|problem| failed(path, "be written", problem))
}

/// The URLs of all objects under a folder's, in order of their names.
///
/// # Errors
/// If the store does not answer.
pub fn list_objects(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    store::list(folder).map_err(|problem| failed(folder, "be read", problem))
}

/// Removes an object, if it is there.
///
/// # Errors
/// If the store does not answer, or refuses.
pub fn remove_object(path: &Path) -> Result<(), DataError> {
    store::remove(path).map_err(|problem| failed(path, "be removed", problem))
}

fn failed(path: &Path, doing: &str, problem: String) -> DataError {
    let hint = "stores are set up by variables of the environment, and a folder's URL ends in / \
                (docs/objects.md)";
    DataError::file(&shown(path), format!("cannot {doing}: {problem}"), hint)
}

/// A build that knows no stores.
#[cfg(not(feature = "object-store"))]
mod store {
    use super::{File, Path, PathBuf, Range, Read};

    const ABSENT: &str =
        "this program was built without object stores; build it with --features object-store";

    pub(super) fn open(_: &Path) -> Result<Box<dyn Read + Send>, String> {
        Err(ABSENT.to_owned())
    }

    pub(super) fn open_range(_: &Path, _: Range<u64>) -> Result<Box<dyn Read + Send>, String> {
        Err(ABSENT.to_owned())
    }

    pub(super) fn size(_: &Path) -> Result<u64, String> {
        Err(ABSENT.to_owned())
    }

    pub(super) fn put(_: &Path, _: &mut File) -> Result<(), String> {
        Err(ABSENT.to_owned())
    }

    pub(super) fn list(_: &Path) -> Result<Vec<PathBuf>, String> {
        Err(ABSENT.to_owned())
    }

    pub(super) fn remove(_: &Path) -> Result<(), String> {
        Err(ABSENT.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_stores_are_told_from_files() {
        for url in ["s3://bucket/run=1/events.parquet", "gs://bucket/x", "az://c/x/"] {
            assert!(is_object(Path::new(url)), "{url}");
        }
        for file in ["s3", "runs/s3://x", "-", "https://host/x", "/s3://"] {
            assert!(!is_object(Path::new(file)), "{file}");
            assert_eq!(is_url(Path::new(file)), file.starts_with("https"), "{file}");
        }
        assert!(is_folder(Path::new("s3://bucket/runs/")));
        assert!(!is_folder(Path::new("s3://bucket/runs")));
        assert!(is_folder(Path::new("src/")) && !is_folder(Path::new("Cargo.toml")));
    }
}
