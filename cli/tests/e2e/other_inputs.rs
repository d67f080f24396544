//! From a file that people have to a verdict: ns-3 traces and captures of real tools.

use crate::room::{Room, skipped};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn sample(room: &Room, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/samples").join(name);
    room.write(name, std::fs::read(path).unwrap());
}

/// The switch of `ns3-star.cc`: its ports hold 20 packets of 730 bytes each.
const STAR: &str = "
ports = 4
line_rate_bps = 100_000_000
buffer_bytes = 14_600
base_rtt_ns = 80_000

[ns3]
nodes = [2]
";

#[test]
fn an_ns3_trace_gets_a_verdict() {
    let room = Room::new();
    sample(&room, "ns3-star.tr.gz");
    sample(&room, "ns3-star-2-3.tr.gz");
    room.write("star.toml", STAR);
    let mut transcript = String::new();
    for typed in [
        "inspect ns3-star.tr.gz",
        "inspect ns3-star.tr.gz --format json",
        "collect --events ns3-star.tr.gz --switch star.toml -o trace.parquet",
        "collect --events ns3-star-2-3.tr.gz --switch star.toml -o rough.parquet",
        "collect --events ns3-star.tr.gz --switch star.toml --time-unit us -o x.parquet",
        "collect --events ns3-star.tr.gz -o x.parquet",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
    let verdict = room.good("report --data trace.parquet --details");
    assert!(verdict.contains("906 packets arrive"), "{verdict}");
}

#[test]
fn an_ns3_trace_is_run() {
    let room = Room::new();
    sample(&room, "ns3-star.tr.gz");
    room.write("star.toml", STAR);
    let said = room.dropcast("run --events ns3-star.tr.gz --switch star.toml --name star");
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(said.stderr.lines().next(), Some("note: left out 906 rows: received"));
    assert!(room.path("runs/star/report.html").exists());
}

#[test]
fn ns3_traces_of_several_devices_are_merged() {
    let room = Room::new();
    sample(&room, "ns3-star-2-3.tr.gz");
    let line = "+ 1.01 ns3::PppHeader (x) Payload (size=700)\n";
    room.write("ns3-star-2-1.tr", line);
    room.write("star.toml", STAR);
    let events = "--events ns3-star-2-3.tr.gz ns3-star-2-1.tr --switch star.toml";
    let said = room.dropcast(&format!("collect {events} -o trace.parquet"));
    assert!(said.stdout.starts_with("trace.parquet: 797 arrivals"), "{said}");
    let said = room.dropcast(&format!("run {events} --name two"));
    assert_eq!(said.code, Some(0), "{said}");
    let config = std::fs::read_to_string(room.path("runs/two/config.toml")).unwrap();
    assert!(
        config.contains("events = [\n    \"ns3-star-2-3.tr.gz\",\n    \"ns3-star-2-1.tr\",\n]"),
        "{config}"
    );
    let said = room.dropcast("run --config runs/two/config.toml --name again");
    assert_eq!(said.code, Some(0), "{said}");
}

/// A burst from two senders to one port, as text2pcap takes it.
fn burst() -> String {
    let mut text = String::new();
    for i in 0..400_u32 {
        let port = u32::from(i % 8 == 7);
        text.push_str(&format!("2026-01-01 10:00:00.{:09}\n000000", 1_000_000 + i / 2 * 12_000));
        let head = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        let ip = [0x45, 0, 5, 0xdc, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 9, (i % 2) as u8, 10, 0];
        let last = [port as u8, 1, 0, 7, 0, 9, 5, 0xc8, 0, 0];
        let bytes = head.into_iter().chain(ip).chain(last);
        bytes.chain([0; 1472]).for_each(|byte: u8| text.push_str(&format!(" {byte:02x}")));
        text.push('\n');
    }
    text
}

const LEAF: &str = "
ports = 2
line_rate_bps = 1_000_000_000
buffer_bytes = 60_000
base_rtt_ns = 100_000
wire_overhead_bytes = 24

[[capture.port]]
port = 0
destination_ip = '10.0.0.0/24'

[[capture.port]]
port = 1
destination_ip = '10.0.1.0/24'
";

#[test]
fn a_capture_gets_a_verdict() {
    let room = Room::new();
    room.write("burst.txt", burst());
    let made = Command::new("text2pcap")
        .args(["-q", "-F", "nsecpcap", "-t", "%Y-%m-%d %H:%M:%S.%f", "burst.txt", "burst.pcap"])
        .env("TZ", "UTC")
        .current_dir(room.path(""))
        .output();
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "text2pcap: {made:?}; install tshark");
        return crate::room::skipped("there is no text2pcap");
    }
    room.write("leaf.toml", LEAF);
    let mut transcript = String::new();
    for typed in
        ["inspect burst.pcap", "collect --events burst.pcap --switch leaf.toml -o trace.parquet"]
    {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    let verdict = room.good("report --data trace.parquet --details");
    assert!(verdict.contains("400 packets arrive"), "{verdict}");
    room.write("plain.toml", LEAF.split("[[").next().unwrap());
    let whole = std::fs::read(room.path("burst.pcap")).unwrap();
    room.write("cut.pcap", &whole[..whole.len() / 2]);
    for typed in [
        "collect --events burst.pcap --switch plain.toml -o x.parquet",
        "collect --events cut.pcap --switch leaf.toml -o x.parquet",
        "collect --events burst.pcap --switch leaf.toml --column time_ns=ts -o x.parquet",
        "collect --events burst.pcap burst.pcap --switch leaf.toml -o x.parquet",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    // A rule for a port without packets, one for another file, and one for a switch of which there is none.
    let port = |rule: &str| format!("[[capture.port]]\n{rule}\n");
    let unmet = [
        port("port = 1\nvlan = 20"),
        port("port = 1\nfile = 'other.pcap'"),
        port("port = 1\nswitch = 4\nvlan = 21"),
        "[[capture.queue]]\nqueue = 0\ndscp = 46\n".to_owned(),
    ];
    room.write("unmet.toml", format!("{LEAF}{}", unmet.concat()));
    for typed in [
        "inspect --check burst.pcap --switch unmet.toml",
        "collect --events burst.pcap --switch unmet.toml -o unmet.parquet",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    // Of captures without rules, each is of a port, in the order of the numbers in their names.
    for (port, names) in [(0, ["port9.pcap", "a.pcap"]), (1, ["port10.pcap", "b.pcap"])] {
        for (folder, name) in ["", "tree/switch=7/"].into_iter().zip(names) {
            room.write(&format!("{folder}{name}"), packets_to(port, &whole));
        }
    }
    // Captures that cannot be of output ports.
    room.write("in0.pcap", &whole);
    room.write("in1.pcap", &whole);
    room.write("one.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    for typed in [
        "collect --events in*.pcap --switch plain.toml -o x.parquet",
        "inspect --check port*.pcap --switch plain.toml",
        "collect --events port*.pcap --switch plain.toml -o two.parquet",
        "collect --events port9.pcap port10.pcap burst.pcap --switch plain.toml -o x.parquet",
        "collect --events burst.pcap one.csv --switch plain.toml -o x.parquet",
        "collect --events tree --switch plain.toml -o traces",
        "collect --events trace.parquet --switch plain.toml -o x.parquet",
        "collect --events burst.pcap --switch leaf.toml --own tos -o x.parquet",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
    let said = room.dropcast("run --events burst.pcap --switch leaf.toml --name burst");
    assert_eq!(said.code, Some(0), "{said}");
}

/// The packets of a capture to 10.0.PORT.x.
fn packets_to(port: u8, whole: &[u8]) -> Vec<u8> {
    let (head, mut rest) = whole.split_at(24);
    let mut found = head.to_vec();
    while let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = *rest {
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let (packet, after) = rest.split_at(16 + length);
        // The destination is behind 14 bytes of Ethernet and 16 of IP.
        if packet[16 + 14 + 16 + 2] == port {
            found.extend(packet);
        }
        rest = after;
    }
    found
}

/// pyarrow writes events as Feather, which compresses, and reads what a pipe carries.
#[test]
fn arrow_ipc_goes_through_pipes_and_other_tools() {
    let room = Room::with_a_run();
    let python = |program: &str| {
        Command::new("python3").arg("-c").arg(program).current_dir(room.path("")).output().unwrap()
    };
    if !python("import pyarrow").status.success() {
        assert!(std::env::var_os("CI").is_none(), "python3 has no pyarrow");
        return skipped("python3 has no pyarrow: Arrow IPC of other tools");
    }
    let made = python(
        "import pyarrow.parquet as pq, pyarrow.feather as feather\n\
         events = pq.read_table('runs/small/events.parquet')\n\
         feather.write_feather(events, 'events.feather')",
    );
    assert!(made.status.success(), "{made:?}");
    room.write("switch.toml", room.read("runs/small/switch.toml"));
    room.good("collect --events events.feather --switch switch.toml -o trace.parquet");
    let trace = room.good("report --data trace.parquet --format json");
    let of_run = room.good("report --data runs/small/trace.parquet --format json");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&trace)["policies"], value(&of_run)["policies"]);

    // From a pipe into a pipe.
    let mut simulate = room.command(["simulate", "--duration-ms", "5", "-o", "-"]);
    let events = simulate.output().unwrap();
    assert!(events.status.success() && events.stderr.is_empty(), "{events:?}");
    let piped = ["collect", "--events", "-", "-o", "-"];
    let mut collect = room.command(piped);
    let mut child = collect
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let labelled = std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(&events.stdout).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(labelled.status.success() && labelled.stderr.is_empty(), "{labelled:?}");
    room.write("trace.arrows", &labelled.stdout);
    let read = python(
        "import pyarrow.ipc as ipc\n\
         trace = ipc.open_stream('trace.arrows').read_all()\n\
         print(trace.num_rows, sum(trace['drop'].to_pylist()))",
    );
    room.good("simulate --duration-ms 5 -o five.parquet");
    let printed = room.good("collect --events five.parquet -o five-trace.parquet --format json");
    let counts = value(&printed);
    let expected = format!("{} {}\n", counts["rows"], counts["drops"]);
    assert_eq!(String::from_utf8(read.stdout).unwrap(), expected);
    // A trace in Arrow IPC is as good as one in Parquet.
    room.good("collect --events runs/small/events.parquet -o small.arrow");
    room.good_with_notes("train --data small.arrow -o model.json --vote f1");
    let of_arrow = room.good("report --data small.arrow --format json");
    assert_eq!(value(&of_arrow)["policies"], value(&of_run)["policies"]);
}

#[test]
fn events_with_other_names_are_known_by_their_columns() {
    let room = Room::with_a_run();
    room.write("log.csv", "ts,port,size_bytes\n0,0,1500\n5,1,1500\n");
    let check = "inspect --check log.csv --switch runs/small/switch.toml";
    let said = room.dropcast(check);
    let reason = "log.csv: has no column \"time_ns\", it has ts, port, size_bytes; map the field to its \
                  column, as FIELD=COLUMN (--column)";
    assert!(said.stderr.contains(reason), "{said}");
    let said =
        room.dropcast("collect --events log.csv --switch runs/small/switch.toml -o t.parquet");
    assert!(said.stderr.contains(reason), "{said}");
    for (text, reason) in [
        (&b"time_ns,port,port\n0,0,0\n"[..], "names column \"port\" twice"),
        (
            b"0,0,1500\n5,1,1500\n",
            "begins with a row of numbers (0,0,1500); expected a header line",
        ),
        (b"\xff\xfet\0i\0m\0e\0", "is text in UTF-16; write it in UTF-8"),
    ] {
        room.write("odd.csv", text);
        for typed in ["inspect odd.csv", "inspect --check odd.csv --switch runs/small/switch.toml"]
        {
            let said = room.dropcast(typed);
            assert!(said.stderr.contains(&format!("odd.csv: {reason}")), "{said}");
        }
    }
    let said = room.dropcast("inspect -");
    assert!(said.stderr.contains("standard input: is not read here; name a file"), "{said}");
    assert!(room.good(&format!("{check} --column time_ns=ts")).contains("2 good rows"));
    assert!(room.good("inspect log.csv --column time_ns=ts").starts_with("packet events"));
    let said = room.dropcast(&format!("{check} --column time_ns=t"));
    assert!(said.stderr.contains("log.csv: has no column \"t\", it has ts, port"), "{said}");
}

#[test]
fn a_whole_file_is_checked() {
    let room = Room::with_a_run();
    room.write(
        "events.csv",
        "time_ns,port,size_bytes\n0,0,1500\n5,9,1500\nx,0,1500\n3,0,1500\n9,0,0\n12,0,x\n13,7,1\n",
    );
    let mut transcript = String::new();
    for typed in [
        "inspect --check events.csv --switch runs/small/switch.toml",
        "inspect --check events.csv --switch runs/small/switch.toml --format json",
        "inspect --check events.csv",
        "inspect --check runs/small/events.parquet",
        "inspect --check runs/small/trace.parquet",
        "inspect --check runs/small/model.json",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
}
