//! Parquet that claims more than it holds, and other files that only look right.

use crate::{Scratch, gzip, read, story, switches};
use arrow_array::{ArrayRef, StringArray, UInt16Array, UInt32Array, UInt64Array};
use dropcast_data::{EventOptions, TraceReader};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn options() -> EventOptions {
    EventOptions { specs: Some(switches()), ..EventOptions::default() }
}

pub(crate) fn events() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("time_ns", Arc::new(UInt64Array::from_iter_values(0..100))),
        ("port", Arc::new(UInt16Array::from_iter_values((0..100).map(|i| i % 4)))),
        ("size_bytes", Arc::new(UInt32Array::from(vec![1_500; 100]))),
        ("kind", Arc::new(StringArray::from(vec!["arrival"; 100]))),
    ]
}

/// A number of Thrift's compact protocol.
fn number(value: i64) -> Vec<u8> {
    let mut rest = (value << 1) as u64;
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// The header of a dictionary page.
fn dictionary_page(bytes: i64, values: i64) -> Vec<u8> {
    let mut header = vec![0x15, 4, 0x15];
    header.extend(number(bytes));
    header.extend([0x15, 200, 1, 0x4c, 0x15]);
    header.extend(number(values));
    header.extend([0x15, 0, 0, 0]);
    header
}

/// A file whose column begins with this header and a hundred bytes.
fn with_page(scratch: &Scratch, column: &str, header: &[u8]) -> std::path::PathBuf {
    let path = scratch.parquet("good.parquet", &events());
    let mut bytes = std::fs::read(&path).unwrap();
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&File::open(&path).unwrap()).unwrap();
    bytes.truncate(bytes.len() - 8);
    let offset = bytes.len() as i64;
    bytes.extend(header);
    bytes.extend([0; 100]);
    let groups = metadata.row_groups().iter().map(|group| {
        let columns = group.columns().iter().map(|chunk| {
            if chunk.column_path().string() != column {
                return chunk.clone();
            }
            let moved = chunk.clone().into_builder().set_dictionary_page_offset(Some(offset));
            let moved = moved.set_data_page_offset(offset + header.len() as i64 + 100);
            moved.set_total_compressed_size(header.len() as i64 + 100).build().unwrap()
        });
        group.clone().into_builder().set_column_metadata(columns.collect()).build().unwrap()
    });
    let groups = groups.collect();
    let metadata = metadata.into_builder().set_row_groups(groups).build();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    scratch.file("hostile.parquet", bytes)
}

fn refused(path: &Path) -> String {
    let folder = path.parent().unwrap();
    story(&read(path, options()).unwrap_err(), folder)
}

#[test]
fn pages_that_claim_too_much_are_refused_before_memory_is_taken() {
    let scratch = Scratch::new();
    let mut said = String::new();
    for (column, header) in [
        ("port", dictionary_page(100, i64::from(i32::MAX))),
        ("port", dictionary_page(2_000_000_000, 3)),
        ("port", dictionary_page(-1, 3)),
        ("port", vec![0xff; 40]),
        // A statistic of 2^40 bytes.
        ("port", [&[0x18][..], &number(1 << 39)].concat()),
        ("kind", dictionary_page(1_000_000, 3)),
    ] {
        said += &refused(&with_page(&scratch, column, &header));
        said.push('\n');
    }
    assert_eq!(
        said,
        "hostile.parquet: has a page in column \"port\" that claims 2147483647 values, more than its \
         bytes can hold; it is damaged or incomplete, make or copy it again\n\
         hostile.parquet: has a page in column \"port\" that claims 2000000000 bytes; write it with \
         smaller pages (1 MiB is usual)\n\
         hostile.parquet: has a page in column \"port\" that cannot be read; it is damaged or \
         incomplete, make or copy it again\n\
         hostile.parquet: has a page in column \"port\" that cannot be read; it is damaged or \
         incomplete, make or copy it again\n\
         hostile.parquet: has a page in column \"port\" that cannot be read; it is damaged or \
         incomplete, make or copy it again\n\
         hostile.parquet: has a page in column \"kind\" that claims 1000000 bytes; write it with \
         smaller pages (1 MiB is usual)\n"
    );
}

#[test]
fn what_only_looks_like_a_table_is_refused_by_name() {
    let scratch = Scratch::new();
    let mut twice = events();
    twice.push(("port", twice[1].1.clone()));
    assert_eq!(
        refused(&scratch.parquet("twice.parquet", &twice)),
        "twice.parquet: has two columns named \"port\"; rename or remove one"
    );
    let good = std::fs::read(scratch.parquet("good.parquet", &events())).unwrap();
    for (name, bytes) in
        [("gzip", gzip(&good)), ("Zstandard", zstd::encode_all(&*good, 1).unwrap())]
    {
        let path = scratch.file("packed.parquet", bytes);
        let expected = format!("packed.parquet: is a Parquet file inside {name}; decompress it");
        assert_eq!(refused(&path), expected);
        let as_trace = TraceReader::open(&path, &[]).err().unwrap();
        assert_eq!(story(&as_trace, path.parent().unwrap()), expected);
    }
}
