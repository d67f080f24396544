//! Packet events: what is read, what is refused, and in which words.

use crate::{Scratch, gzip, story, switches};
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int8Array, Int64Array, StringArray,
    TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use dropcast_data::{
    DataError, DropReason, Event, EventBatch, EventColumns, EventKind, EventOptions, EventReader,
    EventWriter, InputNote, InputProvenance, OnBadRow, TimeUnit,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn options() -> EventOptions {
    EventOptions { specs: Some(switches()), ..EventOptions::default() }
}

fn skipping() -> EventOptions {
    EventOptions { on_bad_row: OnBadRow::Skip, ..options() }
}

pub(crate) fn read(
    path: &Path,
    options: EventOptions,
) -> Result<(Vec<Event>, InputProvenance), DataError> {
    let mut reader = EventReader::open(path, options)?;
    let mut events = Vec::new();
    for batch in reader.by_ref() {
        let batch = batch?;
        assert!((1..=65_536).contains(&batch.events.len()));
        events.extend(batch.events);
    }
    Ok((events, reader.provenance()))
}

fn event(time_ns: u64, port: u16, size_bytes: u32, kind: EventKind) -> Event {
    Event { time_ns, flow_hash: 0, size_bytes, switch_id: 0, port, queue: 0, kind, flags: 0 }
}

pub(crate) fn two() -> Vec<Event> {
    vec![event(5, 1, 100, EventKind::Arrival), event(7, 1, 100, EventKind::Departure)]
}

#[test]
fn text_is_read_in_many_forms() {
    let scratch = Scratch::new();
    let check = |bytes: &[u8]| {
        let path = scratch.file("e.csv", bytes);
        assert_eq!(read(&path, options()).unwrap().0, two(), "{}", bytes.escape_ascii());
    };
    let plain = "time_ns,port,size_bytes,kind\n5,1,100,0\n7,1,100,1\n";
    check(plain.as_bytes());
    check(plain.replace(',', "\t").as_bytes());
    check(plain.replace(',', "; ").replace('\n', "\r\n").as_bytes());
    check(plain.replace(',', "  ").as_bytes());
    check(plain.trim_end().as_bytes());
    check(&gzip(plain.as_bytes()));
    check(b"kind,note,size_bytes,port,time_ns\n\"ARRIVAL\",\"a,b\",100,1,5\n\ndeq,,100,1,7\n");
    check(b"switch_id,flags,time_ns,port,size_bytes,kind,queue,flow_hash\n0,0,5,1,100,enq,0,0\n0,0,7,1,100,Depart,0,0\n");
}

#[test]
fn kinds_are_numbers_or_words() {
    let scratch = Scratch::new();
    let arrivals = ["0", "+", "arrival", "ENQUEUE", "enq"].map(|word| (word, EventKind::Arrival));
    let departures =
        ["1", "-", "departure", "Dequeue", "deq"].map(|word| (word, EventKind::Departure));
    let drop = EventKind::Drop(DropReason::Unstated);
    let drops = ["2", "d", "Drop", "dropped"].map(|word| (word, drop));
    let all = arrivals.into_iter().chain(departures).chain(drops);
    let (kinds, expected): (Vec<&str>, Vec<EventKind>) = all.unzip();
    let check = |path: &Path| {
        let (events, _) = read(path, options()).unwrap();
        assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), expected);
    };
    let rows: String = kinds.iter().map(|kind| format!("5,1,100,{kind}\n")).collect();
    check(&scratch.file("e.csv", format!("time_ns,port,size_bytes,kind\n{rows}")));
    let count = kinds.len();
    check(&scratch.parquet(
        "e.parquet",
        &[
            ("time_ns", Arc::new(UInt64Array::from(vec![5; count]))),
            ("port", Arc::new(UInt16Array::from(vec![1; count]))),
            ("size_bytes", Arc::new(UInt32Array::from(vec![100; count]))),
            ("kind", Arc::new(StringArray::from(kinds))),
        ],
    ));
}

