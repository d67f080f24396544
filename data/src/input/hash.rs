//! SHA-256 of inputs, beside the reading of them.

use crate::DataError;
use crate::error::shown;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

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
    /// Starts to hash the file at `path`.
    pub(crate) fn start(path: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (path, stopped) = (path.to_owned(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || hash_file(&path, &stopped));
        FileHash { stop, state: State::Running(thread) }
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

fn hash_file(path: &Path, stop: &AtomicBool) -> io::Result<String> {
    let mut hashing = HashingReader::new(File::open(path)?);
    let mut chunk = vec![0; CHUNK_BYTES];
    while !stop.load(Ordering::Relaxed) && hashing.read(&mut chunk)? > 0 {}
    Ok(hashing.finish())
}

/// SHA-256 of the file at `path`, lower-case hex.
///
/// # Errors
/// If it cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, DataError> {
    hash_file(path, &AtomicBool::new(false)).map_err(DataError::io(&shown(path), "be hashed"))
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
        assert_eq!(FileHash::start(&path).wait().unwrap(), expected);
        assert!(FileHash::start(&directory.path().join("none")).wait().is_err());
    }
}
