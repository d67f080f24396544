//! Events that are refused, and in which words.

use crate::events::{options, read};
use crate::{Scratch, gzip, story};
use arrow_array::{
    ArrayRef, DurationMicrosecondArray, Float64Array, Int8Array, Int64Array, StringArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use dropcast_data::{EventColumns, EventFormat, EventOptions, EventReader, describe};
use std::path::Path;
use std::sync::Arc;

#[test]
fn bad_text_is_refused_in_clear_words() {
    let scratch = Scratch::new();
    let check = |text: &str, says: &str| {
        let path = scratch.file("e.csv", text);
        let error = read(&path, options()).expect_err(text);
        assert_eq!(story(&error, scratch.0.path()), format!("e.csv: {says}"));
    };
    const HEAD: &str = "time_ns,port,queue,size_bytes,kind\n";
    let row = |row: &str, says: &str| {
        let text = format!("{HEAD}10,0,0,100,0\n\n{row}\n");
        check(&text, &format!("row 1 (line 4): {says}"));
    };
    row("x,0,0,100,0", "time_ns is \"x\", expected an integer from 0 to 18446744073709551615");
    row("10,-1,0,100,0", "port is -1, expected an integer from 0 to 65535");
    row("10,0,300,100,0", "queue is 300, expected an integer from 0 to 255");
    row("10,0,0,1e3,0", "size_bytes is \"1e3\", expected an integer from 0 to 4294967295");
    row("10,0,0,,0", "size_bytes is empty, expected an integer from 0 to 4294967295");
    row(
        "99999999999999999999,0,0,1,0",
        "time_ns is 99999999999999999999, expected an integer from 0 to 18446744073709551615",
    );
    row(
        "10,0,0,100,5",
        "kind is 5, expected 0 (arrival), 1 (departure), 2 (drop), 3 (pause) or 4 (resume)",
    );
    row(
        "10,0,0,100,left",
        "kind is \"left\", expected 0, +, arrival or enqueue; 1, -, departure or dequeue; 2, d or drop; 3 or pause; 4 or resume",
    );
    row(
        "10.5,0,0,100,0",
        "time_ns is \"10.5\", expected whole nanoseconds; set time_unit (s, ms, us or ns) to have decimal numbers rounded to them",
    );
    row("10,0,0,100", "fields are 4, but the header line names 5");
    row(
        "9,0,0,100,0",
        "time_ns is 9, before the event above it at 10; sort the input by time; of a capture, with reorder_ns (docs/pcap.md)",
    );
    row("10,4,0,100,0", "port is 4, but switch 0 has ports 0 to 3");
    row("10,0,2,100,0", "queue is 2, but each port of switch 0 has queues 0 to 1");
    row("10,0,0,0,0", "size_bytes is 0, a packet takes at least one byte");
    row("10,0,0,10001,0", "size_bytes is 10001, more than the whole buffer of 10000 bytes");
    row(
        "10,0,1,100,1",
        "kind is a departure from switch 0, port 0, queue 1, which holds no packet: every arrival before it has already departed",
    );
    let expected = "expected a header line that names the columns, or a Parquet file";
    check("", "is empty; expected events or a trace in it");
    check("\n\n", &format!("has no text in it; {expected}"));
    check("1,2,3,4\n", &format!("begins with a row of numbers (1,2,3,4); {expected}"));
    check(
        "time,port,size_bytes\n",
        "has no column \"time_ns\", it has time, port, size_bytes; map the field to its column, as FIELD=COLUMN (--column)",
    );
}

fn table(change: &str, array: ArrayRef) -> Vec<(&str, ArrayRef)> {
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("time_ns", Arc::new(UInt64Array::from(vec![5, 7, 9]))),
        ("port", Arc::new(UInt16Array::from(vec![1, 1, 1]))),
        ("size_bytes", Arc::new(UInt32Array::from(vec![100, 100, 100]))),
        ("kind", Arc::new(UInt8Array::from(vec![0, 1, 0]))),
    ];
    columns.retain(|(name, _)| *name != change);
    columns.push((change, array));
    columns
}

