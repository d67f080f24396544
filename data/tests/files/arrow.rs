//! Arrow IPC in and out.

use crate::hostile::{events, options};
use crate::{Scratch, read, story, switches};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, StringViewArray,
    TimestampMicrosecondArray, UInt16Array, UInt32Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{Block, CompressionType, root_as_footer};
use dropcast_data::{
    DropReason, Event, EventBatch, EventColumns, EventKind, EventWriter, FileKind, LabelledBatch,
    Outcome, TraceMeta, TraceReader, TraceWriter, describe,
};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The bytes of an IPC file of batches of `rows` rows.
fn file(columns: &[(&str, ArrayRef)], rows: usize) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for at in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(at, rows.min(batch.num_rows() - at))).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// The bytes of an IPC stream of batches of `rows` rows.
fn stream(
    columns: &[(&str, ArrayRef)],
    rows: usize,
    compression: Option<CompressionType>,
) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    for at in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(at, rows.min(batch.num_rows() - at))).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn event(i: u64) -> Event {
    Event {
        time_ns: i * 3,
        flow_hash: i.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        size_bytes: 40 + i as u32 % 1_400,
        switch_id: 0,
        port: (i % 4) as u16,
        queue: (i % 2) as u8,
        kind: EventKind::Arrival,
        flags: 1,
    }
}

#[test]
fn events_are_read_from_streams_and_files_compressed_or_not() {
    let scratch = Scratch::new();
    let expected = read(&scratch.parquet("events.parquet", &events()), options()).unwrap().0;
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        for rows in [100, 7] {
            let path = scratch.file("events", stream(&events(), rows, compression));
            let (found, provenance) = read(&path, options()).unwrap();
            assert_eq!(found, expected);
            assert_eq!(provenance.sha256, dropcast_data::sha256_file(&path).unwrap());
        }
    }
    let path = scratch.file("file", file(&events(), 100));
    assert_eq!(read(&path, options()).unwrap().0, expected);
    assert!(matches!(
        describe(&path, &EventColumns::default()).unwrap(),
        FileKind::EventTable { switches: None, .. }
    ));
}

#[test]
fn what_is_cut_or_goes_on_is_refused() {
    let scratch = Scratch::new();
    let (stream, file) = (stream(&events(), 100, None), file(&events(), 100));
    let footer = u32::from_le_bytes(*file[..file.len() - 6].last_chunk().unwrap()) as usize;
    // The end of the stream in it is eight bytes.
    let rows = &file[..file.len() - 10 - footer];
    let goes_on = "goes on after the end of its rows";
    let cut = "ends without a footer";
    for (bytes, problem) in [
        ([&stream[..], &stream].concat(), goes_on),
        ([&file[..], &file].concat(), goes_on),
        ([&stream[..], b"x"].concat(), goes_on),
        ([&file[..], b"x"].concat(), cut),
        ([&stream[..], &file].concat(), goes_on),
        (rows.to_vec(), cut),
        (rows[..rows.len() - 8].to_vec(), cut),
    ] {
        let error = read(&scratch.file("events", bytes), options()).unwrap_err();
        let story = story(&error, scratch.path("").as_path());
        assert!(story.contains(problem), "{story}");
    }
    for bytes in [stream, file] {
        assert!(!read(&scratch.file("events", bytes), options()).unwrap().0.is_empty());
    }
}

/// Where the footer of a file begins.
fn footer_of(file: &[u8]) -> usize {
    let end = file.len() - 10;
    end - u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize
}

/// A block of a footer, as it is stored.
fn stored(offset: i64, block: &Block) -> Vec<u8> {
    let head = u64::try_from(block.metaDataLength()).unwrap();
    [offset.to_le_bytes(), head.to_le_bytes(), block.bodyLength().to_le_bytes()].concat()
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
}

