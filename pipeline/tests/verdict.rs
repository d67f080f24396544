//! What an oracle could be worth on a trace.

use dropcast_data::{EventOptions, EventReader, LabelledBatch};
use dropcast_features::FeatureSet;
use dropcast_pipeline::collect::collect;
use dropcast_pipeline::generate::generate_leaf;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::verdict::{Conclusion, Verdict, judge};
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_simulate::LeafWorkload;
use dropcast_train::BatchSource;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A generated trace of a leaf switch whose incasts are this large, as a share of the buffer.
fn trace(folder: &Path, incast_burst: f64) -> PathBuf {
    let (events, trace) = (folder.join("events.parquet"), folder.join("trace.parquet"));
    let workload =
        LeafWorkload { incast_burst, duration_ns: 60_000_000, ..LeafWorkload::default() };
    generate_leaf(&workload, &events, &Silent).expect("a valid workload");
    let reader = EventReader::open(&events, EventOptions::default()).expect("own output");
    let features = "occupancy,level_occupancy".parse().expect("known features");
    let settings = TracerSettings { features, ..TracerSettings::default() };
    let specs = reader.specs().clone();
    collect(reader, specs, &settings, 1_000_000, &trace, &Silent).expect("valid events");
    trace
}

fn judged(trace: &Path, threads: usize) -> Verdict {
    let traces = LabelledTraces::open(&[trace.to_owned()], &FeatureSet::none()).expect("a trace");
    let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
    judge(&traces, &resources, &Silent).expect("a trace that can be replayed")
}

fn sent(verdict: &Verdict, policy: ReplayPolicy) -> Sent {
    let section = verdict.policies.iter().find(|section| section.policy == policy);
    section.expect("a policy without an oracle").sent
}

#[test]
fn a_verdict_agrees_with_the_trace() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = trace(folder.path(), 1.0);
    let verdict = judged(&trace, 1);
    assert_eq!(verdict, judged(&trace, 3), "at any number of threads");

    let features: FeatureSet = "occupancy,level_occupancy".parse().expect("known features");
    let traces = LabelledTraces::open(&[trace], &features).expect("a trace");
    let buffer_bytes =
        u64::from(LeafWorkload::default().switch_spec().expect("valid").buffer_bytes);
    let batches = traces.batches().expect("a readable trace");
    let batches: Vec<LabelledBatch> = batches.map(|rows| rows.expect("a row").batch).collect();
    let occupancy = batches.iter().flat_map(|batch| &batch.features[0]);
    let peak = occupancy.max().expect("rows");
    let peak_permille = u64::from(*peak) * 1_000 / buffer_bytes;
    let section = verdict.occupancy.expect("rows");
    assert_eq!(section.peak, peak_permille as f64 / 1_000.0);
    assert!(section.p50 <= section.p90 && section.p90 <= section.p99);
    let drops = batches.iter().flat_map(|batch| &batch.drop).filter(|&&drop| drop).count() as u64;
    assert!(drops > 0, "bursts of a whole buffer beside other traffic overflow it");
    assert_eq!(verdict.dropped.packets, drops);
    assert!(verdict.congestion.episodes > 0 && verdict.congestion.most_drops <= drops);

    let lqd = sent(&verdict, ReplayPolicy::Lqd);
    assert_eq!(lqd.packets, verdict.arrived.packets - drops, "LQD transmits what it does not drop");
    assert!(verdict.perfect_oracle.packets <= verdict.arrived.packets);
    let best = [
        ReplayPolicy::AlwaysAccept,
        ReplayPolicy::FollowLqd,
        ReplayPolicy::DynamicThresholds,
        ReplayPolicy::Harmonic,
        ReplayPolicy::CompleteSharing,
        ReplayPolicy::CompletePartitioning,
    ];
    let best = best.map(|policy| sent(&verdict, policy).bytes).into_iter().max().expect("six");
    match verdict.conclusion {
        Conclusion::NothingDropped => panic!("{drops} drops"),
        Conclusion::NoOracleNeeded { more_bytes, .. } => {
            assert_eq!(more_bytes, best - verdict.perfect_oracle.bytes);
        }
        Conclusion::OracleCouldGain { bytes, .. } => {
            assert_eq!(bytes, verdict.perfect_oracle.bytes - best);
        }
    }
}

#[test]
fn where_lqd_drops_nothing_no_oracle_is_needed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let verdict = judged(&trace(folder.path(), 0.01), 2);
    assert_eq!(verdict.conclusion, Conclusion::NothingDropped);
    assert_eq!(verdict.dropped, Sent::default());
    assert_eq!(verdict.congestion.episodes, 0);
    assert!(verdict.occupancy.expect("rows").peak < 1.0);
    assert_eq!(sent(&verdict, ReplayPolicy::FollowLqd), verdict.arrived);
}
