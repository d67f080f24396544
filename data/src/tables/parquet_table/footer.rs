//! What the footer of a Parquet file claims, read before the library takes memory for it.
//!
//! The library takes some 900 bytes for each column, which needs 6 in a footer, and recurses into nested
//! columns.

use super::compact::Compact;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use std::fmt;

/// The largest footer that is read, bytes. A labelled trace has 1 to 3 KiB for each 2^20 rows.
const MOST_FOOTER_BYTES: u64 = 32 << 20;

/// Columns of a file, at most; groups of columns count, too.
const MOST_COLUMNS: u64 = 1 << 16;

/// How deep columns are nested, at most.
const MOST_DEPTH: usize = 64;

/// What a file begins and ends with.
pub(crate) const PARQUET_MAGIC: &[u8] = b"PAR1";

/// The end of a file: how long its footer is, and [`PARQUET_MAGIC`].
pub(super) const TAIL_BYTES: u64 = 8;

/// Why a footer is not read.
#[derive(Debug, PartialEq)]
pub(super) enum BadFooter {
    /// It cannot be read.
    Damaged,
    /// It has this many bytes.
    TooLarge(u64),
    /// It lists this many columns.
    TooManyColumns(u64),
    /// Its columns are nested too deep.
    TooDeep,
}

impl fmt::Display for BadFooter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadFooter::Damaged => f.write_str("has a footer that cannot be read"),
            BadFooter::TooLarge(bytes) => {
                write!(
                    f,
                    "has a footer of {bytes} bytes, more than the limit of {} MiB",
                    MOST_FOOTER_BYTES >> 20
                )
            }
            BadFooter::TooManyColumns(columns) => {
                write!(f, "has {columns} columns, more than the limit of {MOST_COLUMNS}")
            }
            BadFooter::TooDeep => write!(f, "has columns nested more than {MOST_DEPTH} deep"),
        }
    }
}

impl BadFooter {
    /// What to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            BadFooter::Damaged => super::pages::REMEDY,
            BadFooter::TooLarge(_) => "write it with larger row groups or less metadata",
            BadFooter::TooManyColumns(_) | BadFooter::TooDeep => "write only the needed columns",
        }
    }
}

/// What is wrong with the claims of a footer. What is no Parquet file at all, the library says better.
pub(super) fn bad_footer<R: ChunkReader>(file: &R) -> Result<Option<BadFooter>, ParquetError> {
    let Some(tail_at) = file.len().checked_sub(TAIL_BYTES) else { return Ok(None) };
    let tail = file.get_bytes(tail_at, TAIL_BYTES as usize)?;
    let bytes = footer_bytes(&tail);
    if &tail[4..] != PARQUET_MAGIC || bytes > file.len() {
        return Ok(None);
    }
    if bytes > MOST_FOOTER_BYTES {
        return Ok(Some(BadFooter::TooLarge(bytes)));
    }
    let metadata = file.get_bytes(file.len() - bytes, (bytes - TAIL_BYTES) as usize)?;
    Ok(judge(&metadata))
}

/// How long a footer is, by the last [`TAIL_BYTES`] of its file.
pub(super) fn footer_bytes(tail: &[u8]) -> u64 {
    let length: [u8; 4] = tail.first_chunk().copied().unwrap_or_default();
    TAIL_BYTES + u64::from(u32::from_le_bytes(length))
}

/// Judges `FileMetaData` of parquet.thrift.
fn judge(metadata: &[u8]) -> Option<BadFooter> {
    let mut compact = Compact { bytes: metadata, at: 0 };
    let mut bad = None;
    let walked = compact.fields(|compact, field, kind| match field {
        2 => {
            bad = bad.take().or(judge_schema(compact)?);
            // The rest of the list stays unread.
            bad.is_none().then_some(())
        }
        _ => compact.skip(kind, 0),
    });
    bad.or(walked.is_none().then_some(BadFooter::Damaged))
}

/// Reads a list of `SchemaElement`s: the tree of columns, each before its children.
fn judge_schema(compact: &mut Compact<'_>) -> Option<Option<BadFooter>> {
    let (elements, _) = compact.list()?;
    if elements > MOST_COLUMNS {
        return Some(Some(BadFooter::TooManyColumns(elements)));
    }
    // How many children of each open group are still to come.
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..elements {
        let [children] = compact.sizes_within([5])?;
        if let Some(siblings) = open.last_mut() {
            *siblings = siblings.saturating_sub(1);
        }
        open.extend(children.filter(|&children| children > 0));
        if open.len() > MOST_DEPTH {
            return Some(Some(BadFooter::TooDeep));
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(None)
}
