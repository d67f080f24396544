//! Files that nobody sees.

use super::error::shown;
use crate::DataError;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A file without a name: it disappears when it is closed, or when the program ends. Its errors name
/// the folder that it is in.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
    folder: String,
}

impl ScratchFile {
    fn explain(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("in {}: {error}", self.folder))
    }
}

impl Read for ScratchFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).map_err(|error| self.explain(&error))
    }
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| self.explain(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.explain(&error))
    }
}

impl Seek for ScratchFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to).map_err(|error| self.explain(&error))
    }
}

/// A file without a name, in the folder of `beside`.
///
/// # Errors
/// If the folder does not exist or cannot be written.
pub fn scratch_file(beside: &Path) -> Result<ScratchFile, DataError> {
    let folder = match beside.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = shown(folder);
    let file =
        tempfile::tempfile_in(folder).map_err(DataError::io(&name, "hold a temporary file"))?;
    Ok(ScratchFile { file, folder: name })
}

#[cfg(test)]
mod tests {
    use super::*;

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
