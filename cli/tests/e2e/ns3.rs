//! Against the Credence authors' ns-3 switch: the first 60,000 arrivals at a leaf, with its departures, up to its first drops
//! and behind them. What it recorded of each arrival is kept as a hash of each column.

use crate::room::Room;
use dropcast_data::{
    EventOptions, EventReader, EventWriter, LabelledBatch, SwitchSpecs, TraceReader, sha256,
};
use dropcast_forest::Confusion;
use std::path::Path;

const EVENTS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../data/tests/samples/ns3-leaf-start.parquet");

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

/// The features that it recorded, little-endian.
const FEATURES: [(&str, &str); 4] = [
    ("queue_length", "350a9c69e9915c5a00d475afd306ed30cc4939a45143a6edaabaca3d0fc49057"),
    ("avg_queue_length", "e0d6e0dc5671b865d4d51d622ec8a383573332e20369d71444bf64104257130a"),
    ("occupancy", "a84abbfc75f9bee9928c7c33d7932251b8501f078fa11172d83a40cc51d289ac"),
    ("avg_occupancy", "7c70c223dc8b0a3c160a5ec8feee6aa69922adf05c07bb9db9d44ba65822a3c4"),
];

/// What became of each packet: 1 departed, 2 pushed out, 3 rejected.
const OUTCOMES: &str = "bfd3a6b46afb467190014bd0548d53bdb04c9367eb4cb3fecbe079107639d3c4";

fn labelled(room: &Room, collect: &str) -> LabelledBatch {
    room.good(&format!(
        "collect --switch switch.toml --strict-fit --features paper4 {collect} -o trace.parquet"
    ));
    let names = FEATURES.map(|(name, _)| name.to_owned());
    let mut rows = LabelledBatch::with_arrivals(names.len());
    TraceReader::open(&room.path("trace.parquet"), &names)
        .unwrap()
        .for_each(|batch| rows.append(batch.unwrap()));
    rows
}

#[test]
fn observed_departures_give_the_authors_features_and_outcomes() {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    let rows = labelled(&room, &format!("--events {EVENTS} --departures observed"));
    assert_eq!(rows.len(), 60_000);
    for ((name, expected), column) in FEATURES.iter().zip(&rows.features) {
        let bytes: Vec<u8> = column.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(sha256(&bytes), *expected, "{name}");
    }
    let outcomes: Vec<u8> = rows.outcome.unwrap().iter().map(|&outcome| outcome as u8).collect();
    let count = |outcome| outcomes.iter().filter(|&&of| of == outcome).count();
    assert_eq!((count(2), count(3)), (239, 8));
    assert_eq!(sha256(&outcomes), OUTCOMES);
}

/// Virtual LQD at line rate needs only arrivals, and finds the drops of the real one.
#[test]
fn arrivals_alone_give_the_authors_drops() {
    let room = Room::new();
    let specs = SwitchSpecs::from_toml(SWITCH).unwrap();
    write_arrivals(Path::new(EVENTS), &specs, &room.path("arrivals.parquet"));
    room.write("switch.toml", SWITCH);
    let theirs = labelled(&room, &format!("--events {EVENTS} --departures observed"));
    let f1 = |ring: u16| {
        room.write("switch.toml", format!("{SWITCH}transmit_ring_packets = {ring}\n"));
        let ours = labelled(&room, "--events arrivals.parquet --departures line-rate");
        assert_eq!(ours.len(), theirs.len());
        let mut confusion = Confusion::default();
        for (&ours, &theirs) in ours.drop.iter().zip(&theirs.drop) {
            confusion.add(theirs, ours);
        }
        confusion.f1().unwrap()
    };
    let (none, one) = (f1(0), f1(1));
    assert!(none >= 0.95, "{none} {one}");
    assert!(one >= 0.97 && one > none, "{none} {one}");
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
