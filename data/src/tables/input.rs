//! Opening an input: a table, or text or packets, recognized by its first bytes.

use super::arrow_file::FILE_MAGIC;
use super::arrow_stream::looks_like_stream;
use super::parquet_table::{PARQUET_MAGIC, fetch_rows};
use super::table::Table;
use crate::DataError;
use crate::io::{Bytes, Compression, FileHash, HashingReader, TextInput, objects, shown};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// An opened input that is not empty.
pub(crate) enum Input {
    /// Parquet or Arrow IPC.
    Table(Table),
    /// Anything else: text or packets, decompressed if it begins like gzip or Zstandard.
    Text(TextInput),
}

/// What the caller will read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Anything,
    /// Anything; no rows of Parquet will be read.
    Footer,
    /// Text or packets, even if it begins like a table.
    Text,
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub(crate) fn open(path: &Path, expect: Expect) -> Result<Self, DataError> {
        let file = shown(path);
        let cannot_read = || DataError::io(&file, "be read");
        let is_stream = path.as_os_str() == "-" || objects::is_object(path);
        let regular = if is_stream { None } else { Some(open_file(path, &file)?) };
        let seekable = match &regular {
            Some(opened) => opened.metadata().map_err(cannot_read())?.is_file(),
            None => false,
        };
        let mut source: Bytes = match &regular {
            Some(opened) => Box::new(opened.try_clone().map_err(cannot_read())?),
            None if path.as_os_str() == "-" => Box::new(io::stdin()),
            None => objects::open(path)?,
        };
        let mut head = Vec::new();
        source.by_ref().take(6).read_to_end(&mut head).map_err(cannot_read())?;
        if head.is_empty() {
            return Err(DataError::file(&file, "is empty", "expected events or a trace in it"));
        }
        let by_footer = by_footer(&head).filter(|_| expect != Expect::Text);
        let whole = Box::new(Cursor::new(head.clone()).chain(source));
        let (opened, hash) = match regular {
            _ if by_footer.is_none() => return Input::of_stream(&file, whole, &head, expect),
            Some(opened) if seekable => {
                (&opened).seek(SeekFrom::Start(0)).map_err(cannot_read())?;
                let hash = FileHash::start(&opened).map_err(cannot_read())?;
                (opened, hash)
            }
            None if expect == Expect::Footer
                && objects::is_object(path)
                && by_footer == Some(PARQUET) =>
            {
                (fetch_rows(path, &(0..0))?, FileHash::known(String::new()))
            }
            _ => {
                let (spooled, hash) = spool(whole).map_err(DataError::io(&file, "be spooled"))?;
                (spooled, FileHash::known(hash))
            }
        };
        let table = match by_footer {
            Some(ARROW) => Table::arrow_file(&file, opened, hash),
            _ => Table::parquet(&file, opened, hash),
        };
        table.map(Input::Table)
    }

    /// What is read from its beginning.
    fn of_stream(file: &str, whole: Bytes, head: &[u8], expect: Expect) -> Result<Self, DataError> {
        let compression = Compression::of(head);
        let mut text = TextInput::start(whole, compression);
        let head = text.peek().map_err(DataError::io(file, "be read"))?;
        if compression != Compression::None
            && let Some(kind) = by_footer(head)
        {
            let problem = format!("is {kind} file inside {compression}");
            return Err(DataError::file(file, problem, "decompress it"));
        }
        match expect != Expect::Text && looks_like_stream(head) {
            true => Table::arrow_stream(file, text).map(Input::Table),
            false => Ok(Input::Text(text)),
        }
    }
}

const PARQUET: &str = "a Parquet";
const ARROW: &str = "an Arrow";

/// Which format that is read from its end an input has that begins so.
fn by_footer(head: &[u8]) -> Option<&'static str> {
    let formats = [(PARQUET_MAGIC, PARQUET), (FILE_MAGIC, ARROW)];
    formats.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, format)| format)
}

fn open_file(path: &Path, file: &str) -> Result<File, DataError> {
    if objects::is_url(path) {
        let hint = "download it, or give an object's URL (docs/objects.md)";
        return Err(DataError::file(file, "is a URL of no object store", hint));
    }
    let opened = File::open(path).map_err(DataError::io(file, "be opened"))?;
    if path.is_dir() {
        return Err(DataError::file(file, "is a directory", "name a file in it"));
    }
    Ok(opened)
}

/// Parquet and Arrow files are read from their end, so an input that cannot seek is stored first. The temporary file
/// has no name and disappears when it is closed.
fn spool(mut source: Bytes) -> io::Result<(File, String)> {
    let mut spooled = tempfile::tempfile()?;
    let mut hashing = HashingReader::new(&mut source);
    io::copy(&mut hashing, &mut spooled)?;
    let hash = hashing.finish();
    spooled.seek(SeekFrom::Start(0))?;
    Ok((spooled, hash))
}
