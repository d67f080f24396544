//! Rows that do not fit into memory.

use crate::TrainError;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// A file for rows that do not fit into memory, empty at first. The caller creates and removes it:
/// nothing here opens a file.
pub trait SpillFile: Read + Write + Seek + Send {}

impl<F: Read + Write + Seek + Send> SpillFile for F {}

/// Bytes in the temporary file, if there is one.
pub(crate) struct Spill {
    file: Mutex<Option<Box<dyn SpillFile>>>,
    end: u64,
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("bytes", &self.end).finish_non_exhaustive()
    }
}

impl Spill {
    pub(crate) fn new(file: Option<Box<dyn SpillFile>>) -> Self {
        Spill { file: Mutex::new(file), end: 0 }
    }

    /// Bytes in the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.end
    }

    /// Writes `parts` one after another; returns where they begin.
    pub(crate) fn append(&mut self, parts: &[Vec<u8>]) -> Result<u64, TrainError> {
        let from = self.end;
        self.with_file(|file| {
            file.seek(SeekFrom::Start(from))?;
            parts.iter().try_for_each(|part| file.write_all(part))
        })?;
        self.end += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        Ok(from)
    }

    /// Fills `buffer` with the bytes from `from` on.
    pub(crate) fn read(&self, from: u64, buffer: &mut [u8]) -> Result<(), TrainError> {
        self.with_file(|file| {
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(buffer)
        })
    }

    fn with_file(
        &self,
        work: impl FnOnce(&mut dyn SpillFile) -> io::Result<()>,
    ) -> Result<(), TrainError> {
        // A panic elsewhere leaves no broken state here: each call seeks first.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match file.as_deref_mut() {
            Some(file) => work(file).map_err(TrainError::Spill),
            None => Err(TrainError::Spill(io::ErrorKind::NotFound.into())),
        }
    }
}
