//! Labelled traces: what is read, what is refused, and in which words.

use crate::{Scratch, gzip, story, switches};
use arrow_array::{
    ArrayRef, BooleanArray, Int8Array, Int64Array, RecordBatch, StringArray, UInt8Array,
    UInt32Array, UInt64Array,
};
use dropcast_data::{
    ArrivalColumns, CollectSettings, DataError, Departures, DropReason, InputNote, InputProvenance,
    Label, LabelledBatch, Outcome, RowOrder, TraceMeta, TraceReader, TraceWriter, Victim,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn names(features: &[&str]) -> Vec<String> {
    features.iter().map(ToString::to_string).collect()
}

fn meta(features: &[&str]) -> TraceMeta {
    let mut meta = TraceMeta::new("dropcast 0.1.0", switches(), names(features));
    meta.collect = Some(CollectSettings {
        departures: Departures::Observed,
        victim: Victim::Arrival,
        strict_fit: true,
        label: Label::Lqd,
    });
    meta
}

/// Reads a trace as one batch.
fn read(path: &Path, features: &[&str]) -> Result<(LabelledBatch, TraceReader), DataError> {
    let mut reader = TraceReader::open(path, &names(features))?;
    let mut all = LabelledBatch::with_arrivals(features.len());
    for batch in reader.by_ref() {
        let batch = batch?;
        assert!((1..=65_536).contains(&batch.len()));
        append(&mut all, batch);
    }
    Ok((all, reader))
}

fn append(all: &mut LabelledBatch, batch: LabelledBatch) {
    match (&mut all.arrivals, batch.arrivals) {
        (Some(to), Some(from)) => {
            to.time_ns.extend(from.time_ns);
            to.switch_id.extend(from.switch_id);
            to.port.extend(from.port);
            to.queue.extend(from.queue);
            to.size_bytes.extend(from.size_bytes);
        }
        (to, _) => *to = None,
    }
    for (to, from) in all.features.iter_mut().zip(batch.features) {
        to.extend(from);
    }
    all.drop.extend(batch.drop);
    match (&mut all.outcome, batch.outcome) {
        (Some(to), Some(from)) => to.extend(from),
        (to, _) => *to = None,
    }
    if let Some(from) = batch.real_drop {
        all.real_drop.get_or_insert_default().extend(from);
    }
}

fn write(path: &Path, meta: &TraceMeta, batches: &[LabelledBatch]) {
    let mut writer = TraceWriter::create(path, meta).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    assert!(!path.exists());
    writer.finish().unwrap();
}

fn small() -> LabelledBatch {
    LabelledBatch {
        arrivals: Some(ArrivalColumns {
            time_ns: vec![3, 3, 8],
            switch_id: vec![0, 9, 0],
            port: vec![1, 2, 3],
            queue: vec![0, 1, 0],
            size_bytes: vec![40, 1500, 64],
            flows: None,
        }),
        features: vec![vec![7, 8, 9], vec![1, 2, u32::MAX]],
        drop: vec![false, true, true],
        outcome: Some(vec![Outcome::Departed, Outcome::PushedOut, Outcome::Rejected]),
        real_drop: None,
        ecn_mark: None,
    }
}

#[test]
fn columns_come_in_the_documented_order_and_type() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    let features = ["rank", "mine", "queue_length", "longest_queue"];
    let batch =
        LabelledBatch { features: vec![vec![5; 3], vec![6; 3], vec![1; 3], vec![2; 3]], ..small() };
    write(&path, &meta(&features), &[batch]);
    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let schema = file.metadata().file_metadata().schema_descr();
    let columns: Vec<String> = schema
        .columns()
        .iter()
        .map(|c| format!("{}:{:?}", c.name(), c.logical_type_ref()))
        .collect();
    let unsigned = |name, bits| {
        format!("{name}:Some(Integer(IntType {{ bit_width: {bits}, is_signed: false }}))")
    };
    let expected = [
        unsigned("time_ns", 64),
        unsigned("switch_id", 16),
        unsigned("port", 16),
        unsigned("queue", 8),
        unsigned("size_bytes", 32),
        unsigned("queue_length", 32),
        unsigned("longest_queue", 32),
        unsigned("rank", 32),
        unsigned("mine", 32),
        "drop:None".to_owned(),
        unsigned("outcome", 8),
    ];
    assert_eq!(columns, expected);
    let (read_back, reader) = read(&path, &["mine", "queue_length", "rank"]).unwrap();
    assert_eq!(read_back.features, [[6; 3], [1; 3], [5; 3]]);
    assert_eq!(reader.meta().features, ["queue_length", "longest_queue", "rank", "mine"]);
}

