//! Many switches, many files: a folder of events in, a folder of labelled traces out.

use crate::room::Room;
use std::collections::BTreeMap;

/// Two runs: one of a file for each of two switches, one of a file with both.
fn room() -> Room {
    let room = Room::with_a_run();
    room.write("leaf.toml", room.read("runs/small/switch.toml"));
    let line = |switch: u16, at: u64| format!("{},{},{},1500\n", at * 100, switch, (at + 1) % 3);
    let all = |switch: u16| -> String { (0..2_000).map(|at| line(switch, at)).collect() };
    let without = |switch: u16| -> String {
        (0..2_000)
            .map(|at| format!("{},{},1500\n", at * 100, (at + u64::from(switch)) % 3))
            .collect()
    };
    for switch in [3, 9] {
        let text = format!("time_ns,port,size_bytes\n{}", without(switch));
        room.write(&format!("events/run=1/switch={switch}/log.csv"), text);
    }
    let mut both: Vec<String> =
        [all(3), all(9)].concat().lines().map(|line| format!("{line}\n")).collect();
    both.sort_by_key(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
    room.write(
        "events/run=2/log.csv",
        format!("time_ns,switch_id,port,size_bytes\n{}", both.concat()),
    );
    room.write("events/run=1/_SUCCESS", "");
    room
}

const COLLECT: &str = "collect --events events --switch leaf.toml -o traces";

fn traces(room: &Room) -> BTreeMap<String, Vec<u8>> {
    room.files().into_iter().filter(|(name, _)| name.starts_with("traces/")).collect()
}

#[test]
fn a_folder_is_labelled_switch_by_switch() {
    let room = room();
    let mut transcript = format!("{}\n", room.dropcast(COLLECT));
    let first = traces(&room);
    transcript.push_str(&first.keys().map(|name| format!("{name}\n")).collect::<String>());
    // Nothing has changed, so nothing is done.
    transcript.push_str(&format!("\n{}\n", room.dropcast(COLLECT)));
    assert!(traces(&room) == first);
    // A trace is that of its switch alone.
    room.good("collect --events events/run=1/switch=3/log.csv --switch leaf.toml -o alone.parquet");
    let rows = |file: &str| {
        let text = room.good(&format!("inspect {file} --format json"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["rows"].clone()
    };
    assert_eq!(rows("traces/run=1/switch=3/part-0.parquet"), rows("alone.parquet"));
    // One input changes, one trace is damaged, one run is new, one is gone.
    let log = String::from_utf8(room.read("events/run=1/switch=9/log.csv")).unwrap();
    room.write("events/run=1/switch=9/log.csv", log + "999999999,0,1500\n");
    room.write("traces/run=2/switch=9/part-0.parquet", "damaged");
    room.write("events/run=4/log.csv", room.read("events/run=2/log.csv"));
    transcript.push_str(&format!("{}\n", room.dropcast(COLLECT)));
    std::fs::remove_dir_all(room.path("events/run=4")).unwrap();
    transcript.push_str(&format!("{}\n", room.dropcast(COLLECT)));
    // The same bytes as from the beginning, at any number of threads.
    let again = traces(&room);
    std::fs::remove_dir_all(room.path("traces")).unwrap();
    room.good(&format!("{COLLECT} --threads 1"));
    assert!(traces(&room) == again);
    insta::assert_snapshot!(transcript);
    // A pattern stands for the files that match it, a folder for its traces.
    let verdict = room.good("report --data traces/**/part-*.parquet --details");
    assert!(verdict.contains("8,001 packets arrive"), "{verdict}");
    let verdict = room.good("report --data traces --details");
    assert!(verdict.contains("8,001 packets arrive"), "{verdict}");
}

#[test]
fn a_killed_job_goes_on_where_it_was() {
    let room = room();
    room.good(COLLECT);
    let whole = traces(&room);
    // As after a kill: a trace that the manifest does not list, and a manifest of a part.
    let manifest = String::from_utf8(room.read("traces/manifest.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    json["folders"].as_object_mut().unwrap().remove("run=2").unwrap();
    json["finished"] = false.into();
    room.write("traces/manifest.json", serde_json::to_string(&json).unwrap());
    room.write("traces/run=2/switch=3/part-0.parquet", "half");
    let said = room.dropcast("report --data traces");
    assert_eq!(said.code, Some(1), "a part of the traces is not taken for all of them");
    assert!(said.stderr.contains("run `dropcast collect` again"), "{said}");
    let said = room.good(COLLECT);
    assert!(said.contains("1 folders labelled now, 2 before"), "{said}");
    assert!(traces(&room) == whole);
}

#[test]
fn traces_of_two_jobs_never_lie_together() {
    let room = room();
    room.good(COLLECT);
    std::fs::remove_dir_all(room.path("events/run=2")).unwrap();
    room.good(&format!("{COLLECT} --victim arrival"));
    let names = ["manifest.json", "run=1/switch=3/part-0.parquet", "run=1/switch=9/part-0.parquet"];
    assert_eq!(
        traces(&room).into_keys().collect::<Vec<_>>(),
        names.map(|name| format!("traces/{name}"))
    );
    // A job with other settings that fails leaves nothing of the one before.
    room.write("events/run=1/switch=9/log.csv", "time_ns,port,size_bytes\n0,99,1\n");
    assert_eq!(room.dropcast(COLLECT).code, Some(1));
    let left = traces(&room);
    let manifest: serde_json::Value =
        serde_json::from_slice(&left["traces/manifest.json"]).unwrap();
    let listed = manifest["folders"].as_object().unwrap().len();
    assert_eq!((manifest["finished"].clone(), left.len()), (false.into(), 1 + listed));
}

#[test]
fn what_is_left_out_of_a_folder_is_noted() {
    let room = Room::with_a_run();
    room.write("leaf.toml", room.read("runs/small/switch.toml"));
    let rows = "0,0,1500,+\n1,99,1500,+\n2.6004,0,1500,+\n2,0,1500,+\n";
    room.write("events/run=1/log.csv", format!("time_ns,port,size_bytes,kind\n{rows}"));
    let drops = "0,0,1500,+,\n1,1,1500,d,push-out\n";
    room.write(
        "events/run=2/log.csv",
        format!("time_ns,port,size_bytes,kind,drop_reason\n{drops}"),
    );
    let collect = format!("{COLLECT} --on-bad-row skip --time-unit us");
    let mut transcript = format!("{}\n", room.dropcast(&collect));
    // What is kept has the notes, too.
    transcript.push_str(&room.dropcast(&collect).to_string());
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_folder_counts_what_its_traces_count() {
    let room = Room::new();
    let leaf =
        "ports = 2\nline_rate_bps = 10_000_000_000\nbuffer_bytes = 100_000\nbase_rtt_ns = 20_000\n";
    room.write("leaf.toml", format!("{leaf}queues_per_port = 2\npushable = [true, false]\n"));
    // Packets that cannot be pushed out push out the first ones, and are rejected in the end.
    let arrivals = |port: u64| -> String {
        let row = |at| format!("{at},{port},{},1500,+,,{}\n", u64::from(at > 500), at % 2);
        (0..2_000).map(row).collect()
    };
    let real = "2000,0,1,1500,d,admission,0\n2000,0,0,0,pause,,\n2001,0,0,0,resume,,\n\
                90000,1,1,1500,d,admission,0\n";
    let columns = "time_ns,port,queue,size_bytes,kind,drop_reason,ecn_mark\n";
    room.write("events/run=1/log.csv", format!("{columns}{}{real}", arrivals(0)));
    room.write("events/run=2/log.csv", format!("{columns}{}", arrivals(1)));
    room.write("events/run=3/log.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    let counts = |typed: &str| -> serde_json::Value {
        let text = room.good(&format!("collect {typed} --switch leaf.toml --format json"));
        serde_json::from_str(&text).unwrap()
    };
    let all = counts("--events events -o traces");
    let each =
        [1, 2, 3].map(|run| counts(&format!("--events events/run={run}/log.csv -o t.parquet")));
    for count in [
        "/rows",
        "/drops",
        "/pushed_out",
        "/rejected",
        "/pauses",
        "/real_drops/packets",
        "/real_drops/not_by_lqd",
        "/real_drops/recorded",
        "/ecn_marks/packets",
        "/ecn_marks/dropped_by_lqd",
        "/ecn_marks/unmarked_dropped_by_lqd",
        "/ecn_marks/recorded",
    ] {
        let number = |of: &serde_json::Value| of.pointer(count).map_or(0, |n| n.as_u64().unwrap());
        assert_eq!(number(&all), each.iter().map(number).sum::<u64>(), "{count}");
        assert!(number(&all) > 0, "{count} is 0");
    }
    assert_eq!((&all["rows"], &all["real_drops"]["recorded"]), (&4_003.into(), &4_002.into()));
    insta::assert_snapshot!(room.dropcast(COLLECT).to_string());
    // Marks are in the traces, too, and flows if they are kept.
    let columns =
        |trace: &str| room.good(&format!("inspect traces/{trace}/switch=0/part-0.parquet"));
    assert!(columns("run=1").contains(" ecn_mark real_drop\n"));
    assert!(!columns("run=3").contains(" ecn_mark"));
    room.good("collect --events events -o traces --switch leaf.toml --flows");
    assert!(columns("run=1").contains(" ecn_mark flow_hash first_rtt real_drop\n"));
}

#[test]
fn folders_that_cannot_be_labelled() {
    let room = room();
    room.write("mine/manifest.json", "{}");
    // Nothing outside the folder is removed, whatever a manifest says.
    room.good(COLLECT);
    let manifest = String::from_utf8(room.read("traces/manifest.json")).unwrap();
    let manifest = manifest.replace("run=2/switch=3/part-0.parquet", "../victim/part-0.parquet");
    room.write("outside/manifest.json", manifest);
    room.write("victim/part-0.parquet", "mine");
    std::fs::remove_dir_all(room.path("traces")).unwrap();
    let events = |switch: u16| format!("time_ns,switch_id,port,size_bytes\n0,{switch},0,1500\n");
    room.write("other/switch=3/log.csv", events(3) + "1,5,0,1500\n");
    room.write("twice/run=1/log.csv", events(4));
    room.write("twice/run=1/switch=4/log.csv", events(4));
    room.write("none/.hidden", "");
    room.write("wrong/switch=x/log.csv", "time_ns,port,size_bytes\n0,0,1\n");
    room.write("bad/run=1/log.csv", "time_ns,port,size_bytes\n0,99,1\n");
    let mut transcript = String::new();
    for typed in [
        "collect --events events --switch leaf.toml -o traces.parquet",
        "collect --events events --switch leaf.toml -o -",
        "collect --events events --switch leaf.toml -o mine",
        "collect --events events -o traces",
        "collect --events none --switch leaf.toml -o traces",
        "collect --events events/run=2 --switch leaf.toml -o waiting --max-waiting-rows 3",
        "collect --events bad --switch leaf.toml -o skipped --on-bad-row skip",
        "collect --events wrong --switch leaf.toml -o traces",
        "collect --events bad --switch leaf.toml -o traces",
        "collect --events other --switch leaf.toml -o traces",
        "collect --events twice --switch leaf.toml -o traces",
        "collect --events events --switch leaf.toml -o outside",
        "collect --events events --switch leaf.toml -o events",
        "collect --events events --switch leaf.toml -o events/run=1/traces",
        "report --data none",
    ] {
        // Runs that are labelled before one fails stay, so folders may be there.
        let said = room.dropcast(typed);
        assert_eq!(said.code, Some(1), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    assert_eq!(room.read("victim/part-0.parquet"), b"mine");
    insta::assert_snapshot!(transcript);
}

/// Not the tracers' limit each: that of the process.
#[test]
fn rows_that_wait_are_limited_over_all_switches_and_threads() {
    let room = Room::new();
    // 100 rows that leave long after the last arrival.
    let slow = "ports = 1\nline_rate_bps = 1000\nbuffer_bytes = 1_000_000\nbase_rtt_ns = 1_000\n";
    room.write("slow.toml", slow);
    let rows = |switch: u16| (0..100).map(move |at| format!("{at},{switch},0,100\n"));
    let events = |switches: &[u16]| {
        let rows: String = switches.iter().flat_map(|&switch| rows(switch)).collect();
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.sort_by_key(|row| row.split(',').next().and_then(|time| time.parse::<u32>().ok()));
        format!("time_ns,switch_id,port,size_bytes\n{}\n", rows.join("\n"))
    };
    room.write("runs/run=1/log.csv", events(&[0]));
    room.write("runs/run=2/log.csv", events(&[0]));
    room.write("switches/log.csv", events(&[0, 1]));
    for (input, threads, limit, is_right) in [
        ("runs", 1, 100, true),
        ("runs", 2, 150, false),
        ("runs", 2, 200, true),
        ("switches", 1, 150, false),
        ("switches", 2, 200, true),
    ] {
        let collect =
            format!("collect --events {input} --switch slow.toml -o {input}-{threads}-{limit}");
        let said =
            room.dropcast(&format!("{collect} --threads {threads} --max-waiting-rows {limit}"));
        assert_eq!(said.code, Some(i32::from(!is_right)), "{said}");
        assert!(
            is_right
                || said.stderr.contains("waiting rows")
                || said.stderr.contains("rows wait for their label"),
            "{said}"
        );
    }
}

/// A stray file, a capture that was cut off and a run that failed end nothing if bad rows may be skipped.
#[test]
fn what_holds_no_events_is_noted_and_passed_over() {
    let room = room();
    room.write("events/run=1/switch=3/notes.txt", "rack 7, tcpdump since 9:00\n");
    room.write("events/run=3/crash.log", "cannot open eth0\n");
    room.write("events/run=4/log.csv", "time_ns,port,size_bytes\n0,99,1\n");
    let strict = room.dropcast(COLLECT);
    assert_eq!(strict.code, Some(1), "{strict}");
    let skip = format!("{COLLECT} --on-bad-row skip");
    let mut transcript = format!("{}\n", room.dropcast(&skip));
    let first = traces(&room);
    assert!(!first.keys().any(|name| name.contains("run=3") || name.contains("run=4")));
    // The runs that were passed over are as noted, too.
    transcript.push_str(&format!("{}\n", room.dropcast(&skip)));
    assert!(traces(&room) == first);
    room.good("report --data traces");
    room.write("stray/notes.txt", "nothing here\n");
    let none = "collect --events stray --switch leaf.toml -o none --on-bad-row skip";
    transcript.push_str(&format!("{}\n", room.dropcast(none)));
    insta::assert_snapshot!(transcript);
}
