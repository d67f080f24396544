//! Opening an input: its format, told from its first bytes, and its hash.

mod hash;
mod text;

pub(crate) use hash::{FileHash, hex};
pub use hash::{sha256, sha256_file};
pub(crate) use text::{Compression, TextInput};

use crate::error::shown;
use crate::parquet_table::{PARQUET_MAGIC, fetch_rows};
use crate::{DataError, objects};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use text::Bytes;

/// An opened input that is not empty.
pub(crate) enum Input {
    /// Begins like a Parquet file: a seekable file, and its hash, computed meanwhile.
    Parquet(File, FileHash),
    /// Anything else: text or packets, decompressed if it begins like gzip or Zstandard.
    Text(TextInput),
}

/// The format that the caller expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Anything,
    /// Anything; no rows of Parquet will be read.
    Footer,
    Text,
    Parquet,
}

/// The name of a file without that of its compression.
pub(crate) fn uncompressed(name: &str) -> &str {
    name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name)
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
        source.by_ref().take(4).read_to_end(&mut head).map_err(cannot_read())?;
        if head.is_empty() {
            return Err(DataError::file(&file, "is empty", "expected events or a trace in it"));
        }
        let is_parquet = match expect {
            Expect::Anything | Expect::Footer => head.starts_with(PARQUET_MAGIC),
            Expect::Text => false,
            Expect::Parquet => true,
        };
        let whole = Box::new(Cursor::new(head.clone()).chain(source));
        match regular {
            Some(opened) if is_parquet && seekable => {
                (&opened).seek(SeekFrom::Start(0)).map_err(cannot_read())?;
                let hash = FileHash::start(&opened).map_err(cannot_read())?;
                Ok(Input::Parquet(opened, hash))
            }
            None if expect == Expect::Footer && is_parquet && objects::is_object(path) => {
                Ok(Input::Parquet(fetch_rows(path, &(0..0))?, FileHash::known(String::new())))
            }
            _ if is_parquet => {
                let (spooled, hash) = spool(whole).map_err(DataError::io(&file, "be spooled"))?;
                Ok(Input::Parquet(spooled, FileHash::known(hash)))
            }
            _ => {
                let compression = Compression::of(&head);
                let mut text = TextInput::start(whole, compression);
                if compression != Compression::None
                    && text.peek().map_err(cannot_read())?.starts_with(PARQUET_MAGIC)
                {
                    let problem = format!("is a Parquet file inside {compression}");
                    return Err(DataError::file(&file, problem, "decompress it"));
                }
                Ok(Input::Text(text))
            }
        }
    }
}

/// The name under which an input is recorded.
pub(crate) fn recorded_name(path: &Path) -> String {
    path.file_name().map_or_else(|| shown(path), |name| name.to_string_lossy().into_owned())
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

/// Parquet is read from its end, so an input that cannot seek is stored first. The temporary file
/// has no name and disappears when it is closed.
fn spool(mut source: Bytes) -> io::Result<(File, String)> {
    let mut spooled = tempfile::tempfile()?;
    let mut hashing = hash::HashingReader::new(&mut source);
    io::copy(&mut hashing, &mut spooled)?;
    let hash = hashing.finish();
    spooled.seek(SeekFrom::Start(0))?;
    Ok((spooled, hash))
}
