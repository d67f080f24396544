//! Drop reports joined with captures (`docs/drops.md`). The datagrams are written here, by hand; tshark reads them.

use crate::captures::{has, run};
use crate::{Scratch, story, switches};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use dropcast_data::{
    DropReason, DropReports, EventFiles, EventKind, EventOptions, InputNote, InputProvenance,
    OnBadRow, SwitchFile, read_switch_file,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const START_NS: u64 = 1_700_000_000_000_000_000;
const PACKETS: u32 = 400;

/// UDP or TCP of nine flows. Those of every third have no IP ID, as Linux sends them.
fn frame(i: u32) -> Vec<u8> {
    let (flow, bytes) = (i % 9, 60 + i * 331 % 900);
    let id = if flow % 3 == 0 { 0 } else { i as u16 };
    let is_tcp = flow % 2 == 0;
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0];
    frame.extend((bytes as u16 - 14).to_be_bytes());
    frame.extend(id.to_be_bytes());
    frame.extend([
        0x40,
        0,
        64,
        if is_tcp { 6 } else { 17 },
        0,
        0,
        10,
        0,
        9,
        flow as u8,
        10,
        0,
        0,
        1,
    ]);
    frame.extend([0x30, flow as u8, 0, 53]);
    if is_tcp {
        frame.extend((i * 1_000).to_be_bytes());
        frame.extend([0, 0, 0, 0, 0x50, 16, 0, 9, 0, 0, 0, 0]);
    } else {
        frame.extend([((bytes - 34) >> 8) as u8, (bytes - 34) as u8, 0, 0]);
    }
    frame.resize(bytes as usize, 0xaa);
    frame
}

fn time_ns(i: u32) -> u64 {
    START_NS + u64::from(i) * 10_000
}

pub(crate) fn pcap(scratch: &Scratch, name: &str, packets: &[(u64, Vec<u8>)]) -> PathBuf {
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]);
    for (time, packet) in packets {
        let size = packet.len() as u32;
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        bytes.extend(words(&[seconds as u32, rest as u32, size, size]));
        bytes.extend(packet);
    }
    scratch.file(name, bytes)
}

fn capture(scratch: &Scratch) -> PathBuf {
    pcap(scratch, "in.pcap", &(0..PACKETS).map(|i| (time_ns(i), frame(i))).collect::<Vec<_>>())
}

/// A datagram with a report of each packet, the first with this number, in a UDP packet.
fn datagram(number: u32, reports: &[(u32, u32)], unreported: u32) -> Vec<u8> {
    let mut words = vec![5, 1, 0xc000_0201, 0, 7, 1_000, reports.len() as u32];
    for (number, (packet, reason)) in (number..).zip(reports) {
        let frame = frame(*packet);
        let mut header = frame[..frame.len().min(128)].to_vec();
        let (size, captured) = (frame.len() as u32 + 4, header.len() as u32);
        header.resize(header.len().next_multiple_of(4), 0);
        let header_words =
            header.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap()));
        let mut sample = vec![number, 0, 7, unreported, 3, 9, *reason, 2, 1036, 4, 3];
        sample.extend([1, 16 + header.len() as u32, 1, size, 4, captured]);
        sample.extend(header_words);
        words.extend([5, sample.len() as u32 * 4]);
        words.extend(sample);
    }
    let payload: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let size = payload.len() as u16;
    let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0];
    packet.extend((size + 28).to_be_bytes());
    packet.extend([0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 9, 0x9c, 0x40, 0x18, 0xc7]);
    packet.extend((size + 8).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    packet
}

fn options(paths: &[&Path], window_ns: u64) -> EventOptions {
    let paths: Vec<_> = paths.iter().map(|&path| path.to_owned()).collect();
    let drops = DropReports::read(&paths, window_ns, OnBadRow::Fail).unwrap();
    EventOptions {
        specs: Some(switches()),
        port: Some(0),
        drops: Some(drops),
        ..EventOptions::default()
    }
}

