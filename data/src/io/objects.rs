//! Objects of S3, Google Cloud Storage and Azure Blob Storage by their URLs, in place of files
//! (`docs/objects.md`).
//!
//! An object is read from front to back, and written whole: a store shows an object once all its parts are
//! there. The stores themselves are those that the program installs: of the crate `dropcast-objects`, or none.

use super::error::{DataError, shown};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Stores of objects. Problems are texts of one line.
pub trait ObjectStores: Sync {
    /// The bytes of an object, in order.
    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, String>;
    /// The bytes of an object in a range, in order.
    fn open_range(&self, path: &Path, range: Range<u64>) -> Result<Box<dyn Read + Send>, String>;
    /// How many bytes an object has.
    fn size(&self, path: &Path) -> Result<u64, String>;
    /// Puts all bytes of a file into an object, in place of one that is there.
    fn put(&self, path: &Path, file: &mut File) -> Result<(), String>;
    /// The URLs of all objects under a folder's, in order of their names.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, String>;
    /// Removes an object, if it is there.
    fn remove(&self, path: &Path) -> Result<(), String>;
}

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
    stores()
        .and_then(|stores| stores.open(path))
        .map_err(|problem| failed(path, "be opened", problem))
}

/// The bytes of an object in a range, in order.
pub(crate) fn open_range(
    path: &Path,
    range: Range<u64>,
) -> Result<Box<dyn Read + Send>, DataError> {
    stores()
        .and_then(|stores| stores.open_range(path, range))
        .map_err(|problem| failed(path, "be opened", problem))
}

/// How many bytes an object has.
pub(crate) fn size(path: &Path) -> Result<u64, DataError> {
    stores()
        .and_then(|stores| stores.size(path))
        .map_err(|problem| failed(path, "be opened", problem))
}

/// Puts all bytes of a file into an object, in place of one that is there.
pub(crate) fn put(path: &Path, file: &mut File) -> Result<(), DataError> {
    stores()
        .and_then(|stores| stores.put(path, file))
        .map_err(|problem| failed(path, "be written", problem))
}

/// The URLs of all objects under a folder's, in order of their names.
///
/// # Errors
/// If the store does not answer.
pub fn list_objects(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    stores()
        .and_then(|stores| stores.list(folder))
        .map_err(|problem| failed(folder, "be read", problem))
}

/// Removes an object, if it is there.
///
/// # Errors
/// If the store does not answer, or refuses.
pub fn remove_object(path: &Path) -> Result<(), DataError> {
    stores()
        .and_then(|stores| stores.remove(path))
        .map_err(|problem| failed(path, "be removed", problem))
}

fn failed(path: &Path, doing: &str, problem: String) -> DataError {
    let hint = "stores are set up by variables of the environment, and a folder's URL ends in / \
                (docs/objects.md)";
    DataError::file(&shown(path), format!("cannot {doing}: {problem}"), hint)
}

/// What [`install_object_stores`] was given.
static INSTALLED: OnceLock<&'static dyn ObjectStores> = OnceLock::new();

/// Lets this program use the objects of these stores, which the crate `dropcast-objects` has. The first call counts.
pub fn install_object_stores(stores: &'static dyn ObjectStores) {
    INSTALLED.get_or_init(|| stores);
}

fn stores() -> Result<&'static dyn ObjectStores, String> {
    INSTALLED.get().copied().ok_or_else(|| {
        "this program was built without object stores; build it with --features object-store"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_stores_are_not_files() {
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