#[test]
fn reasons_say_why_the_real_switch_dropped() {
    let scratch = Scratch::new();
    let rows = [
        ("0", "", EventKind::Arrival),
        ("0", "none", EventKind::Arrival),
        ("0", "Admission", EventKind::Drop(DropReason::Admission)),
        ("2", "0", EventKind::Drop(DropReason::Unstated)),
        ("drop", "policy", EventKind::Drop(DropReason::Policy)),
        ("drop", "2", EventKind::Drop(DropReason::Admission)),
        ("d", "push-out", EventKind::Drop(DropReason::PushOut)),
        ("1", "-", EventKind::Departure),
    ];
    let lines: String =
        rows.iter().map(|(kind, reason, _)| format!("5,1,100,{kind},{reason}\n")).collect();
    let head = "time_ns,port,size_bytes,kind,drop_reason\n";
    let path = scratch.file("e.csv", format!("{head}{lines}"));
    let (events, _) = read(&path, options()).unwrap();
    let expected: Vec<EventKind> = rows.iter().map(|row| row.2).collect();
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), expected);
    assert!(EventReader::open(&path, options()).unwrap().may_push_out());

    let as_text =
        |row: &(&'static str, &'static str, EventKind)| (!row.1.is_empty()).then_some(row.1);
    let count = rows.len();
    let column = |reasons: ArrayRef| {
        scratch.parquet(
            "e.parquet",
            &[
                ("time_ns", Arc::new(UInt64Array::from(vec![5; count]))),
                ("port", Arc::new(UInt16Array::from(vec![1; count]))),
                ("size_bytes", Arc::new(UInt32Array::from(vec![100; count]))),
                ("kind", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0)))),
                ("drop_reason", reasons),
            ],
        )
    };
    let words = column(Arc::new(rows.iter().map(as_text).collect::<StringArray>()));
    assert_eq!(read(&words, options()).unwrap().0, events);
    let codes = [None, Some(0), Some(2), None, Some(4), Some(2), Some(3), Some(0)];
    let codes = column(Arc::new(UInt8Array::from(codes.to_vec())));
    assert_eq!(read(&codes, options()).unwrap().0, events);

    let bad = |row: &str, says: &str| {
        let path = scratch.file("e.csv", format!("{head}5,1,100,0,\n{row}\n"));
        let error = story(&read(&path, options()).unwrap_err(), scratch.0.path());
        assert_eq!(error, format!("e.csv: row 1 (line 3): {says}"));
    };
    bad(
        "5,1,100,1,admission",
        "drop_reason is 2, expected nothing, because no packet is dropped: it departs, or a queue is paused",
    );
    bad(
        "5,1,100,d,full",
        "drop_reason is \"full\", expected admission, push-out, policy, unstated, or nothing if it \
         was not dropped",
    );
    bad(
        "5,2,100,d,push-out",
        "drop_reason is a push-out from switch 0, port 2, queue 0, which holds no packet: a packet \
         that is pushed out has arrived before, in a row of its own",
    );
    let plain = scratch.file("e.csv", "time_ns,port,size_bytes\n5,1,100\n");
    assert!(!EventReader::open(&plain, options()).unwrap().may_push_out());
}

fn in_unit(unit: TimeUnit) -> EventOptions {
    EventOptions { time_unit: Some(unit), ..options() }
}

/// Times and the notes of an input.
fn times(
    path: &Path,
    options: EventOptions,
) -> Result<(Vec<u64>, BTreeMap<InputNote, u64>), String> {
    let (events, provenance) = read(path, options).map_err(|error| error.to_string())?;
    Ok((events.iter().map(|event| event.time_ns).collect(), provenance.notes))
}

#[test]
fn times_of_other_units_become_nanoseconds() {
    let scratch = Scratch::new();
    let text = |column: &[&str]| {
        let rows: String = column.iter().map(|time| format!("{time},1,100\n")).collect();
        scratch.file("e.csv", format!("time_ns,port,size_bytes\n{rows}"))
    };
    let path = text(&["1.02345", "1.5e0", "2.0000000004"]);
    let rounded = |count| BTreeMap::from([(InputNote::RoundedTime, count)]);
    assert_eq!(
        times(&path, in_unit(TimeUnit::S)).unwrap(),
        (vec![1_023_450_000, 1_500_000_000, 2_000_000_000], rounded(1))
    );
    assert_eq!(times(&path, in_unit(TimeUnit::Ns)).unwrap(), (vec![1, 2, 2], rounded(3)));
    let whole = text(&["7", "8"]);
    assert_eq!(
        times(&whole, in_unit(TimeUnit::Us)).unwrap(),
        (vec![7_000, 8_000], BTreeMap::new())
    );
    let bad = times(&text(&["1", "x"]), in_unit(TimeUnit::Ms)).unwrap_err();
    assert!(
        bad.ends_with(
            "time_ns is \"x\", expected a number of milliseconds from 0 to 18446744073709"
        ),
        "{bad}"
    );
    let bad = times(&text(&["-1"]), in_unit(TimeUnit::S)).unwrap_err();
    assert!(
        bad.ends_with("time_ns is -1, expected a number of seconds from 0 to 18446744073"),
        "{bad}"
    );
}

