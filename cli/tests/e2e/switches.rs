//! Several switches in one input.

use crate::room::{Room, refuse, rows};
use dropcast_data::{ArrivalColumns, Event, EventReader, LabelledBatch};
use serde_json::Value;

const EACH: &str = "
[[switch]]
id = 3
ports = 6
line_rate_bps = 10_000_000_000
buffer_bytes = 60_000
base_rtt_ns = 32_000
queues_per_port = 2
wire_overhead_bytes = 33
pushable = [false, true]

[[switch]]
id = 9
ports = 6
line_rate_bps = 5_000_000_000
buffer_bytes = 30_000
base_rtt_ns = 20_000
queues_per_port = 2
scheduler = 'strict-priority'
";

/// Rows: time, place, size, features, outcome.
type Row = (u64, u16, u16, u8, u32, Vec<u32>, u8);

fn each_row(batches: &[LabelledBatch]) -> Vec<Row> {
    batches.iter().flat_map(rows_of).collect()
}

fn rows_of(batch: &LabelledBatch) -> Vec<Row> {
    let ArrivalColumns { time_ns, switch_id, port, queue, size_bytes, .. } =
        batch.arrivals.as_ref().unwrap();
    let outcomes = batch.outcome.as_ref().unwrap();
    let row = |row: usize| {
        let features = batch.features.iter().map(|column| column[row]).collect();
        let place = (time_ns[row], switch_id[row], port[row], queue[row], size_bytes[row]);
        (place.0, place.1, place.2, place.3, place.4, features, outcomes[row] as u8)
    };
    (0..batch.len()).map(row).collect()
}

fn csv(events: impl Iterator<Item = Event>) -> String {
    let mut text = "time_ns,switch_id,port,queue,size_bytes\n".to_owned();
    for Event { time_ns, switch_id, port, queue, size_bytes, .. } in events {
        text.push_str(&format!("{time_ns},{switch_id},{port},{queue},{size_bytes}\n"));
    }
    text
}

#[test]
fn a_switch_among_others_is_traced_as_if_it_were_alone() {
    let room = Room::with_a_run();
    let path = room.path("runs/small/events.parquet");
    let events: Vec<Event> = EventReader::open(&path, Default::default())
        .unwrap()
        .flat_map(|batch| batch.unwrap().events)
        .collect();
    // The second switch sees the same packets 5 us later, and so is often between two of the first.
    let mut both: Vec<Event> = events.iter().map(|e| Event { switch_id: 3, ..*e }).collect();
    both.extend(events.iter().map(|e| Event { switch_id: 9, time_ns: e.time_ns + 5_000, ..*e }));
    both.sort_by_key(|event| event.time_ns);
    let turns = both.windows(2).filter(|pair| pair[0].switch_id != pair[1].switch_id).count();
    assert!(turns > 10_000, "{turns}");

    room.write("each.toml", EACH);
    room.write("both.csv", csv(both.iter().copied()));
    room.good("collect --events both.csv --switch each.toml -o both.parquet");
    let together = each_row(&rows(&room.path("both.parquet")).0);
    assert_eq!(together.len(), both.len());
    let mut drops = Vec::new();
    for switch in [3, 9] {
        room.write("one.csv", csv(both.iter().copied().filter(|e| e.switch_id == switch)));
        room.good("collect --events one.csv --switch each.toml -o one.parquet");
        let alone = each_row(&rows(&room.path("one.parquet")).0);
        let among: Vec<&Row> = together.iter().filter(|row| row.1 == switch).collect();
        assert!(alone.iter().eq(among), "switch {switch}");
        drops.push(alone.iter().filter(|row| row.6 != 1).count());
    }
    // Two different switches, since equal ones would test little.
    assert!(drops[0] > 100 && drops[1] > 2 * drops[0], "{drops:?}");
}

