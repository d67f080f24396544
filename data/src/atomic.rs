//! Files that appear whole or not at all.

use crate::DataError;
use crate::error::shown;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written next to its target, which it replaces only when it is committed. Dropped
/// before that, it is removed, and the target is as it was.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

const BUFFER_BYTES: usize = 1 << 18;

impl AtomicFile {
    /// Starts a file that will become `path`.
    ///
    /// # Errors
    /// If the directory of `path` does not exist or cannot be written, or `path` is a directory.
    pub fn create(path: &Path) -> Result<Self, DataError> {
        let file = shown(path);
        if path.is_dir() {
            return Err(DataError::file(&file, "is a directory", "name a file to write"));
        }
        let directory = directory(path);
        if !directory.is_dir() {
            let hint = if directory.exists() { "name another" } else { "make it first" };
            let problem = format!("cannot be created, {} is no directory", directory.display());
            return Err(DataError::file(&file, problem, hint));
        }
        let mut temporary = tempfile::Builder::new();
        temporary.prefix(".dropcast-").suffix(".tmp");
        #[cfg(unix)]
        temporary.permissions(permissions());
        let temporary = temporary
            .tempfile_in(directory)
            // Its own message would name the temporary file.
            .map_err(|error| DataError::io(&file, "be created")(error.kind().into()))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, temporary);
        Ok(AtomicFile { target: path.to_owned(), writer })
    }

    /// Puts the file in its place: its bytes reach the disk before its name does.
    ///
    /// # Errors
    /// If writing, flushing or renaming fails; nothing is left behind then.
    pub fn commit(self) -> Result<(), DataError> {
        let AtomicFile { target, writer } = self;
        let file = shown(&target);
        let written = writer.into_inner().map_err(io::IntoInnerError::into_error);
        let temporary = written.map_err(DataError::io(&file, "be written"))?;
        temporary.as_file().sync_all().map_err(DataError::io(&file, "be written"))?;
        temporary
            .persist(&target)
            .map_err(|error| error.error)
            .map_err(DataError::io(&file, "be put in place"))?;
        sync_directory(directory(&target)).map_err(DataError::io(&file, "be put in place"))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Writes `bytes` to `path`, whole or not at all.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(DataError::io(&shown(path), "be written"))?;
    file.commit()
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What a new file usually gets (the process's umask takes its part), not the private mode of a
/// temporary one.
#[cfg(unix)]
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    std::fs::File::open(directory)?.sync_all()
}

/// Elsewhere a directory cannot be flushed on its own.
#[cfg(not(unix))]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_committed_file_replaces_its_target() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["out"]);
    }

    #[test]
    fn an_uncommitted_file_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&directory.path().join("out")).unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        drop(file);
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn errors_name_the_target() {
        let directory = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(directory.path()).unwrap_err();
        assert!(error.to_string().ends_with("is a directory; name a file to write"), "{error}");
        let missing = directory.path().join("no/such/out");
        let error = write_atomic(&missing, b"x").unwrap_err();
        let expected = format!(
            "{}: cannot be created, {} is no directory; make it first",
            missing.display(),
            missing.parent().unwrap().display()
        );
        assert_eq!(error.to_string(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_as_readable_as_any() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (ours, plain) = (directory.path().join("ours"), directory.path().join("plain"));
        write_atomic(&ours, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