#[test]
fn parquet_times_may_be_floats_of_a_unit_or_timestamps() {
    let scratch = Scratch::new();
    let file = |array: ArrayRef| {
        let ones = || -> ArrayRef { Arc::new(UInt16Array::from(vec![1; 3])) };
        let columns = [("time_ns", array), ("port", ones()), ("size_bytes", ones())];
        scratch.parquet("e.parquet", &columns)
    };
    let expected = (vec![1_000, 2_500, 3_000], BTreeMap::new());
    let path = file(Arc::new(Float64Array::from(vec![1.0, 2.5, 3.0])));
    assert_eq!(times(&path, in_unit(TimeUnit::Us)).unwrap(), expected);
    let refused = times(&path, options()).unwrap_err();
    assert!(
        refused.contains(
            "is of type Float64; expected an integer type; write it as one, or set time_unit"
        ),
        "{refused}"
    );
    let path = file(Arc::new(Float32Array::from(vec![1.0, 2.5, 3.0])));
    assert_eq!(times(&path, in_unit(TimeUnit::Us)).unwrap(), expected);
    let path = file(Arc::new(Int64Array::from(vec![1, 2, 3])));
    assert_eq!(times(&path, in_unit(TimeUnit::Ms)).unwrap().0, [1_000_000, 2_000_000, 3_000_000]);
    let path = file(Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3])));
    assert_eq!(times(&path, options()).unwrap().0, [1_000, 2_000, 3_000]);
    let refused = times(&path, in_unit(TimeUnit::Us)).unwrap_err();
    assert!(
        refused.ends_with("a timestamp has a unit of its own; leave out time_unit"),
        "{refused}"
    );
    let path = file(Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None, Some(3)])));
    assert!(times(&path, options()).unwrap_err().contains("row 1: time_ns is empty"));
    let path = file(Arc::new(Float64Array::from(vec![1.0, f64::NAN, 3.0])));
    let bad = times(&path, in_unit(TimeUnit::S)).unwrap_err();
    assert!(bad.contains("row 1: time_ns is \"NaN\", expected a number of seconds"), "{bad}");
}

#[test]
fn columns_can_have_other_names_and_kind_may_be_absent() {
    let scratch = Scratch::new();
    let path = scratch.file("e.csv", "ts,out,len\n5,1,100\n");
    let pairs = ["time_ns=ts", "port=out", "size_bytes=len"].map(str::to_owned);
    let columns = EventColumns::parse(&pairs).unwrap();
    let (events, _) = read(&path, EventOptions { columns, ..options() }).unwrap();
    assert_eq!(events, two()[..1]);
}

#[test]
fn parquet_of_any_integer_type_is_read() {
    let scratch = Scratch::new();
    let check = |columns: &[(&str, ArrayRef)]| {
        let path = scratch.parquet("e.parquet", columns);
        assert_eq!(read(&path, options()).unwrap().0, two());
    };
    check(&[
        ("time_ns", Arc::new(UInt64Array::from(vec![5, 7]))),
        ("port", Arc::new(UInt16Array::from(vec![1, 1]))),
        ("size_bytes", Arc::new(UInt32Array::from(vec![100, 100]))),
        ("kind", Arc::new(UInt8Array::from(vec![0, 1]))),
    ]);
    check(&[
        ("kind", Arc::new(BooleanArray::from(vec![false, true]))),
        ("note", Arc::new(StringArray::from(vec!["unread", "column"]))),
        ("size_bytes", Arc::new(Int8Array::from(vec![100, 100]))),
        ("port", Arc::new(Int64Array::from(vec![1, 1]))),
        ("time_ns", Arc::new(Int64Array::from(vec![5, 7]))),
        ("queue", Arc::new(Int64Array::from(vec![0, 0]))),
    ]);
}

#[test]
fn a_header_without_rows_is_an_input_without_events() {
    let scratch = Scratch::new();
    let path = scratch.file("e.csv", "time_ns,port,size_bytes\n");
    let (events, provenance) = read(&path, options()).unwrap();
    assert!(events.is_empty());
    assert_eq!((provenance.events, provenance.sha256.len()), (0, 64));
}

fn counts(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect()
}

