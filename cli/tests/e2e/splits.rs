//! The split that is found, and headlines that name their rows.

use crate::room::Room;
use dropcast_data::{Event, EventReader};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The README's commands on a trace whose drops are all in a few milliseconds: little load, short bursts.
#[test]
#[ignore = "slow"]
fn a_split_with_drops_in_every_part_is_found_printed_and_recorded() {
    let room = Room::new();
    room.good("simulate --seed 11 --duration-ms 40 --load 0.5 --burst 0.5 -o events.parquet");
    room.good("collect --events events.parquet -o trace.parquet");
    let said = room.dropcast("train --data trace.parquet --split time -o m.json");
    assert!(said.code == Some(1) && said.stderr.contains("validation rows is a drop"), "{said}");

    let said = room.dropcast("train --data trace.parquet -o m.json --format json");
    assert_eq!(said.code, Some(0), "{said}");
    let trained = json(&said.stdout);
    for part in ["train", "validation", "test"] {
        assert!(trained[part]["drops"].as_u64() > Some(0), "{part}: {said}");
    }
    let first = serde_json::json!({ "by": "time", "without_drops": "validation" });
    assert_eq!(trained["passed_over"][0], first);
    let by = trained["split"]["by"].as_str().unwrap();
    assert_ne!(by, "time");
    let why = format!("split by {by}, because by time no validation row is a drop");
    assert!(said.stderr.contains(&format!("note: {why}")), "{said}");
    let provenance = &json(&String::from_utf8(room.read("m.json")).unwrap())["provenance"];
    for field in ["split", "passed_over"] {
        assert_eq!(provenance[field], trained[field]);
    }
    for unit in ["packets", "bytes"] {
        assert!(trained["gain"]["always_accept"][unit].as_i64() >= Some(0), "{said}");
    }
    let report = "report --model m.json --data trace.parquet --format";
    assert_eq!(json(&room.good(&format!("{report} json")))["gain"], trained["gain"]);
    for format in ["details", "html"] {
        assert!(room.good(&format!("{report} {format}")).contains(&why), "{format}");
    }
    let model = room.read("m.json");
    room.dropcast("train --data trace.parquet --threads 1 -o one.json");
    assert!(room.read("one.json") == model);
    let stated = format!("train --data trace.parquet --split {by} --format json -o stated.json");
    assert_eq!(json(&room.dropcast(&stated).stdout)["split"], trained["split"]);
}

/// One overload can only be cut within; two that are a second apart are cut between, where there is no validation.
#[test]
fn a_cut_within_an_episode_is_a_caution() {
    let room = Room::new();
    let leaf =
        "ports = 2\nline_rate_bps = 8_000_000_000\nbuffer_bytes = 40_000\nbase_rtt_ns = 10_000\n";
    room.write("leaf.toml", leaf);
    for (name, begins_ns) in [("one", &[0_u64][..]), ("two", &[0, 1_000_000_000])] {
        let mut events = "time_ns,port,size_bytes\n".to_owned();
        for begin_ns in begins_ns {
            let arrivals = (0..4_000_u64).map(|at| format!("{},0,1000\n", begin_ns + 40 * at));
            events.extend(arrivals);
        }
        room.write(&format!("{name}.csv"), events);
        room.good(&format!("collect --events {name}.csv --switch leaf.toml -o {name}.parquet"));
        let train = "train --split episodes --train-share 0.5 --validation-share 0 --vote f1";
        let said = room.dropcast(&format!("{train} --data {name}.parquet -o m.json"));
        assert_eq!(said.code, Some(0), "{said}");
        let caution = "the split cuts within an episode of drops: LQD's drops on both sides of a cut are 40 ns \
                    apart, 0.004 base RTTs";
        assert_eq!(said.stderr.contains(caution), name == "one", "{said}");
        assert_eq!(said.stderr.contains("cuts within"), name == "one", "{said}");
    }
}

