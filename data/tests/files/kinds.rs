//! Distinguishing files.

use crate::hostile::options;
use crate::{Scratch, gzip, story, switches};
use arrow_array::{ArrayRef, UInt8Array};
use dropcast_data::{
    DataError, EventBatch, EventColumns, EventReader, EventWriter, FileKind, TableShape, TraceMeta,
    TraceWriter, read_switches,
};
use std::path::Path;
use std::sync::Arc;

fn describe(path: &Path) -> Result<FileKind, DataError> {
    dropcast_data::describe(path, &EventColumns::default())
}

fn shape(columns: &str, rows: u64) -> TableShape {
    TableShape { columns: columns.split(' ').map(str::to_owned).collect(), rows: Some(rows) }
}

#[test]
fn each_kind_of_file_is_recognised() {
    let scratch = Scratch::new();
    let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();

    let path = scratch.path("e");
    let mut events = EventWriter::create(&path, &switches()).unwrap();
    events.write(&EventBatch::default()).unwrap();
    events.finish().unwrap();
    let table = shape("time_ns switch_id port queue size_bytes kind flow_hash flags", 0);
    let expected = FileKind::EventTable { table, switches: Some(Box::new(switches())) };
    assert_eq!(describe(&path).unwrap(), expected);

    let path = scratch.path("t");
    let meta = Box::new(TraceMeta::new("x", switches(), names("rank")));
    TraceWriter::create(&path, &meta).unwrap().finish().unwrap();
    let table = shape("time_ns switch_id port queue size_bytes rank drop outcome", 0);
    assert_eq!(describe(&path).unwrap(), FileKind::Trace { table, own: true, meta });

    let column = || -> ArrayRef { Arc::new(UInt8Array::from(vec![1, 1])) };
    let path = scratch.parquet("x", &[("rank", column()), ("outcome", column())]);
    match describe(&path).unwrap() {
        FileKind::Trace { table, own: false, meta } => {
            assert_eq!(table, shape("rank outcome", 2));
            assert_eq!((meta.features, meta.switches), (names("rank"), None));
        }
        other => panic!("{other:?}"),
    }
    let path = scratch.parquet("x", &[("rank", column())]);
    assert_eq!(describe(&path).unwrap(), FileKind::OtherTable { table: shape("rank", 2) });

    let text = "time_ns,port,size_bytes\n1,2,3\n";
    let columns = names("time_ns port size_bytes");
    let path = scratch.file("x", gzip(text.as_bytes()));
    assert_eq!(describe(&path).unwrap(), FileKind::EventCsv { columns });
    let path = scratch.file("theirs.csv", "ts,port,size_bytes\n");
    let unknown = |path: &Path| match describe(path).unwrap() {
        FileKind::Unknown { problem } => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        unknown(&path),
        "has no column \"time_ns\", it has ts, port, size_bytes; map the field to its column, as \
         FIELD=COLUMN (--column)"
    );
    let named = |pair: &str| {
        let columns = EventColumns::parse(&[pair.to_owned()]).unwrap();
        dropcast_data::describe(&path, &columns)
    };
    let columns = names("ts port size_bytes");
    assert_eq!(named("time_ns=ts").unwrap(), FileKind::EventCsv { columns });
    let error = named("time_ns=t").unwrap_err().to_string();
    assert!(error.contains("has no column \"t\", it has ts, port, size_bytes"), "{error}");
    let header = "queueLength averageQueueLength sharedOccupancy averageOccupancy drop";
    let path = scratch.file("x", header);
    assert_eq!(describe(&path).unwrap(), FileKind::ArtifactCsv { columns: names(header) });
    let tar = [&b"port0.pcap"[..], &[0; 247], b"ustar\x0000"].concat();
    for (other, problem) in [
        (&b"a,b\n"[..], "has no column \"time_ns\", it has a, b; map"),
        (b"port,time_ns,port\n", "names column \"port\" twice; give each column its own name"),
        (b"{\"schema\": 1}", "has no column \"time_ns\", it has"),
        (b"\x01\x02binary", "is neither text nor Parquet; expected a header line"),
        (b"\xff\xfet\0i\0m\0e\0", "is text in UTF-16; write it in UTF-8"),
        (b"\xfd7zXZ\0\0\x04", "holds xz; decompress it"),
        (&gzip(b"\x28\xb5\x2f\xfd\x04\x58"), "holds Zstandard in another compression"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a pointer of Git LFS"),
        (b"\n<!DOCTYPE HTML>\n<html>", "is a page in HTML; if it was downloaded, get"),
        (&tar, "holds a tar archive; unpack it"),
        (b"snoop\0\0\0\0\0\0\x02", "is a capture of snoop; convert it: editcap -F pcapng"),
        (b"7", "begins with a row of numbers (7); expected a header line"),
    ] {
        let said = unknown(&scratch.file("x", other));
        assert!(said.starts_with(problem), "{said}");
    }
    assert!(describe(&scratch.file("x", "")).is_err());
    assert!(describe(&scratch.file("x", "PAR1 and then nothing")).is_err());
}

#[test]
fn switch_descriptions_are_read_from_files() {
    let scratch = Scratch::new();
    let path = scratch.file("s.toml", switches().to_toml());
    assert_eq!(read_switches(&path).unwrap(), switches());
    let path = scratch.file("s.toml", switches().to_toml().replace("= 10000\n", "= 0\n"));
    let says = story(&read_switches(&path).unwrap_err(), scratch.0.path());
    assert!(says.starts_with("s.toml: its switch description is wrong (see docs/switch.md): "));
    assert!(says.contains("buffer_bytes: is 0"), "{says}");
    assert!(read_switches(&scratch.path("none")).is_err());
}

#[test]
fn what_is_something_else_is_refused_by_every_reader() {
    let scratch = Scratch::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 6\n";
    for name in ["port0.pcap", "events.csv", "model.json", "switch.toml"] {
        let path = scratch.file(name, pointer);
        let expected = format!("{name}: is a pointer of Git LFS, not the file; run git lfs pull");
        let errors = [
            EventReader::open(&path, options()).err(),
            dropcast_data::read_small(&path).err(),
            read_switches(&path).err(),
        ];
        for error in errors {
            assert_eq!(story(&error.unwrap(), scratch.0.path()), expected);
        }
    }
}