/// Several switches have no one decision; a decision for another buffer is refused.
#[test]
fn the_decision_is_exported_for_one_switch() {
    let room = Room::with_a_run();
    let export = "export runs/small/model.json -o decided --target";
    room.good(&format!("{export} c cpp --switch runs/small/switch.toml"));
    for (name, names) in [("model_decision.h", "model_##name"), ("model_decision.hpp", "name")] {
        let text = String::from_utf8(room.read(&format!("decided/{name}"))).unwrap();
        assert!(text.contains(&format!("#define DROPCAST_NAME(name) {names}\n")), "{name}");
        assert!(text.contains(" dropcast_arrival(\n"), "{name}");
    }
    room.write("each.toml", EACH);
    let described = String::from_utf8(room.read("runs/small/switch.toml")).unwrap();
    room.write("other.toml", described.replace("buffer_bytes = ", "buffer_bytes = 1"));
    for (arguments, says) in [
        ("p4 --switch runs/small/switch.toml", "p4 does not use it"),
        // Beside others, too: its files would be as without the switch.
        ("c p4 --switch runs/small/switch.toml", "p4 does not use it"),
        ("c --switch each.toml", "describes several switches"),
        ("c --switch other.toml", "see dropcast rescale"),
        ("c --switch missing.toml", "missing.toml"),
    ] {
        let said = refuse(&room, &format!("{export} {arguments}"));
        assert!(said.contains(says), "{said}");
    }
}

/// A report replays the slack that is exported: that of the switch's description, 0 unless it says more.
#[test]
fn reports_and_exported_decisions_have_the_same_slack() {
    let room = Room::with_a_run();
    let described = String::from_utf8(room.read("runs/small/switch.toml")).unwrap();
    assert!(!described.contains("slack_bytes"), "{described}");
    let mut sent = Vec::new();
    for (slack, words) in [(0, "0"), (1, "1"), (1500, "1,500")] {
        let description = if slack == 0 {
            described.clone()
        } else {
            format!("slack_bytes = {slack}\n{described}")
        };
        room.write("leaf.toml", description);
        room.good("collect --events runs/small/events.parquet --switch leaf.toml -o trace.parquet");
        room.good("export runs/small/model.json --target c cpp dct ebpf verilog --switch leaf.toml -o decided");
        for (file, says) in [
            ("model_decision.h", format!("#define MODEL_SLACK_BYTES {slack}u\n")),
            ("model_decision.hpp", format!("#define MODEL_SLACK_BYTES {slack}u\n")),
            ("model_decision.bpf.h", format!("#define MODEL_SLACK_BYTES {slack}u\n")),
            ("model_decision.rs", format!("slack_bytes: {slack},\n")),
            ("model_decision.v", format!("SLACK_BYTES = 32'd{slack}\n")),
        ] {
            let text = String::from_utf8(room.read(&format!("decided/{file}"))).unwrap();
            assert!(text.contains(&says), "{file}");
            let comment =
                format!("A queue may exceed its threshold by {slack} bytes, as reports replay it");
            assert!(text.contains(&comment), "{file}");
        }
        let words = format!("exceed its threshold by {words} bytes");
        let report = "report --data trace.parquet --model runs/small/model.json --format";
        let json: Value = serde_json::from_str(&room.good(&format!("{report} json"))).unwrap();
        assert_eq!(json["replay"]["slack_bytes"], slack);
        assert_eq!(json["verdict"]["slack_bytes"], slack);
        assert_eq!(json["replay"]["switches"][0]["slack_bytes"], slack);
        sent.push(json["replay"]["total"]["policies"].clone());
        for printed in [
            room.good(&format!("{report} details")),
            room.good(&format!("{report} html")),
            room.good("report --data trace.parquet --details"),
            room.good("report --data trace.parquet --format html"),
        ] {
            assert!(printed.contains(&words), "{printed}");
        }
    }
    // Credence with the model, and always accepting, but no other policy has thresholds with a slack. (Of
    // the run's own trace, the first, only the test rows are reported.)
    let differ = |at: usize| sent[1][at]["sent"] != sent[2][at]["sent"];
    let differing: Vec<usize> = (0..8).filter(|&at| differ(at)).collect();
    assert!(differing == [1, 2] || differing == [2], "{differing:?}: {sent:?}");
}

