//! Rows of delimited text: a header line, then one row a line.
//!
//! This is not the `csv` crate because lines must be bounded: a file that is not text must not fill
//! the memory, and an open quote must not swallow the rest of the file.

use super::cell::{BadCell, Cell, excerpt};
use crate::DataError;
use crate::io::{Lines, TextInput};
use crate::types::other_kind;
use std::ops::Range;

/// A delimited text being read.
pub(crate) struct CsvRows {
    file: String,
    lines: Lines,
    delimiter: u8,
    header: Vec<String>,
    fields: Vec<Range<usize>>,
}

/// One row.
pub(crate) struct CsvRow<'a> {
    line: &'a [u8],
    fields: &'a [Range<usize>],
}

impl CsvRows {
    /// Reads the header line. The delimiter is the first of comma, semicolon, tab and space that
    /// is in it.
    pub(crate) fn start(file: &str, input: TextInput) -> Result<Self, DataError> {
        let mut rows = CsvRows {
            file: file.to_owned(),
            lines: Lines::start(file, input, "expected one row of numbers a line"),
            delimiter: b',',
            header: Vec::new(),
            fields: Vec::new(),
        };
        rows.read_header()?;
        Ok(rows)
    }

    /// Names of the columns.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// Number of the line of the last row, from 1.
    pub(crate) fn line_number(&self) -> u64 {
        self.lines.number()
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        self.lines.close();
    }

    /// The hash of the file, known after the last row.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.lines.hash()
    }

    /// The next row; `None` after the last. Skips empty lines.
    pub(crate) fn next_row(&mut self) -> Result<Option<CsvRow<'_>>, DataError> {
        if !self.read_line()? {
            return Ok(None);
        }
        split(self.lines.line(), self.delimiter, &mut self.fields);
        Ok(Some(CsvRow { line: self.lines.line(), fields: &self.fields }))
    }

    fn read_header(&mut self) -> Result<(), DataError> {
        let expected = "expected a header line that names the columns, or a Parquet file";
        if !self.read_line()? {
            return Err(DataError::file(&self.file, "has no text in it", expected));
        }
        self.lines.strip_mark();
        let line = self.lines.line();
        let binary = |&byte: &u8| byte < b' ' && byte != b'\t';
        let is_binary = std::str::from_utf8(line).is_err() || line.iter().any(binary);
        let neither = is_binary.then_some(("is neither text nor Parquet", expected));
        if let Some((problem, hint)) = known_to_be(line).or(neither) {
            return Err(DataError::file(&self.file, problem, hint));
        }
        let present = |delimiter: &u8| line.contains(delimiter);
        self.delimiter = [b',', b';', b'\t', b' '].into_iter().find(present).unwrap_or(b',');
        split(line, self.delimiter, &mut self.fields);
        let row = CsvRow { line, fields: &self.fields };
        if (0..row.len()).all(|field| row.field(field).iter().all(u8::is_ascii_digit)) {
            let problem = format!("begins with a row of numbers ({})", excerpt(line));
            return Err(DataError::file(&self.file, problem, expected));
        }
        let name = |field| String::from_utf8_lossy(row.field(field)).into_owned();
        self.header = (0..row.len()).map(name).collect();
        self.refuse_repeats()
    }

    fn refuse_repeats(&self) -> Result<(), DataError> {
        let repeated = |&(place, name): &(usize, &String)| self.header[..place].contains(name);
        match self.header.iter().enumerate().find(repeated) {
            None => Ok(()),
            Some((_, name)) => {
                let problem = format!("names column {name:?} twice");
                Err(DataError::file(&self.file, problem, "give each column its own name"))
            }
        }
    }

    /// Reads the next line that is not blank; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, DataError> {
        let delimiter = self.delimiter;
        // The tabs between empty fields are a row.
        let is_blank = |line: &[u8]| {
            let has_tabs = delimiter == b'\t' && line.contains(&b'\t');
            !has_tabs && line.iter().all(u8::is_ascii_whitespace)
        };
        self.lines.read(is_blank)
    }
}