/// The small run's events, then calm ones: a quarter of all.
fn busy_then_calm() -> Room {
    let room = Room::with_a_run();
    let reader =
        EventReader::open(&room.path("runs/small/events.parquet"), Default::default()).unwrap();
    let mut rows = Vec::new();
    for Event { time_ns, port, queue, size_bytes, .. } in
        reader.flat_map(|batch| batch.unwrap().events)
    {
        rows.push((time_ns, port, queue, size_bytes));
    }
    let (last_ns, busy) = (rows[rows.len() - 1].0, rows.len());
    rows.extend((1..=busy as u64 / 3).map(|at| (last_ns + at * 20_000, 0, 0, 1_000)));
    let rows = rows.iter().map(|(time_ns, port, queue, size_bytes)| {
        format!("{time_ns},{port},{queue},{size_bytes}\n")
    });
    let header = "time_ns,port,queue,size_bytes\n".to_owned();
    room.write("calm.csv", header + &rows.collect::<String>());
    room.write("time.toml", "[train.split]\nby = 'time'\n");
    room
}

#[test]
fn a_headline_on_test_rows_says_so() {
    let room = busy_then_calm();
    let run = "run --events calm.csv --switch runs/small/switch.toml";
    let said = room.dropcast(&format!("{run} --config time.toml --name calm --details"));
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stderr.contains(" test rows is a drop"), "{said}");
    let report = json(&String::from_utf8(room.read("runs/calm/report.json")).unwrap());
    assert_eq!(report["labels"]["drops"], 0);
    let page = String::from_utf8(room.read("runs/calm/report.html")).unwrap();
    for text in [&said.stdout, &page] {
        assert!(text.contains(" of the test part, "), "{text}");
        assert!(text.contains("Of the rows that made the model, LQD drops "), "{text}");
    }
    let cards = page.split_once("<ul class=\"cards\">").unwrap().1.split_once("</ul>").unwrap().0;
    assert!(cards.contains("<li>") && !cards.contains("class=\"none\""), "{cards}");

    // By default every part has drops, and the headline is about these rows, too.
    let said = room.dropcast(&format!("{run} --name found"));
    assert_eq!(said.code, Some(0), "{said}");
    let headline = said.stdout.lines().next().unwrap();
    assert!(headline.contains(" of the test part, "), "{headline}");
    let report = json(&String::from_utf8(room.read("runs/found/report.json")).unwrap());
    assert!(report["labels"]["drops"].as_u64() > Some(0));
}

#[test]
fn a_model_that_never_predicts_a_drop_is_called_so() {
    let room = Room::with_a_run();
    let said = room.dropcast(
        "train --data runs/small/trace.parquet --max-depth 1 --vote fixed:0.999 --format json -o never.json",
    );
    let never = "the model never predicts a drop on these rows (vote threshold 1018 of 1020)";
    assert!(said.code == Some(0) && said.stderr.contains(never), "{said}");
    assert!(json(&said.stdout)["cautions"][0].as_str().unwrap().starts_with(never), "{said}");
    for format in ["details", "html"] {
        let report =
            format!("report --data runs/small/trace.parquet --model never.json --format {format}");
        assert!(room.good(&report).contains("predicts a drop for none of these"), "{format}");
    }
}

