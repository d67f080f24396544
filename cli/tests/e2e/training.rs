//! Beyond one forest on one split: folds of runs, models of switches, budgets, votes by replay.

use crate::room::{Room, refuse};
use serde_json::Value;

/// The labels come from a switch that saw all packets; so must the replay.
#[test]
fn a_replay_of_some_rows_drops_what_the_labels_say() {
    let room = Room::with_a_run();
    for split in ["time", "time-blocks"] {
        let train = "train --data runs/small/trace.parquet --format json -o m.json";
        let trained = json(&room.good_with_notes(&format!("{train} --split {split}")));
        let report = "report --model m.json --data runs/small/trace.parquet --format json";
        let report = json(&room.good(report));
        // The one replays all rows and policies, the other only what it needs.
        assert!(trained["gain"]["best_alpha"]["bytes"].is_i64(), "{split}");
        assert_eq!(trained["gain"], report["gain"], "{split}");
        let agreement = &report["replay"]["total"]["lqd_agreement"]["confusion"];
        assert_eq!((&agreement["fp"], &agreement["fn"]), (&0.into(), &0.into()), "{split}");
        assert_eq!(agreement["tp"], report["labels"]["drops"], "{split}");
        let rows = report["traces"][0]["rows"].as_u64();
        let replayed = ["tp", "tn"].map(|count| agreement[count].as_u64().unwrap());
        assert_eq!(rows, Some(replayed.iter().sum()), "{split}: no other rows count");
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The small run, and two others: `a.parquet`, `b.parquet` and `c.parquet`.
fn three_runs() -> Room {
    let room = Room::with_a_run();
    room.write("a.parquet", room.read("runs/small/trace.parquet"));
    for (seed, name) in [(11, "b"), (12, "c")] {
        let run = format!("run --config runs/small/config.toml --seed {seed} --name {name}");
        room.good_with_notes(&run);
        room.write(&format!("{name}.parquet"), room.read(&format!("runs/{name}/trace.parquet")));
    }
    room
}

/// Two switches in a trace, a leaf and a spine, which see the same packets.
fn two_switches() -> Room {
    let room = Room::with_a_run();
    let spec = String::from_utf8(room.read("runs/small/switch.toml")).unwrap();
    let role = |id: u16, role: &str| format!("[[switch]]\nid = {id}\nrole = '{role}'\n{spec}\n");
    room.write("both.toml", role(0, "leaf") + &role(1, "spine"));
    room.write("nameless.toml", role(0, "leaf") + &format!("[[switch]]\nid = 1\n{spec}\n"));
    let path = room.path("runs/small/events.parquet");
    let reader = dropcast_data::EventReader::open(&path, Default::default()).unwrap();
    let mut text = "time_ns,switch_id,port,queue,size_bytes\n".to_owned();
    for event in reader.flat_map(|batch| batch.unwrap().events) {
        let dropcast_data::Event { time_ns, port, queue, size_bytes, .. } = event;
        for switch_id in [0, 1] {
            text.push_str(&format!("{time_ns},{switch_id},{port},{queue},{size_bytes}\n"));
        }
    }
    room.write("both.csv", text);
    room.good("collect --events both.csv --switch both.toml -o both.parquet");
    room
}

#[test]
fn folds_test_each_run_on_a_model_of_the_others() {
    let room = three_runs();
    let all = "train --vote f1 --seeds 1 --data a.parquet b.parquet c.parquet";
    let said = json(&room.good(&format!("{all} --cross-validate runs -o cv.json --format json")));
    let folds = said["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 3);
    let mut sum = 0.0;
    for fold in folds {
        let file = fold["files"][0].as_str().unwrap();
        let others: Vec<&str> = ["a.parquet", "b.parquet", "c.parquet"]
            .into_iter()
            .filter(|name| *name != file)
            .collect();
        let alone = room.good_with_notes(&format!(
            "train --vote f1 --seeds 1 --data {} --test {file} -o alone.json --format json",
            others.join(" ")
        ));
        assert_eq!(json(&alone)["test"], fold["test"]);
        sum += fold["test"]["f1"].as_f64().unwrap();
    }
    let mean = said["test"]["f1"]["mean"].as_f64().unwrap();
    assert!((mean - sum / 3.0).abs() < 1e-12 && said["test"]["f1"]["sd"].as_f64().unwrap() > 0.0);
    room.good(&format!("{all} --split none -o all.json"));
    assert!(room.read("cv.json") == room.read("all.json"), "the model is of all runs");
    let text = room.good(&format!("{all} --cross-validate 2 -o cv.json"));
    assert!(text.contains("F1             0.") && text.contains(" +- "), "{text}");
}

/// In a fold without drops recall is undefined and F1 is 0, however good the forest.
#[test]
fn folds_without_drops_are_in_no_mean() {
    let room = three_runs();
    let calm: String = (0..100).map(|at| format!("{},0,1000\n", at * 1_000_000)).collect();
    room.write("calm.csv", format!("time_ns,port,size_bytes\n{calm}"));
    let collect = "collect --events calm.csv --switch runs/small/switch.toml";
    room.good(&format!("{collect} --departures line-rate -o calm.parquet"));
    let cross = "--vote f1 --cross-validate runs -o cv.json";
    let two = json(&room.good(&format!("train --data a.parquet b.parquet {cross} --format json")));
    assert_eq!(two["folds_without_drops"], 0);
    let typed = format!("train --data a.parquet b.parquet calm.parquet {cross}");
    let said = json(&room.good(&format!("{typed} --format json")));
    assert_eq!(said["folds_without_drops"], 1);
    let folds = said["folds"].as_array().unwrap().iter();
    let with_drops = folds.filter(|fold| fold["test"]["drops"] != 0);
    let f1: Vec<f64> = with_drops.map(|fold| fold["test"]["f1"].as_f64().unwrap()).collect();
    let mean = said["test"]["f1"]["mean"].as_f64().unwrap();
    assert!(f1.len() == 2 && (mean - (f1[0] + f1[1]) / 2.0).abs() < 1e-12, "{said}");
    let text = room.good(&typed);
    assert!(text.contains("not in the means: 1 of 3 folds\n"), "{text}");
    assert!(!text.contains("undefined in a fold"), "{text}");
}

#[test]
fn switches_and_roles_have_models_of_their_own() {
    let room = two_switches();
    let train = "train --data both.parquet --vote f1 -o model.json --model-per";
    let said = json(&room.good(&format!("{train} switch --format json")));
    let models = said["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["switch-0", "switch-1"]);
    // Both switches see the same packets: the pooled model is equally good for either.
    assert_eq!(models[0]["pooled"], models[1]["pooled"]);
    assert!(models[0]["own"]["f1"].as_f64().unwrap() > 0.3);
    assert_eq!(models[0]["own"]["rows"], models[0]["pooled"]["rows"]);
    room.good("report --model model.switch-0.json --data both.parquet");
    let own: Value = serde_json::from_slice(&room.read("model.switch-0.json")).unwrap();
    assert_eq!(own["provenance"]["split"]["by"], "only");

    let text = room.good(&format!("{train} role"));
    assert!(text.contains("leaf") && text.contains("model: model.spine.json"), "{text}");
    room.good("collect --events both.csv --switch nameless.toml -o nameless.parquet");
    let said = refuse(&room, "train --data nameless.parquet -o m.json --model-per role");
    assert!(said.contains("nameless.parquet: switch 1 has no role"), "{said}");
}

/// A switch that can no longer be trained has no model, not an earlier run's.
#[test]
fn no_model_of_an_earlier_run_is_left_for_a_switch() {
    let room = two_switches();
    let all = String::from_utf8(room.read("both.csv")).unwrap();
    let (kept, mut of_switch_1) = (all.lines(), 0);
    let few = kept.filter(|line| {
        let is_of_1 = line.split(',').nth(1) == Some("1");
        of_switch_1 += u32::from(is_of_1);
        !is_of_1 || of_switch_1 <= 100
    });
    room.write("few.csv", few.map(|line| format!("{line}\n")).collect::<String>());
    room.good("collect --events few.csv --switch both.toml -o few.parquet");
    let train = "-o m.json --split none --vote f1 --model-per switch";
    room.good_with_notes(&format!("train --data both.parquet {train}"));
    room.write("m.switch-7.json", "of no switch in it");
    let said = room.good_with_notes(&format!("train --data few.parquet {train}"));
    assert!(!room.path("m.switch-1.json").exists(), "{said}");
    assert!(room.path("m.switch-0.json").exists() && room.path("m.switch-7.json").exists());
}

/// Generated arrivals at leaves and spines, and a model per role: the confusion counts of the roles
/// add up to the total.
#[test]
fn a_generated_fabric_has_a_model_per_role() {
    let room = Room::new();
    room.write("fabric.toml", "servers = 8\nload = 0.3\nincast_per_server_hz = 400.0");
    let simulated = "simulate --topology leaf-spine --workload fabric.toml --duration-ms 20";
    room.good(&format!("{simulated} -o e.parquet"));
    room.good("collect --events e.parquet --departures line-rate -o fabric.parquet");
    let train = "train --data fabric.parquet --model-per role -o m.json";
    let said = json(&room.good(&format!("{train} --format json")));
    let models = said["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["leaf", "spine"]);
    let count = |of: &Value, name: &str| of["confusion"][name].as_u64().unwrap();
    for (of, all) in [("own", &said["own"]), ("pooled", &said["all_pooled"])] {
        for name in ["tp", "fp", "tn", "fn"] {
            let sum: u64 = models.iter().map(|model| count(&model[of], name)).sum();
            assert_eq!(sum, count(all, name), "{of} {name}");
        }
        let eta = |of: &Value| of["eta_packets"].as_f64().unwrap();
        let [leaf, spine] = [&models[0][of], &models[1][of]].map(eta);
        assert!(leaf > 1.0 && spine > 1.0, "{leaf} {spine}");
        assert!((leaf.min(spine)..=leaf.max(spine)).contains(&eta(all)), "{of}");
    }
    // Drops at both, since otherwise this would test little.
    let dropped = |model: &Value| count(&model["own"], "tp") + count(&model["own"], "fn");
    assert!(models.iter().all(|model| dropped(model) > 100), "{models:?}");
    room.good("export m.leaf.json --target dct -o out");
    let tables = room.files().into_iter().filter(|(name, _)| name.ends_with(".dct"));
    let sizes: Vec<usize> = tables.map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(sizes, [models[0]["own"]["dct_bytes"].as_u64().unwrap() as usize]);
}

#[test]
fn whole_switches_can_test() {
    let room = two_switches();
    let said = room.good_with_notes(
        "train --data both.parquet --split switches --test-switches 1 -o m.json --format json",
    );
    let said = json(&said);
    assert_eq!(said["train"]["rows"], said["test"]["rows"]);
    assert_eq!(said["train"]["drops"], said["test"]["drops"]);
    room.good("report --model m.json --data both.parquet");
}

#[test]
fn a_budget_is_kept_and_written_down() {
    let room = Room::with_a_run();
    let train = "train --data runs/small/trace.parquet --features paper4,longest,rank \
                 --n-estimators 4 --max-depth 4 -o squeezed.json";
    let mut before = 0.0;
    for most in [20, 60, 120] {
        let budget = format!("--budget ternary-entries={most}");
        let said = json(&room.good_with_notes(&format!("{train} {budget} --format json")));
        let resources = json(&room.good("resources squeezed.json --format json"));
        assert!(resources["totals"]["ternary_entries"].as_u64().unwrap() <= most);
        let model: Value = serde_json::from_slice(&room.read("squeezed.json")).unwrap();
        assert_eq!(model["provenance"]["budget"], format!("ternary-entries={most}"));
        let precision = said["train"]["average_precision"].as_f64().unwrap();
        assert!(precision >= before, "{precision} within {most}, {before} within less");
        before = precision;
    }
    room.good_with_notes(&format!("{train} --budget stages=4,loaded-entries=60"));
    let totals = &json(&room.good("resources squeezed.json --format json"))["totals"];
    let (stages, entries) = (&totals["stages"], &totals["loaded_entries"]);
    assert!(stages.as_u64() <= Some(4) && entries.as_u64() <= Some(60), "{totals}");
    let dct = "--budget dct-bytes=200,thresholds=12";
    let said = room.good_with_notes(&format!("{train} {dct} --threads 1"));
    let line = said.lines().find(|line| line.starts_with("forest: ")).unwrap();
    let taken = line.split(", ").find_map(|part| part.strip_suffix(" of 200 dct bytes")).unwrap();
    assert!(taken.parse::<u64>().unwrap() <= 200, "{line}");
    assert!(line.contains(" (credence), ") && line.ends_with(" of 12 thresholds"), "{line}");
    let one = room.read("squeezed.json");
    room.good_with_notes(&format!("{train} {dct} --threads 3"));
    assert!(room.read("squeezed.json") == one);
    assert!(room.good("export squeezed.json --target dct -o out").contains("bytes"));
}

/// Splits that make no difference could make one after their leaves are refitted.
#[test]
fn a_budget_is_kept_when_leaves_are_refitted() {
    let room = Room::with_a_run();
    let train = "train --data runs/small/trace.parquet --features paper4 --seed 3 -o m.json \
                 --validation-share 0.2 --refit-leaves 0 --budget";
    for most in [10, 16, 20] {
        room.good_with_notes(&format!("{train} ternary-entries={most}"));
        let resources = json(&room.good("resources m.json --format json"));
        let entries = resources["totals"]["ternary_entries"].as_u64().unwrap();
        assert!(entries <= most, "{entries} entries within {most}");
    }
}

#[test]
fn a_vote_by_replay_does_no_harm_where_it_was_chosen() {
    let room = Room::with_a_run();
    // Without validation rows votes are chosen on training rows, all of which the report replays. Replays
    // try 36 thresholds at most; with this forest no other rule chooses a better one between two of them.
    let train =
        "train --data runs/small/trace.parquet --features paper4 --split none -o m.json --vote";
    let replayed = |vote: &str| {
        room.good_with_notes(&format!("{train} {vote}"));
        let report =
            "report --model m.json --data runs/small/trace.parquet --rows all --format json";
        let total = json(&room.good(report))["replay"]["total"].clone();
        let sent = |name: &str| {
            let policies = total["policies"].as_array().unwrap();
            let policy = policies.iter().find(|policy| policy["policy"] == name).unwrap();
            ["packets", "bytes"].map(|unit| policy["sent"][unit].as_u64().unwrap())
        };
        (total["eta"]["packets"].as_f64().unwrap(), sent("credence"), sent("always_accept"))
    };
    let (_, [packets, bytes], accepting) = replayed("credence");
    assert!(packets >= accepting[0] && bytes >= accepting[1], "{packets}, {bytes}: {accepting:?}");
    let eta = replayed("eta").0;
    for vote in ["f1", "eta-bound", "fixed", "cost:1:20"] {
        let other = replayed(vote).0;
        assert!(eta <= other, "{vote}: eta {eta} {other}");
    }
}

#[test]
fn training_that_cannot_be() {
    let room = Room::with_a_run();
    room.write("trace.parquet", room.read("runs/small/trace.parquet"));
    room.write("copy.parquet", room.read("runs/small/trace.parquet"));
    let mut transcript = String::new();
    for arguments in [
        "--budget entries=3",
        "--budget ternary-entries=3,ternary-entries=4",
        "--budget bits=-1",
        "--budget dct-bytes=3",
        "--cross-validate 1",
        "--cross-validate runs",
        "--cross-validate 2 --test other.parquet",
        "--model-per port",
        "--model-per role",
        "--vote eta --split random",
        "--vote cost:-1:1",
        "--validation-share 0.5",
        "--validation-share 0.2 --split none",
        "--validation-share 0.5 --split time-blocks",
        "--split switches",
        "--split switches --test-switches 1 --validation-switches 1",
        "--test-switches 1",
        "--split switches --test-switches 0",
        "--train-share 0.6 --split time-blocks",
        "--train-share 0.7 --split none",
        "--guard-ns 3 --split random",
        "--max-features 5",
        "--test other.parquet --split time",
        "--validation other.parquet --train-share 0.5",
        "--test other.parquet --validation-share 0.2",
        "--test other.parquet --guard-ns 3",
        "--cross-validate runs --split time",
        "--cross-validate runs --validation-share 0.2",
        "--cross-validate 3 --train-share 0.5",
        "copy.parquet --cross-validate 3",
    ] {
        let typed = format!("train --data trace.parquet {arguments} -o out.json");
        transcript.push_str(&refuse(&room, &typed));
    }
    insta::assert_snapshot!(transcript);
}
