//! `dropcast-lab map` to its end.

use crate::room::Room;

const MAP: &str = "
    runs = 2
    choosing_runs = 2
    oracles = {}
    policies = ['complete-sharing', 'dt:alpha=8', 'oracle']
    measures = ['incast_slowdown_p95', 'goodput_bps']
    [fabric]
    whole_answers = true
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
    assert!(csv.starts_with("grid,gbps,buffer_kb,load,sizes,burst,fan_in,"), "{csv}");
    // Points, policies and measures.
    assert_eq!(csv.lines().count(), 1 + 4 * 4 * 2);
    let lqd = "\nloads,,,0.8,,,,,,,,cubic,,,,,lqd,goodput_bps,";
    let line = csv.split(lqd).nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(line.ends_with(",unclear"), "{csv}");
    let picture = text("loads-goodput_bps-lqd.svg");
    let title = "LQD against the best policy that predicts nothing";
    assert!(picture.contains(&format!("<desc>{title}")), "{picture}");
    assert!(!picture.contains("font-weight=\"bold\""), "the title is for the caption: {picture}");
    let tex = text("loads-goodput_bps-lqd.tex");
    assert!(tex.contains(&format!("% {title}")) && tex.contains("\\begin{tikzpicture}"), "{tex}");
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
    let (_, advice) = said
        .split_once("\nWhat to deploy, with senders like Linux's\n")
        .expect("a map ends with advice");
    assert!(advice.starts_with("Set complete-sharing: ") || advice.starts_with("Set dt:alpha=8: "));
    // Two runs show no difference.
    assert!(advice.contains("\nAdd no rule: none is better anywhere.\n"), "{said}");
    assert!(room.read("runs/mine/map.csv").starts_with(b"grid,"));
}

/// Sizes of the user's own are measures, of completion times, too.
#[test]
fn flows_are_measured_by_sizes_of_the_users() {
    let room = Room::new();
    let (network, _) = MAP.split_once("    [[grids]]").unwrap();
    let measures = "measures = ['1-20000-bytes_fct_ns_p99', '20001-or-more-bytes_slowdown_mean']";
    let by_size = network.replace(
        "measures = ['incast_slowdown_p95', 'goodput_bps']",
        &format!("{measures}\n    size_buckets_bytes = [20_000]"),
    );
    room.write("sizes.toml", &by_size);
    let said = room.good("map sizes.toml");
    assert!(said.contains("2 pairs of a point and a measure, 2 runs."), "{said}");
    let csv = String::from_utf8(room.read("runs/sizes/map.csv")).unwrap();
    assert!(csv.contains(",1-20000-bytes_fct_ns_p99,"), "{csv}");
    room.write("sizes.toml", by_size.replace("[20_000]", "[30_000]"));
    let said = room.dropcast("map sizes.toml");
    assert!(said.stderr.contains("\"1-20000-bytes_fct_ns_p99\" is none of "), "{said}");
}

/// A job that was stopped goes on, and machines share one: the same map, with no run twice.
#[test]
fn finished_runs_are_kept_and_joined() {
    let room = Room::new();
    room.write("small.toml", MAP);
    let whole = room.good("map small.toml -o whole");
    for part in ["1/2", "2/2"] {
        let file = format!("part-{}.jsonl", &part[..1]);
        let said = room.good(&format!("map small.toml --keep {file} --part {part}"));
        // LQD and the untrained rule run twice at each of four points, and two rivals four times.
        assert_eq!(said, format!("24 runs are in {file}.\n"));
    }
    let runs = |file: &str| String::from_utf8(room.read(file)).unwrap();
    let both = runs("part-1.jsonl") + &runs("part-2.jsonl");
    assert_eq!(both.lines().count(), 48);
    // One of them was killed while it wrote its last line.
    room.write("all.jsonl", &both[..both.len() - 10]);
    let said = room.dropcast("map small.toml --keep all.jsonl -o joined");
    let note = "note: all.jsonl: the last line was cut off; its run is repeated\n";
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), note), "{said}");
    assert_eq!(runs("all.jsonl"), both);
    assert_eq!(room.read("joined/map.json"), room.read("whole/map.json"));
    assert_eq!(
        room.good("map small.toml --keep all.jsonl -o joined"),
        whole.replace("whole", "joined")
    );
    assert_eq!(runs("all.jsonl"), both);
}

#[test]
fn files_that_hold_no_runs_are_left_alone() {
    let room = Room::new();
    room.write("small.toml", MAP);
    room.write("notes.txt", "mine");
    room.write("table.csv", "a,b\n1,2\n");
    room.write("long.bin", vec![b'{'; 2 << 20]);
    for (arguments, expected) in [
        ("--keep notes.txt", "notes.txt: its last line is no finished run"),
        ("--keep table.csv", "table.csv: line 1 is no finished run"),
        ("--keep long.bin", "long.bin: line 1 is no finished run"),
        ("--part 1/2", "--keep"),
        ("--keep runs.jsonl --part 3/2", "expected a part and their number, such as 2/4"),
        ("--keep no-folder/runs.jsonl", "no-folder/runs.jsonl"),
    ] {
        let said = room.dropcast(&format!("map small.toml {arguments}"));
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains(expected), "{said}");
    }
    assert_eq!(room.read("notes.txt"), b"mine");
}

/// Senders of Linux fill no buffer of a megabyte: the map goes on without oracles, and says so.
#[test]
fn a_network_where_nothing_is_dropped_is_measured_without_oracles() {
    let room = Room::new();
    let text = "
        runs = 2
        choosing_runs = 2
        policies = ['dt:alpha=8']
        [fabric]
        servers = 4
        [traffic]
        duration_ns = 2_000_000
        flows = [{ load = 0.2 }]
        incasts = [{ burst = 0.1, fan_in = 4, per_server_hz = 500.0 }]
    ";
    room.write("calm.toml", text);
    let said = room.good_with_notes("map calm.toml");
    assert!(said.contains("No oracle was measured: LQD drops nothing"), "{said}");
    assert!(!said.contains("and no oracle"), "{said}");
}
