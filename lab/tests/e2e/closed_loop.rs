//! Policies in a fabric whose senders react, and the loop: simulate, collect, train, export, simulate.

use crate::room::{Room, refuse, rows};
use dropcast_data::{EventOptions, EventReader, Outcome};
use serde_json::Value;
use std::collections::BTreeMap;

/// A small fabric with full buffers, over in a fraction of a second.
pub(crate) const EXPERIMENT: &str = "
policies = ['lqd', 'complete-sharing', 'credence']
runs = 2

[fabric]
whole_answers = true
servers = 4
spines = 2
leaf_buffer_bytes = 100_000
spine_buffer_bytes = 60_000
sample_interval_ns = 100_000

[traffic]
duration_ns = 4_000_000

[[traffic.flows]]
load = 0.8
transport = 'cubic'

[[traffic.incasts]]
burst = 2.0
fan_in = 4
per_server_hz = 400.0
";

const FEATURES: &str = "level_occupancy,level_in_quarter_rtt,level_in_one_rtt,level_in_two_rtts";

fn room() -> Room {
    let room = Room::new();
    room.write("loop.toml", EXPERIMENT);
    room
}

fn json(room: &Room, typed: &str) -> Value {
    serde_json::from_str(&room.good(&format!("{typed} --format json"))).unwrap()
}

/// Where and how large what LQD dropped was; sorted.
type Dropped = Vec<(u16, u16, u8, u32)>;

/// What the switches dropped, by `drops.parquet`: it has the columns of arrivals, too.
fn dropped_by_switches(room: &Room, folder: &str) -> Dropped {
    let events =
        EventReader::open(&room.path(&format!("{folder}/events.parquet")), EventOptions::default());
    let specs = Some(events.unwrap().specs().clone());
    let options = EventOptions { specs, ..EventOptions::default() };
    let drops = EventReader::open(&room.path(&format!("{folder}/drops.parquet")), options).unwrap();
    let mut dropped: Dropped = drops
        .flat_map(|batch| batch.unwrap().events)
        .map(|drop| (drop.switch_id, drop.port, drop.queue, drop.size_bytes))
        .collect();
    dropped.sort_unstable();
    dropped
}

/// What a trace says that LQD drops.
fn labelled_drops(room: &Room, trace: &str) -> Dropped {
    let mut dropped = Dropped::new();
    for batch in rows(&room.path(trace)).0 {
        let at = batch.arrivals.unwrap();
        for (row, outcome) in batch.outcome.unwrap().into_iter().enumerate() {
            if outcome != Outcome::Departed {
                dropped.push((at.switch_id[row], at.port[row], at.queue[row], at.size_bytes[row]));
            }
        }
    }
    dropped.sort_unstable();
    dropped
}

#[test]
fn the_loop_is_closed() {
    let room = room();
    let lqd = json(&room, "simulate loop.toml --policy lqd --runs 1 -o lqd");
    let drops = &lqd["policies"][0]["runs"][0]["drops"];
    assert!(drops["push-out"].as_u64() > Some(100), "{drops}");

    // Virtual LQD from arrivals alone, beside switches that run LQD, drops what they drop.
    let collect = "collect --events lqd/lqd/run-0/events.parquet --departures line-rate";
    let collected = json(&room, &format!("{collect} --features {FEATURES} -o trace.parquet"));
    assert_eq!(collected["pushed_out"], drops["push-out"]);
    let rejected = drops["full"].as_u64().unwrap() + drops["policy"].as_u64().unwrap();
    assert_eq!(collected["rejected"], rejected);
    assert_eq!(labelled_drops(&room, "trace.parquet"), dropped_by_switches(&room, "lqd/lqd/run-0"));

    room.good_with_notes("train --data trace.parquet --validation-share 0 --vote f1 -o model.json");
    room.good("export model.json --target dct -o tables");
    let policies = "--policy credence --policy credence:model=model.json \
                    --policy credence:model=tables/model.dct";
    let summary = json(&room, &format!("simulate loop.toml {policies}"));
    let runs = |policy: usize| &summary["policies"][policy]["runs"];
    assert_ne!(runs(0), runs(1), "the oracle is asked");
    // One leaf buffer, to which the table's thresholds are; spines are not the same.
    room.write(
        "leaf.toml",
        EXPERIMENT.replace("spine_buffer_bytes = 60_000", "spine_buffer_bytes = 100_000"),
    );
    let summary = json(&room, &format!("simulate leaf.toml {policies}"));
    let runs = |policy: usize| &summary["policies"][policy]["runs"];
    assert_eq!(runs(1), runs(2), "the table decides as the model that it was exported from");

    for policy in ["payback-credence", "follow-max"] {
        let asked = format!("{policy}:model=model.json");
        let policies =
            format!("--policy {policy} --policy {asked} --policy {asked},flip_probability=0.5");
        let summary = json(&room, &format!("simulate loop.toml --runs 1 {policies}"));
        let runs = |policy: usize| &summary["policies"][policy]["runs"];
        assert_ne!(runs(0), runs(1), "{policy}: the oracle is asked");
        assert_ne!(runs(1), runs(2), "{policy}: its answers are flipped");
    }
}

