//! Against the Credence authors' ns-3 switch. Its traces are too large to ship: these checks run if
//! `DROPCAST_SHARED_TRACES` names their folder or `../../shared/traces` exists; otherwise they say
//! that they are skipped and pass.

use crate::room::{Room, skipped};
use dropcast_data::{EventOptions, EventReader, EventWriter, Outcome, SwitchSpecs, TraceReader};
use dropcast_forest::Confusion;
use std::path::{Path, PathBuf};

const SWITCH: &str = "
ports = 20
line_rate_bps = 10_000_000_000
buffer_bytes = 1_052_672
base_rtt_ns = 32_000
queues_per_port = 2
scheduler = 'round-robin'
wire_overhead_bytes = 33
pushable = [false, true]
";

fn shared(file: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("DROPCAST_SHARED_TRACES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces"),
    };
    let path = folder.join("ns3-leaf-load80-burst75").join(file);
    if !path.exists() {
        skipped(&format!("there is no {}", path.display()));
        return None;
    }
    Some(path)
}

fn outcomes(path: &Path) -> Vec<Outcome> {
    let reader = TraceReader::open(path, &[]).unwrap();
    reader.flat_map(|batch| batch.unwrap().outcome.unwrap()).collect()
}

#[test]
fn observed_departures_give_the_authors_features_and_outcomes() {
    let (Some(events), Some(reference)) = (shared("events.parquet"), shared("reference.parquet"))
    else {
        return;
    };
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    std::os::unix::fs::symlink(events, room.path("events.parquet")).unwrap();
    let said = room.good(
        "collect --events events.parquet --switch switch.toml --departures observed --strict-fit \
         --features paper4 -o trace.parquet",
    );
    assert_eq!(
        said,
        "trace.parquet: 2735521 arrivals, LQD drops 2796 (2669 pushed out, 127 rejected)\n"
    );
    let names = ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"];
    let names = names.map(str::to_owned);
    let ours = TraceReader::open(&room.path("trace.parquet"), &names).unwrap();
    let theirs = TraceReader::open(&reference, &names).unwrap();
    let mut rows = 0;
    // Both have batches of the same size.
    for (ours, theirs) in ours.zip(theirs) {
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
        assert!(ours.features == theirs.features, "features after row {rows}");
        assert!(ours.outcome == theirs.outcome, "outcomes after row {rows}");
        rows += ours.len();
    }
    assert_eq!(rows, 2_735_521);
}

/// Virtual LQD at line rate needs only arrivals, and finds the drops of the real one.
#[test]
fn arrivals_alone_give_the_authors_drops() {
    let (Some(events), Some(reference)) = (shared("events.parquet"), shared("reference.parquet"))
    else {
        return;
    };
    let room = Room::new();
    let specs = SwitchSpecs::from_toml(SWITCH).unwrap();
    write_arrivals(&events, &specs, &room.path("arrivals.parquet"));
    let theirs = outcomes(&reference);
    let f1 = |ring: u16| {
        room.write("switch.toml", format!("{SWITCH}transmit_ring_packets = {ring}\n"));
        room.good(
            "collect --events arrivals.parquet --switch switch.toml --departures line-rate \
             --strict-fit --features rank -o trace.parquet",
        );
        let ours = outcomes(&room.path("trace.parquet"));
        assert_eq!(ours.len(), theirs.len());
        let mut confusion = Confusion::default();
        for (ours, theirs) in ours.iter().zip(&theirs) {
            confusion.add(theirs.is_drop(), ours.is_drop());
        }
        confusion.f1().unwrap()
    };
    let (none, one) = (f1(0), f1(1));
    assert!(none >= 0.96, "{none}");
    assert!(one >= 0.99 && one > none, "{one}");
}

fn write_arrivals(events: &Path, specs: &SwitchSpecs, to: &Path) {
    let options = EventOptions { specs: Some(specs.clone()), ..EventOptions::default() };
    let mut writer = EventWriter::create(to, specs).unwrap();
    for batch in EventReader::open(events, options).unwrap() {
        let mut batch = batch.unwrap();
        batch.events.retain(|event| event.kind.is_arrival());
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap();
}
