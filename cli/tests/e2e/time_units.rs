//! Events whose times are not nanoseconds.

use crate::room::Room;

const SWITCH: &str = "
ports = 2
line_rate_bps = 1_000_000_000
buffer_bytes = 4_000
base_rtt_ns = 20_000
";

/// Three packets a microsecond apart, then a departure, as another tool writes them.
const LOG: &str = "\
ts,port,size_bytes,what
1000000.5,0,1500,+
1000001.25,0,1500,d
1000002.0005,0,1500,drop
1000002.5,0,1500,-
";

fn room() -> Room {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    room.write("log.csv", LOG);
    room
}

const COLUMNS: &str = "--column time_ns=ts --column kind=what";

#[test]
fn a_log_in_microseconds_is_labelled() {
    let room = room();
    let collect = format!("collect --events log.csv --switch switch.toml {COLUMNS} -o t.parquet");
    insta::assert_snapshot!(room.dropcast(&format!("{collect} --time-unit us")).to_string());
    insta::assert_snapshot!(room.dropcast(&collect).to_string());
    insta::assert_snapshot!(room.dropcast(&format!("{collect} --time-unit min")).to_string());
    let json = room.dropcast(&format!("{collect} --time-unit us --format json"));
    assert!(json.stdout.contains("\"rounded-time\": 1"), "{json}");
}

#[test]
fn a_run_keeps_the_time_unit() {
    let room = room();
    let run =
        format!("run --events log.csv --switch switch.toml {COLUMNS} --time-unit us --name a");
    assert_eq!(room.dropcast(&run).code, Some(0));
    let config = std::fs::read_to_string(room.path("runs/a/config.toml")).unwrap();
    assert!(config.contains("time_unit = \"us\"\n"), "{config}");
    assert_eq!(room.dropcast("run --config runs/a/config.toml --name b").code, Some(0));
    let trace =
        |name: &str| std::fs::read(room.path(&format!("runs/{name}/trace.parquet"))).unwrap();
    assert!(trace("a") == trace("b"));
    let refused = room.dropcast("run --time-unit us --name c");
    assert!(refused.stderr.contains("time_unit: is that of given events"), "{refused}");
}
