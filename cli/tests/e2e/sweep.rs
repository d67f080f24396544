//! `sweep`: every row equals what `train` gives, and an interrupted sweep loses nothing.

use crate::room::{Room, refuse};
use dropcast_train::SWEEP_FORMAT_VERSION;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A small run, and a sweep's configuration.
fn room(sweep: &str) -> Room {
    let room = Room::with_a_run();
    room.write("sweep.toml", sweep);
    room
}

const SWEEP: &str = "
data = ['runs/small/trace.parquet']
eta = true

[split]
by = 'time'
train_share = 0.5
validation_share = 0.25
guard_ns = 32_000

[axes]
features = ['paper4', 'paper4,longest,rank']
trees = [1, 4]
max_depth = [2, 4]
votes = ['f1', 'eta', 'cost:1:3']
seeds = [7, 8]
";

fn table(room: &Room, folder: &str) -> Value {
    serde_json::from_slice(&room.read(&format!("{folder}/sweep.json"))).unwrap()
}

/// Files of a sweep that must not differ: all except times.
fn found(room: &Room, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let prefix = format!("{folder}/");
    let files = room.files().into_iter();
    files
        .filter_map(|(name, bytes)| Some((name.strip_prefix(&prefix)?.to_owned(), bytes)))
        .filter(|(name, _)| !name.ends_with(".ms") && name != "timings.json")
        .collect()
}

