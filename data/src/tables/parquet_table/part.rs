//! Parts of Parquet objects: a store gives any bytes of an object, so rows that are not read are not
//! fetched.

use super::footer::{TAIL_BYTES, bad_footer, footer_bytes};
use crate::DataError;
use crate::io::{objects, shown};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes at the end of an object that are fetched at first; nearly all footers are shorter.
const FOOTER_BYTES: u64 = 64 << 10;

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
    let tail = file.get_bytes(bytes.saturating_sub(TAIL_BYTES), TAIL_BYTES.min(bytes) as usize);
    // What is damaged is an error of whoever reads the file.
    let Ok(tail) = tail else { return Ok(file) };
    fetch(bytes - footer_bytes(&tail).min(bytes)..first)?;
    let Ok(None) = bad_footer(&file) else { return Ok(file) };
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
