//! No bytes make a reader panic, hang or fill the memory.

use crate::{Scratch, gzip, switches};
use dropcast_data::{
    DataError, Event, EventBatch, EventColumns, EventKind, EventOptions, EventReader, EventWriter,
    LabelledBatch, OnBadRow, Outcome, TraceMeta, TraceReader, TraceWriter, describe,
};
use proptest::prelude::*;
use std::path::Path;

/// Reads a file every way there is. Whether each went well does not matter here, only that all end.
fn read_all(path: &Path) -> [Result<usize, DataError>; 4] {
    let events = |on_bad_row| {
        let options = EventOptions {
            specs: Some(switches()),
            on_bad_row,
            port: Some(1),
            ..Default::default()
        };
        let mut count = 0;
        for batch in EventReader::open(path, options)? {
            count += batch?.events.len();
        }
        Ok(count)
    };
    let rows = || {
        let mut count = 0;
        for batch in TraceReader::open(path, &["queue_length".to_owned()])? {
            count += batch?.len();
        }
        Ok(count)
    };
    [
        events(OnBadRow::Fail),
        events(OnBadRow::Skip),
        rows(),
        describe(path, &EventColumns::default()).map(|_| 0),
    ]
}

fn event(i: u64) -> Event {
    Event {
        time_ns: i * i,
        flow_hash: i.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        size_bytes: 40 + (i as u32 * 77) % 1_400,
        switch_id: 0,
        port: (i % 4) as u16,
        queue: (i % 2) as u8,
        kind: EventKind::Arrival,
        flags: 0,
    }
}

/// One valid file of each kind.
fn valid_files() -> Vec<Vec<u8>> {
    let scratch = Scratch::new();
    let events: Vec<Event> = (0..500).map(event).collect();

    let path = scratch.path("e");
    let mut writer = EventWriter::create(&path, &switches()).unwrap();
    writer.write(&EventBatch::new(events.clone())).unwrap();
    writer.finish().unwrap();
    let event_parquet = std::fs::read(&path).unwrap();

    let mut text = "time_ns,port,size_bytes\n".to_owned();
    for e in &events {
        text.push_str(&format!("{},{},{}\n", e.time_ns, e.port, e.size_bytes));
    }

    let mut batch = LabelledBatch::with_arrivals(1);
    for (i, e) in events.iter().enumerate() {
        let outcome = Outcome::from_code(1 + (i % 3) as u8).unwrap();
        let arrivals = batch.arrivals.as_mut().unwrap();
        arrivals.time_ns.push(e.time_ns);
        arrivals.switch_id.push(0);
        arrivals.port.push(e.port);
        arrivals.queue.push(e.queue);
        arrivals.size_bytes.push(e.size_bytes);
        batch.features[0].push(e.flow_hash as u32);
        batch.drop.push(outcome.is_drop());
        batch.outcome.as_mut().unwrap().push(outcome);
    }
    let meta = TraceMeta::new("dropcast", switches(), vec!["queue_length".to_owned()]);
    let mut writer = TraceWriter::create(&path, &meta).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let trace = std::fs::read(&path).unwrap();

    let mut artifact =
        "queueLength averageQueueLength sharedOccupancy averageOccupancy drop\n".to_owned();
    artifact.push_str(&"1 2 3 4 0\n".repeat(300));
    let packed = gzip(text.as_bytes());
    let streams = [pcap(&events), pcapng(&events), ns3(&events)];
    let files = [event_parquet, text.into_bytes(), trace, artifact.into_bytes(), packed];
    files.into_iter().chain(streams).collect()
}