/// Rows with scores, and packets with verdicts of a model's whole decision.
#[test]
fn verdicts_of_a_whole_decision_are_verified() {
    let room = Room::with_a_run();
    let (model, switch) = ("runs/small/model.json", "--switch runs/small/switch.toml");
    room.good(&format!("export {model} --target vectors {switch} -o golden"));
    let text = |name: &str| String::from_utf8(room.read(name)).unwrap();
    let (rows, packets) = (text("golden/model_rows.csv"), text("golden/model_packets.csv"));
    assert!(rows.lines().next().unwrap().ends_with(",score,drop"), "{rows}");
    let drops = rows.lines().filter(|row| row.ends_with(",1")).count();
    assert!(rows.lines().count() > 5_000 && drops > 100, "{} {drops}", rows.lines().count());
    let arrivals = packets.lines().skip(1).filter(|line| line.split(',').nth(1) == Some("0"));
    let mut verdicts: Vec<&str> = arrivals.filter_map(|line| line.rsplit(',').next()).collect();
    assert!(verdicts.iter().filter(|&&verdict| verdict == "0").count() > 100);
    room.write("mine.txt", verdicts.join("\n"));
    let check = format!("verify {model} {switch} --verdicts mine.txt");
    let said = room.good(&check);
    let count = verdicts.len();
    assert!(said.contains(&format!("{count} packets arrive, ")), "{said}");
    assert!(said.contains("0 other verdicts"), "{said}");
    verdicts[99] = if verdicts[99] == "1" { "0" } else { "1" };
    room.write("mine.txt", verdicts.join("\n"));
    let said = room.dropcast(&check);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.stdout.contains("  line 100: port "), "{said}");
    for reason in ["safeguarded", "accepted", "no_room", "above_threshold", "predicted_drop"] {
        assert!(packets.contains(&format!(",{reason},")), "{reason}");
    }
    room.write("mine.txt", verdicts[1..].join("\n"));
    let said = room.dropcast(&check);
    let few = format!("{} verdicts, expected {count}", count - 1);
    assert!(said.stderr.contains(&few), "{said}");
    room.write("mine.txt", "1\naccepted\n");
    let said = room.dropcast(&check);
    assert!(said.stderr.contains("mine.txt: line 2: expected 1"), "{said}");
    // The packets are events that other commands read, all of them.
    let read = room.dropcast(&format!("inspect --check golden/model_packets.csv {switch}"));
    let rows = packets.lines().count() - 1;
    assert!(read.stdout.contains(&format!("{rows} good rows")), "{read}");
    let both = room.dropcast(&format!("{check} --target c"));
    assert!(both.code == Some(1) && both.stderr.contains("cannot be used with"), "{both}");

    let unused = room.dropcast(&format!("verify {model} --target json {switch} --rows 10"));
    assert!(unused.code == Some(1) && unused.stderr.contains("json does not use it"), "{unused}");
    let linted = room.dropcast(&format!("verify {model} --target verilog {switch} --rows 10"));
    let has_tools = std::env::var("CI").is_ok_and(|ci| ci == "true")
        || !linted.to_string().contains("not installed");
    if has_tools {
        assert_eq!(linted.code, Some(0), "{linted}");
        assert!(linted.stdout.contains("model_decision.v linted by Verilator"), "{linted}");
    }
}

/// The files that are there are built and run, not others.
#[test]
fn exported_files_are_verified_as_they_are() {
    let room = Room::with_a_run();
    let (model, switch) = ("runs/small/model.json", "--switch runs/small/switch.toml");
    room.good(&format!("export {model} --target c dct {switch} -o out"));
    let check = format!("verify {model} --target c dct {switch} --rows 100 --files out");
    let said = room.good(&check);
    assert!(said.contains(" packets, rustc ") && !said.contains("NOT RUN"), "{said}");

    // The decision is asked, and so is the table.
    for (file, from, to, names) in [
        (
            "out/model_decision.h",
            "<= DROPCAST_LQD_BUFFER_BYTES",
            "< DROPCAST_LQD_BUFFER_BYTES",
            "c",
        ),
        ("out/model_decision.rs", "slack_bytes: 0", "slack_bytes: 1500", "dct"),
    ] {
        let good = String::from_utf8(room.read(file)).unwrap();
        let damaged = good.replacen(from, to, 1);
        assert_ne!(good, damaged, "{file}");
        room.write(file, damaged);
        let said = room.dropcast(&check);
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains(&format!("not verified: {names} has ")), "{said}");
        room.write(file, good);
    }
    std::fs::remove_file(room.path("out/model.dct")).expect("removed");
    let said = room.dropcast(&check);
    assert!(said.code == Some(1) && said.stderr.contains("out/model.dct"), "{said}");
}
