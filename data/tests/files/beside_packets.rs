//! What events have beside packets: pauses of queues, ECN marks, columns of the user's own.

use crate::{Scratch, story, switches};
use arrow_array::{ArrayRef, Int64Array, StringArray, UInt16Array, UInt32Array};
use dropcast_data::{
    EventBatch, EventColumns, EventFiles, EventKind, EventOptions, FlowColumns, LabelledBatch,
    OnBadRow, Pause, TraceColumns, TraceMeta, TraceReader, TraceWriter,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn options() -> EventOptions {
    let own = vec!["hops".to_owned(), "flags".to_owned()];
    let columns = EventColumns { own, ..EventColumns::default() };
    let (specs, on_bad_row) = (Some(switches()), OnBadRow::Skip);
    EventOptions { columns, specs, on_bad_row, ..EventOptions::default() }
}

fn read(paths: &[PathBuf]) -> EventBatch {
    let mut all = EventBatch::default();
    let mut files = EventFiles::open(paths, &options()).unwrap();
    assert!(files.records_marks());
    for batch in files.by_ref() {
        let batch = batch.unwrap();
        all.events.extend(batch.events);
        all.own.extend(batch.own);
    }
    all
}

/// Time, kind, whether marked, and the user's own columns, of each event.
fn rows_of(batch: &EventBatch) -> Vec<(u64, EventKind, bool, [u32; 2])> {
    let own = batch.own.chunks_exact(2).map(|own| [own[0], own[1]]);
    let events = batch.events.iter().zip(own);
    events.map(|(e, own)| (e.time_ns, e.kind, e.is_marked(), own)).collect()
}

const TEXT: &str = "\
time_ns,port,queue,size_bytes,kind,ecn_mark,hops,flags
1,0,1,100,+,1,7,4
2,9,1,100,+,1,8,0
3,0,1,0,PAUSE,0,9,0
4,0,1,100,+,2,10,0
5,0,1,,xon,,,3
6,0,1,100,+,0,-1,0
7,0,1,0,+,0,12,0
8,0,1,100,-,,4294967295,0
9,0,1,100,+,0,,0
10,0,1,100,+,,1,0
11,0,1,,+,0,1,0
";

fn expected() -> Vec<(u64, EventKind, bool, [u32; 2])> {
    vec![
        (1, EventKind::Arrival, true, [7, 4]),
        (3, EventKind::Pause, false, [9, 0]),
        (5, EventKind::Resume, false, [0, 3]),
        (8, EventKind::Departure, false, [u32::MAX, 0]),
    ]
}

/// The text above as Parquet.
fn parquet(scratch: &Scratch) -> PathBuf {
    let rows: Vec<Vec<&str>> = TEXT.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let numbers = |at: usize| rows.iter().map(move |row| row[at].parse::<i64>().unwrap());
    let columns: [(&str, ArrayRef); 8] = [
        ("time_ns", Arc::new(Int64Array::from_iter_values(numbers(0)))),
        ("port", Arc::new(UInt16Array::from_iter_values(numbers(1).map(|n| n as u16)))),
        ("queue", Arc::new(Int64Array::from_iter_values(numbers(2)))),
        (
            "size_bytes",
            Arc::new(rows.iter().map(|row| row[3].parse().ok()).collect::<UInt32Array>()),
        ),
        ("kind", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row[4])))),
        ("ecn_mark", Arc::new(rows.iter().map(|row| row[5].parse().ok()).collect::<Int64Array>())),
        ("hops", Arc::new(rows.iter().map(|row| row[6].parse().ok()).collect::<Int64Array>())),
        ("flags", Arc::new(Int64Array::from_iter_values(numbers(7)))),
    ];
    scratch.parquet("events.parquet", &columns)
}