#[test]
fn real_drops_have_a_column_from_the_first_on() {
    let scratch = Scratch::new();
    let (with, without) = (scratch.path("with.parquet"), scratch.path("without.parquet"));
    let reasons = vec![None, Some(DropReason::PushOut), Some(DropReason::Policy)];
    let later = || {
        let mut batch = small();
        batch.arrivals.as_mut().unwrap().time_ns = vec![8, 9, 9];
        batch
    };
    let last = || {
        let mut batch = small();
        batch.arrivals.as_mut().unwrap().time_ns = vec![9; 3];
        batch
    };
    let with_drops = LabelledBatch { real_drop: Some(reasons.clone()), ..later() };
    write(&without, &meta(&["rank", "mine"]), &[small(), later()]);
    write(&with, &meta(&["rank", "mine"]), &[small(), with_drops, last()]);
    assert_eq!(scratch.names().len(), 2, "nothing temporary stays");

    let (batch, reader) = read(&with, &["mine"]).unwrap();
    let expected = [vec![None; 3], reasons, vec![None; 3]].concat();
    assert_eq!(batch.real_drop, Some(expected));
    assert_eq!(batch.arrivals.unwrap().time_ns, [3, 3, 8, 8, 9, 9, 9, 9, 9]);
    assert_eq!(reader.meta().features, ["rank", "mine"], "it is no feature");
    let (batch, _) = read(&without, &["mine"]).unwrap();
    assert_eq!(batch.real_drop, None);
    let uneven = LabelledBatch { real_drop: Some(vec![None; 2]), ..small() };
    let mut writer = TraceWriter::create(&with, &meta(&["rank", "mine"])).unwrap();
    let says = story(&writer.write(&uneven).unwrap_err(), scratch.0.path());
    assert!(says.contains("missing or unequal columns"), "{says}");
}

#[test]
fn the_footer_says_all_there_is_to_say() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    let mut writer = TraceWriter::create(&path, &meta(&["rank"])).unwrap();
    let skipped = BTreeMap::from([("size-zero".to_owned(), 3)]);
    let name = "events.csv".to_owned();
    let input = InputProvenance { name, events: 2, skipped, ..InputProvenance::default() };
    writer.set_inputs(vec![input.clone()]);
    writer.finish().unwrap();
    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let pairs = file.metadata().file_metadata().key_value_metadata().unwrap();
    let text =
        pairs.iter().find(|pair| pair.key == "dropcast.trace").unwrap().value.clone().unwrap();
    let switches = serde_json::to_string(&switches()).unwrap();
    assert_eq!(
        text,
        format!(
            "{}{}{}{}{}{}{}",
            r#"{"schema_version":1,"tool_version":"dropcast 0.1.0","order":"arrival","#,
            r#""switches":"#,
            switches,
            r#","features":["rank"],"average":"ns3-trunc","#,
            r#""collect":{"departures":"observed","victim":"arrival","strict_fit":true},"#,
            r#""inputs":[{"name":"events.csv","sha256":"","events":2,"#,
            r#""skipped":{"size-zero":3}}]}"#,
        )
    );
    let (rows, reader) = read(&path, &[]).unwrap();
    assert!(rows.is_empty());
    assert_eq!(*reader.meta(), TraceMeta { inputs: vec![input], ..meta(&["rank"]) });
}