type Row = (u64, EventKind);

fn joined(capture: &Path, options: &EventOptions) -> (Vec<Row>, Vec<InputProvenance>) {
    let mut files = EventFiles::open(&[capture.to_owned()], options).unwrap();
    let events: Vec<_> = files.by_ref().flat_map(|batch| batch.unwrap().events).collect();
    assert!(files.records_drops());
    (events.iter().map(|event| (event.time_ns, event.kind)).collect(), files.provenance())
}

/// What became of packet `i`, if these are dropped for these reasons.
fn expected(reports: &[(u32, u32)]) -> Vec<Row> {
    let of = |i| match reports.iter().find(|(packet, _)| *packet == i) {
        None => Some(EventKind::Arrival),
        Some((_, 259)) => Some(EventKind::Drop(DropReason::Admission)),
        Some((_, 260)) => Some(EventKind::Drop(DropReason::Policy)),
        Some(_) => None,
    };
    (0..PACKETS).filter_map(|i| Some((time_ns(i), of(i)?))).collect()
}

/// Of every flow; packets of one flow and size are 900 apart.
const REPORTS: [(u32, u32); 7] =
    [(3, 259), (40, 259), (41, 258), (42, 260), (99, 259), (250, 257), (399, 259)];

#[test]
fn reports_of_sflow_find_their_packets() {
    let scratch = Scratch::new();
    let capture = capture(&scratch);
    // Reports come late; those with numbers 5 to 8 are lost, and the agent could not report two.
    let late = |i, packet| (time_ns(i) + 1_500_000, packet);
    let packets =
        [late(42, datagram(1, &REPORTS[..4], 0)), late(399, datagram(9, &REPORTS[4..], 2))];
    let sflow = pcap(&scratch, "sflow.pcap", &packets);
    let (rows, inputs) = joined(&capture, &options(&[&sflow], 10_000_000));
    assert_eq!(rows, expected(&REPORTS));
    let [events, reports] = &inputs[..] else { panic!("{inputs:?}") };
    assert_eq!(
        (events.events, events.skipped["dropped-before-buffer"]),
        (u64::from(PACKETS) - 2, 2)
    );
    assert!(!events.notes.contains_key(&InputNote::NoRealDrops), "{events:?}");
    assert_eq!(
        (reports.name.as_str(), reports.events, reports.notes[&InputNote::MissingReports]),
        ("sflow.pcap", 7, 6)
    );
    assert!(reports.skipped.is_empty() && reports.notes.len() == 1, "{reports:?}");

    if has("tshark") {
        let fields = [
            "-T",
            "fields",
            "-e",
            "sflow_245.version",
            "-e",
            "sflow_245.numsamples",
            "-e",
            "sflow_245.sampletype",
            "-r",
        ];
        let read = run("tshark", &fields, &[&sflow]);
        assert_eq!(read, "5\t4\t5,5,5,5\n5\t3\t5,5,5\n");
    }
}

#[test]
fn reports_without_a_packet_are_counted() {
    let scratch = Scratch::new();
    let capture = capture(&scratch);
    let sflow =
        pcap(&scratch, "sflow.pcap", &[(time_ns(3) + 50_001, datagram(1, &REPORTS[..1], 0))]);
    let (rows, inputs) = joined(&capture, &options(&[&sflow], 50_000));
    assert_eq!(
        (rows, inputs[1].events, inputs[1].skipped["unmatched-report"]),
        (expected(&[]), 0, 1)
    );
    // A nanosecond more, and it is found.
    let (rows, inputs) = joined(&capture, &options(&[&sflow], 50_001));
    assert_eq!((rows, inputs[1].events), (expected(&REPORTS[..1]), 1));
    // The same packet is not dropped twice.
    let twice =
        pcap(&scratch, "twice.pcap", &[(time_ns(3), datagram(1, &[REPORTS[0], REPORTS[0]], 0))]);
    let (rows, inputs) = joined(&capture, &options(&[&twice], 50_000));
    assert_eq!((rows, inputs[1].events), (expected(&REPORTS[..1]), 1));
    assert_eq!(inputs[1].skipped["unmatched-report"], 1);
}

