//! Forests on switches with another buffer size.

use crate::room::{Room, SMALL};
use dropcast_data::TraceReader;
use dropcast_forest::Confusion;
use dropcast_train::TrainedModel;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A folder with a small run, whose buffer has 60 kB, and a trace of a switch with 150 kB.
fn room() -> Room {
    let room = Room::with_a_run();
    let config: toml::Table = SMALL.parse().unwrap();
    let mut workload = config["workload"].as_table().unwrap().clone();
    workload.insert("buffer_bytes".to_owned(), 150_000.into());
    room.write("large.toml", toml::to_string(&workload).unwrap());
    room.good("simulate --workload large.toml --seed 8 -o events.parquet");
    room.good("collect --events events.parquet -o large.parquet");
    room
}

/// The obvious way: scale each value to the model's buffer, then walk the trees.
fn by_hand(room: &Room, model: &TrainedModel) -> Confusion {
    let mut confusion = Confusion::default();
    let reader = TraceReader::open(&room.path("large.parquet"), &model.features.names()).unwrap();
    for batch in reader {
        let batch = batch.unwrap();
        for (row, &drop) in batch.drop.iter().enumerate() {
            let scaled = batch.features.iter().map(|column| column[row] * 2 / 5);
            let scaled: Vec<u32> = scaled.collect();
            confusion.add(drop, model.forest.predicts_drop(&scaled));
        }
    }
    confusion
}

#[test]
fn a_forest_decides_alike_on_scaled_rows_and_with_scaled_thresholds() {
    let room = room();
    let report = |model: &str| {
        json(&room.good(&format!("report --model {model} --data large.parquet --format json")))
    };
    let scaled = report("runs/small/model.json");
    let model = String::from_utf8(room.read("runs/small/model.json")).unwrap();
    let expected = by_hand(&room, &TrainedModel::from_json(&model).unwrap());
    assert_eq!(scaled["prediction"]["confusion"], serde_json::to_value(expected).unwrap());
    // It predicts drops for a buffer size that it never saw.
    assert!(scaled["prediction"]["f1"].as_f64().unwrap() > 0.2, "{}", scaled["prediction"]);

    let said = room.good("rescale runs/small/model.json --buffer-bytes 150000 -o large.json");
    assert_eq!(said, "from a buffer of 60000 bytes to one of 150000\nmodel: large.json\n");
    let rescaled = report("large.json");
    for part in ["prediction", "curve", "replay"] {
        assert_eq!(rescaled[part], scaled[part], "{part}");
    }
    let about = "bytes of buffers of 150,000 are scaled to the model's 60,000";
    let text =
        |model: &str| room.good(&format!("report --model {model} --data large.parquet --details"));
    assert!(text("runs/small/model.json").contains(about));
    assert!(!text("large.json").contains("scaled"));
    let page = room.good("report --model runs/small/model.json --data large.parquet --format html");
    assert!(page.contains("Bytes of buffers of 150,000 are scaled"));
}

#[test]
fn one_forest_learns_from_different_buffers() {
    let room = room();
    let data = "--data runs/small/trace.parquet large.parquet";
    // The default vote may forgo drops, and F1 with them, to do no harm; two buffers are not monotone on one scale.
    room.good(&format!("train {data} --split none --vote f1 --monotone off -o m.json"));
    let model = json(&String::from_utf8(room.read("m.json")).unwrap());
    assert_eq!(model["switch"]["buffer_bytes"], 150_000, "the largest");
    room.good("rescale m.json --buffer-bytes 60000 -o small.json");
    let f1 = |model: &str, data: &str| {
        let typed = format!("report --model {model} --data {data} --rows all --format json");
        json(&room.good(&typed))["prediction"]["f1"].as_f64().unwrap()
    };
    let of_large = f1("m.json", "large.parquet");
    assert!(of_large > 0.6, "{of_large}");
    assert_eq!(
        f1("m.json", "runs/small/trace.parquet"),
        f1("small.json", "runs/small/trace.parquet")
    );
}

#[test]
fn a_model_of_a_role_is_in_its_own_bytes() {
    let room = Room::new();
    room.good("simulate --topology leaf-spine --duration-ms 5 --load 0.6 -o events.parquet");
    room.good("collect --events events.parquet --departures line-rate -o fabric.parquet");
    room.good_with_notes("train --data fabric.parquet --split none --model-per role -o m.json");
    let model = |name: &str| json(&String::from_utf8(room.read(name)).unwrap());
    assert_eq!(model("m.json")["switch"]["buffer_bytes"], 1_052_672);
    assert_eq!(model("m.spine.json")["switch"]["buffer_bytes"], 210_532);
    assert_eq!(model("m.spine.json")["rescaled_from_bytes"], 1_052_672);
}

#[test]
fn a_model_of_a_switch_is_scored_on_all_rows_where_none_were_kept() {
    let room = room();
    room.good(
        "train --data runs/small/trace.parquet --test large.parquet --model-per switch -o m.json",
    );
    let report = |data: &str| {
        let typed = format!("report --model m.switch-0.json --data {data} --format json");
        json(&room.good(&typed))["traces"][0].clone()
    };
    let trained = report("runs/small/trace.parquet");
    assert!(trained["rows"].as_u64().unwrap() > 0);
    assert_eq!(trained["in_training_data"], true);
    assert_eq!(report("large.parquet")["held_out"], true);
}

#[test]
fn a_model_for_no_known_buffer_is_not_rescaled() {
    let room = Room::with_a_run();
    let mut model = json(&String::from_utf8(room.read("runs/small/model.json")).unwrap());
    model["switch"]["buffer_bytes"] = Value::Null;
    room.write("m.json", model.to_string());
    let commands = [
        "rescale m.json --buffer-bytes 1000 -o n.json",
        "rescale m.json --buffer-bytes 0 -o n.json",
        "rescale m.json --buffer-bytes 1000 -o m.json",
    ];
    let said: Vec<String> = commands.map(|typed| room.dropcast(typed).to_string()).to_vec();
    insta::assert_snapshot!(said.join("\n"));
}