/// What only the footer has: schemas without a length before them (Polars 1.44 to 2.1), no mark of a stream's end (Go and
/// C# of old), batches in another order with gaps between them, dictionaries after batches.
#[test]
fn files_are_read_by_their_footer() {
    let scratch = Scratch::new();
    let kinds = ["enqueue", "departure", "drop", "enqueue", "drop"];
    let columns = [
        ("time_ns", Arc::new(UInt32Array::from(vec![1, 2, 3, 4, 5])) as ArrayRef),
        ("port", Arc::new(UInt16Array::from(vec![0, 0, 1, 1, 2]))),
        ("size_bytes", Arc::new(UInt32Array::from(vec![100, 200, 300, 400, 500]))),
        ("kind", Arc::new(DictionaryArray::<Int8Type>::from_iter(kinds))),
    ];
    let good = file(&columns, 2);
    let expected = read(&scratch.file("good", &good), options()).unwrap().0;
    assert_eq!(expected.len(), 5);
    let at = footer_of(&good);
    let head = 16 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let bare = [&good[..8], &good[16..head], &[0; 8], &good[head..]].concat();
    let unmarked = [&good[..at - 8], &good[at..]].concat();
    let footer = root_as_footer(&good[at..good.len() - 10]).unwrap();
    let dictionaries: Vec<Block> = footer.dictionaries().unwrap().iter().copied().collect();
    let batches: Vec<Block> = footer.recordBatches().unwrap().iter().copied().collect();
    assert_eq!((dictionaries.len(), batches.len()), (1, 3));
    let (mut moved, mut end) = (good[..8].to_vec(), good[at..].to_vec());
    for block in batches.iter().rev().chain(&dictionaries) {
        moved.resize(moved.len() + 64, 0x55);
        let (start, place) = (usize::try_from(block.offset()).unwrap(), moved.len() as i64);
        let bytes = block.metaDataLength() as usize + block.bodyLength() as usize;
        moved.extend(&good[start..start + bytes]);
        replace(&mut end, &stored(block.offset(), block), &stored(place, block));
    }
    for (name, bytes) in [("bare", bare), ("unmarked", unmarked), ("moved", [moved, end].concat())]
    {
        let path = scratch.file(name, &bytes);
        let (events, provenance) = read(&path, options()).unwrap();
        assert_eq!(events, expected, "{name}");
        assert_eq!(provenance.sha256, dropcast_data::sha256_file(&path).unwrap());
        // A pipe is stored first.
        let pipe = scratch.path(&format!("{name}.pipe"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let to = pipe.clone();
        let writer = std::thread::spawn(move || std::fs::write(to, bytes).unwrap());
        assert_eq!(read(&pipe, options()).unwrap().0, expected, "{name}");
        writer.join().unwrap();
    }
    let refused = |block: &Block, changed: Vec<u8>, says: &str| {
        let mut bytes = good.clone();
        replace(&mut bytes[at..], &stored(block.offset(), block), &changed);
        let error = read(&scratch.file("hostile", bytes), options()).unwrap_err();
        let said = story(&error, scratch.path("").as_path());
        assert!(said.contains(says), "{said}");
    };
    // One batch twice, one of a terabyte, one that begins before the file does.
    let [first, second, _] = &batches[..] else { panic!("three batches") };
    let apart = "has batches that overlap or are not within it";
    refused(second, stored(first.offset(), first), apart);
    refused(second, stored(second.offset(), &Block::new(0, 8, 1 << 40)), apart);
    refused(second, stored(-8, second), apart);
    refused(second, stored(second.offset(), &Block::new(0, 8, 8)), "has a damaged message");
}

#[test]
fn words_and_timestamps_of_other_tools_are_read() {
    let scratch = Scratch::new();
    let words = ["enqueue", "departure", "drop"];
    for kind in [
        Arc::new(LargeStringArray::from(words.to_vec())) as ArrayRef,
        Arc::new(StringViewArray::from(words.to_vec())),
        Arc::new(DictionaryArray::<Int8Type>::from_iter(words)),
    ] {
        let columns = [
            ("time_ns", Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3])) as ArrayRef),
            ("port", Arc::new(UInt16Array::from(vec![0, 0, 1]))),
            ("size_bytes", Arc::new(UInt32Array::from(vec![100; 3]))),
            ("kind", kind),
        ];
        let path = scratch.file("events", stream(&columns, 3, None));
        let found = read(&path, options()).unwrap().0;
        let expected =
            [EventKind::Arrival, EventKind::Departure, EventKind::Drop(DropReason::Unstated)];
        assert_eq!(found.iter().map(|event| event.kind).collect::<Vec<_>>(), expected);
        assert_eq!(
            found.iter().map(|event| event.time_ns).collect::<Vec<_>>(),
            [1_000, 2_000, 3_000]
        );
    }
    // A category of pandas without a value, as null and as a word of the dictionary.
    let reasons = DictionaryArray::<Int8Type>::from_iter([Some("policy"), None, Some("")]);
    let kinds = DictionaryArray::<Int8Type>::from_iter([Some("drop"), Some("+"), None]);
    let columns = [
        ("time_ns", Arc::new(UInt32Array::from(vec![1, 2, 3])) as ArrayRef),
        ("port", Arc::new(UInt16Array::from(vec![0, 0, 1]))),
        ("size_bytes", Arc::new(UInt32Array::from(vec![100; 3]))),
        ("kind", Arc::new(kinds)),
        ("drop_reason", Arc::new(reasons)),
    ];
    let error = read(&scratch.parquet("events.parquet", &columns), options()).unwrap_err();
    let story = story(&error, scratch.path("").as_path());
    assert!(story.contains("row 2: kind is empty"), "{story}");
}