/// Labels of followers are trained on, and become a policy of the lab's switches; a report refuses them.
#[test]
fn a_trace_can_say_which_packets_are_followed() {
    let room = Room::new();
    room.good("simulate --seed 7 --duration-ms 20 -o events.parquet");
    let collect = "collect --events events.parquet --label follows --features flow11";
    let said = room.good(&format!("{collect} -o flows.parquet"));
    assert!(said.contains("followed by 3 packets of their flow"), "{said}");
    let train = "train --data flows.parquet --features flow11 --output model.json";
    assert!(said.contains(&format!("dropcast {train}")), "{said}");
    room.good_with_notes(train);
    let plain = "time_ns,port,queue,size_bytes,kind\n1,0,0,100,arrival\n2,0,0,100,arrival\n";
    room.write("plain.csv", plain);
    let refused = "collect --events plain.csv --switch leaf.toml --label follows -o plain.parquet";
    room.write(
        "leaf.toml",
        "ports = 1\nbuffer_bytes = 10000\nline_rate_bps = 10000000000\nbase_rtt_ns = 10000\n",
    );
    let said = room.dropcast(refused);
    assert!(said.code == Some(1) && said.stderr.contains("no packet's flow"), "{said}");
    assert!(!room.path("plain.parquet").exists());
    let found = json(&room.good(&format!("{collect} -o flows.parquet --format json")));
    let [rows, followed] = ["rows", "drops"].map(|name| found[name].as_u64().expect("a count"));
    assert!(rows / 4 < followed && followed < rows, "{followed} of {rows}");
    let train = "train --data flows.parquet --features flow11 -o m.json";
    let said = room.good_with_notes(train);
    assert!(said.contains("(fixed:0.8)") && said.contains("gain: not known"), "{said}");
    assert!(said.contains("dropcast export m.json --target c"), "{said}");
    for report in ["report --data flows.parquet", "report --data flows.parquet --model m.json"] {
        let said = room.dropcast(report);
        let why = "flows.parquet: says which packets are followed";
        assert!(said.code == Some(1) && said.stderr.contains(why), "{said}");
    }
    let said = room.dropcast(&format!("{train} --vote credence"));
    assert!(said.code == Some(1) && said.stderr.contains("choose another vote rule"), "{said}");
    // No policy asks a model of other labels' rows.
    room.good("collect --events events.parquet --features flow_gap -o lqd.parquet");
    room.good("collect --events events.parquet --label follows --features rank -o ranks.parquet");
    for (trace, feature, why) in
        [("lqd", "flow_gap", "collect with --label follows"), ("ranks", "rank", "choose flow11")]
    {
        let train = format!("train --data {trace}.parquet --features {feature} -o other.json");
        let said = room.dropcast(&train);
        assert!(said.code == Some(1) && said.stderr.contains(why), "{said}");
    }
}

/// Labels of the optimum are trained on. A report, whose words are of LQD, refuses them.
#[test]
fn a_trace_can_have_the_optimums_labels() {
    let room = Room::new();
    room.good("simulate --seed 7 --duration-ms 40 -o events.parquet");
    let by_lqd = json(&room.good("collect --events events.parquet -o lqd.parquet --format json"));
    let said = room.good("collect --events events.parquet --label opt -o opt.parquet");
    assert!(
        said.contains("arrivals, the optimum drops ") && said.contains("(0 pushed out"),
        "{said}"
    );
    let shown = json(&room.good("inspect opt.parquet --format json"));
    assert!(shown.to_string().contains(r#""expert":"opt""#), "{shown}");
    let by_opt = json(
        &room.good("collect --events events.parquet --label opt -o opt.parquet --format json"),
    );
    assert_eq!(by_opt["rows"], by_lqd["rows"]);
    assert_eq!((by_opt["pushed_out"].as_u64(), &by_opt["rejected"]), (Some(0), &by_opt["drops"]));
    assert_ne!(room.read("opt.parquet"), room.read("lqd.parquet"));
    room.good_with_notes("train --data opt.parquet -o m.json");

    for report in ["report --data opt.parquet", "report --data opt.parquet --model m.json"] {
        let said = room.dropcast(report);
        let why = "opt.parquet: has the optimum's drops as labels";
        assert!(said.code == Some(1) && said.stderr.contains(why), "{said}");
    }
    let said = room
        .dropcast("collect --events events.parquet --label opt --departures observed -o x.parquet");
    assert!(said.code == Some(1) && said.stderr.contains("label: is opt, which needs"), "{said}");
    assert!(!room.path("x.parquet").exists());

    // A folder has them, too.
    room.write("events/run=1/events.parquet", room.read("events.parquet"));
    let said = room.good("collect --events events --label opt -o traces");
    let drops = format!("the optimum drops {} (0 pushed out", by_opt["drops"]);
    assert!(said.contains(&drops), "{said}");
    let shown = json(&room.good("inspect traces/run=1/switch=0/part-0.parquet --format json"));
    assert!(shown.to_string().contains(r#""expert":"opt""#), "{shown}");
    let refused = "collect --events events --label opt --departures observed -o others";
    let said = room.dropcast(refused);
    assert!(said.code == Some(1) && said.stderr.contains("label: is opt, which needs"), "{said}");
    assert!(!room.path("others/manifest.json").exists());
}
