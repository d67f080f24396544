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

/// Rows that are kept in memory, at most.
const KEPT_BYTES: usize = 256 << 20;

impl Resources {
    /// How many bytes of rows a training may keep in memory to read them once: none within a limit.
    pub fn kept_bytes(&self) -> usize {
        if self.memory.is_some() { 0 } else { KEPT_BYTES }
    }

    /// The number of threads to use.
    pub fn threads(&self) -> NonZeroUsize {
        let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(available)
    }
}