#[test]
fn bad_parquet_is_refused_in_clear_words() {
    let scratch = Scratch::new();
    let check = |change: &str, array: ArrayRef, says: &str| {
        let path = scratch.parquet("e.parquet", &table(change, array));
        let error = read(&path, options()).expect_err(says);
        assert_eq!(story(&error, scratch.0.path()), format!("e.parquet: {says}"));
    };
    check(
        "time_ns",
        Arc::new(Int64Array::from(vec![5, -7, 9])),
        "row 1: time_ns is -7, expected an integer from 0 to 18446744073709551615",
    );
    check(
        "time_ns",
        Arc::new(UInt64Array::from(vec![5, 7, 6])),
        "row 2: time_ns is 6, before the event above it at 7; sort the input by time; of a capture, with reorder_ns (docs/pcap.md)",
    );
    check(
        "port",
        Arc::new(UInt32Array::from(vec![1, 65_536, 1])),
        "row 1: port is 65536, expected an integer from 0 to 65535",
    );
    check(
        "kind",
        Arc::new(UInt8Array::from(vec![Some(0), None, Some(1)])),
        "row 1: kind is empty, expected 0 (arrival), 1 (departure), 2 (drop), 3 (pause) or 4 (resume)",
    );
    check(
        "kind",
        Arc::new(UInt8Array::from(vec![0, 7, 1])),
        "row 1: kind is 7, expected 0 (arrival), 1 (departure), 2 (drop), 3 (pause) or 4 (resume)",
    );
    check(
        "size_bytes",
        Arc::new(StringArray::from(vec!["100", "100", "x"])),
        "column \"size_bytes\" is of type Utf8; expected an integer type; write it as one",
    );
    check(
        "size_bytes",
        Arc::new(Float64Array::from(vec![100.0, 100.0, f64::NAN])),
        "row 2: size_bytes is NaN, expected an integer from 0 to 4294967295",
    );
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![100.0; 3]));
    let path = scratch.parquet("f.parquet", &table("size_bytes", floats));
    let (events, _) = read(&path, options()).expect("whole numbers");
    assert!(events.iter().all(|event| event.size_bytes == 100));
    // Parquet itself knows a duration for a whole number, of no unit.
    check(
        "time_ns",
        Arc::new(DurationMicrosecondArray::from(vec![5, 6, 7])),
        "column \"time_ns\" is of type Duration(\u{b5}s); expected an integer type; write it as one",
    );
    // An earlier row that cannot be is named before a later one that cannot be read.
    check(
        "time_ns",
        Arc::new(Int64Array::from(vec![Some(5), Some(4), None])),
        "row 1: time_ns is 4, before the event above it at 5; sort the input by time; of a capture, with reorder_ns (docs/pcap.md)",
    );
}

#[test]
fn files_that_are_not_there_or_whole_are_refused() {
    let scratch = Scratch::new();
    let refuse = |path: &Path| story(&read(path, options()).unwrap_err(), scratch.0.path());
    assert!(refuse(&scratch.path("none")).starts_with("none: cannot be opened: No such file"));
    assert!(refuse(scratch.0.path()).ends_with("is a directory; name a file in it"));
    let whole =
        std::fs::read(scratch.parquet("w", &table("queue", Arc::new(Int8Array::from(vec![0; 3])))));
    let whole = whole.unwrap();
    for length in [4, 11, whole.len() / 2, whole.len() - 1] {
        let says = refuse(&scratch.file("cut.parquet", &whole[..length]));
        assert!(says.starts_with("cut.parquet: is not a whole Parquet file; it is damaged or incomplete, make or copy it again: "), "{says}");
    }
    let packed = gzip(b"time_ns,port,size_bytes\n1,1,1\n");
    let says = refuse(&scratch.file("cut.csv.gz", &packed[..packed.len() - 9]));
    assert!(says.starts_with("cut.csv.gz: cannot be read: "), "{says}");
    let path = scratch.file("e.csv", "time_ns,port,size_bytes\n1,1,1\n");
    let error = EventReader::open(&path, EventOptions::default()).err().unwrap();
    assert_eq!(
        story(&error, scratch.0.path()),
        "e.csv: does not describe its switches; give a switch description (docs/switch.md)"
    );
    let path = scratch.file("e.pcap", "time_ns,port,size_bytes\n1,1,1\n");
    let error = EventReader::open(&path, options()).err().unwrap();
    let says = "e.pcap: is named like a capture, and does not begin like one; expected pcap or pcapng; \
         editcap -F pcapng converts others";
    assert_eq!(story(&error, scratch.0.path()), says);
    let described = describe(&path, &EventColumns::default()).err().unwrap();
    assert_eq!(story(&described, scratch.0.path()), says);
    let format = EventFormat::named("csv");
    let reader = EventReader::open(&path, EventOptions { format, ..options() }).unwrap();
    assert_eq!(reader.filter(Result::is_ok).count(), 1);
}

#[test]
fn after_an_error_there_is_nothing_more() {
    let scratch = Scratch::new();
    let path = scratch.file("e.csv", "time_ns,port,size_bytes\n1,1,1\nx,1,1\n2,1,1\n");
    let mut reader = EventReader::open(&path, options()).unwrap();
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

#[test]
fn the_artifacts_labelled_rows_are_no_events() {
    let scratch = Scratch::new();
    let text = "queueLength averageQueueLength sharedOccupancy averageOccupancy drop\n0 0 0 0 0\n";
    let said = read(&scratch.file("e.csv", text), options()).unwrap_err().to_string();
    let expected = "is a labelled trace, not packet events; give it to train or report as --data";
    assert!(said.ends_with(expected), "{said}");
}