/// The bytes of a UDP packet over Ethernet.
fn frame(e: &Event) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend([8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(e.flow_hash.to_le_bytes());
    bytes
}

fn pcap(events: &[Event]) -> Vec<u8> {
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for e in events {
        let frame = frame(e);
        for number in [e.time_ns as u32, 7, frame.len() as u32, e.size_bytes + 50] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

fn pcapng(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let length = (12 + body.len() as u32).to_be_bytes();
        [&kind.to_be_bytes(), &length[..], body, &length]
            .into_iter()
            .for_each(|part| bytes.extend(part));
    };
    block(
        0x0a0d_0d0a,
        &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
    );
    block(1, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0]);
    for e in events {
        let mut frame = frame(e);
        let mut body = vec![0; 4];
        body.extend(e.time_ns.to_be_bytes());
        body.extend((frame.len() as u32).to_be_bytes());
        body.extend((e.size_bytes + 50).to_be_bytes());
        frame.resize(frame.len().next_multiple_of(4), 0);
        body.extend(frame);
        block(6, &body);
    }
    bytes
}

fn ns3(events: &[Event]) -> Vec<u8> {
    let line = |e: &Event| {
        format!(
            "+ {} /NodeList/0/DeviceList/1/$ns3::X/TxQueue/Enqueue ns3::PppHeader (x) ns3::Ipv4Header \
             (tos 0x0 protocol 17 length: {} 10.0.0.1 > 10.0.0.2) Payload (size=5)\n",
            e.time_ns, e.size_bytes
        )
    };
    events.iter().map(line).collect::<String>().into_bytes()
}

#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Flip(usize, u8),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let place = any::<usize>();
    prop_oneof![
        4 => (place, any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (place, 0..8u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        1 => place.prop_map(Damage::Cut),
        1 => (place, prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, b)| Damage::Insert(at, b)),
        1 => (place, 1..9usize).prop_map(|(at, count)| Damage::Remove(at, count)),
    ]
}

/// Half of the damage goes to the last part of the file, where Parquet keeps its footer.
fn place(at: usize, length: usize) -> usize {
    let last = (length / 3).max(1);
    if at.is_multiple_of(2) { length - 1 - (at / 2) % last } else { (at / 2) % length }
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match damage {
        Damage::Set(at, byte) => bytes[place(*at, length)] = *byte,
        Damage::Flip(at, bit) => bytes[place(*at, length)] ^= 1 << bit,
        Damage::Cut(at) => bytes.truncate(place(*at, length)),
        Damage::Insert(at, new) => {
            let at = place(*at, length);
            bytes.splice(at..at, new.iter().copied());
        }
        Damage::Remove(at, count) => {
            let at = place(*at, length);
            bytes.drain(at..(at + count).min(length));
        }
    }
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    let scratch = Scratch::new();
    let files = valid_files();
    for (file, readable) in files.iter().zip([
        [true, false],
        [true, false],
        [false, true],
        [false, true],
        [true, false],
        [true, false],
        [true, false],
        [true, false],
    ]) {
        let [events, _, rows, kind] = read_all(&scratch.file("x", file));
        // A trace has the columns of arrivals, so it also reads as events.
        assert!(events.is_ok() || !readable[0]);
        assert_eq!(rows.is_ok(), readable[1]);
        assert!(kind.is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_read_or_refused(
        head in prop::sample::select(vec![&b""[..], b"PAR1", b"\x1f\x8b\x08\x00", b"time_ns,port,size_bytes\n", b"drop queueLength\n", b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00", b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a", b"\x28\xb5\x2f\xfd", b"+ 1 /NodeList/0/DeviceList/1/TxQueue/Enqueue "]),
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        magic_at_end in any::<bool>(),
    ) {
        bytes.splice(0..0, head.iter().copied());
        if magic_at_end {
            bytes.extend((bytes.len() as u32 / 2).to_le_bytes());
            bytes.extend(b"PAR1");
        }
        let scratch = Scratch::new();
        for result in read_all(&scratch.file("x", &bytes)) {
            if let Err(error) = result {
                prop_assert!(error.to_string().contains("/x: "), "{}", error);
            }
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        which in 0..8usize,
        damage in prop::collection::vec(any_damage(), 1..4),
    ) {
        thread_local!(static FILES: Vec<Vec<u8>> = valid_files());
        let mut bytes = FILES.with(|files| files[which].clone());
        damage.iter().for_each(|damage| apply(&mut bytes, damage));
        let scratch = Scratch::new();
        for result in read_all(&scratch.file("x", &bytes)) {
            if let Err(error) = result {
                prop_assert!(error.to_string().contains("/x: "), "{}", error);
            }
        }
    }
}
