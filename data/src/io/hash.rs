//! SHA-256 of inputs, beside the reading of them.

use super::error::{DataError, shown};
use super::objects;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::SystemTime;

const CHUNK_BYTES: usize = 1 << 18;

/// Passes bytes through and hashes them.
pub(crate) struct HashingReader<R> {
    inner: R,
    hash: Sha256,
}

impl<R> HashingReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        HashingReader { inner, hash: Sha256::new() }
    }

    /// The hash of all bytes that passed, lower-case hex.
    pub(crate) fn finish(self) -> String {
        hex(&self.hash.finalize())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// The hash of a whole file, found by a thread of its own while the file is read elsewhere: Parquet
/// is not read from front to back, so its bytes cannot be hashed as they pass. Dropping it stops
/// the thread.
pub(crate) struct FileHash {
    stop: Arc<AtomicBool>,
    state: State,
}

enum State {
    Known(String),
    Running(JoinHandle<io::Result<String>>),
}

impl FileHash {
    /// Starts to hash an opened file: the same file that is read, even if another takes its name.
    pub(crate) fn start(file: &File) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (file, stopped) = (file.try_clone()?, Arc::clone(&stop));
        let before = FileState::read(&file)?;
        let hash = Arc::new(move || {
            let hash = hash_bytes(PositionedReader { file: &file, at: 0 }, &stopped)?;
            let same = stopped.load(Ordering::Relaxed) || FileState::read(&file)? == before;
            if same { Ok(hash) } else { Err(io::Error::other("it changed while it was read")) }
        });
        let own = Arc::clone(&hash);
        let state = match std::thread::Builder::new().spawn(move || own()) {
            Ok(thread) => State::Running(thread),
            // The system has no thread for it.
            Err(_) => State::Known(hash()?),
        };
        Ok(FileHash { stop, state })
    }

    pub(crate) fn known(hash: String) -> Self {
        FileHash { stop: Arc::new(AtomicBool::new(true)), state: State::Known(hash) }
    }

    /// Waits for the hash.
    pub(crate) fn wait(mut self) -> io::Result<String> {
        match std::mem::replace(&mut self.state, State::Known(String::new())) {
            State::Known(hash) => Ok(hash),
            State::Running(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the hashing thread stopped early"))),
        }
    }
}

impl Drop for FileHash {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What changes when somebody writes to a file.
#[derive(PartialEq)]
struct FileState {
    bytes: u64,
    modified: SystemTime,
}

impl FileState {
    fn read(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(FileState { bytes: found.len(), modified: found.modified()? })
    }
}

/// Reads a file at a place of its own: whoever else reads it moves the place that handles share.
struct PositionedReader<'a> {
    file: &'a File,
    at: u64,
}

impl Read for PositionedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

fn hash_bytes(bytes: impl Read, stop: &AtomicBool) -> io::Result<String> {
    let mut hashing = HashingReader::new(bytes);
    let mut chunk = vec![0; CHUNK_BYTES];
    while !stop.load(Ordering::Relaxed) && hashing.read(&mut chunk)? > 0 {}
    Ok(hashing.finish())
}

/// SHA-256 of the file at `path`, lower-case hex.
///
/// # Errors
/// If it cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, DataError> {
    let file = shown(path);
    let failed = || DataError::io(&file, "be hashed");
    let bytes: Box<dyn Read> = match objects::is_object(path) {
        true => objects::open(path)?,
        false => Box::new(File::open(path).map_err(failed())?),
    };
    hash_bytes(bytes, &AtomicBool::new(false)).map_err(failed())
}

/// SHA-256 of `bytes`, lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let file = File::open(&path).unwrap();
        assert_eq!(FileHash::start(&file).unwrap().wait().unwrap(), expected);
        // Another file under its name changes nothing.
        std::fs::write(directory.path().join("new"), "other").unwrap();
        std::fs::rename(directory.path().join("new"), &path).unwrap();
        assert_eq!(FileHash::start(&file).unwrap().wait().unwrap(), expected);
        assert!(sha256_file(&directory.path().join("none")).is_err());
    }

    #[test]
    fn a_file_that_is_written_to_while_it_is_read_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = FileState::read(file.as_file()).unwrap();
        std::fs::write(file.path(), "more").unwrap();
        assert!(FileState::read(file.as_file()).unwrap() != before);
    }
}
