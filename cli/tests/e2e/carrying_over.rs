//! Whether an oracle is any good on unseen traffic: the real problem (docs/sweep.md).

use crate::room::Room;
use serde_json::Value;

/// Three leaf switches' arrivals with different loads, burst sizes and burst rates.
const SCENARIOS: [&str; 3] = [
    "load = 0.3\noutgoing_load = 0.2\nincast_burst = 0.5\nincast_per_server_hz = 200.0\n\
     outgoing_incast_per_server_hz = 200.0\nseed = 41",
    "load = 0.4\noutgoing_load = 0.4\nincast_burst = 0.3\nincast_per_server_hz = 150.0\n\
     outgoing_incast_per_server_hz = 300.0\nseed = 42",
    "load = 0.1\noutgoing_load = 0.1\nincast_burst = 1.0\nincast_per_server_hz = 60.0\n\
     outgoing_incast_per_server_hz = 60.0\nseed = 43",
];

/// Mean F1 of forests trained on two of the scenarios and tested on the third.
fn left_out(room: &Room, features: &str) -> f64 {
    let of_seed = |seed: u64| {
        let said = room.good(&format!(
            "train --data 0.parquet 1.parquet 2.parquet --cross-validate runs --seed {seed} \
             --features {features} --vote f1 -o m.json --format json"
        ));
        let said: Value = serde_json::from_str(&said).unwrap();
        let folds = said["folds"].as_array().unwrap().iter();
        let drops = folds.map(|fold| fold["test"]["drops"].as_u64().unwrap());
        assert!(drops.min() > Some(300), "enough to compare: {said}");
        said["test"]["f1"]["mean"].as_f64().unwrap()
    };
    (1..=3).map(of_seed).sum::<f64>() / 3.0
}

/// Leave one trace out. Over four draws of the three scenarios, `level4` had a mean F1 of 0.72 to
/// 0.76 and `paper4` one of 0.48 to 0.56, apart by 0.16 to 0.26; this draw gives 0.76 and 0.50.
/// With other bootstraps a mean of three forests moves by 0.02, and the limits are four times that
/// away: a worse trainer, threshold or feature breaks them, not a different tie between splits.
#[test]
#[ignore = "slow"]
fn level4_generalises_better_than_the_papers_features() {
    let room = Room::new();
    for (nth, scenario) in SCENARIOS.iter().enumerate() {
        room.write(
            "w.toml",
            format!("{scenario}\nflow_sizes = 'hadoop'\nduration_ns = 25_000_000"),
        );
        room.good("simulate --workload w.toml -o e.parquet");
        let collect = "collect --events e.parquet --departures line-rate";
        room.good(&format!("{collect} -o {nth}.parquet"));
    }
    let (level4, paper4) = (left_out(&room, "level4"), left_out(&room, "paper4"));
    assert!(level4 > 0.65, "{level4}");
    assert!(level4 > paper4 + 0.08, "level4 {level4}, paper4 {paper4}");
}