#[test]
fn parquet_made_elsewhere_is_read() {
    let scratch = Scratch::new();
    let columns: [(&str, ArrayRef); 5] = [
        ("time_ns", Arc::new(UInt64Array::from(vec![3, 4]))),
        ("port", Arc::new(UInt8Array::from(vec![1, 2]))),
        ("size_bytes", Arc::new(Int64Array::from(vec![40, 50]))),
        ("occupancy", Arc::new(UInt32Array::from(vec![10, 20]))),
        ("outcome", Arc::new(Int8Array::from(vec![1, 3]))),
    ];
    let (rows, reader) = read(&scratch.parquet("t.parquet", &columns), &["occupancy"]).unwrap();
    assert_eq!(rows.drop, [false, true]);
    assert_eq!(rows.outcome, Some(vec![Outcome::Departed, Outcome::Rejected]));
    let arrivals = rows.arrivals.unwrap();
    assert_eq!((arrivals.switch_id, arrivals.queue), (vec![0, 0], vec![0, 0]));
    assert_eq!((reader.meta().order, &reader.meta().switches), (RowOrder::Arrival, &None));
    assert_eq!(reader.meta().features, ["occupancy"]);

    // Only features and a label: nothing that says when.
    let columns: [(&str, ArrayRef); 2] = [
        ("x", Arc::new(UInt32Array::from(vec![10, 20]))),
        ("drop", Arc::new(BooleanArray::from(vec![true, false]))),
    ];
    let (rows, reader) = read(&scratch.parquet("t.parquet", &columns), &["x"]).unwrap();
    assert_eq!((rows.arrivals, rows.outcome, rows.drop), (None, None, vec![true, false]));
    assert_eq!(reader.meta().order, RowOrder::Departure);
}

const ARTIFACT: &str = "queueLength averageQueueLength sharedOccupancy averageOccupancy drop\n\
    0 0 0 0 0\n25776 13685 100416 83456 0\n9 8 7 6 1\n0 0 0 0 1\n";

