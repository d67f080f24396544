//! Files that appear whole or not at all.
//!
//! This is not the `atomic-write-file` crate because symlinks are followed, devices and pipes are refused, and a target
//! may be an object of a store. The temporary files are `tempfile`'s where the system has none without a name.

mod temporary;

use super::error::{DataError, shown, without_name};
use super::objects;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use temporary::{Temporary, directory};

/// A file being written for its target. [`commit`](Self::commit) replaces the target; dropping the
/// file before that, or ending the program however, leaves the target unchanged and nothing else.
/// Symlinks are followed.
#[derive(Debug)]
pub struct AtomicFile {
    /// Its name in messages.
    file: String,
    target: PathBuf,
    writer: BufWriter<Temporary>,
}

const BUFFER_BYTES: usize = 1 << 18;

impl AtomicFile {
    /// Starts a file that will replace `path`.
    ///
    /// # Errors
    /// If the directory of `path` does not exist or is not writable, or `path` exists and is not a
    /// regular file (a directory, a device, a pipe).
    pub fn create(path: &Path) -> Result<Self, DataError> {
        let file = shown(path);
        if objects::is_object(path) {
            // An object appears whole once all its bytes are sent; until then they are here.
            let temporary = Temporary::beside(&std::env::temp_dir().join("object"))
                .map_err(DataError::io(&file, "be stored before it is sent"))?;
            let writer = BufWriter::with_capacity(BUFFER_BYTES, temporary);
            return Ok(AtomicFile { file, target: path.to_owned(), writer });
        }
        let target = target(path)?;
        let directory = directory(&target);
        if !directory.is_dir() {
            let hint = if directory.exists() { "name a directory" } else { "create it first" };
            let problem = format!("cannot be created: {} is not a directory", directory.display());
            return Err(DataError::file(&file, problem, hint));
        }
        let temporary = Temporary::beside(&target)
            // Its own message would name the temporary file.
            .map_err(|error| DataError::io(&file, "be created")(without_name(&error)))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, temporary);
        Ok(AtomicFile { file, target, writer })
    }

    /// Gives up the target and opens what was written. The file is gone once it is closed.
    pub(crate) fn into_file(self) -> Result<File, DataError> {
        let AtomicFile { file, writer, .. } = self;
        let written = writer.into_inner().map_err(io::IntoInnerError::into_error);
        let temporary = written.map_err(DataError::io(&file, "be written"))?;
        temporary.into_file().map_err(DataError::io(&file, "be read"))
    }

    /// Renames the file to its target, after its bytes have reached the disk.
    ///
    /// # Errors
    /// If writing, flushing or renaming fails, or the target is no longer a regular file. Nothing is
    /// left behind then.
    pub fn commit(self) -> Result<(), DataError> {
        let AtomicFile { file, target, writer } = self;
        let written = writer.into_inner().map_err(io::IntoInnerError::into_error);
        let temporary = written.map_err(DataError::io(&file, "be written"))?;
        if objects::is_object(&target) {
            let mut bytes = temporary.into_file().map_err(DataError::io(&file, "be read"))?;
            return objects::put(&target, &mut bytes);
        }
        let found = std::fs::symlink_metadata(&target);
        if let Ok(found) = found.as_ref().map(Metadata::permissions) {
            let kept = temporary.as_file().set_permissions(found);
            kept.map_err(DataError::io(&file, "be given the permissions of the file it replaces"))?;
        }
        temporary.as_file().sync_all().map_err(DataError::io(&file, "be written"))?;
        refuse_irregular(&file, found)?;
        temporary.put(&target).map_err(DataError::io(&file, "be put in place"))?;
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
    written(path, bytes)?.commit()
}

fn written(path: &Path, bytes: &[u8]) -> Result<AtomicFile, DataError> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(DataError::io(&shown(path), "be written"))?;
    Ok(file)
}

/// Replaces files that belong together: what `others` puts in place, then `path` by `bytes`. Until then there is no file at
/// `path`, and no other such set comes between: where it is, the others are of the same set.
///
/// # Errors
/// As [`write_atomic`], and those of `others`.
pub fn write_set(
    path: &Path,
    bytes: &[u8],
    others: impl FnOnce() -> Result<(), DataError>,
) -> Result<(), DataError> {
    let main = written(path, bytes)?;
    // Where a folder cannot be locked, sets must not be made at the same time.
    let folder = std::fs::File::open(directory(&main.target));
    let _locked = folder.and_then(|folder| folder.lock().map(|()| folder));
    match objects::is_object(path) {
        true => objects::remove_object(path)?,
        false => remove_old(path)?,
    }
    others()?;
    main.commit()
}