#[test]
fn skipped_rows_are_counted_by_reason() {
    let scratch = Scratch::new();
    let text = "time_ns,port,size_bytes,kind\n\
        5,1,100,0\n4,1,100,0\nx,1,100,0\n900,77,100,0\n6,1,0,0\n6,1\n7,1,100,1\n7,1,100,1\n,,,\n";
    let (events, provenance) = read(&scratch.file("e.csv", text), skipping()).unwrap();
    assert_eq!(events, two());
    assert_eq!(provenance.events, 2);
    let expected = [
        ("departure-without-arrival", 1),
        ("empty", 1),
        ("field-count", 1),
        ("not-a-number", 1),
        ("port-out-of-range", 1),
        ("size-zero", 1),
        ("time-backwards", 1),
    ];
    assert_eq!(provenance.skipped, counts(&expected));

    let times = Int64Array::from(vec![Some(5), Some(-1), None, Some(7), Some(6)]);
    let columns: [(&str, ArrayRef); 4] = [
        ("time_ns", Arc::new(times)),
        ("port", Arc::new(UInt8Array::from(vec![1; 5]))),
        ("size_bytes", Arc::new(UInt8Array::from(vec![100; 5]))),
        ("kind", Arc::new(UInt8Array::from(vec![0, 0, 0, 1, 0]))),
    ];
    let (events, provenance) = read(&scratch.parquet("e.parquet", &columns), skipping()).unwrap();
    assert_eq!(events, two());
    let expected = [("empty", 1), ("out-of-range", 1), ("time-backwards", 1)];
    assert_eq!(provenance.skipped, counts(&expected));
}

#[test]
fn batches_that_are_all_bad_are_passed_over() {
    let scratch = Scratch::new();
    let rows = 150_000_u32;
    let mut sizes = vec![0; rows as usize];
    *sizes.last_mut().unwrap() = 9;
    let columns: [(&str, ArrayRef); 3] = [
        ("time_ns", Arc::new(UInt32Array::from_iter_values(0..rows))),
        ("port", Arc::new(UInt8Array::from(vec![1; rows as usize]))),
        ("size_bytes", Arc::new(UInt32Array::from(sizes))),
    ];
    let (events, provenance) = read(&scratch.parquet("e.parquet", &columns), skipping()).unwrap();
    assert_eq!(events, [event(149_999, 1, 9, EventKind::Arrival)]);
    assert_eq!(provenance.skipped, counts(&[("size-zero", 149_999)]));
}

#[test]
fn provenance_names_and_hashes_the_file_and_nothing_else() {
    let scratch = Scratch::new();
    let text = "time_ns,port,size_bytes\n1,1,1\n";
    let (_, plain) = read(&scratch.file("e.csv", text), options()).unwrap();
    assert_eq!(plain.name, "e.csv");
    // `printf 'time_ns,port,size_bytes\n1,1,1\n' | sha256sum`
    assert_eq!(plain.sha256, "f120c01ac8630cfe42cda354e0971dc66b627bb270da19c8dcaa47dc903b2b75");
    let (_, again) = read(&scratch.file("e.csv", text), options()).unwrap();
    assert_eq!(plain, again);
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let row = (0..1u64 << 40, any::<u64>(), 1..10_000u32, 0..4u16, 0..2u8, 0..4u8);
    prop::collection::vec(row, 0..200).prop_map(|rows| {
        let mut time_ns = 0;
        let next = |(wait, flow_hash, size_bytes, port, queue, flags)| {
            time_ns += wait;
            let (switch_id, kind) = ((flow_hash % 9) as u16, EventKind::Arrival);
            Event { time_ns, flow_hash, size_bytes, switch_id, port, queue, kind, flags }
        };
        let mut events: Vec<Event> = rows.into_iter().map(next).collect();
        // What came in may leave at the end.
        let leave =
            |event: &Event| Event { kind: EventKind::Departure, time_ns: u64::MAX, ..*event };
        let leaving: Vec<Event> = events.iter().step_by(3).map(leave).collect();
        events.extend(leaving);
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn events_survive_parquet_and_text(events in any_events()) {
        let scratch = Scratch::new();
        let path = scratch.path("e.parquet");
        let mut writer = EventWriter::create(&path, &switches()).unwrap();
        for chunk in events.chunks(70) {
            writer.write(&EventBatch::new(chunk.to_vec())).unwrap();
        }
        prop_assert!(!path.exists());
        writer.finish().unwrap();
        let reader = EventReader::open(&path, EventOptions::default()).unwrap();
        prop_assert_eq!(reader.specs(), &switches());
        let (read_back, provenance) = read(&path, EventOptions::default()).unwrap();
        prop_assert_eq!(&read_back, &events);
        prop_assert_eq!(provenance.events, events.len() as u64);

        let mut text = "flags flow_hash kind size_bytes queue port switch_id time_ns\n".to_owned();
        for e in &events {
            let kind = u8::from(e.kind == EventKind::Departure);
            writeln!(text, "{} {} {kind} {} {} {} {} {}", e.flags, e.flow_hash, e.size_bytes, e.queue, e.port, e.switch_id, e.time_ns).unwrap();
        }
        let (read_back, _) = read(&scratch.file("e.txt", gzip(text.as_bytes())), options()).unwrap();
        prop_assert_eq!(&read_back, &events);
    }
}
