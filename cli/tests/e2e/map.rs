//! `dropcast map` to its end.

use crate::room::Room;

const MAP: &str = "
    runs = 2
    choosing_runs = 2
    oracles = {}
    policies = ['complete-sharing', 'dt:alpha=8', 'oracle']
    measures = ['incast_slowdown_p95', 'goodput_bps']
    [fabric]
    servers = 4
    spines = 1
    [traffic]
    duration_ns = 2_000_000
    [[traffic.flows]]
    load = 0.5
    [[traffic.incasts]]
    per_server_hz = 500.0
    fan_in = 4
    [[grids]]
    name = 'loads'
    load = [0.4, 0.8]
    transports = ['dctcp', 'cubic']
";

#[test]
fn a_map_is_a_table_a_summary_and_pictures() {
    let room = Room::new();
    room.write("small.toml", MAP);
    let said = room.good("map small.toml");
    assert!(said.contains("8 pairs of a point and a measure, 2 runs."), "{said}");
    let text = |file: &str| String::from_utf8(room.read(&format!("runs/small/{file}"))).unwrap();
    let csv = text("map.csv");
    assert!(csv.starts_with("grid,load,burst,buffer_kb,transports,"), "{csv}");
    // Points, policies and measures.
    assert_eq!(csv.lines().count(), 1 + 4 * 4 * 2);
    let lqd = "\nloads,0.8,,,cubic,,,,,,,,lqd,goodput_bps,";
    let line = csv.split(lqd).nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(line.ends_with(",unclear"), "{csv}");
    let picture = text("loads-goodput_bps-lqd.svg");
    assert!(picture.contains("LQD against the best policy that predicts nothing"));
    let json = room.good("map small.toml --threads 1 --format json");
    assert_eq!(json.trim_end(), text("map.json"));
}

#[test]
fn a_network_without_grids_is_one_point_with_advice() {
    let room = Room::new();
    let (network, _) = MAP.split_once("    [[grids]]").unwrap();
    room.write("mine.toml", network);
    let said = room.good("map mine.toml");
    assert!(said.contains("2 pairs of a point and a measure, 2 runs."), "{said}");
    let (_, advice) = said.split_once("\nWhat to deploy\n").expect("a map ends with advice");
    assert!(advice.starts_with("Set complete-sharing: ") || advice.starts_with("Set dt:alpha=8: "));
    // Two runs tell nothing.
    assert!(advice.contains("\nAdd no oracle: none is better anywhere.\n"), "{said}");
    assert!(room.read("runs/mine/map.csv").starts_with(b"grid,"));
}