#[test]
fn a_folder_holds_every_run() {
    let room = room();
    let printed = json(&room, "simulate loop.toml -o out --threads 1");
    let summary: Value = serde_json::from_slice(&room.read("out/summary.json")).unwrap();
    assert_eq!(summary, printed);
    let names: Vec<String> =
        room.files().into_keys().filter(|name| name.contains("/lqd/")).collect();
    let files = ["drops", "events", "flows", "occupancy"];
    let expected: Vec<String> = (0..2)
        .flat_map(|run| files.map(|file| format!("out/lqd/run-{run}/{file}.parquet")))
        .collect();
    assert_eq!(names, expected);
    assert_ne!(room.read("out/lqd/run-0/flows.parquet"), room.read("out/lqd/run-1/flows.parquet"));
    room.good("simulate loop.toml -o again --threads 2");
    for (name, bytes) in room.files().range("out/".to_owned()..) {
        if let Some(name) = name.strip_prefix("out/") {
            assert!(room.read(&format!("again/{name}")) == *bytes, "{name}");
        }
    }
    room.good("simulate loop.toml --policy lqd --runs 1 --record telemetry -o recorded");
    let recorded: Vec<String> =
        room.files().into_keys().filter(|name| name.starts_with("recorded")).collect();
    let whole = recorded.iter().filter(|name| !name.starts_with("recorded/flow-times-"));
    let bars = room.read("recorded/flow-times-incast-slowdown-percentiles.tex");
    let bars = String::from_utf8(bars).unwrap();
    let table = String::from_utf8(room.read("recorded/flow-times.csv")).unwrap();
    let percentiles = rows_of_csv(&table, "incast,slowdown", 1.0)
        .into_iter()
        .filter(|row| ["5.00000e1", "9.50000e1", "9.90000e1"].contains(&row[1].as_str()));
    let drawn = bars.lines().filter_map(|line| line.strip_suffix(" 0 0.000000e0 0.000000e0\\\\"));
    let drawn = drawn.map(|mean| format!("{:.5e}", mean.parse::<f64>().unwrap()));
    let means: Vec<String> = percentiles.map(|[mean, ..]| mean).collect();
    assert_eq!((drawn.collect::<Vec<_>>(), means.len()), (means.clone(), 3));
    let picture = room.read("recorded/flow-times-incast-fct-percentiles.svg");
    assert!(String::from_utf8(picture).unwrap().contains(">p99<"));
    let expected = [
        "recorded/flow-times.csv",
        "recorded/lqd/run-0/telemetry.parquet",
        "recorded/summary.json",
    ];
    assert_eq!(whole.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    let picture = String::from_utf8(room.read("recorded/flow-times-incast-fct.svg")).unwrap();
    assert!(picture.contains("completion time of incast flows, us"));
    let tex = String::from_utf8(room.read("recorded/flow-times-incast-fct.tex")).unwrap();
    let table = String::from_utf8(room.read("recorded/flow-times.csv")).unwrap();
    let numbers = |rows: Vec<[String; 4]>| -> Vec<f64> {
        rows.into_iter().flatten().map(|number| number.parse().unwrap()).collect()
    };
    let (drawn, listed) = (rows_of_tex(&tex), rows_of_csv(&table, "incast,fct_ns", 1e-3));
    assert_eq!(drawn.len(), listed.len());
    for (drawn, listed) in numbers(drawn).into_iter().zip(numbers(listed)) {
        assert!((drawn - listed).abs() <= 2e-5 * listed.abs(), "{drawn} {listed}");
    }
    // Of the experiment before, nothing is left.
    room.good("simulate loop.toml --policy lqd --runs 1 --record drops -o out");
    let table = String::from_utf8(room.read("out/flow-times.csv")).unwrap();
    assert!(table.lines().skip(1).all(|row| row.starts_with("\"lqd\",")), "{table}");
}

/// Mean, share, least and largest of each point of a picture for LaTeX, rounded to a millionth.
fn rows_of_tex(tex: &str) -> Vec<[String; 4]> {
    let rows = tex.lines().filter_map(|line| line.strip_suffix("\\\\"));
    let rows = rows.filter(|row| *row != "x y low high").map(|row| {
        let numbers: Vec<f64> = row.split(' ').map(|number| number.parse().unwrap()).collect();
        <[f64; 4]>::try_from(numbers).unwrap().map(|number| format!("{number:.5e}"))
    });
    rows.collect()
}

/// The same of the rows of `flow-times.csv`, found by the names of its columns; times are multiplied by `unit`.
fn rows_of_csv(table: &str, of: &str, unit: f64) -> Vec<[String; 4]> {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows = lines.filter(|row| row.contains(of)).map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        [("mean", unit), ("share_of_flows", 100.0), ("low", unit), ("high", unit)].map(
            |(name, unit)| {
                let column = names.iter().position(|other| *other == name).unwrap();
                format!("{:.5e}", fields[column].parse::<f64>().unwrap() * unit)
            },
        )
    });
    rows.collect()
}