/// Removes a file that is about to be replaced, so that it is not together with new ones. A symlink stays, and
/// what it leads to is empty then.
///
/// # Errors
/// If it cannot be removed.
pub fn remove_old(path: &Path) -> Result<(), DataError> {
    if path.is_symlink() {
        return write_atomic(path, b"");
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(DataError::io(&shown(path), "be replaced")),
    }
}

/// Moves the file at `from` to `to`, whole or not at all.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn move_file(from: &Path, to: &Path) -> Result<(), DataError> {
    if target(to)? == to {
        return std::fs::rename(from, to).map_err(DataError::io(&shown(to), "be put in place"));
    }
    // The target of a symlink may be on another disk.
    let mut file = AtomicFile::create(to)?;
    std::fs::File::open(from)
        .and_then(|mut from| io::copy(&mut from, &mut file))
        .map_err(DataError::io(&shown(to), "be written"))?;
    file.commit()?;
    std::fs::remove_file(from).map_err(DataError::io(&shown(from), "be removed"))
}

/// The file that writing `path` replaces: itself, or the target of a symlink.
fn target(path: &Path) -> Result<PathBuf, DataError> {
    let file = shown(path);
    refuse_irregular(&file, std::fs::metadata(path))?;
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    std::fs::canonicalize(path).map_err(|_| {
        DataError::file(&file, "is a dangling symlink", "remove it, or name a file to write")
    })
}

/// Refuses an existing target that is not a regular file.
fn refuse_irregular(file: &str, found: io::Result<Metadata>) -> Result<(), DataError> {
    let problem = match found {
        Ok(found) if found.is_dir() => "is a directory",
        Ok(found) if !found.is_file() => "is not a regular file",
        _ => return Ok(()),
    };
    Err(DataError::file(file, problem, "name a file to write"))
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    std::fs::File::open(directory)?.sync_all()
}

/// Other systems cannot flush a directory.
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
            "{}: cannot be created: {} is not a directory; create it first",
            missing.display(),
            missing.parent().unwrap().display()
        );
        assert_eq!(error.to_string(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_followed() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        fs::create_dir(place("far")).unwrap();
        fs::write(place("far/out"), "old").unwrap();
        std::os::unix::fs::symlink("far/out", place("one")).unwrap();
        std::os::unix::fs::symlink("one", place("two")).unwrap();
        write_atomic(&place("two"), b"new").unwrap();
        assert_eq!(fs::read(place("far/out")).unwrap(), b"new");
        fs::write(place("made"), "moved").unwrap();
        move_file(&place("made"), &place("two")).unwrap();
        assert_eq!(fs::read(place("far/out")).unwrap(), b"moved");
        assert!(place("one").is_symlink() && place("two").is_symlink() && !place("made").exists());
        assert_eq!(names(&place("far")), ["out"]);
        fs::remove_file(place("far/out")).unwrap();
        let error = write_atomic(&place("two"), b"new").unwrap_err().to_string();
        assert!(error.contains("two: is a dangling symlink; "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_target_that_is_not_a_regular_file_stays() {
        use std::os::unix::fs::FileTypeExt;
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let make = || std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        let refused = |result: Result<(), DataError>| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("pipe: is not a regular file"), "{error}");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        };
        let early = AtomicFile::create(&pipe).unwrap();
        assert!(make().success());
        refused(early.commit());
        refused(write_atomic(&pipe, b"x"));
        let link = directory.path().join("to-pipe");
        std::os::unix::fs::symlink("pipe", &link).unwrap();
        refused(write_atomic(&link, b"x"));
        let made = directory.path().join("made");
        fs::write(&made, "x").unwrap();
        refused(move_file(&made, &pipe));
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_as_readable_as_any_and_a_replaced_one_as_before() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (ours, plain) = (directory.path().join("ours"), directory.path().join("plain"));
        write_atomic(&ours, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o600)).unwrap();
        write_atomic(&ours, b"y").unwrap();
        assert_eq!(mode(&ours) & 0o777, 0o600);
    }
}
