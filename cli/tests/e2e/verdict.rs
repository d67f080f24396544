//! What an oracle could be worth, before there is a model.

use crate::room::Room;
use serde_json::Value;

#[test]
fn a_report_without_a_model_is_a_verdict_in_three_formats() {
    let room = Room::with_a_run();
    let report = "report --data runs/small/trace.parquet";
    let text = room.good(report);
    assert!(text.starts_with("trace.parquet: ") && text.lines().count() <= 24, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let details = room.good(&format!("{report} --details"));
    let in_order = |text: &str, parts: &[&str]| {
        let find =
            |part: &&str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
        parts.iter().map(find).is_sorted()
    };
    let parts = [
        "  Any policy, at the least ",
        "\n> Complete Sharing ",
        "\nWhere    of ",
        "\nWhen     most at ",
        "\nTrust    ",
        "\nAssumed  senders do not react",
        "\nNext     dropcast train --data runs/small/trace.parquet -o model.json\n",
        "\nMore     ",
    ];
    assert!(in_order(&text, &parts), "the order of the user's questions: {text}");
    assert!(details.contains(text.split_once("\nNext ").unwrap().0), "{details}");
    let parts = [
        "\nChecks ",
        "\nQueues with the most drops:\n  port ",
        "\nEpisodes with the most drops:\n  from ",
        "\ncandidate, ",
        "\ntransmitted ",
        "\nCredence, perfect oracle",
        "\nalpha ",
    ];
    assert!(in_order(&details, &parts), "{details}");
    let json: Value = serde_json::from_str(&room.good(&format!("{report} --format json"))).unwrap();
    assert_eq!(json["conclusion"]["kind"], "oracle_could_gain");
    room.good(&format!("{report} --format html -o verdict.html"));
    let page = String::from_utf8(room.read("verdict.html")).unwrap();
    assert!(page.contains("<h2 id=\"verdict\" class=\"lead\">") && page.contains("<svg"));

    // With the model, the policies that need none transmit the same of all rows.
    let with_model = format!("{report} --model runs/small/model.json --rows all --format json");
    let with_model: Value = serde_json::from_str(&room.good(&with_model)).unwrap();
    let sent = |policies: &Value| -> Vec<Value> {
        let all = policies.as_array().unwrap().iter();
        all.filter(|policy| policy["policy"] != "credence").cloned().collect()
    };
    assert_eq!(sent(&json["policies"]), sent(&with_model["replay"]["total"]["policies"]));
    // Counts of a part of the trace are not taken for those of the whole.
    let part = "This is of the test rows alone";
    let with_model = format!("{report} --model runs/small/model.json --details");
    assert!(room.good(&with_model).contains(part));
    assert!(!room.good(&format!("{with_model} --rows all")).contains(part));
}

#[test]
fn a_run_without_drops_ends_with_a_verdict() {
    let room = Room::with_a_run();
    room.write(
        "calm.toml",
        "name = 'small'\n[workload]\nload = 0.1\nincast_burst = 0.01\nduration_ns = 5_000_000\n",
    );
    let text = room.good("run --config calm.toml --replace");
    let said = "\nKEEP Complete Sharing: it drops nothing; LQD's buffer is at most ";
    assert!(text.contains(said), "{text}");
    let page = String::from_utf8(room.read("runs/small/report.html")).unwrap();
    assert!(page.contains("class=\"lead\">KEEP Complete Sharing: it drops nothing"));
    // The model and tables of the earlier run of that name are not those of this one.
    let names: Vec<String> = room.files().into_keys().collect();
    assert!(!names.iter().any(|name| name.starts_with("runs/small/model.json")), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("runs/small/tables")), "{names:?}");
}

/// A column of drops shows that the real switch dropped nothing; without it, nothing is known.
#[test]
fn a_real_switch_that_drops_nothing_is_stated() {
    let room = Room::with_a_run();
    room.write("leaf.toml", room.read("runs/small/switch.toml"));
    let row = |at: u64| format!("{},0,1500,arrival", at * 10);
    let events = |header: &str, more: &str| -> String {
        let rows = (0..2_000).map(|at| format!("{}{more}\n", row(at)));
        format!("time_ns,port,size_bytes,kind{header}\n{}", rows.collect::<String>())
    };
    room.write("silent.csv", events("", ""));
    room.write("none.csv", events(",drop_reason", ","));
    room.write(
        "some.csv",
        events(",drop_reason", ",") + "20000,0,1500,drop,policy\n30000,0,1500,drop,\n",
    );
    for name in ["silent", "none", "some"] {
        room.good(&format!("collect --events {name}.csv --switch leaf.toml -o {name}.parquet"));
    }
    let verdict = |data: &str| {
        let json = room.good(&format!("report --data {data} --format json"));
        serde_json::from_str::<Value>(&json).unwrap()
    };
    let [silent, none, some] = ["silent", "none", "some"].map(|n| verdict(&format!("{n}.parquet")));
    assert!(silent["counts"]["only_lqd"].is_null());
    let lqd = none["dropped"]["packets"].as_u64().unwrap();
    assert!(lqd > 0);
    assert_eq!(none["counts"]["real"]["packets"], 0);
    assert_eq!(none["counts"]["only_lqd"]["packets"], lqd);
    let both = verdict("none.parquet some.parquet");
    let only_lqd = |verdict: &Value| verdict["counts"]["only_lqd"]["packets"].as_u64().unwrap();
    assert_eq!(only_lqd(&both), only_lqd(&none) + only_lqd(&some));
    let text = room.good("report --data some.parquet --details");
    assert!(text.contains("drops: 1 for a reason that is not stated, 1 by policy."), "{text}");
}

