//! `inspect --statistics`.

use crate::room::Room;
use dropcast_data::TraceReader;
use serde_json::Value;

/// The statistics by our own reader.
#[test]
fn statistics_are_of_the_rows_that_were_collected() {
    let room = Room::with_a_run();
    room.write("trace.parquet", room.read("runs/small/trace.parquet"));
    let said = room.good("inspect trace.parquet --statistics --format json");
    let said: Value = serde_json::from_str(&said).unwrap();
    let statistics = &said["statistics"];
    let names: Vec<String> = serde_json::from_value(said["meta"]["features"].clone()).unwrap();
    assert!(names.len() >= 4);
    let reader = TraceReader::open(&room.path("trace.parquet"), &names).unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    let rows: usize = batches.iter().map(|batch| batch.len()).sum();
    assert_eq!(statistics["rows"].as_u64(), Some(rows as u64));
    for (at, name) in names.iter().enumerate() {
        let feature = &statistics["features"][at];
        assert_eq!(feature["name"], name.as_str());
        for (label, of) in [(false, "accepted"), (true, "dropped")] {
            let values =
                batches.iter().flat_map(|batch| batch.features[at].iter().zip(&batch.drop));
            let mut values: Vec<u32> =
                values.filter(|(_, drop)| **drop == label).map(|(value, _)| *value).collect();
            values.sort_unstable();
            let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
            let found = &feature[of];
            assert!((found["mean"].as_f64().unwrap() - mean).abs() < 1e-6 * mean.max(1.0));
            assert_eq!(found["min"], values[0]);
            assert_eq!(found["p50"], values[(values.len() - 1) / 2]);
            assert_eq!(found["max"], values[values.len() - 1]);
        }
    }
}

#[test]
fn what_is_printed() {
    let room = Room::with_a_run();
    let text = room.good("inspect runs/small/trace.parquet --statistics");
    let table = text.split_once("drops: ").unwrap().1;
    assert!(table.lines().count() >= 2 + 2 * 4, "{table}");
    assert!(table.lines().skip(2).all(|line| line.split_whitespace().count() == 10), "{table}");
    for file in ["model.json", "events.parquet"] {
        let said = room.dropcast(&format!("inspect runs/small/{file} --statistics"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        assert!(said.stderr.contains("labelled traces in Parquet"), "{said}");
    }
    room.write("broken.parquet", &room.read("runs/small/trace.parquet")[..5_000]);
    let said = room.dropcast("inspect broken.parquet --statistics");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
}