#[test]
fn some_rows_are_those_with_their_numbers_whatever_groups_they_are_in() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    let columns: [(&str, ArrayRef); 2] = [
        ("rank", Arc::new(UInt32Array::from_iter_values(0..10))),
        ("drop", Arc::new(BooleanArray::from(vec![false; 10]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(writer.close().unwrap().num_row_groups(), 3);
    for (from, to) in (0..=10).flat_map(|to| (0..=to).map(move |from| (from, to))) {
        let rows = TraceReader::open_rows(&path, &names(&["rank"]), from.into()..to.into());
        let ranks = rows.unwrap().flat_map(|batch| batch.unwrap().features.concat());
        assert!(ranks.eq(from..to), "{from} to {to}");
    }
    assert!(TraceReader::open_rows(&path, &names(&["rank"]), 9..11).is_err());
}

#[test]
fn the_artifacts_text_is_read_in_its_own_order() {
    let scratch = Scratch::new();
    for bytes in [ARTIFACT.as_bytes().to_vec(), gzip(ARTIFACT.as_bytes())] {
        let path = scratch.file("lqd-1.csv", bytes);
        let (rows, reader) = read(&path, &["avg_occupancy", "queue_length"]).unwrap();
        assert_eq!(rows.features, [[0, 83456, 6, 0], [0, 25776, 9, 0]]);
        assert_eq!(rows.drop, [false, false, true, true]);
        assert_eq!((rows.arrivals, rows.outcome), (None, None));
        assert_eq!(reader.meta().order, RowOrder::Departure);
        let notes = [(InputNote::AllZero, 1), (InputNote::DepartureOrder, 4)];
        assert_eq!(reader.provenance().notes, BTreeMap::from(notes));
        assert_eq!((reader.provenance().events, reader.provenance().sha256.len()), (4, 64));
    }
}

#[test]
fn bad_text_is_refused_in_clear_words() {
    let scratch = Scratch::new();
    let check = |text: &str, features: &[&str], says: &str| {
        let path = scratch.file("t.csv", text);
        let error = read(&path, features).err().expect(says);
        assert_eq!(story(&error, scratch.0.path()), format!("t.csv: {says}"));
    };
    check(
        ARTIFACT,
        &["rank"],
        "has no feature \"rank\", it has queue_length, avg_queue_length, occupancy, avg_occupancy; \
         collect the trace with that feature, or leave the feature out",
    );
    check(
        &ARTIFACT.replace("9 8", "9 -8"),
        &[],
        "row 2 (line 4): averageQueueLength is -8, expected an integer from 0 to 4294967295",
    );
    check(&ARTIFACT.replace("6 1", "6 2"), &[], "row 2 (line 4): drop is 2, expected 0 or 1");
    check(
        &ARTIFACT.replace("7 6 1", "7"),
        &[],
        "row 2 (line 4): fields are 3, but the header line names 5",
    );
    check(
        &ARTIFACT.replace("sharedOccupancy", "occ"),
        &[],
        "has no column \"sharedOccupancy\", it has queueLength, averageQueueLength, occ, \
         averageOccupancy, drop; a labelled trace in text has the columns of the Credence artifact",
    );
    check(
        "time_ns,port,size_bytes\n1,1,1\n",
        &[],
        "has the columns time_ns, port, size_bytes; expected a labelled trace: Parquet of \
         `dropcast collect`, or the Credence artifact's CSV",
    );
}

#[test]
fn bad_parquet_is_refused_in_clear_words() {
    let scratch = Scratch::new();
    let check = |change: &str, array: ArrayRef, says: &str| {
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("time_ns", Arc::new(UInt64Array::from(vec![3, 4, 4]))),
            ("port", Arc::new(UInt8Array::from(vec![1, 2, 1]))),
            ("size_bytes", Arc::new(UInt8Array::from(vec![40, 50, 60]))),
            ("rank", Arc::new(UInt8Array::from(vec![0, 1, 2]))),
            ("outcome", Arc::new(UInt8Array::from(vec![1, 2, 3]))),
        ];
        columns.retain(|(name, _)| *name != change);
        columns.push((change, array));
        let error = read(&scratch.parquet("t.parquet", &columns), &["rank"]).err().expect(says);
        assert_eq!(story(&error, scratch.0.path()), format!("t.parquet: {says}"));
    };
    check(
        "outcome",
        Arc::new(UInt8Array::from(vec![1, 0, 3])),
        "row 1: outcome is 0, expected 1 (departed), 2 (pushed out) or 3 (rejected)",
    );
    check(
        "drop",
        Arc::new(BooleanArray::from(vec![false, true, false])),
        "row 2: drop is 0, but its outcome is 3; a packet is dropped unless its outcome is 1",
    );
    check(
        "time_ns",
        Arc::new(UInt64Array::from(vec![3, 2, 4])),
        "row 1: time_ns is 2, before the row above it at 3; sort the rows by time",
    );
    check(
        "rank",
        Arc::new(Int64Array::from(vec![Some(1), Some(1 << 40), None])),
        "row 1: rank is 1099511627776, expected an integer from 0 to 4294967295",
    );
    check(
        "rank",
        Arc::new(StringArray::from(vec!["a", "b", "c"])),
        "column \"rank\" is of type Utf8; expected an integer type; write it as one",
    );
}

#[test]
fn missing_features_and_labels_are_named() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    write(&path, &meta(&["occupancy", "rank"]), &[small()]);
    let refuse =
        |path: &Path, feature| story(&read(path, &[feature]).err().unwrap(), scratch.0.path());
    let rest =
        "it has occupancy, rank; collect the trace with that feature, or leave the feature out";
    for feature in ["longest_queue", "port", "drop"] {
        let says = format!("t.parquet: has no feature {feature:?}, {rest}");
        assert_eq!(refuse(&path, feature), says);
    }
    let columns: [(&str, ArrayRef); 1] = [("rank", Arc::new(UInt8Array::from(vec![1])))];
    assert_eq!(
        refuse(&scratch.parquet("u.parquet", &columns), "rank"),
        "u.parquet: has no column \"drop\", it has rank; a labelled trace has drop or outcome; make \
         one from events with `dropcast collect`"
    );
}

#[test]
fn other_versions_and_broken_footers_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    let refuse = |meta: &TraceMeta| {
        write(&path, meta, &[small()]);
        story(&read(&path, &[]).err().unwrap(), scratch.0.path())
    };
    let later = TraceMeta { schema_version: 3, ..meta(&["occupancy", "rank"]) };
    assert_eq!(
        refuse(&later),
        "t.parquet: is a labelled trace of schema version 3, this program reads 1; collect it again, or use the dropcast \
         that wrote it"
    );
}