#[test]
fn text_and_parquet_have_the_same_beside_packets() {
    let scratch = Scratch::new();
    let (text, parquet) = (scratch.file("events.csv", TEXT), parquet(&scratch));
    assert_eq!(rows_of(&read(std::slice::from_ref(&text))), expected());
    assert_eq!(rows_of(&read(std::slice::from_ref(&parquet))), expected());
    // Merged, each event keeps its own values.
    let twice = expected().into_iter().flat_map(|row| [row, row]).collect::<Vec<_>>();
    let merged = EventFiles::open(&[text, parquet], &options()).unwrap();
    let merged: Vec<EventBatch> = merged.map(|batch| batch.unwrap()).collect();
    assert_eq!(merged.iter().flat_map(rows_of).collect::<Vec<_>>(), twice);
}

#[test]
fn a_column_that_is_no_integer_is_refused() {
    let scratch = Scratch::new();
    let refuse = |path: &Path| {
        let error = EventFiles::open(&[path.to_owned()], &options()).err().unwrap();
        story(&error, scratch.0.path())
    };
    let text = scratch.file("events.csv", "time_ns,port,size_bytes,flags\n1,0,1,0\n");
    let error = refuse(&text);
    assert!(error.starts_with("events.csv: has no column \"hops\""), "{error}");
    let one = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let words = Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
    let columns = [
        ("time_ns", one()),
        ("port", one()),
        ("size_bytes", one()),
        ("flags", one()),
        ("hops", words),
    ];
    let error = refuse(&scratch.parquet("events.parquet", &columns));
    assert!(error.contains("events.parquet") && error.contains("hops"), "{error}");
}

#[test]
fn a_trace_keeps_flows() {
    let scratch = Scratch::new();
    let meta = TraceMeta::new("dropcast 0.1.0", switches(), Vec::new());
    let hashes = vec![u64::MAX, 0, 7];
    let rows = |flows: Option<FlowColumns>| LabelledBatch {
        arrivals: Some(dropcast_data::ArrivalColumns {
            time_ns: vec![2; 3],
            switch_id: vec![0; 3],
            port: vec![0; 3],
            queue: vec![0; 3],
            size_bytes: vec![10; 3],
            flows,
        }),
        drop: vec![false; 3],
        outcome: Some(vec![dropcast_data::Outcome::Departed; 3]),
        ..LabelledBatch::default()
    };
    let flows = FlowColumns { hash: hashes.clone(), first_rtt: vec![true, false, true] };
    let beside = TraceColumns { flows: true, ..TraceColumns::default() };
    for name in ["trace.parquet", "trace.arrow"] {
        let path = scratch.path(name);
        let mut writer = TraceWriter::create_with(&path, &meta, beside).unwrap();
        writer.write(&rows(Some(flows.clone()))).unwrap();
        assert!(writer.write(&rows(None)).is_err(), "the columns of flows have no nulls");
        // A column of real drops that begins later comes behind.
        let dropped = Some(vec![Some(dropcast_data::DropReason::Policy); 3]);
        let later = LabelledBatch { real_drop: dropped, ..rows(Some(flows.clone())) };
        writer.write(&later).unwrap();
        writer.finish().unwrap();
        let mut reader = TraceReader::open(&path, &[]).unwrap();
        assert!(reader.columns().flows && reader.meta().features.is_empty());
        let mut all = reader.next().unwrap().unwrap();
        reader.for_each(|batch| all.append(batch.unwrap()));
        let read = all.arrivals.unwrap().flows.unwrap();
        assert_eq!(read.hash, [hashes.clone(), hashes.clone()].concat(), "{name}");
        assert_eq!(read.first_rtt, [true, false, true].repeat(2), "{name}");
        // A trace without them has rows of no flows.
        let path = scratch.path(&format!("without-{name}"));
        let mut writer = TraceWriter::create(&path, &meta).unwrap();
        writer.write(&rows(Some(flows.clone()))).unwrap();
        writer.finish().unwrap();
        let batch = TraceReader::open(&path, &[]).unwrap().next().unwrap().unwrap();
        assert_eq!(batch.arrivals.unwrap().flows, None, "{name}");
    }
    // Of other tools: either column alone, of any integers.
    let numbers = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let columns = |more| {
        [("time_ns", numbers(vec![1, 2])), ("port", numbers(vec![0, 0])), more]
            .into_iter()
            .chain([("size_bytes", numbers(vec![9, 9])), ("drop", numbers(vec![0, 1]))])
            .collect::<Vec<_>>()
    };
    let flows_of = |file: &str, more| {
        let path = scratch.parquet(file, &columns(more));
        let batch = TraceReader::open(&path, &[]).unwrap().next().unwrap();
        batch.map(|batch| batch.arrivals.unwrap().flows.unwrap())
    };
    let hashes = flows_of("hash.parquet", ("flow_hash", numbers(vec![5, 6]))).unwrap();
    assert_eq!(hashes, FlowColumns { hash: vec![5, 6], first_rtt: vec![false; 2] });
    let first = flows_of("first.parquet", ("first_rtt", numbers(vec![1, 0]))).unwrap();
    assert_eq!(first, FlowColumns { hash: vec![0; 2], first_rtt: vec![true, false] });
    for (name, more) in [
        ("no-hash.parquet", ("flow_hash", numbers(vec![-1, 0]))),
        ("no-flag.parquet", ("first_rtt", numbers(vec![2, 0]))),
    ] {
        let error = story(&flows_of(name, more.clone()).unwrap_err(), scratch.0.path());
        assert!(error.contains(name) && error.contains(more.0), "{error}");
    }
}

