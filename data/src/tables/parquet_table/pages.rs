//! What the pages of a Parquet file claim, read before the library takes memory for them.
//!
//! The library believes a page's header: a few bytes that claim 2^31 values, or a page of 2 GB, take
//! that much memory. So the headers of the pages that will be read are looked at first.

use super::compact::Compact;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

/// What to do about damage.
pub(super) const REMEDY: &str = "it is damaged or incomplete, make or copy it again";

/// The largest page that is read, bytes before compression. Common writers make pages of 1 MiB.
const MOST_PAGE_BYTES: u64 = 64 << 20;

/// The pages of all columns that are read at once, bytes.
const MOST_OPEN_BYTES: u64 = 256 << 20;

/// The largest dictionary of words, and the mean of a page's words, bytes. A batch repeats each word up to once a row.
const MOST_WORD_BYTES: u64 = 4 << 10;

/// More bytes than the header of a page has.
const MOST_HEADER_BYTES: u64 = 1 << 20;

/// Bytes of a header that are read at first; nearly all are shorter.
const HEADER_BYTES: u64 = 256;

/// Encodings of words whose length is not bounded by that of their page.
const DELTA_BYTE_ARRAY: u64 = 7;

/// How many times larger gzip unpacks something, at most.
const MOST_INFLATION: u64 = 1_032;

/// Why a page is not read.
#[derive(Debug, PartialEq)]
pub(super) enum BadPage {
    /// Its compression, by name, is none that is read.
    Compression(&'static str),
    /// It unpacks to more than the bytes that it claims.
    Inflated(u64),
    /// Its header cannot be read.
    Damaged,
    /// It claims this many bytes.
    TooLarge(u64),
    /// Its dictionary claims more values than its bytes can hold.
    TooManyValues(u64),
    /// So many bytes are open with the pages of other columns.
    TooManyOpen(u64),
    /// Its words are so long in the mean, bytes.
    LongWords(u64),
    /// Its words are of an encoding that may repeat one without end.
    Encoding,
}

impl fmt::Display for BadPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadPage::Compression(name) => write!(f, "is compressed with {name}"),
            BadPage::Inflated(bytes) => {
                write!(f, "unpacks to more than the {bytes} bytes it claims")
            }
            BadPage::Damaged => f.write_str("cannot be read"),
            BadPage::TooLarge(bytes) => write!(f, "claims {bytes} bytes"),
            BadPage::TooManyValues(values) => {
                write!(f, "claims {values} values, more than its bytes can hold")
            }
            BadPage::TooManyOpen(bytes) => {
                write!(f, "claims {bytes} bytes with those of other columns")
            }
            BadPage::LongWords(bytes) => write!(f, "claims words of {bytes} bytes"),
            BadPage::Encoding => f.write_str("has words in the encoding DELTA_BYTE_ARRAY"),
        }
    }
}

impl BadPage {
    /// What to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            BadPage::Compression(_) => "write it with Snappy, Zstandard, LZ4 or gzip",
            BadPage::Damaged | BadPage::Inflated(_) | BadPage::TooManyValues(_) => REMEDY,
            BadPage::LongWords(_) => "expected short words, such as arrival",
            BadPage::TooLarge(_) | BadPage::TooManyOpen(_) => {
                "write it with smaller pages (1 MiB is usual)"
            }
            BadPage::Encoding => "write the words plain or with a dictionary",
        }
    }
}

/// The first column and page whose claims are wrong, among these row groups and the columns that
/// `is_read` chooses by their place.
pub(super) fn bad_page<R: ChunkReader>(
    file: &R,
    metadata: &ParquetMetaData,
    groups: Range<usize>,
    is_read: impl Fn(usize) -> bool,
) -> Result<Option<(String, BadPage)>, ParquetError> {
    let schema = metadata.file_metadata().schema_descr();
    for group in &metadata.row_groups()[groups] {
        let mut open = 0;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if !is_read(schema.get_column_root_idx(leaf)) {
                continue;
            }
            let largest = largest_page(file, chunk)?.and_then(|largest| {
                open += largest;
                if open > MOST_OPEN_BYTES { Err(BadPage::TooManyOpen(open)) } else { Ok(()) }
            });
            if let Err(bad) = largest {
                return Ok(Some((chunk.column_path().string(), bad)));
            }
        }
    }
    Ok(None)
}