#[test]
fn a_writer_refuses_what_a_reader_would() {
    let scratch = Scratch::new();
    let path = scratch.path("t.parquet");
    let check = |batch: LabelledBatch, says: &str| {
        let mut writer = TraceWriter::create(&path, &meta(&["occupancy", "rank"])).unwrap();
        writer.write(&small()).unwrap_or_else(|error| panic!("{error}"));
        let error = writer.write(&batch).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    let mut early = small();
    early.arrivals.as_mut().unwrap().time_ns[0] = 1;
    check(early, "row 3 would go back in time");
    let later = || {
        let mut later = small();
        later.arrivals.as_mut().unwrap().time_ns = vec![9; 3];
        later
    };
    check(LabelledBatch { drop: vec![true; 3], ..later() }, "row 3 has a label unlike its outcome");
    check(LabelledBatch { arrivals: None, ..later() }, "without arrivals");
    check(LabelledBatch { outcome: None, ..later() }, "without arrivals or outcomes");
    check(LabelledBatch { features: vec![vec![1; 3]], ..later() }, "missing or unequal columns");
    check(LabelledBatch { drop: vec![true; 2], ..later() }, "missing or unequal columns");
    for features in [["rank", "rank"], ["drop", "rank"]] {
        let error = TraceWriter::create(&path, &meta(&features)).err().unwrap().to_string();
        assert!(error.contains("would have two columns"), "{error}");
    }
    assert!(scratch.names().is_empty());
}

fn any_rows(features: usize) -> impl Strategy<Value = LabelledBatch> {
    let row = (0..1u64 << 40, any::<u16>(), any::<u16>(), any::<u8>(), any::<u32>(), 1u8..4);
    prop::collection::vec((row, prop::collection::vec(any::<u32>(), features)), 1..300).prop_map(
        move |rows| {
            let mut batch = LabelledBatch::with_arrivals(features);
            let mut now = 0;
            for ((wait, switch, port, queue, size, code), values) in rows {
                now += wait;
                let outcome = Outcome::from_code(code).unwrap();
                let arrivals = batch.arrivals.as_mut().unwrap();
                arrivals.time_ns.push(now);
                arrivals.switch_id.push(switch);
                arrivals.port.push(port);
                arrivals.queue.push(queue);
                arrivals.size_bytes.push(size);
                batch
                    .features
                    .iter_mut()
                    .zip(values)
                    .for_each(|(column, value)| column.push(value));
                batch.drop.push(outcome.is_drop());
                batch.outcome.as_mut().unwrap().push(outcome);
            }
            batch
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn traces_survive_parquet(batch in any_rows(3)) {
        let scratch = Scratch::new();
        let features = ["queue_length", "occupancy", "rank"];
        let (a, b) = (scratch.path("a"), scratch.path("b"));
        write(&a, &meta(&features), std::slice::from_ref(&batch));
        write(&b, &meta(&features), std::slice::from_ref(&batch));
        prop_assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
        let (read_back, reader) = read(&a, &features).unwrap();
        prop_assert_eq!(&read_back, &batch);
        prop_assert_eq!(reader.meta(), &meta(&features));
        // Any choice of features in any order, and nothing else.
        let (some, _) = read(&a, &["rank", "queue_length"]).unwrap();
        prop_assert_eq!(some.features, vec![batch.features[2].clone(), batch.features[0].clone()]);
    }
}
