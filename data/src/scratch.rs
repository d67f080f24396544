//! Files that nobody sees.

use crate::DataError;
use crate::error::shown;
use std::fs::File;
use std::path::Path;

/// A file without a name, in the folder of `beside`: it disappears when it is closed,
/// or when the program ends.
///
/// # Errors
/// If the folder does not exist or cannot be written.
pub fn scratch_file(beside: &Path) -> Result<File, DataError> {
    let folder = match beside.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    tempfile::tempfile_in(folder).map_err(DataError::io(&shown(folder), "hold a temporary file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom, Write};

    #[test]
    fn a_scratch_file_holds_bytes_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = scratch_file(&folder.path().join("model.json")).unwrap();
        file.write_all(b"rows").unwrap();
        file.seek(SeekFrom::Start(1)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ows");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = scratch_file(&folder.path().join("none/model.json")).unwrap_err();
        assert!(nowhere.to_string().contains("none"), "{nowhere}");
    }
}