/// What makes labels doubtful is stated before the numbers.
#[test]
fn a_verdict_says_why_to_doubt_it() {
    let room = Room::new();
    room.write(
        "leaf.toml",
        "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 20_000\nbase_rtt_ns = 50_000\n",
    );
    let collect = |events: &str, settings: &str, trace: &str| {
        let collect = format!("collect --events {events} --switch leaf.toml {settings} -o {trace}");
        let said = room.dropcast(&collect);
        assert_eq!(said.code, Some(0), "{said}");
    };
    let verdict = |events: &str, settings: &str| {
        collect(events, settings, "t.parquet");
        room.good("report --data t.parquet --details")
    };
    let header = "time_ns,port,size_bytes,kind";
    room.write("known.csv", format!("{header},drop_reason\n0,0,1500,+,\n5,0,800,d,push-out\n"));
    room.write("silent.csv", "time_ns,port,size_bytes\n1,1,1500\n2,1,1500\n");
    let text = verdict("known.csv silent.csv", "--on-bad-row skip");
    assert!(text.contains("; 2 events are from an input without drops. What to do: "), "{text}");
    let json: Value =
        serde_json::from_str(&room.good("report --data t.parquet --format json")).unwrap();
    let drops = json["checks"].as_array().unwrap().iter().find(|of| of["check"] == "drops");
    assert_eq!(drops.unwrap()["status"], "doubtful");
    // Labels that follow departures much later than line rate.
    let arrivals = (0..40).map(|at| format!("{},0,1500,+\n", at * 20_000));
    let departures = (0..40).map(|at| format!("{},0,1500,-\n", 2_000_000 + at * 20_000));
    let rows: String = arrivals.chain(departures).collect();
    room.write("late.csv", format!("{header}\n{rows}"));
    let text = verdict("late.csv", "--departures observed --on-bad-row skip");
    assert!(
        text.contains("by the labels LQD drops 27 packets; drained at line rate it drops 0"),
        "{text}"
    );
    // The fate of only a part of the packets is known.
    collect("known.csv", "", "a.parquet");
    collect("silent.csv", "", "b.parquet");
    let text = room.good("report --data a.parquet b.parquet --details");
    assert!(
        text.contains("; of 1 of 3 packets alone the traces say what became of them."),
        "{text}"
    );
}

/// Each switch has its own alpha of Dynamic Thresholds.
#[test]
fn each_switch_has_its_alpha() {
    let room = Room::new();
    let switch = |id: u16, alpha: &str| {
        format!(
            "[[switch]]\nid = {id}\nports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 20_000\n\
             base_rtt_ns = 50_000\nqueues_per_port = 2\ndt_alpha = {alpha}\n"
        )
    };
    room.write("two.toml", switch(1, "0.5") + &switch(2, "[1.0, 0.25]"));
    let rows = (0..100).map(|at| format!("{},{},0,1500\n", at * 100, at % 2 + 1));
    room.write(
        "events.csv",
        format!("time_ns,switch_id,port,size_bytes\n{}", rows.collect::<String>()),
    );
    room.good("collect --events events.csv --switch two.toml -o trace.parquet");
    let verdict = room.good("report --data trace.parquet --format json");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert!(verdict["dynamic_thresholds_alpha"].is_null());
    let alpha = |at: usize| &verdict["switches"][at]["dynamic_thresholds_alpha"];
    assert_eq!((alpha(0), alpha(1)), (&serde_json::json!(0.5), &serde_json::json!([1.0, 0.25])));
    let text = room.good("report --data trace.parquet --details");
    assert!(text.contains("alpha 0.5 (switch 1), 1, 0.25 (switch 2) "), "{text}");
    let page = room.good("report --data trace.parquet --format html");
    assert!(page.contains("<td>1, 0.25</td>"), "{page}");
}

