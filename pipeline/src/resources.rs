//! The threads and memory that work may use.

use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Threads and memory. Results are the same with any.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Threads; as many as the machine has, unless given.
    pub threads: Option<NonZeroUsize>,
    /// Memory for binned rows; no limit unless given.
    pub memory: Option<MemoryLimit>,
}

/// How much memory binned rows may take, and where the others go.
#[derive(Clone, Debug)]
pub struct MemoryLimit {
    /// The limit, MiB.
    pub mib: u64,
    /// Rows beyond the limit go to an unnamed temporary file in the folder of this path.
    pub beside: PathBuf,
}

impl Resources {
    /// The number of threads to use.
    pub fn threads(&self) -> NonZeroUsize {
        let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(available)
    }
}