/// The lists of the page: the same flows in three formats.
#[test]
fn flow_lists_of_the_page_are_read() {
    let page = include_str!("../../notes/fabric.md");
    let section = page.split("### Flow lists").nth(1).unwrap().split("## Measures").next().unwrap();
    let blocks: Vec<&str> = section.split("```").skip(1).step_by(2).collect();
    let [table, hpcc, htsim] = blocks[..] else { panic!("{section}") };
    let room = Room::new();
    let runs = |name: &str, list: &str| {
        room.write(name, list.split_once('\n').unwrap().1);
        let text = format!(
            "policies = ['dt']\nruns = 2\nflow_list = '{name}'\nflow_list_transport = 'hpcc'"
        );
        room.write("list.toml", text);
        let summary = json(&room, "simulate list.toml");
        assert_eq!(summary["policies"][0]["metrics"]["single_completed"]["value"]["mean"], 3.0);
        summary["policies"].clone()
    };
    let expected = runs("flows.csv", table);
    assert_eq!(runs("flow.txt", hpcc), expected);
    assert_eq!(runs("flows.cm", htsim), expected);
    // What ns-3 does not read is noted.
    room.write("flow.txt", hpcc.replace("\n3\n", "\n2\n").split_once('\n').unwrap().1);
    room.write("list.toml", "policies = ['dt']\nflow_list = 'flow.txt'");
    let said = room.dropcast("simulate list.toml");
    assert_eq!(said.code, Some(0), "{said}");
    let note = "flow.txt: flow list: what follows from line 4 is not read: line 1 says 2 flows";
    assert!(said.stderr.contains(note), "{said}");
}

#[test]
fn flows_are_measured_by_buckets_of_sizes() {
    let room = room();
    let buckets = format!("size_buckets_bytes = [10_000, 100_000, 1_000_000]\n{EXPERIMENT}");
    room.write("buckets.toml", &buckets);
    let typed = "simulate buckets.toml --policy lqd --policy dt";
    let summary = json(&room, &format!("{typed} -o by-size"));
    let names =
        ["1-10000-bytes", "10001-100000-bytes", "100001-1000000-bytes", "1000001-or-more-bytes"];
    let metric = |summary: &Value, policy: usize, name: &str| {
        summary["policies"][policy]["metrics"][name]["value"]["mean"].as_f64()
    };
    for policy in 0..2 {
        let flows = |name: &str| metric(&summary, policy, &format!("{name}_flows")).unwrap();
        let single: f64 = names.iter().map(|name| flows(name)).sum();
        assert!((single - flows("single")).abs() < 1e-9);
        // What the classes have in common with buckets is the same; 1 MB itself is long.
        assert!((flows(names[0]) + flows(names[1]) - flows("short")).abs() < 1e-9);
        assert!(metric(&summary, policy, "1-10000-bytes_fct_ns_p99") > Some(0.0));
    }
    let table = String::from_utf8(room.read("by-size/flow-times.csv")).unwrap();
    for name in names {
        assert!(table.contains(&format!("\"dt\",{name},fct_ns,")), "{name} is not in {table}");
        for picture in ["fct", "slowdown", "fct-percentiles", "slowdown-percentiles"] {
            let svg = room.read(&format!("by-size/flow-times-{name}-{picture}.svg"));
            assert!(String::from_utf8(svg).unwrap().contains(">dt<"));
        }
    }
    // Everything else is as without buckets.
    let plain = json(&room, "simulate loop.toml --policy lqd --policy dt -o plain");
    for (name, value) in plain["policies"][1]["metrics"].as_object().unwrap() {
        assert_eq!(summary["policies"][1]["metrics"][name], *value, "{name}");
    }
    let rows = String::from_utf8(room.read("plain/flow-times.csv")).unwrap();
    assert!(rows.lines().all(|row| table.contains(row)));
    let text = room.good(typed);
    for title in ["Slowdown", "Completion time"] {
        assert!(text.contains(&format!("{title} of flows of 10001 to 100000 bytes")), "{text}");
    }
    // Kept runs of an experiment without buckets are others.
    let keep = "--policy lqd --runs 1 --keep runs.jsonl";
    room.good(&format!("simulate loop.toml {keep}"));
    let kept = json(&room, &format!("simulate buckets.toml {keep}"));
    assert!(metric(&kept, 0, "1-10000-bytes_flows") > Some(0.0));
}

