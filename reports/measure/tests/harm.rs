//! How often the default vote rule does harm on rows that no choice has seen.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{EventOptions, EventReader};
use dropcast_features::FeatureSet;
use dropcast_measure::oracle_gain::oracle_gain;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::collect::{TraceFile, collect};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::train::{Roles, train_on};
use dropcast_train::VoteRule;
use std::path::Path;

/// Credence's gain over no oracle in packets and bytes of the test rows, with the models of these features that are
/// trained by default; none if the trace has too few drops to train on.
fn gains(folder: &Path, workload: &LeafWorkload, features: &[FeatureSet]) -> Vec<[i64; 2]> {
    let (events, trace) = (folder.join("events.parquet"), folder.join("trace.parquet"));
    generate(&WorkloadSettings::Leaf(workload.clone()), &events, &Silent)
        .expect("a valid workload");
    let reader = EventReader::open(&events, EventOptions::default()).expect("own output");
    let names = features.iter().flat_map(FeatureSet::features).copied().collect();
    let settings = TracerSettings { features: names, ..TracerSettings::default() };
    let specs = reader.specs().clone();
    let collected = collect::<TraceFile>(reader, specs, &settings, 1_000_000, trace, &Silent);
    let data = [collected.expect("valid events").trace];
    let resources = Resources::default();
    let gain = |features: &FeatureSet| {
        let vote = Some(VoteRule::default());
        let settings = TrainSettings {
            features: features.clone(),
            seeds: 1,
            vote,
            ..TrainSettings::default()
        };
        let opened = Roles::of(data.to_vec()).open(features).expect("a trace");
        let divided = opened.divided(&settings, resources.kept_bytes(), &Silent);
        let (traces, chosen) = match divided {
            Ok(opened) => opened,
            // Too few drops to divide.
            Err(PipelineError::Train(_)) => return None,
            Err(error) => panic!("{error}"),
        };
        let fitted = train_on(&traces, &chosen, &settings, &resources, &Silent).expect("drops");
        let gain = oracle_gain(&fitted.model, &traces, &chosen.split, 1, resources.threads());
        let gain = gain.expect("a trace").expect("it can be replayed").section.always_accept;
        Some([gain.packets, gain.bytes])
    };
    features.iter().filter_map(gain).collect()
}

/// 24 traces at three loads, with good features and with the paper's poor ones.
#[test]
fn unseen_rows_seldom_show_harm_and_gain_in_all() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let features: Vec<FeatureSet> =
        ["level4", "paper4"].iter().map(|name| name.parse().expect("a set")).collect();
    let (mut all, mut harmed, mut sum) = (0, Vec::new(), [0; 2]);
    for seed in 201..=208 {
        for load in [0.4, 0.6, 0.8] {
            let workload =
                LeafWorkload { seed, load, duration_ns: 40_000_000, ..LeafWorkload::loaded() };
            for gain in gains(folder.path(), &workload, &features) {
                all += 1;
                sum = [sum[0] + gain[0], sum[1] + gain[1]];
                if gain[0] < 0 || gain[1] < 0 {
                    harmed.push((seed, load, gain));
                }
            }
        }
    }
    assert!(all >= 40, "{all} models");
    assert!(10 * harmed.len() <= all, "more than one in ten: {harmed:?}, {sum:?}");
    assert!(sum[1] > 0, "{sum:?}");
}