/// The bytes of the largest page of a column.
fn largest_page<R: ChunkReader>(
    file: &R,
    chunk: &ColumnChunkMetaData,
) -> Result<Result<u64, BadPage>, ParquetError> {
    let is_gzip = match chunk.compression() {
        Compression::BROTLI(_) => return Ok(Err(BadPage::Compression("Brotli"))),
        Compression::LZO => return Ok(Err(BadPage::Compression("LZO"))),
        codec => matches!(codec, Compression::GZIP(_)),
    };
    let (mut at, bytes) = chunk.byte_range();
    let Some(end) = at.checked_add(bytes).filter(|&end| end <= file.len()) else {
        return Ok(Err(BadPage::Damaged));
    };
    let mut largest = 0;
    while at < end {
        let header = match read_header(file, at, end)? {
            Ok(header) => header,
            Err(bad) => return Ok(Err(bad)),
        };
        let bad = header.judge(chunk.column_type());
        let next = at.saturating_add(header.header_bytes).saturating_add(header.compressed_bytes);
        if bad.is_some() || next > end {
            return Ok(Err(bad.unwrap_or(BadPage::Damaged)));
        }
        if is_gzip && inflates(file, at, &header)? {
            return Ok(Err(BadPage::Inflated(header.uncompressed_bytes)));
        }
        largest = largest.max(header.uncompressed_bytes);
        at = next;
    }
    Ok(Ok(largest))
}

/// Whether a page in gzip unpacks to more than it claims: the library unpacks all that there is. A page
/// that is too short for more than the largest is not looked at.
fn inflates<R: ChunkReader>(file: &R, at: u64, page: &PageHeader) -> Result<bool, ParquetError> {
    if page.compressed_bytes.saturating_mul(MOST_INFLATION) <= MOST_PAGE_BYTES {
        return Ok(false);
    }
    let packed = file.get_read(at + page.header_bytes + page.level_bytes)?;
    let packed = packed.take(page.compressed_bytes.saturating_sub(page.level_bytes));
    let mut unpacked = MultiGzDecoder::new(packed).take(page.uncompressed_bytes + 1);
    // What cannot be unpacked is the library's to report, which gets as far as this.
    let read = io::copy(&mut unpacked, &mut io::sink());
    Ok(read.is_ok() && unpacked.limit() == 0)
}

fn read_header<R: ChunkReader>(
    file: &R,
    at: u64,
    end: u64,
) -> Result<Result<PageHeader, BadPage>, ParquetError> {
    for most in [HEADER_BYTES, MOST_HEADER_BYTES] {
        let mut bytes = Vec::new();
        file.get_read(at)?.take(most.min(end - at)).read_to_end(&mut bytes)?;
        if let Some(header) = PageHeader::read(&bytes) {
            return Ok(Ok(header));
        }
    }
    Ok(Err(BadPage::Damaged))
}

/// What matters of `PageHeader` in parquet.thrift.
#[derive(Debug, Default, PartialEq)]
struct PageHeader {
    /// Bytes of the header itself.
    header_bytes: u64,
    uncompressed_bytes: u64,
    compressed_bytes: u64,
    /// Values of a dictionary page.
    dictionary_values: Option<u64>,
    /// Values of a data page, nulls among them.
    values: Option<u64>,
    /// Encoding of a data page.
    encoding: Option<u64>,
    /// Bytes of levels before the compressed values.
    level_bytes: u64,
}