#[test]
fn experiments_are_compared_in_tables() {
    insta::assert_snapshot!(room().good("simulate loop.toml --runs 5"));
}

#[test]
fn finished_runs_are_not_repeated() {
    let room = room();
    let run = "simulate loop.toml --runs 5";
    let plain = room.good(run);
    let kept = || String::from_utf8(room.read("runs.jsonl")).unwrap();
    assert_eq!(
        room.good(&format!("{run} --keep runs.jsonl --part 2/3")),
        "5 runs are in runs.jsonl.\n"
    );
    let part = kept();
    assert_eq!(part.lines().count(), 5);
    for _ in 0..2 {
        assert_eq!(room.good(&format!("{run} --keep runs.jsonl --threads 2")), plain);
        assert!(kept().starts_with(&part));
        assert_eq!(kept().lines().count(), 15);
    }
    // Kept runs have what the folder of an experiment shows, to the byte.
    let before = kept();
    room.good(&format!("{run} --keep runs.jsonl -o from-kept"));
    assert_eq!(kept(), before, "none is repeated");
    room.good(&format!("{run} --record flows -o plain"));
    let files = room.files();
    let shown = |folder: &str| -> BTreeMap<String, &Vec<u8>> {
        let own =
            files.iter().filter_map(|(name, bytes)| Some((name.strip_prefix(folder)?, bytes)));
        own.filter(|(name, _)| !name.contains("/run-"))
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .collect()
    };
    assert!(shown("from-kept/").len() > 20, "{:?}", files.keys());
    assert!(shown("from-kept/") == shown("plain/"), "{:?}", files.keys());
    for (given, clash) in [("--record flows -o x", "--record"), ("--part 1/2 -o x", "--output")] {
        let said = refuse(&room, &format!("{run} --keep runs.jsonl {given}"));
        assert!(said.contains("cannot be used with") && said.contains(clash), "{said}");
    }
    // Other traffic is another run.
    room.good(&format!("{run} --policy lqd --seed 9 --keep runs.jsonl"));
    assert_eq!(kept().lines().count(), 20);
}