#[test]
fn what_is_written_is_read_again() {
    let scratch = Scratch::new();
    // More than one batch of 65,536 rows in a record batch.
    let events: Vec<Event> = (0..70_000).map(event).collect();
    for name in ["events.arrow", "events.FEATHER", "events.ipc"] {
        let path = scratch.path(name);
        let mut writer = EventWriter::create(&path, &switches()).unwrap();
        writer.write(&EventBatch::new(events.clone())).unwrap();
        writer.finish().unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"ARROW1"));
        // It describes its switches.
        let (found, provenance) = read(&path, Default::default()).unwrap();
        assert!(found == events && provenance.events == 70_000);
    }
    assert_eq!(scratch.names().len(), 3);
}

fn rows(real_drops: bool) -> LabelledBatch {
    let mut batch = LabelledBatch::with_arrivals(1);
    for i in 0..50u32 {
        let outcome = Outcome::from_code(1 + (i % 3) as u8).unwrap();
        let arrivals = batch.arrivals.as_mut().unwrap();
        arrivals.time_ns.push(u64::from(i));
        arrivals.switch_id.push(0);
        arrivals.port.push(1);
        arrivals.queue.push(0);
        arrivals.size_bytes.push(700);
        batch.features[0].push(i);
        batch.drop.push(outcome.is_drop());
        batch.outcome.as_mut().unwrap().push(outcome);
    }
    batch.real_drop =
        real_drops.then(|| (0..50).map(|i| (i % 5 == 0).then_some(DropReason::Policy)).collect());
    batch
}

#[test]
fn traces_survive_arrow_with_and_without_real_drops() {
    let scratch = Scratch::new();
    let feature = ["queue_length".to_owned()];
    let meta = TraceMeta::new("dropcast", switches(), feature.to_vec());
    for real_drops in [false, true] {
        let path = scratch.path("trace.arrow");
        let mut writer = TraceWriter::create(&path, &meta).unwrap();
        writer.write(&rows(real_drops)).unwrap();
        writer.finish().unwrap();
        let mut reader = TraceReader::open(&path, &feature).unwrap();
        assert_eq!(reader.meta(), &meta);
        assert_eq!(reader.next().unwrap().unwrap(), rows(real_drops));
        assert!(reader.next().is_none());
        assert_eq!(reader.provenance().sha256, dropcast_data::sha256_file(&path).unwrap());
        let FileKind::Trace { own: true, .. } = describe(&path, &EventColumns::default()).unwrap()
        else {
            panic!("a trace")
        };
    }
}

#[test]
fn claims_that_cannot_be_are_refused() {
    let scratch = Scratch::new();
    let refused = |bytes: Vec<u8>| {
        let path = scratch.file("hostile", bytes);
        story(&read(&path, options()).unwrap_err(), path.parent().unwrap())
    };
    let good = stream(&events(), 100, None);
    let mut head = good.clone();
    head[4..8].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    assert_eq!(
        refused(head),
        "hostile: has a message that claims 2147483647 bytes, expected at most 16777216; write record \
         batches of fewer rows"
    );
    for end in [6, 30, good.len() / 2] {
        let said = refused(good[..end].to_vec());
        assert!(
            said.contains("ends within a message") || said.contains("does not begin"),
            "{said}"
        );
    }
    // The first buffer of a compressed batch says how long it is.
    let mut packed = stream(&events(), 100, Some(CompressionType::LZ4_FRAME));
    let frame = [0x04, 0x22, 0x4d, 0x18];
    let at = packed.windows(4).position(|bytes| bytes == frame).unwrap();
    packed[at - 8..at].copy_from_slice(&(1_i64 << 40).to_le_bytes());
    let said = refused(packed);
    assert!(said.contains("claims 109951162"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_streams_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        kind in 0..3,
    ) {
        let mut bytes = match kind {
            0 => file(&events(), 30),
            _ => stream(&events(), 30, (kind == 1).then_some(CompressionType::ZSTD)),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        read_whatever(file.path());
    }
}

/// Whether it goes well does not matter, only that it ends.
fn read_whatever(path: &Path) {
    let _ = (read(path, options()).is_ok(), describe(path, &EventColumns::default()).is_ok());
    let _ = TraceReader::open(path, &[]).map(Iterator::count);
}