#[test]
fn of_several_packets_the_nearest_is_taken() {
    let scratch = Scratch::new();
    let capture = capture(&scratch);
    // Flow 3 has no IP IDs, and the table no lengths: packets 3, 12, 21 fit.
    let table = |times: &[u64]| {
        let rows =
            times.iter().map(|time| format!("{time},10.0.9.3,10.0.0.1,UDP,12291,53,Tail drop\n"));
        let header =
            "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,reason\n";
        scratch.file("drops.csv", header.to_owned() + &rows.collect::<String>())
    };
    let near = table(&[time_ns(12) + 40_000, time_ns(12) + 44_000]);
    let (rows, inputs) = joined(&capture, &options(&[&near], 100_000));
    assert_eq!(rows, expected(&[(12, 259), (21, 259)]));
    assert_eq!((inputs[1].events, inputs[1].notes[&InputNote::AmbiguousReport]), (2, 1));
}

#[test]
fn reports_that_are_wrong_are_refused() {
    let scratch = Scratch::new();
    let header = "time_ns,source_ip,destination_ip,protocol,reason";
    let row = format!("{},10.0.9.3,10.0.0.1,17,", time_ns(3));
    let error = |text: &str, on_bad_row| {
        let path = scratch.file("drops.csv", text);
        let read = DropReports::read(&[path], 1_000, on_bad_row);
        read.err().map(|error| story(&error, scratch.0.path()))
    };
    let bad = format!("{header}\n{row}bored\n");
    let message = error(&bad, OnBadRow::Fail).unwrap();
    assert!(
        message.contains("drops.csv: row 0 (line 2): reason is \"bored\", expected admission"),
        "{message}"
    );
    assert_eq!(error(&bad, OnBadRow::Skip), None);
    let message = error("time_ns,source_ip\n1,2\n", OnBadRow::Fail).unwrap();
    assert!(message.contains("has no column \"destination_ip\""), "{message}");
    let message = error(&format!("{header}\n1,10.0.9,10.0.0.1,17,acl\n"), OnBadRow::Fail).unwrap();
    assert!(message.contains("source_ip is \"10.0.9\", expected an IP address"), "{message}");

    // A datagram that is cut off.
    let whole = datagram(1, &REPORTS[..2], 0);
    let cut = pcap(&scratch, "cut.pcap", &[(START_NS, whole[..whole.len() - 60].to_vec())]);
    let message = DropReports::read(&[cut], 1_000, OnBadRow::Fail).err().unwrap().to_string();
    assert!(message.contains("(packet 1): sFlow is \"ends too early\""), "{message}");
    let message = DropReports::read(&[capture(&scratch)], 1_000, OnBadRow::Fail).err().unwrap();
    assert!(message.to_string().contains("has no reports of drops"), "{message}");
    // Events that are no capture cannot be joined.
    let events = scratch.file("events.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    let options = options(&[&scratch.file("no-drops.csv", format!("{header}\n"))], 1_000);
    let message = EventFiles::open(&[events], &options).err().unwrap().to_string();
    assert!(message.contains("is no capture, so drop reports cannot be joined"), "{message}");
}

/// A switch that drops nothing is the common case: its reports are of nothing, not wrong.
#[test]
fn a_day_without_drops_is_read_as_one() {
    let scratch = Scratch::new();
    let capture = capture(&scratch);
    let header = "time_ns,source_ip,destination_ip,protocol,reason\n";
    let table = scratch.file("none.csv", header);
    let quiet = pcap(&scratch, "quiet.pcap", &[(START_NS, datagram(1, &[], 0))]);
    for file in [&table, &quiet] {
        let (rows, inputs) = joined(&capture, &options(&[file], 1_000));
        assert_eq!((rows, inputs[1].events), (expected(&[]), 0));
        assert!(inputs[1].skipped.is_empty(), "{inputs:?}");
    }
}

/// Of packets that fit, those of another port or queue than the report names do not.
#[test]
fn a_port_and_a_queue_say_which_packet() {
    let scratch = Scratch::new();
    let paths = [0_u32, 1].map(|port| {
        // Each packet twice, an instant apart: at port 0 first.
        let packets: Vec<_> =
            (0..PACKETS).map(|i| (time_ns(i) + u64::from(port), frame(i))).collect();
        pcap(&scratch, &format!("port{port}.pcap"), &packets)
    });
    let rules =
        [0, 1].map(|port| format!("[[capture.port]]\nport = {port}\nfile = \"port{port}.pcap\"\n"));
    let spec =
        "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 100_000\nbase_rtt_ns = 8_000\n";
    let switch = scratch.file("leaf.toml", format!("{spec}{}", rules.concat()));
    let SwitchFile { specs, maps } = read_switch_file(&switch).unwrap();
    let header =
        "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,reason,port,queue";
    let dropped_at = |named: &str| {
        let row = format!("{},10.0.9.3,10.0.0.1,17,12291,53,tail drop,{named}", time_ns(12));
        let table = scratch.file("drops.csv", format!("{header}\n{row}\n"));
        let read = DropReports::read(&[table], 100, OnBadRow::Fail).unwrap();
        let options = EventOptions {
            specs: Some(specs.clone()),
            maps: maps.clone(),
            drops: Some(read),
            ..EventOptions::default()
        };
        let mut files = EventFiles::open(&paths, &options).unwrap();
        let events: Vec<_> = files.by_ref().flat_map(|batch| batch.unwrap().events).collect();
        let dropped = events.into_iter().find(|event| event.kind != EventKind::Arrival);
        let remark = files.drops_remark().unwrap();
        (dropped.map(|event| event.port), files.provenance()[2].clone(), remark)
    };
    let (port, provenance, _) = dropped_at(",");
    assert_eq!((port, provenance.notes[&InputNote::AmbiguousReport]), (Some(0), 1));
    for (named, expected) in [("0,", 0), ("1,", 1), ("1,0", 1), (",0", 0)] {
        let (port, provenance, _) = dropped_at(named);
        assert_eq!((port, provenance.events), (Some(expected), 1), "{named}");
        assert_eq!(provenance.notes.is_empty(), named != ",0", "{provenance:?}");
    }
    for named in ["2,", "0,3"] {
        let (port, provenance, remark) = dropped_at(named);
        assert_eq!(
            (port, provenance.events, provenance.skipped["other-port-report"]),
            (None, 0, 1)
        );
        assert!(remark.contains("1 fit a packet, but for its port or queue"), "{remark}");
    }
    let bad = scratch.file("bad.csv", format!("{header}\n1,10.0.9.3,10.0.0.1,17,1,2,acl,eth3,0\n"));
    let message = DropReports::read(&[bad], 100, OnBadRow::Fail).err().unwrap().to_string();
    assert!(message.contains("port is \"eth3\", expected an integer from 0 to 65535"), "{message}");
}

/// The same reports as text, Parquet and Arrow IPC.
#[test]
fn tables_of_columns_say_what_text_says() {
    let scratch = Scratch::new();
    let capture = capture(&scratch);
    let packets: Vec<(u32, &str)> =
        vec![(3, "Tail drop"), (40, "WRED"), (41, "ACL"), (99, "buffer")];
    let text: String = packets
        .iter()
        .map(|&(i, reason)| {
            let (flow, size) = (i % 9, frame(i).len());
            let (protocol, port) = (if flow % 2 == 0 { 6 } else { 17 }, 0x3000 + flow);
            let id = if flow % 3 == 0 { String::new() } else { i.to_string() };
            format!(
                "{},10.0.9.{flow},10.0.0.1,{protocol},{port},53,{size},{id},0,{reason}\n",
                time_ns(i)
            )
        })
        .collect();
    let header = "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,size_bytes,ip_id,port,reason";
    let csv = scratch.file("drops.csv", format!("{header}\n{text}"));
    let of_text = joined(&capture, &options(&[&csv], 1_000));
    assert_eq!(of_text.0, expected(&[(3, 259), (40, 260), (41, 258), (99, 259)]));

    let column = |place: usize| text.lines().map(move |line| line.split(',').nth(place).unwrap());
    let words = |place| Arc::new(StringArray::from(column(place).collect::<Vec<_>>())) as ArrayRef;
    let numbers = |place| {
        Arc::new(column(place).map(|text| text.parse::<i64>().ok()).collect::<Int64Array>())
            as ArrayRef
    };
    let columns = |size: ArrayRef| {
        let column = |(place, name)| match name {
            "source_ip" | "destination_ip" | "reason" => (name, words(place)),
            "size_bytes" => (name, size.clone()),
            name => (name, numbers(place)),
        };
        header.split(',').enumerate().map(column).collect::<Vec<_>>()
    };
    let whole = columns(numbers(6));
    let batch = RecordBatch::try_from_iter(whole.clone()).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let arrow = scratch.file("drops.arrow", stream.into_inner().unwrap());
    for file in [scratch.parquet("drops.parquet", &whole), arrow] {
        let (rows, inputs) = joined(&capture, &options(&[&file], 1_000));
        assert_eq!((&rows, inputs[1].events), (&of_text.0, 4), "{file:?}");
    }
    // What is no whole number is an error, not taken for one that is absent.
    for (sizes, says) in [
        (
            Arc::new(Float64Array::from(vec![60.5; 4])) as ArrayRef,
            "size_bytes is \"of type Float64\"",
        ),
        (Arc::new(Int64Array::from(vec![-1; 4])), "size_bytes is -1"),
    ] {
        let file = scratch.parquet("bad.parquet", &columns(sizes));
        let message = DropReports::read(&[file], 1_000, OnBadRow::Fail).err().unwrap().to_string();
        assert!(message.contains(says), "{message}");
    }
}

/// Of reports of a day and two runs of it, each run takes its own.
#[test]
fn runs_share_reports() {
    let scratch = Scratch::new();
    let (first, second) = (0..PACKETS / 2, PACKETS / 2..PACKETS);
    let [first, second] = [("first.pcap", first), ("second.pcap", second)].map(|(name, run)| {
        pcap(&scratch, name, &run.map(|i| (time_ns(i), frame(i))).collect::<Vec<_>>())
    });
    let reports = |i, packet| (time_ns(i), packet);
    let sflow = pcap(
        &scratch,
        "sflow.pcap",
        &[
            reports(42, datagram(1, &REPORTS[1..4], 0)),
            reports(399, datagram(4, &REPORTS[4..], 0)),
            (START_NS + 1_000_000_000, datagram(7, &REPORTS[..2], 0)),
        ],
    );
    let options = options(&[&sflow], 10_000);
    let inputs = [&first, &second].map(|capture| joined(capture, &options).1);
    // That of packet 99 and 250 came with that of 399, beyond the window.
    let [[_, one], [_, other]] = inputs.each_ref().map(|of| of.first_chunk::<2>().unwrap());
    assert_eq!(
        (one.events, one.skipped["unmatched-report"], one.skipped["other-time-report"]),
        (2, 1, 5)
    );
    assert_eq!(
        (other.events, other.skipped["unmatched-report"], other.skipped["other-time-report"]),
        (1, 2, 5)
    );
    let all = options.drops.unwrap().of_runs([&inputs[0][1..], &inputs[1][1..]]);
    assert_eq!(
        (all[0].events, all[0].skipped["unmatched-report"], all[0].skipped["other-time-report"]),
        (3, 3, 2)
    );
}