#[test]
fn experiments_that_cannot_be() {
    let room = room();
    room.write("negative.toml", EXPERIMENT.replace("load = 0.8", "load = -0.8"));
    room.write("unknown.toml", EXPERIMENT.replace("spines", "spine"));
    room.write("nothing.toml", "runs = 1");
    room.write("late.toml", EXPERIMENT.replace("[fabric]", "[fabric]\nend_ns = 1_000_000"));
    room.write("both.toml", format!("flow_list = 'flows.csv'\n{EXPERIMENT}"));
    room.write("a-file", "");
    room.write("flows.csv", "start_ns,src_host,dst_host,size_bytes\n0,0,1,100\n5,0,x,100\n");
    room.write("far.csv", "start_ns,src_host,dst_host,size_bytes\n0,0,1000,100\n");
    room.write("list.toml", "flow_list = 'flows.csv'");
    room.write("far.toml", "flow_list = 'far.csv'");
    room.write("count.txt", "2\n0 1 3 100 9 0.0\n");
    room.write("fields.txt", "1\n0 1 9 0.0\n");
    room.write("waits.cm", "Nodes 4\nConnections 1\n0->1 id 1 trigger 1 size 9\n");
    room.write("self.cm", "Nodes 4\nConnections 1\n2->2 start 0 size 9\n");
    for name in ["count.txt", "fields.txt", "waits.cm", "self.cm"] {
        room.write(&format!("{name}.toml"), format!("flow_list = '{name}'"));
    }
    let buckets = format!("size_buckets_bytes = [10, 5]\n{EXPERIMENT}");
    room.write("buckets.toml", buckets);
    room.write("broken.dct", "DCT");
    let mut transcript = String::new();
    for arguments in [
        "missing.toml",
        "negative.toml",
        "unknown.toml",
        "nothing.toml",
        "late.toml",
        "both.toml",
        "list.toml",
        "far.toml",
        "count.txt.toml",
        "fields.txt.toml",
        "waits.cm.toml",
        "self.cm.toml",
        "buckets.toml",
        "loop.toml --policy credence:model=missing.json",
        "loop.toml --policy credence:model=loop.toml",
        "loop.toml --policy credence:model=broken.dct",
        "loop.toml --policy lqd --policy lqd",
        "loop.toml --policy dt:alpha=-1",
        "loop.toml --runs 0",
        "loop.toml -o a-file",
        "loop.toml -o a-file/folder",
    ] {
        transcript.push_str(&refuse(&room, &format!("simulate {arguments}")));
    }
    for arguments in
        ["loop.toml --policy lqf", "loop.toml --load 0.5", "--part 1/2", "--record flows"]
    {
        let said = room.dropcast(&format!("simulate {arguments}"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&said.to_string());
    }
    insta::assert_snapshot!(transcript);
}

/// With `trace.parquet`, labelled from a run of LQD.
fn labelled_room() -> Room {
    let room = room();
    room.good("simulate loop.toml --policy lqd --runs 1 --record events -o lqd");
    let collect = "collect --events lqd/lqd/run-0/events.parquet --departures line-rate";
    room.good(&format!("{collect} --features {FEATURES} -o trace.parquet"));
    room
}

#[test]
fn a_vote_is_chosen_by_what_it_does_to_flows() {
    let room = labelled_room();
    let refine = "refine --experiment loop.toml --runs 5 --data trace.parquet --rounds 1";
    let refined = json(&room, &format!("{refine} --objective drop_share --threads 1 -o one"));
    let rounds = refined["rounds"].as_array().unwrap();
    assert!(!rounds.is_empty() && rounds[0]["rows"].as_u64() > Some(1_000), "{refined}");
    for candidate in
        rounds.iter().flat_map(|round| round["choice"]["candidates"].as_array().unwrap())
    {
        assert!(candidate["gain"]["mean"].is_number(), "{candidate}");
    }
    // A choice is better where it was chosen and where it was not, or it predicts nothing.
    let model: Value = serde_json::from_slice(&room.read("one/model.json")).unwrap();
    let vote = model["forest"]["vote_threshold"].as_u64().unwrap();
    let trees = model["forest"]["trees"].as_array().unwrap().len() as u64;
    let is_better = refined["is_better"].as_bool().unwrap();
    assert_eq!(vote < 255 * trees, is_better, "{refined}");
    if is_better {
        assert!(refined["confirmation"]["gain"]["bounds"][0].as_f64() > Some(0.0), "{refined}");
    }
    // Runs that a stopped search kept are not repeated.
    for folder in ["two", "three"] {
        let kept = room.path("runs.jsonl").exists().then(|| room.read("runs.jsonl"));
        let typed =
            format!("{refine} --objective drop_share --threads 2 --keep runs.jsonl -o {folder}");
        room.good(&typed);
        for name in ["model.json", "rounds.json"] {
            let [one, other] = ["one", folder].map(|of| room.read(&format!("{of}/{name}")));
            assert!(one == other, "{folder}/{name}");
        }
        assert!(kept.is_none_or(|kept| kept == room.read("runs.jsonl")));
    }
    room.write("negative.toml", EXPERIMENT.replace("load = 0.8", "load = -0.8"));
    let mut transcript = String::new();
    for arguments in [
        "--experiment loop.toml",
        "--experiment loop.toml --model missing.json",
        "--experiment loop.toml --data trace.parquet --runs 4",
        "--experiment negative.toml --data trace.parquet",
        "--experiment loop.toml --data trace.parquet --vote f1",
        "--experiment loop.toml --data trace.parquet --train-share 0.5",
    ] {
        transcript.push_str(&refuse(&room, &format!("refine {arguments} -o out")));
    }
    insta::assert_snapshot!(transcript);
}
