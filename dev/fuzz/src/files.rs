//! Bytes as the file that a reader takes, and the corpora.

use std::path::{Path, PathBuf};

/// A target: the name of its corpus, and what takes the bytes.
pub(crate) type FuzzTarget = (&'static str, fn(&[u8]));

/// Readers take files. One for each process, in memory where the system has such a folder.
pub(crate) fn with_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let path: PathBuf = folder.join(format!("dropcast-fuzz-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file is written");
    read(&path);
    let _ = std::fs::remove_file(&path);
}