#[test]
fn a_trace_keeps_marks_and_pauses() {
    let scratch = Scratch::new();
    let path = scratch.path("trace.parquet");
    let mut meta = TraceMeta::new("dropcast 0.1.0", switches(), vec!["rank".to_owned()]);
    let rows = |marks: Option<Vec<bool>>, real_drop: Option<Vec<_>>| LabelledBatch {
        arrivals: Some(dropcast_data::ArrivalColumns {
            time_ns: vec![2, 2],
            switch_id: vec![0; 2],
            port: vec![0; 2],
            queue: vec![0; 2],
            size_bytes: vec![10; 2],
            flows: None,
        }),
        features: vec![vec![3, 4]],
        drop: vec![false; 2],
        outcome: Some(vec![dropcast_data::Outcome::Departed; 2]),
        real_drop,
        ecn_mark: marks,
    };
    let (one, all) = (Some(vec![false, true]), Some(vec![true; 2]));
    let dropped = Some(vec![None, Some(dropcast_data::DropReason::Policy)]);
    let pauses = vec![Pause { from_ns: 1, until_ns: 5, switch_id: 0, port: 3, queue: 1 }];
    let beside = TraceColumns { ecn_mark: true, ..TraceColumns::default() };
    let mut writer = TraceWriter::create_with(&path, &meta, beside).unwrap();
    writer.write(&rows(one, None)).unwrap();
    assert!(writer.write(&rows(None, None)).is_err(), "the column of marks has no nulls");
    // The column of real drops begins here, after that of marks.
    writer.write(&rows(all, dropped.clone())).unwrap();
    writer.set_pauses(pauses.clone()).unwrap();
    writer.finish().unwrap();
    let mut reader = TraceReader::open(&path, &["rank".to_owned()]).unwrap();
    meta.pauses = pauses.clone();
    assert_eq!(*reader.meta(), meta);
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.ecn_mark, Some(vec![false, true, true, true]));
    assert_eq!(batch.real_drop.map(|reasons| reasons[2..].to_vec()), dropped);

    for wrong in [Pause { from_ns: 5, ..pauses[0] }, Pause { port: 99, ..pauses[0] }] {
        let path = scratch.path("wrong.parquet");
        let mut writer =
            TraceWriter::create(&path, &TraceMeta::new("", switches(), vec![])).unwrap();
        writer.set_pauses(vec![wrong]).unwrap();
        writer.finish().unwrap();
        let error = TraceReader::open(&path, &[]).err().unwrap().to_string();
        assert!(error.contains("has a pause that cannot be"), "{error}");
    }

    let path = scratch.path("trace.arrow");
    let mut writer =
        TraceWriter::create_with(&path, &TraceMeta::new("", switches(), vec![]), beside).unwrap();
    assert!(writer.set_pauses(Vec::new()).is_ok());
    let error = writer.set_pauses(pauses).unwrap_err().to_string();
    assert!(error.contains("write Parquet"), "{error}");
}
