//! How far long work is.

/// Is told how far long work is. Nothing here prints: a command draws a progress bar, a notebook
/// another, a test nothing ([`Silent`]).
pub trait Progress: Sync {
    /// A stage begins: `collect`, `train`, `report`, ...
    fn begin(&self, stage: &'static str);

    /// So many more rows of the stage are done.
    fn advance(&self, rows: usize);

    /// So many of about so many steps of the stage are done.
    fn estimate(&self, done: u64, all: u64);

    /// The rows are read once more, from the first.
    fn restart(&self);

    /// The stage is done; what it did, in a few words.
    fn end(&self, done: &str);

    /// Worth knowing, but no error.
    fn note(&self, note: &str);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &'static str) {}

    fn advance(&self, _: usize) {}

    fn estimate(&self, _: u64, _: u64) {}

    fn restart(&self) {}

    fn end(&self, _: &str) {}

    fn note(&self, _: &str) {}
}