fn own_packets(counts: &Value) -> u64 {
    counts["own"]["packets"].as_u64().unwrap()
}

/// Eight runs since 1970, each with more drops than the one before, and a silence of an hour.
#[test]
fn traces_of_a_folder_are_named_and_the_worst_comes_first() {
    let room = Room::new();
    room.write(
        "leaf.toml",
        "ports = 2\nline_rate_bps = 1_000_000_000\nbuffer_bytes = 60_000\nbase_rtt_ns = 100_000\n",
    );
    const BEGIN_NS: u64 = 1_700_000_000_123_456_789;
    for run in 1..=8 {
        let burst = |begin_ns: u64| {
            (0..60 + 10 * run).map(move |i| format!("{},{},1500\n", begin_ns + i, i % 2))
        };
        let rows: String = burst(BEGIN_NS).chain(burst(BEGIN_NS + 3_600_000_000_000)).collect();
        room.write(
            &format!("events/run={run}/log.csv"),
            format!("time_ns,port,size_bytes\n{rows}"),
        );
    }
    room.good("collect --events events --switch leaf.toml -o traces");
    let report = "report --data traces";
    let json: Value = serde_json::from_str(&room.good(&format!("{report} --format json"))).unwrap();
    let expected: Vec<String> = (1..=8).map(|run| format!("run={run}/switch=0")).collect();
    assert_eq!(json["traces"], serde_json::json!(expected));
    let time = BEGIN_NS.to_string();
    assert_eq!(json["timelines"][0]["begin_ns"], time, "a number would lose digits");
    assert!(json["episodes"][0]["first_ns"].as_str().is_some_and(|first| *first >= *time));
    room.good(&format!("{report} --format html -o page.html"));
    let page = String::from_utf8(room.read("page.html")).unwrap();
    let shown: Vec<usize> = (1..=8)
        .filter_map(|run| {
            page.find(&format!("Occupancy and drops over time of run={run}/switch=0"))
        })
        .collect();
    assert_eq!(shown.len(), 6, "the others are in the JSON");
    assert!(shown.is_sorted_by(|one, next| one > next), "run 8 has the most drops");
    assert!(page.contains(">Time of day, UTC (from "));
    assert!(page.contains("packets at switch 0 of run=8 from"), "episodes name their trace");
    // A day at a glance: a line for each trace, and the two hours in which packets arrive.
    let text = room.good(&format!("{report} --details"));
    let at = |line: &str| text.find(line).unwrap_or_else(|| panic!("{line} is not in {text}"));
    let traces: Vec<usize> = (1..=8).map(|run| at(&format!("\nrun={run}/switch=0 "))).collect();
    assert!(traces.is_sorted_by(|one, next| one > next), "the worst comes first: {text}");
    assert!(at("\n2023-11-14 22:00 ") < at("\n2023-11-14 23:00 "), "{text}");
    assert!(page.contains("aria-label=\"Drops by the hour\""), "{page}");
    let own: u64 =
        json["hours"].as_array().unwrap().iter().map(|hour| own_packets(&hour["counts"])).sum();
    let by_trace = json["by_trace"].as_array().unwrap().iter();
    assert_eq!(by_trace.map(|trace| own_packets(&trace["counts"])).sum::<u64>(), own);
    assert_eq!(own, own_packets(&json["counts"]));
    assert!(own > 0, "{json}");
}

