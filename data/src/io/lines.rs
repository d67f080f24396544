//! Lines of text of a bounded length: a file that is not text must not fill the memory.

use super::text::TextInput;
use crate::DataError;
use std::io::{BufRead, Read};

/// Longer lines are not rows.
const LINE_BYTES: u64 = 1 << 16;

/// The lines of an input, one at a time.
pub(crate) struct Lines {
    file: String,
    input: TextInput,
    line: Vec<u8>,
    number: u64,
    /// What a file should have instead of a line that is too long.
    expected: &'static str,
}

impl Lines {
    pub(crate) fn start(file: &str, input: TextInput, expected: &'static str) -> Self {
        Lines { file: file.to_owned(), input, line: Vec::new(), number: 0, expected }
    }

    /// The last line, without its end.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        self.line = Vec::new();
        self.input.close();
    }

    /// The hash of the file, known after the last line.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.input.hash()
    }

    /// Takes a byte order mark off the line.
    pub(crate) fn strip_mark(&mut self) {
        if self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
    }

    /// Reads the next line that `is_blank` does not pass over; false at the end of the file.
    pub(crate) fn read(&mut self, is_blank: impl Fn(&[u8]) -> bool) -> Result<bool, DataError> {
        loop {
            self.line.clear();
            let count = (&mut self.input)
                .take(LINE_BYTES)
                .read_until(b'\n', &mut self.line)
                .map_err(DataError::io(&self.file, "be read"))?;
            self.number += 1;
            let ended = self.line.pop_if(|&mut last| last == b'\n').is_some();
            if !ended && count as u64 == LINE_BYTES {
                let problem = format!("line {} is longer than {LINE_BYTES} bytes", self.number);
                return Err(DataError::file(&self.file, problem, self.expected));
            }
            self.line.pop_if(|&mut last| last == b'\r');
            if !is_blank(&self.line) {
                return Ok(true);
            }
            if count == 0 {
                return Ok(false);
            }
        }
    }
}
