//! Parts of Parquet objects: a store gives any bytes of an object, so rows that are not read are not
//! fetched.

use crate::DataError;
use crate::error::shown;
use crate::objects;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes at the end of an object that are fetched at first; nearly all footers are shorter.
const FOOTER_BYTES: u64 = 64 << 10;

/// Bytes of the end of a footer, which tell how long it is.
const TAIL_BYTES: u64 = 8;

/// A Parquet object as a file that has its footer and the row groups that some rows are in. The rest is
/// zeros, which take no room on a disk.
pub(crate) fn fetch_rows(path: &Path, rows: &Range<u64>) -> Result<File, DataError> {
    let name = shown(path);
    let failed = || DataError::io(&name, "be fetched");
    let bytes = objects::size(path)?;
    let file = tempfile::tempfile().map_err(failed())?;
    file.set_len(bytes).map_err(failed())?;
    let fetch = |range: Range<u64>| -> Result<(), DataError> {
        if range.is_empty() {
            return Ok(());
        }
        (&file).seek(SeekFrom::Start(range.start)).map_err(failed())?;
        let mut part = objects::open_range(path, range)?;
        io::copy(&mut part, &mut &file).map(drop).map_err(failed())
    };
    let first = bytes.saturating_sub(FOOTER_BYTES);
    fetch(first..bytes)?;
    let footer = footer_bytes(&file, bytes).map_err(failed())?.min(bytes);
    fetch(bytes - footer..first)?;
    // What is damaged is told by whoever reads the file.
    let Ok(metadata) = ParquetMetaDataReader::new().parse_and_finish(&file) else {
        return Ok(file);
    };
    let groups = &metadata.row_groups()[groups_of(&metadata, rows).0];
    let chunks = groups.iter().flat_map(|group| group.columns()).map(|chunk| chunk.byte_range());
    let (from, to) = chunks.fold((bytes, 0), |(from, to), (start, length)| {
        (from.min(start), to.max(start.saturating_add(length)))
    });
    fetch(from..to.min(bytes))?;
    Ok(file)
}

/// How long the footer is, as the end of a file says.
fn footer_bytes(mut file: &File, bytes: u64) -> io::Result<u64> {
    use io::Read;
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    Ok(TAIL_BYTES + u64::from(u32::from_le_bytes(length)))
}

/// The row groups that rows are in, and the number of the first row of these.
pub(super) fn groups_of(metadata: &ParquetMetaData, rows: &Range<u64>) -> (Range<usize>, u64) {
    let (mut groups, mut first) = (0..0, 0);
    let mut before = 0_u64;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        let end = before.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        if end > rows.start && before < rows.end {
            if groups.is_empty() {
                (groups, first) = (place..place, before);
            }
            groups.end = place + 1;
        }
        before = end;
    }
    (groups, first)
}