#[track_caller]
fn assert_same(room: &Room, one: &str, other: &str) {
    let (one, other) = (found(room, one), found(room, other));
    assert!(one.len() > 4 && one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
    let differing: Vec<&String> = one.keys().filter(|&name| one[name] != other[name]).collect();
    assert!(differing.is_empty(), "differ: {differing:?}");
}

#[test]
fn every_combination_has_a_row_and_every_configuration_a_summary() {
    let room = room(SWEEP);
    let said = room.good("sweep sweep.toml -o out");
    assert!(
        said.contains("48 forests; the Pareto-optimal ones by eta on validation rows"),
        "{said}"
    );
    assert!(said.contains(" 1.0") && !said.contains("EtaPackets"), "{said}");
    let table = table(&room, "out");
    let (rows, summary) = (table["rows"].as_array().unwrap(), table["summary"].as_array().unwrap());
    assert_eq!((rows.len(), summary.len()), (48, 24));
    let eta = |row: &Value, part: &str| row[part]["eta_packets"].as_f64().unwrap();
    for row in rows {
        assert!(eta(row, "validation") >= 1.0 && eta(row, "test") >= 1.0, "{row}");
        assert_eq!(row["train"]["eta_packets"], Value::Null);
        assert!(row["ternary_entries"].as_u64().unwrap() > 0);
        assert_eq!(row["pareto"].as_bool().unwrap(), row["model"].is_string());
    }
    // Chosen by eta on validation rows, no other rule's threshold has a lower one.
    for votes in rows.chunks(6) {
        for seed in 0..2 {
            let [f1, by_eta, cost] =
                [0, 1, 2].map(|vote| eta(&votes[2 * vote + seed], "validation"));
            assert!(by_eta <= f1.min(cost), "{by_eta} {f1} {cost}");
        }
    }
    let proposed = &rows[table["proposed"].as_u64().unwrap() as usize];
    let model = proposed["model"].as_str().unwrap();
    assert!(said.contains(&format!("\nProposed: {model}\n")), "{said}");
    assert!(
        said.contains("  on test rows: precision ") && room.path(&format!("out/{model}")).exists()
    );
    let mean = summary[0]["test"]["f1"]["mean"].as_f64().unwrap();
    let f1 = |row: usize| rows[row]["test"]["f1"].as_f64().unwrap();
    assert!((mean - (f1(0) + f1(1)) / 2.0).abs() < 1e-12);
    let timings: Value = serde_json::from_slice(&room.read("out/timings.json")).unwrap();
    for name in ["fit_ms", "measure_ms"] {
        let times = timings[name].as_array().unwrap();
        assert!(times.len() == 48 && times.iter().all(|ms| ms.as_f64().unwrap() > 0.0), "{name}");
    }
    let printed: Value =
        serde_json::from_str(&room.good("sweep sweep.toml -o out --resume --format json")).unwrap();
    assert_eq!(printed, table);
}

#[test]
#[ignore = "slow"]
fn a_row_is_what_train_gives() {
    let room = room(SWEEP);
    room.good("sweep sweep.toml -o out");
    compare_with_train(&room, "out");
    // The other axes.
    let (head, _) = SWEEP.split_once("[axes]").unwrap();
    let axes = "seeds = [1, 2]\nmax_features = ['1', 'all']\nmin_samples_leaf = [1, 200]\ntrees = [2, 4]\n\
                class_weight = ['none', '1:5']\nmax_bins = [16, 255]\ncriterion = 'entropy'";
    room.write("sweep.toml", format!("{head}[axes]\n{axes}"));
    let said = room.good("sweep sweep.toml -o others");
    assert!(said.contains("64 forests") && said.contains(" all drawn, entropy"), "{said}");
    compare_with_train(&room, "others");
}

/// Trains the front's rows of the sweep in `folder`, and some others, one by one.
fn compare_with_train(room: &Room, folder: &str) {
    let table = table(room, folder);
    let mut compared = 0;
    for (nth, row) in table["rows"].as_array().unwrap().iter().enumerate() {
        let model = row["model"].as_str();
        if model.is_none() && nth % 8 != 3 {
            continue;
        }
        train_row(room, row, "");
        if let Some(model) = model {
            assert!(room.read("alone.json") == room.read(&format!("{folder}/{model}")), "{row}");
        }
        assert_is_reported(room, &row["test"]);
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

/// Trains one row of the sweep by itself.
fn train_row(room: &Room, row: &Value, budget: &str) {
    let features: Vec<&str> =
        row["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    // Of a model that predicts no drop it says so.
    let said = room.dropcast(&format!(
        "train --data runs/small/trace.parquet --split time --train-share 0.5 \
         --validation-share 0.25 --guard-ns 32000 --features {} --n-estimators {} \
         --max-depth {} --max-bins {} --max-features {} --criterion {} --class-weight {} \
         --min-samples-leaf {} --vote {} --seed {} --seeds 1 {budget} -o alone.json",
        features.join(","),
        row["trees"],
        row["max_depth"],
        row["max_bins"],
        row["max_features"].as_str().unwrap(),
        row["criterion"].as_str().unwrap(),
        row["class_weight"].as_str().unwrap(),
        row["min_samples_leaf"],
        row["vote"].as_str().unwrap(),
        row["seed"],
    ));
    assert_eq!(said.code, Some(0), "{said}");
}

/// A report of the model finds the scores that the sweep found on test rows.
#[track_caller]
fn assert_is_reported(room: &Room, test: &Value) {
    let said = room.good("report --model alone.json --data runs/small/trace.parquet --format json");
    let report: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["replay"]["total"]["eta"]["packets"], test["eta_packets"]);
    assert_eq!(report["prediction"]["f1"], test["f1"]);
}

#[test]
#[ignore = "slow"]
fn the_best_model_of_each_feature_set_is_what_train_gives() {
    let room = room(SWEEP);
    let said = room.good("sweep sweep.toml -o grown");
    assert!(said.contains("\nThe best model of each feature set:\n"), "{said}");
    compare_best_with_train(&room, "grown", "");
    let squeezed = SWEEP.replace("eta = true", "eta = true\nbudget = 'ternary-entries=10'");
    room.write("sweep.toml", squeezed);
    let said = room.good_with_notes("sweep sweep.toml -o squeezed");
    assert!(said.contains("each feature set, squeezed into ternary-entries=10:"), "{said}");
    compare_best_with_train(&room, "squeezed", "--budget ternary-entries=10");
    let grown = table(&room, "grown");
    let within = |table: &Value| {
        let best = table["best"].as_array().unwrap().iter();
        best.filter(|best| best["ternary_entries"].as_u64().unwrap() <= 10).count()
    };
    let squeezed = table(&room, "squeezed");
    assert_eq!((within(&grown), within(&squeezed)), (0, 2), "the budget makes a difference");
    assert_eq!(grown["rows"], squeezed["rows"], "rows are as grown");
    // They are models like any other.
    let model = "squeezed/models/best-paper4.json";
    room.good(&format!("export {model} --target dct -o tables"));
    let said = room.good(&format!("resources {model} --format json"));
    let resources: Value = serde_json::from_str(&said).unwrap();
    let counted = &resources["totals"]["ternary_entries"];
    assert_eq!(counted, &squeezed["best"][0]["ternary_entries"]);
    let page = String::from_utf8(room.read("squeezed/report.html")).unwrap();
    assert!(page.matches("models/best-paper4.json").count() >= 2, "in the table and in the JSON");
}

/// Trains the recipe of each saved model by itself, and finds the best row by the slow way.
fn compare_best_with_train(room: &Room, folder: &str, budget: &str) {
    let table = table(room, folder);
    let (rows, best) = (table["rows"].as_array().unwrap(), table["best"].as_array().unwrap());
    let files = best.iter().map(|best| best["model"].as_str().unwrap());
    let (paper4, longer) = ("paper4", "queue_length-avg_queue_length-occupancy-avg_occupancy");
    let expected = [paper4.to_owned(), format!("{longer}-longest_queue-rank")];
    assert!(files.eq(expected.map(|name| format!("models/best-{name}.json"))), "{best:?}");
    for best in best {
        let row = &rows[best["row"].as_u64().unwrap() as usize];
        assert_eq!(row["features"], best["features"]);
        let eta = |row: &Value| row["validation"]["eta_packets"].as_f64().unwrap();
        let alike = rows.iter().filter(|other| other["features"] == best["features"]);
        // Of two seeds the worse one counts.
        let medians: Vec<f64> =
            alike.map(eta).collect::<Vec<_>>().chunks(2).map(|of| of[0].max(of[1])).collect();
        assert!(medians.len() == 12 && medians.iter().all(|&other| other >= eta(row)));
        train_row(room, row, budget);
        let file = format!("{folder}/{}", best["model"].as_str().unwrap());
        assert!(room.read("alone.json") == room.read(&file), "{best}");
        assert_is_reported(room, &best["test"]);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let room = room(SWEEP);
    room.good("sweep sweep.toml -o one --threads 1");
    room.good("sweep sweep.toml -o three --threads 3");
    assert_same(&room, "one", "three");
}

#[test]
fn rows_that_do_not_fit_into_memory_change_nothing() {
    let room = room(SWEEP);
    room.good("sweep sweep.toml -o all");
    let said = room.good("sweep sweep.toml -o aside --memory-limit 0");
    assert_same(&room, "all", "aside");
    assert!(room.files().keys().all(|name| name != "aside/rows"), "nothing is left behind");
    // `inspect` prints what the sweep printed.
    let printed = room.good("inspect aside/sweep.json");
    let (front, _) = said.split_once("\nNext ").unwrap();
    assert!(printed.contains(front), "{printed}");
    let printed = room.good("inspect aside/sweep.json --format json");
    let inspected: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&inspected["kind"], &inspected["forests"]), (&"sweep".into(), &48.into()));
    assert!(inspected["pareto"].as_array().unwrap().iter().all(|row| row["pareto"] == true));
    // An error names the actual kind of the file.
    let trace = "--data runs/small/trace.parquet";
    let said = refuse(&room, &format!("report --model all/sweep.json {trace}"));
    assert!(said.contains("all/sweep.json: is the table of a sweep; its models are in"), "{said}");
    let said = refuse(&room, "inspect all");
    assert!(said.contains("all: is the folder of a sweep; inspect all/sweep.json"), "{said}");
    let old = String::from_utf8(room.read("all/sweep.json")).unwrap();
    room.write(
        "old.json",
        old.replacen(
            &format!("\"format_version\": {SWEEP_FORMAT_VERSION}"),
            "\"format_version\": 5",
            1,
        ),
    );
    let said = refuse(&room, "inspect old.json");
    assert!(said.contains("old.json: the sweep has format_version 5"), "{said}");
}

/// Drops come in few bursts, and the end of a trace may have none: each part's drops are counted,
/// and a part with too few gets a warning.
#[test]
fn parts_with_few_episodes_of_drops_get_a_warning() {
    let room = room("data = ['runs/small/trace.parquet']");
    let said = room.good("sweep sweep.toml -o out");
    let table = table(&room, "out");
    assert_eq!(table["split"]["by"], "time", "unless another is named");
    assert!(
        said.contains("\n8 forests; the Pareto-optimal ones by F1 on validation rows"),
        "{said}"
    );
    assert!(said.contains(" in 1 episode\n") || !said.contains(" 1 episode"), "{said}");
    let mut few = 0;
    for part in ["train", "validation", "test"] {
        let part = &table["parts"][part];
        let count = |name: &str| part[name].as_u64().unwrap();
        assert!(count("rows") > count("drops") && count("drops") > count("episodes"), "{part}");
        few += u64::from(count("episodes") < 10);
    }
    assert!(few > 0, "a small trace has few: {table}");
    assert_eq!(
        said.matches("Scores on so few episodes are mostly luck").count() as u64,
        few,
        "{said}"
    );
    let page = String::from_utf8(room.read("out/report.html")).unwrap();
    assert_eq!(page.matches("scores on them are uncertain").count() as u64, few);
}

/// Killed with SIGKILL.
#[test]
#[ignore = "slow"]
fn a_killed_sweep_goes_on_where_it_was() {
    let seeds: Vec<String> = (1..=20).map(|rows| rows.to_string()).collect();
    let axis = format!("seeds = [7, 8]\nmin_samples_leaf = [{}]", seeds.join(", "));
    let sweep = SWEEP.replace("seeds = [7, 8]", &axis);
    let sweep = sweep.replace("eta = true", "eta = true\nbudget = 'thresholds=12'");
    let room = room(&sweep);
    let parts = || -> BTreeMap<String, Vec<u8>> {
        let Ok(folder) = std::fs::read_dir(room.path("killed/parts")) else {
            return BTreeMap::new();
        };
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_part = |name: &String| name.ends_with(".json");
        let read = |name: String| {
            let bytes = room.read(&format!("killed/parts/{name}"));
            (name, bytes)
        };
        names.filter(is_part).map(read).collect()
    };
    let mut child = room
        .command(["sweep", "sweep.toml", "-o", "killed"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while parts().is_empty() && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = parts();
    assert!((1..40).contains(&finished.len()), "{} of 40 groups", finished.len());
    assert!(!room.path("killed/sweep.json").exists());

    room.good("sweep sweep.toml -o killed --resume");
    room.good("sweep sweep.toml -o whole");
    assert_same(&room, "killed", "whole");
    let resumed = parts();
    assert!(finished.iter().all(|(name, bytes)| &resumed[name] == bytes));
    assert_eq!(resumed.len(), 42, "40 groups and 2 squeezed models");

    // Interrupted while it squeezed: one squeezed model is there, the other and all results are not.
    let squeezed = resumed.iter().find(|(_, bytes)| bytes.starts_with(b"{\"best\""));
    let (name, _) = squeezed.expect("squeezed models are parts");
    for lost in [format!("parts/{name}"), "sweep.json".to_owned(), "report.html".to_owned()] {
        std::fs::remove_file(room.path(&format!("killed/{lost}"))).unwrap();
    }
    room.good("sweep sweep.toml -o killed --resume");
    assert_same(&room, "killed", "whole");
}

#[test]
#[ignore = "slow"]
fn a_part_of_another_sweep_is_not_taken() {
    let room = room(SWEEP);
    room.good("sweep sweep.toml -o out");
    room.write("sweep.toml", SWEEP.replace("train_share = 0.5", "train_share = 0.4"));
    room.good("sweep sweep.toml -o out --resume");
    room.good("sweep sweep.toml -o fresh");
    let of = |folder| room.read(&format!("{folder}/sweep.json"));
    assert!(of("out") == of("fresh"));
    // A damaged part is made again, and one that somebody edited.
    let part = room.files().into_keys().find(|name| name.starts_with("fresh/parts/")).unwrap();
    let good = String::from_utf8(room.read(&part)).unwrap();
    let edited = good.replacen("\"vote_threshold\":", "\"vote_threshold\":1", 1);
    assert!(edited != good, "{good}");
    for bad in ["{}", &edited] {
        room.write(&part, bad);
        room.good("sweep sweep.toml -o fresh --resume");
        assert!(of("out") == of("fresh"));
    }
}

/// A sweep may take days: another one with the same folder must not overwrite it.
#[test]
fn a_sweep_that_is_there_is_kept() {
    let room = room("data = ['runs/small/trace.parquet']");
    room.write("out/models/mine.json", "{}");
    room.write("out/parts/notes.txt", "mine");
    room.write("out/mine.txt", "mine");
    room.good("sweep sweep.toml -o out");
    let held = "out: holds a sweep; resume it (parts that no longer fit are trained again), or choose \
                another folder";
    let again = refuse(&room, "sweep sweep.toml -o out");
    assert!(again.contains(held), "{again}");
    // Parts alone are an interrupted sweep.
    for name in ["sweep.json", "report.html", "rows.parquet", "timings.json"] {
        std::fs::remove_file(room.path(&format!("out/{name}"))).unwrap();
    }
    let models = std::fs::read_dir(room.path("out/models")).unwrap();
    for model in models.map(|entry| entry.unwrap().path()) {
        if !model.ends_with("mine.json") {
            std::fs::remove_file(model).unwrap();
        }
    }
    let again = refuse(&room, "sweep sweep.toml -o out");
    assert!(again.contains(held), "{again}");
    room.write("out/models/row-09999.json", "of an earlier table");
    room.good("sweep sweep.toml -o out --resume");
    assert!(!room.path("out/models/row-09999.json").exists());
    for name in ["out/models/mine.json", "out/parts/notes.txt", "out/mine.txt"] {
        assert!(room.path(name).exists(), "{name}");
    }
    let said = refuse(&room, "sweep sweep.toml -o runs/small");
    assert!(said.contains("runs/small: holds another report.html; "), "{said}");
}

/// The example of docs/sweep.md, on a small trace.
#[test]
fn the_documented_sweep_works() {
    let page = include_str!("../../../docs/sweep.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let room = Room::with_a_run();
    room.write("trace.parquet", room.read("runs/small/trace.parquet"));
    room.write("sweep.toml", example);
    room.good("sweep sweep.toml");
    assert!(room.path("runs/sweep/sweep.json").exists());
}

#[test]
fn what_cannot_be_swept() {
    let room = room(SWEEP);
    room.write("artifact.csv", "queueLength averageQueueLength sharedOccupancy averageOccupancy drop\n1 1 1 1 0\n2 2 2 2 1\n");
    let mut transcript = String::new();
    let mut check = |name: &str, from: &str, to: &str| {
        let text = SWEEP.replacen(from, to, 1);
        assert_ne!(text, SWEEP, "{name}");
        room.write(name, text);
        transcript.push_str(&refuse(&room, &format!("sweep {name} -o out")));
    };
    check("key.toml", "max_depth", "depth");
    check("number.toml", "trees = [1, 4]", "trees = [1, 0]");
    check("depth.toml", "max_depth = [2, 4]", "max_depth = 9");
    check("text.toml", "trees = [1, 4]", "trees = 'four'");
    check("quoted.toml", "trees = [1, 4]", "trees = '4'");
    check("drawn-number.toml", "trees = [1, 4]", "max_features = 2");
    check("negative.toml", "seeds = [7, 8]", "seeds = [-1]");
    check("empty.toml", "trees = [1, 4]", "trees = []");
    check("twice.toml", "seeds = [7, 8]", "seeds = [7, 7]");
    check("vote.toml", "'cost:1:3'", "'cost:1'");
    check("feature.toml", "'paper4',", "'colour',");
    check("share.toml", "train_share = 0.5", "train_share = 0.9");
    check("budget.toml", "eta = true", "budget = 'entries=128'");
    check("leaf.toml", "eta = true", "budget = 'dct-bytes=3'");
    check("number-budget.toml", "eta = true", "budget = 128");
    check("by.toml", "'time'", "'place'");
    let by_time = "by = 'time'\ntrain_share = 0.5\nvalidation_share = 0.25\nguard_ns = 32_000";
    check("random.toml", by_time, "by = 'random'");
    check("blocks.toml", "by = 'time'", "by = 'time-blocks'");
    check("drawn.toml", "trees = [1, 4]", "max_features = ['4', '5']");
    check("apart.toml", "eta = true", "test = ['other.parquet']");
    check("no-data.toml", "data = ['runs/small/trace.parquet']", "data = []");
    check("missing.toml", "small/trace", "small/other");
    check("artifact.toml", "'runs/small/trace.parquet'", "'artifact.csv'");
    check("not.toml", "[axes]", "[axes");
    let seeds: Vec<String> = (0..5_000).map(|seed| seed.to_string()).collect();
    check("many.toml", "seeds = [7, 8]", &format!("seeds = [{}]", seeds.join(", ")));
    transcript.push_str(&refuse(&room, "sweep sweep.toml -o sweep.toml"));
    transcript.push_str(&refuse(&room, "sweep none.toml -o out"));
    insta::assert_snapshot!(transcript);
}
