//! linfa and smartcore through the command, from events to a verified export.

use crate::room::Room;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The sample of data/samples, collected.
fn sample() -> Room {
    let room = Room::new();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/samples");
    for name in ["leaf-events.parquet", "leaf.toml"] {
        room.write(name, std::fs::read(samples.join(name)).unwrap());
    }
    room.good("collect --events leaf-events.parquet --switch leaf.toml -o trace.parquet");
    room
}

#[test]
fn their_forests_are_reported_exported_and_verified_like_ours() {
    let room = sample();
    for (trainer, tool) in [("linfa", "linfa-ensemble "), ("smartcore", "smartcore ")] {
        let train = format!(
            "train --data trace.parquet --validation-share 0 --vote f1 --trainer {trainer} --format json"
        );
        let metrics = json(&room.good_with_notes(&format!("{train} -o model.json")));
        room.good_with_notes(&format!("{train} -o again.json"));
        assert!(
            room.read("model.json") == room.read("again.json"),
            "{trainer}: not the same again"
        );
        let model = json(&String::from_utf8(room.read("model.json")).unwrap());
        let by = model["provenance"]["tool"].as_str().unwrap();
        assert!(by.contains(&format!(" with {tool}")), "{by}");

        // The sample has few bursts: some say little about the others.
        let f1 = metrics["train"]["f1"].as_f64().unwrap();
        assert!(f1 > 0.6, "{trainer}: {f1}");
        let report =
            json(&room.good("report --model model.json --data trace.parquet --format json"));
        assert_eq!(report["prediction"]["f1"], metrics["test"]["f1"], "{trainer}");
        let eta = report["replay"]["total"]["eta"]["packets_inverse"].as_f64().unwrap();
        assert!((0.5..=1.01).contains(&eta), "{trainer}: {eta}");

        room.good("export model.json --target dct json p4 -o tables");
        for file in ["model.dct", "model.table.json"] {
            assert!(room.path("tables").join(file).exists(), "{:?}", room.files().keys());
        }
        let verify = "verify model.json --target dct --trace trace.parquet --rows 2000";
        let verified = json(&room.good(&format!("{verify} --format json")));
        let program = &verified["targets"][0]["programs"][0];
        assert_eq!((&verified["verified"], &program["mismatches"]), (&true.into(), &0.into()));
        assert!(program["rows"].as_u64().unwrap() > 53_820, "{program}");
    }
}

#[test]
fn what_they_lack_is_refused_by_name() {
    let room = Room::with_a_run();
    let train = "train --data runs/small/trace.parquet -o model.json --trainer";
    for (typed, reason) in [
        ("linfa --max-bins 64", "max_bins"),
        ("smartcore --monotone on", "monotone"),
        ("dropcast --monotone on --refit-leaves 0", "monotone"),
        ("linfa --class-weight balanced", "class_weight"),
        ("smartcore --class-weight balanced", "class_weight"),
        ("smartcore --no-bootstrap", "bootstrap"),
    ] {
        let said = room.dropcast(&format!("{train} {typed}"));
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.stderr.contains(reason) && !room.path("model.json").exists(), "{said}");
    }
}
