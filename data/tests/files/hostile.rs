//! Parquet that claims more than it holds, and other files that only look right.

use crate::{Scratch, gzip, read, story, switches};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use dropcast_data::{EventOptions, TraceReader, read_small, read_switches};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::{WriterProperties, WriterVersion};
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
    varint((value << 1) as u64)
}

fn varint(mut rest: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// A dictionary page that claims so many bytes and values.
fn dictionary_page(bytes: i64, values: i64, content: &[u8]) -> Vec<u8> {
    let mut page = vec![0x15, 4, 0x15];
    page.extend(number(bytes));
    page.push(0x15);
    page.extend(number(content.len() as i64));
    page.extend([0x4c, 0x15]);
    page.extend(number(values));
    page.extend([0x15, 0, 0, 0]);
    page.extend(content);
    page
}

/// A file whose column has this page.
fn with_page(
    scratch: &Scratch,
    column: &str,
    page: &[u8],
    compression: Compression,
) -> std::path::PathBuf {
    let path = scratch.parquet("good.parquet", &events());
    let mut bytes = std::fs::read(&path).unwrap();
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&File::open(&path).unwrap()).unwrap();
    bytes.truncate(bytes.len() - 8);
    let offset = bytes.len() as i64;
    bytes.extend(page);
    let groups = metadata.row_groups().iter().map(|group| {
        let columns = group.columns().iter().map(|chunk| {
            if chunk.column_path().string() != column {
                return chunk.clone();
            }
            let moved = chunk.clone().into_builder().set_dictionary_page_offset(Some(offset));
            let moved = moved.set_data_page_offset(offset + page.len() as i64);
            let moved = moved.set_compression(compression);
            moved.set_total_compressed_size(page.len() as i64).build().unwrap()
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

/// A file that is only a footer: of these columns, by their numbers of children, and with a text of so many
/// bytes.
fn with_footer(scratch: &Scratch, columns: &[u8], text_bytes: usize) -> std::path::PathBuf {
    let mut footer = [&[0x15, 2, 0x19, 0xfc][..], &varint(columns.len() as u64)].concat();
    for (place, &children) in columns.iter().enumerate() {
        let name = format!("c{place}");
        match children {
            0 => footer.extend([0x15, 2, 0x25, 0, 0x18]),
            _ => footer.extend([0x35, 0, 0x18]),
        }
        footer.extend([&[name.len() as u8][..], name.as_bytes()].concat());
        match children {
            0 => footer.push(0),
            _ => footer.extend([&[0x15][..], &number(children.into()), &[0]].concat()),
        }
    }
    footer.extend([0x16, 0, 0x19, 0x0c, 0x19, 0x1c, 0x18, 1, b'k', 0x18]);
    footer.extend(varint(text_bytes as u64));
    footer.extend(vec![b't'; text_bytes]);
    footer.extend([0, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    scratch.file("hostile.parquet", [b"PAR1", &footer[..], &length, b"PAR1"].concat())
}

#[test]
fn footers_that_claim_too_much_are_refused_before_memory_is_taken() {
    let scratch = Scratch::new();
    let chain = |depth| [vec![1; depth], vec![0]].concat();
    let check = |columns: &[u8], text_bytes, says: &str| {
        let said = refused(&with_footer(&scratch, columns, text_bytes));
        assert!(said.contains(says), "{said}");
    };
    check(&chain(64), 10, "has no column \"time_ns\", it has c1");
    check(&chain(65), 10, "has columns nested more than 64 deep; write only");
    // The library calls itself for each.
    check(&chain(50_000), 10, "has columns nested more than 64 deep; write only");
    // Groups that end make no depth.
    let pairs = [vec![100], [1, 0].repeat(100)].concat();
    check(&pairs, 10, "has no column \"time_ns\", it has c1, c3");
    check(&vec![0; 65_537], 10, "has 65537 columns, more than the limit of 65536; write only");
    check(&chain(1), 40 << 20, "bytes, more than the limit of 32 MiB; write it with larger");
    let path = with_footer(&scratch, &chain(1), 10);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[6] = 0xff;
    std::fs::write(&path, bytes).unwrap();
    assert!(refused(&path).contains("has a footer that cannot be read; it is damaged"));
}

#[test]
fn pages_that_claim_too_much_are_refused_before_memory_is_taken() {
    let scratch = Scratch::new();
    let mut said = String::new();
    let content = [0; 100];
    for (column, page) in [
        ("port", dictionary_page(100, i64::from(i32::MAX), &content)),
        ("port", dictionary_page(2_000_000_000, 3, &content)),
        ("port", dictionary_page(-1, 3, &content)),
        ("port", vec![0xff; 40]),
        // A statistic of 2^40 bytes.
        ("port", [&[0x18][..], &number(1 << 39)].concat()),
        ("kind", dictionary_page(1_000_000, 3, &content)),
    ] {
        said += &refused(&with_page(&scratch, column, &page, Compression::UNCOMPRESSED));
        said.push('\n');
    }
    // 80 MB of zeros, in two members of which the last says how large it is.
    let zeros = gzip(&vec![0; 80_000_000]);
    let bomb = dictionary_page(400, 100, &[&zeros[..], &gzip(b"ends")].concat());
    said += &refused(&with_page(&scratch, "port", &bomb, Compression::GZIP(Default::default())));
    said.push('\n');
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
         smaller pages (1 MiB is usual)\n\
         hostile.parquet: has a page in column \"port\" that unpacks to more than the 400 bytes it \
         claims; it is damaged or incomplete, make or copy it again\n"
    );
}

/// Files of few bytes: a batch of zeros, pages of zeros. Others that repeat much are in the corpus, of which a test of the command
/// sees that a GiB is enough for each.
#[test]
fn bombs_are_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dev/fuzz/corpus");
    let said = refused(&corpus.join("arrow/zeros"));
    let says =
        "claims 505600000 bytes, expected at most 268435456; write record batches of fewer rows";
    assert!(said.contains(says), "{said}");
    let rows = 8_000_000;
    let zeros = Arc::new(UInt64Array::from(vec![0; rows])) as ArrayRef;
    let names = ["time_ns", "switch_id", "port", "queue", "size_bytes", "flow_hash"];
    let columns = names.map(|name| (name, Arc::clone(&zeros)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX)
        .set_max_row_group_row_count(Some(rows))
        .build();
    let scratch = Scratch::new();
    let path = scratch.path("pages.parquet");
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 100_000);
    let said = refused(&path);
    assert!(
        said.contains("bytes with those of other columns; write it with smaller pages"),
        "{said}"
    );
}

#[test]
fn pages_in_gzip_are_read() {
    // 100 rows of pyarrow 26.0.1, `write_table(table, path, compression=..., data_page_version=...)`.
    let sample =
        |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    let scratch = Scratch::new();
    let (expected, _) = read(&scratch.parquet("plain.parquet", &events()), options()).unwrap();
    for name in ["pyarrow-gzip.parquet", "pyarrow-gzip-v2.parquet"] {
        assert_eq!(read(&sample(name), options()).unwrap().0, expected, "{name}");
    }
    assert_eq!(
        refused(&sample("pyarrow-brotli.parquet")),
        "pyarrow-brotli.parquet: has a page in column \"time_ns\" that is compressed with Brotli; \
         write it with Snappy, Zstandard, LZ4 or gzip"
    );
}

/// Pages that gzip hardly makes smaller, with levels before the values in the second version.
#[test]
fn large_pages_in_gzip_are_read() {
    let scratch = Scratch::new();
    let rows = 200_000;
    let size = |row: u32| 1 + row.wrapping_mul(2_654_435_761) % 9_973;
    let columns: [(_, ArrayRef); 3] = [
        ("time_ns", Arc::new(UInt64Array::from_iter_values(0..rows))),
        ("port", Arc::new(UInt16Array::from(vec![3; rows as usize]))),
        ("size_bytes", Arc::new(UInt32Array::from_iter_values((0..rows as u32).map(size)))),
    ];
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
            .unwrap();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(false)
            .set_compression(Compression::GZIP(Default::default()))
            .build();
        let path = scratch.path("large.parquet");
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let (read, _) = read(&path, options()).unwrap();
        let sizes = read.iter().map(|event| event.size_bytes);
        assert!(sizes.eq((0..rows as u32).map(size)), "{version:?}");
    }
}

#[test]
fn texts_above_their_cap_are_refused() {
    let scratch = Scratch::new();
    let of_size = |name: &str, bytes| {
        let path = scratch.path(name);
        File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    };
    let said = |error: &dyn std::error::Error| story(error, scratch.0.path());
    assert_eq!(
        said(&read_switches(&of_size("a.toml", 9 << 20)).unwrap_err()),
        "a.toml: has 9437184 bytes, more than the limit of 8 MiB; expected settings or a switch \
         description, in TOML"
    );
    assert_eq!(
        said(&read_small(&of_size("a.json", 57 << 20)).unwrap_err()),
        "a.json: has 59768832 bytes, more than the limit of 56 MiB; expected a model, an exported \
         table or the table of a sweep"
    );
    assert_eq!(read_small(&of_size("b.json", 56 << 20)).unwrap().len(), 56 << 20);
    for (key, bytes, cap) in [("dropcast.switch", 8 << 20, 8), ("dropcast.trace", 20 << 20, 20)] {
        let batch = RecordBatch::try_from_iter(events()).unwrap();
        let path = scratch.path("a.parquet");
        let mut writer =
            ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), "#".repeat(bytes + 1)));
        writer.close().unwrap();
        let expected = format!(
            "a.parquet: its {key} has {} bytes, more than the limit of {cap} MiB; it is damaged, \
             make or copy it again",
            bytes + 1
        );
        let error = dropcast_data::describe(&path, &Default::default()).unwrap_err();
        assert_eq!(said(&error), expected);
    }
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