/// What a text is instead of a table, and what to do, by how it begins.
fn known_to_be(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let decompress = "decompress it; gzip or Zstandard, once, is read as it is";
    match bytes {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Some(("holds Zstandard in another compression", decompress))
        }
        [0x1f, 0x8b, ..] => Some(("holds gzip in another compression", decompress)),
        _ => other_kind(bytes),
    }
}

impl CsvRow<'_> {
    /// How many fields it has.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The text of a field, without white space and quotes around it.
    pub(crate) fn field(&self, field: usize) -> &[u8] {
        let text = self.line[self.fields[field].clone()].trim_ascii();
        match text {
            [b'"', inner @ .., b'"'] => inner,
            text => text,
        }
    }

    /// The value of a field.
    pub(crate) fn read<T: Cell>(&self, field: usize) -> Result<T, BadCell> {
        T::from_text(self.field(field))
    }
}

/// Finds the fields of a line. Delimiters between quotes do not count; of spaces, a run counts once.
fn split(line: &[u8], delimiter: u8, fields: &mut Vec<Range<usize>>) {
    fields.clear();
    let mut start = 0;
    let mut quoted = false;
    for (place, &byte) in line.iter().enumerate() {
        if byte == b'"' {
            quoted = !quoted;
        } else if byte == delimiter && !quoted {
            push_field(start..place, delimiter, fields);
            start = place + 1;
        }
    }
    push_field(start..line.len(), delimiter, fields);
}

fn push_field(field: Range<usize>, delimiter: u8, fields: &mut Vec<Range<usize>>) {
    if delimiter != b' ' || !field.is_empty() {
        fields.push(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Compression;
    use std::io::Cursor;

    fn start(text: &str) -> Result<CsvRows, DataError> {
        CsvRows::start(
            "x.csv",
            TextInput::start(Box::new(Cursor::new(text.to_owned())), Compression::None),
        )
    }

    fn all(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut csv = start(text).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = csv.next_row().unwrap() {
            let field = |field| String::from_utf8(row.field(field).to_vec()).unwrap();
            rows.push((0..row.len()).map(field).collect());
        }
        (csv.header().to_vec(), rows)
    }

    #[test]
    fn delimiters_quotes_and_line_ends_are_understood() {
        let check = |text: &str| {
            let (header, rows) = all(text);
            assert_eq!(header, ["a", "b", "c"], "{text:?}");
            assert_eq!(rows, [["1", "2", "3"], ["4", "5", "6"]], "{text:?}");
        };
        check("a,b,c\n1,2,3\n4,5,6\n");
        check("a,b,c\r\n1,2,3\r\n4,5,6");
        check("a b c\n1 2  3 \n 4 5 6\n\n");
        check("a\tb\tc\n1\t2\t3\n\n4\t5\t6\n");
        check("a; b; c\n1; 2; 3\n4; 5; 6\n");
        check("\u{feff}\"a\",\"b\",\"c\"\n\"1\",2,3\n4,\"5\",6\n");
        assert_eq!(all("a,b\n\"x,y\",1\n").1, [["x,y", "1"]]);
        assert_eq!(all("a,b\n1,\n,\n").1, [["1", ""], ["", ""]]);
        assert_eq!(all("one\n1\n").1, [["1"]]);
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        let check = |text: &str, says: &str| {
            let error = start(text).err().expect("not a table").to_string();
            assert!(error.starts_with("x.csv: ") && error.contains(says), "{error}");
        };
        check("\n \n", "has no text");
        check("1,2,3\n", "begins with a row of numbers (1,2,3)");
        check("a,b,a\n", "column \"a\" twice");
        check("a\0b\n", "neither text nor Parquet");
        check("BZh91AY&SY\u{1}\n", "x.csv: holds bzip2; decompress it");
        check("PK\u{3}\u{4}\u{14}\n", "x.csv: holds a ZIP archive; unpack it");
        check(&"x".repeat(70_000), "line 1 is longer than 65536 bytes");
    }
}