/// A policy that is asked for has its row in every format, with a model and without, and in a run.
#[test]
fn any_policy_is_replayed_beside_the_others() {
    let room = Room::with_a_run();
    let alone = "report --data runs/small/trace.parquet";
    let asked = "--policy edt --policy dt:alpha=[8,1]";
    for report in [alone, &format!("{alone} --model runs/small/model.json")] {
        let text = room.good(&format!("{report} {asked} --details"));
        for row in ["\nedt ", "\ndt:alpha=[8,1] "] {
            assert!(text.contains(row), "{text}");
        }
        let page = room.good(&format!("{report} {asked} --format html"));
        assert!(page.contains(">edt<") && page.contains(">dt:alpha=[8,1]<"));
        let json: Value =
            serde_json::from_str(&room.good(&format!("{report} {asked} --format json"))).unwrap();
        let verdict = json.get("verdict").unwrap_or(&json);
        let policies = verdict["rivals"]["policies"].as_array().unwrap();
        let asked = policies.iter().filter(|policy| policy["kind"] == "asked");
        let names: Vec<&Value> = asked.map(|policy| &policy["policy"]).collect();
        assert_eq!(names, ["edt", "dt:alpha=[8,1]"]);
        let without: Value =
            serde_json::from_str(&room.good(&format!("{report} --format json"))).unwrap();
        let without = without.get("verdict").unwrap_or(&without);
        assert_eq!(without["conclusion"], verdict["conclusion"]);
        // With a model the test rows are measured, and the others choose the comparison.
        let is_of_test_rows = report.contains("--model");
        assert_eq!(verdict["level_threshold"]["other_rows"].is_object(), is_of_test_rows);
        let one = json["one_comparison"].as_object();
        assert_eq!(
            one.map(|one| one["chosen_on_other_rows"] == true),
            is_of_test_rows.then_some(true)
        );
        assert_eq!(one.is_some(), text.contains("one comparison does"), "{text}");
    }
    assert!(
        room.good(&format!("{alone} --policy fab --details"))
            .contains("No flow of a packet is known here: to fab")
    );
    assert!(
        !room.good(&format!("{alone} --policy dt:alpha=3 --details")).contains("is known here")
    );
    for policy in ["ib", "oracle:base=fab"] {
        let text = room.good(&format!("{alone} --policy {policy} --details"));
        assert!(text.contains(&format!("known here: to {policy} ")), "{text}");
    }
    for policy in ["reverie", "abm", "expression:accept=first_rtt"] {
        let text = room.good(&format!("{alone} --policy {policy} --details"));
        assert!(text.contains(&format!("first round trip, which {policy} looks at")), "{text}");
    }
    // A run keeps flows if its settings say so.
    let config = String::from_utf8(room.read("runs/small/config.toml")).unwrap();
    room.write("flows.toml", config.replace("flows = false", "flows = true"));
    let text = room.good("run --config flows.toml --name flows --policy fab --details");
    assert!(text.contains("\nfab ") && !text.contains("is known here"), "{text}");
    let text =
        room.good(&format!("run --config runs/small/config.toml --replace {asked} --details"));
    assert!(text.contains("\nedt "), "{text}");
    let config = String::from_utf8(room.read("runs/small/config.toml")).unwrap();
    assert!(config.contains("policies = [") && config.contains("\"dt:alpha=[8,1]\""), "{config}");
    // The same again, from the file alone.
    let report = room.read("runs/small/report.json");
    room.good("run --config runs/small/config.toml");
    assert!(room.read("runs/small/report.json") == report);

    for (policy, expected) in [
        ("abc", "unknown variant `abc`, expected one of `lqd`"),
        ("ndt", "error: policy: ndt: needs a network"),
        ("oracle:model=m.json", "m.json: "),
        ("fab:flows=3", "policy fab:flows=3: flows: is 3, expected a power of two"),
    ] {
        let said = room.dropcast(&format!("{alone} --policy {policy} --details"));
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains(expected), "{said}");
    }
}

/// A model that is asked for transmits what the report says of it.
#[test]
fn the_model_is_also_asked_for_by_name() {
    let room = Room::with_a_run();
    let report =
        "report --data runs/small/trace.parquet --model runs/small/model.json --format json";
    let asked = format!("{report} --policy credence:model=runs/small/model.json");
    let json: Value = serde_json::from_str(&room.good(&asked)).unwrap();
    let asked =
        json["verdict"]["rivals"]["policies"].as_array().unwrap().last().expect("asked for");
    let replayed = json["replay"]["total"]["policies"].as_array().unwrap();
    let credence = replayed.iter().find(|of| of["policy"] == "credence").expect("replayed");
    assert_eq!(asked["sent"], credence["sent"]);
}

/// The curve's point of the model's own vote threshold transmits what the replay does.
#[test]
fn bytes_at_other_vote_thresholds_are_those_of_replays() {
    let room = Room::with_a_run();
    let json = room
        .good("report --data runs/small/trace.parquet --model runs/small/model.json --format json");
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let points = report["curve"]["points"].as_array().expect("points");
    let own = report["model"]["vote_threshold"].as_u64().expect("a threshold");
    let own = points
        .iter()
        .rev()
        .find(|point| point["vote_threshold"].as_u64() <= Some(own))
        .expect("a point");
    let policies = report["replay"]["total"]["policies"].as_array().expect("policies");
    let sent = |name: &str| {
        let of = policies.iter().find(|policy| policy["policy"] == name).expect("a policy");
        of["sent"]["bytes"].as_u64().expect("bytes")
    };
    assert_eq!(own["sent_bytes"].as_u64(), Some(sent("credence")));
    // The highest threshold predicts nothing.
    let last = points.last().expect("a point");
    assert_eq!(last["confusion"]["tp"], 0);
    assert_eq!(last["sent_bytes"].as_u64(), Some(sent("always_accept")));
}