impl PageHeader {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut compact = Compact { bytes, at: 0 };
        let mut header = PageHeader::default();
        let mut sizes = [None, None];
        compact.fields(|compact, field, kind| {
            match field {
                2 | 3 => sizes[field as usize - 2] = Some(compact.size()?),
                5 => [header.values, header.encoding] = compact.sizes_within([1, 2])?,
                7 => header.dictionary_values = Some(compact.sizes_within([1])?[0]?),
                8 => {
                    let [values, encoding, definitions, repetitions] =
                        compact.sizes_within([1, 4, 5, 6])?;
                    (header.values, header.encoding) = (values, encoding);
                    header.level_bytes = definitions.unwrap_or(0) + repetitions.unwrap_or(0);
                }
                _ => compact.skip(kind, 0)?,
            }
            Some(())
        })?;
        header.uncompressed_bytes = sizes[0]?;
        header.compressed_bytes = sizes[1]?;
        header.header_bytes = compact.at as u64;
        Some(header)
    }

    fn judge(&self, column: Type) -> Option<BadPage> {
        let words = matches!(column, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
        let value_bytes = match column {
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY => 1,
        };
        let is_dictionary = self.dictionary_values.is_some();
        let most = if words && is_dictionary { MOST_WORD_BYTES } else { MOST_PAGE_BYTES };
        let mean = self.values.map(|values| self.uncompressed_bytes / values.max(1));
        let holds = |values: u64| values.saturating_mul(value_bytes) <= self.uncompressed_bytes;
        if self.uncompressed_bytes.max(self.compressed_bytes) > most {
            Some(BadPage::TooLarge(self.uncompressed_bytes.max(self.compressed_bytes)))
        } else if let Some(values) = self.dictionary_values.filter(|&values| !holds(values)) {
            Some(BadPage::TooManyValues(values))
        } else if let Some(bytes) = mean.filter(|&bytes| words && bytes > MOST_WORD_BYTES) {
            Some(BadPage::LongWords(bytes))
        } else if words && self.encoding == Some(DELTA_BYTE_ARRAY) {
            Some(BadPage::Encoding)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary page of 3 values, 12 bytes: type 2, sizes, and a struct at field 7.
    const DICTIONARY: [u8; 14] = [0x15, 4, 0x15, 24, 0x15, 24, 0x4c, 0x15, 6, 0x15, 0, 0x11, 0, 0];

    fn header(bytes: &[u8]) -> PageHeader {
        PageHeader::read(bytes).unwrap()
    }

    #[test]
    fn a_header_is_read_field_by_field() {
        let expected = PageHeader {
            header_bytes: 14,
            uncompressed_bytes: 12,
            compressed_bytes: 12,
            dictionary_values: Some(3),
            values: None,
            encoding: None,
            level_bytes: 0,
        };
        assert_eq!(header(&DICTIONARY), expected);
        for end in 0..DICTIONARY.len() {
            assert_eq!(PageHeader::read(&DICTIONARY[..end]), None, "{end}");
        }
    }

    #[test]
    fn claims_that_cannot_be_are_refused() {
        let dictionary = |bytes, values| PageHeader {
            uncompressed_bytes: bytes,
            compressed_bytes: 20,
            dictionary_values: Some(values),
            ..PageHeader::default()
        };
        assert_eq!(dictionary(12, 3).judge(Type::INT32), None);
        assert_eq!(dictionary(12, 4).judge(Type::INT32), Some(BadPage::TooManyValues(4)));
        assert_eq!(dictionary(12, 2).judge(Type::INT64), Some(BadPage::TooManyValues(2)));
        assert_eq!(dictionary(5_000, 3).judge(Type::INT32), None);
        assert_eq!(dictionary(5_000, 3).judge(Type::BYTE_ARRAY), Some(BadPage::TooLarge(5_000)));
        let data = |bytes, encoding| PageHeader {
            uncompressed_bytes: bytes,
            encoding: Some(encoding),
            ..PageHeader::default()
        };
        assert_eq!(data(64 << 20, 5).judge(Type::INT64), None);
        assert_eq!(data(1 << 30, 5).judge(Type::INT64), Some(BadPage::TooLarge(1 << 30)));
        assert_eq!(data(10, 7).judge(Type::BYTE_ARRAY), Some(BadPage::Encoding));
        assert_eq!(data(10, 6).judge(Type::BYTE_ARRAY), None);
        let words = |values| PageHeader { values: Some(values), ..data(1 << 20, 0) };
        assert_eq!(words(256).judge(Type::BYTE_ARRAY), None);
        assert_eq!(words(128).judge(Type::BYTE_ARRAY), Some(BadPage::LongWords(8_192)));
        assert_eq!(words(128).judge(Type::INT64), None);
    }
}
