//! What an oracle could be worth on a trace.

use dropcast_data::{
    DropReason, EventBatch, EventKind, EventOptions, EventReader, LabelledBatch, SwitchSpecs,
};
use dropcast_features::FeatureSet;
use dropcast_pipeline::collect::{collect, collect_in_memory};
use dropcast_pipeline::generate::generate_leaf;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::verdict::{Conclusion, DropCounts, RivalKind, Verdict, judge};
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
    let rivals = &verdict.rivals;
    let of_kind = |kind| rivals.policies.iter().filter(move |rival| rival.kind == kind);
    let most = |kind| of_kind(kind).map(|rival| rival.sent.bytes).max().expect("some");
    assert!(!rivals.chosen_on_other_rows, "all rows are measured");
    let (alpha, rule) =
        (rivals.best_alpha().expect("replayed"), rivals.best_rule().expect("replayed"));
    assert_eq!(alpha.sent.bytes, most(RivalKind::Alpha));
    assert_eq!(rule.sent.bytes, most(RivalKind::UntrainedRule));
    let infinite = of_kind(RivalKind::Alpha).find(|rival| rival.alpha.is_none()).expect("one");
    assert_eq!(infinite.sent, sent(&verdict, ReplayPolicy::CompleteSharing));
    let optimum = rivals.optimum.expect("few arrivals");
    let all = verdict.policies.iter().map(|policy| policy.sent.bytes);
    let all = all.chain(rivals.policies.iter().map(|rival| rival.sent.bytes));
    assert!(all.chain([optimum.found.bytes]).all(|bytes| bytes <= optimum.most_bytes));
    let best = alpha.sent.bytes.max(rule.sent.bytes);
    match &verdict.conclusion {
        Conclusion::NothingDropped => panic!("{drops} drops"),
        Conclusion::NoOracleNeeded { more_bytes, .. } => {
            assert_eq!(*more_bytes, best - verdict.perfect_oracle.bytes);
        }
        Conclusion::OracleCouldGain { bytes, .. } => {
            assert_eq!(*bytes, verdict.perfect_oracle.bytes - best);
        }
    }
}

/// What the verdict says of real drops and by queue, summed up by scanning the rows.
#[test]
fn real_drops_are_counted_against_lqds() {
    let workload =
        LeafWorkload { incast_burst: 1.0, duration_ns: 60_000_000, ..LeafWorkload::default() };
    let specs = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    // The first tenth tells of no drops; then every ninth packet is dropped.
    let arrivals: Vec<EventBatch> = workload.arrivals().expect("valid").collect();
    let all: usize = arrivals.iter().map(|batch| batch.events.len()).sum();
    let mut number = 0;
    let events = arrivals.into_iter().map(|mut batch| {
        for event in &mut batch.events {
            number += 1;
            if number > all / 10 && number % 9 == 0 {
                let reason =
                    if number % 2 == 0 { DropReason::Policy } else { DropReason::Admission };
                event.kind = EventKind::Drop(reason);
            }
        }
        batch
    });
    let settings = TracerSettings { features: FeatureSet::none(), ..TracerSettings::default() };
    let trace = collect_in_memory("leaf", events, specs, &settings).expect("valid events");
    let traces = LabelledTraces::new(vec![trace], &FeatureSet::none()).expect("a trace");
    let verdict = judge(&traces, &Resources::default(), &Silent).expect("it can be replayed");

    let batches = traces.batches().expect("in memory");
    let batches: Vec<LabelledBatch> = batches.map(|rows| rows.expect("a row").batch).collect();
    let one = |size: u32| Sent { packets: 1, bytes: u64::from(size) };
    let sum = |is: &dyn Fn(bool, Option<DropReason>) -> bool, port: Option<u16>| {
        let mut sum = Sent::default();
        for batch in &batches {
            let arrivals = batch.arrivals.as_ref().expect("traced");
            let reasons = batch.real_drop.as_ref().expect("every row tells");
            for (row, (&by_lqd, &reason)) in batch.drop.iter().zip(reasons).enumerate() {
                if is(by_lqd, reason) && port.is_none_or(|port| port == arrivals.port[row]) {
                    sum.add(one(arrivals.size_bytes[row]));
                }
            }
        }
        sum
    };
    let counts = verdict.counts;
    assert!(counts.lqd.packets > 0, "{counts:?}");
    assert_eq!(counts.arrived.packets, all as u64);
    assert_eq!(counts.real, Some(sum(&|_, reason| reason.is_some(), None)));
    assert_eq!(counts.only_real, Some(sum(&|by_lqd, reason| reason.is_some() && !by_lqd, None)));
    assert_eq!(counts.only_lqd, Some(sum(&|by_lqd, reason| reason.is_none() && by_lqd, None)));
    assert_eq!(counts.confusion, None);
    for of in &verdict.real_reasons {
        assert_eq!(of.dropped, sum(&|_, reason| reason == Some(of.reason), None));
    }
    assert_eq!(verdict.real_reasons.len(), 2);

    let mut by_queue = DropCounts::default();
    for queue in &verdict.queues {
        by_queue.merge(&queue.counts);
    }
    let of_port = |port| sum(&|by_lqd, _| by_lqd, Some(port));
    for port in 0..4 {
        let own = verdict.queues.iter().filter(|queue| queue.port == port);
        let mut lqd = Sent::default();
        own.for_each(|queue| lqd.add(queue.counts.lqd));
        assert_eq!(lqd, of_port(port), "port {port}");
    }
    assert_eq!((by_queue.lqd, by_queue.only_real), (counts.lqd, counts.only_real));
    assert_eq!(verdict.switches[0].counts, counts);

    let timeline = &verdict.timelines[0];
    let real = timeline.real.as_ref().expect("told");
    let total = |column: &[u64]| column.iter().sum::<u64>();
    assert_eq!(total(&timeline.lqd_bytes), counts.lqd.bytes);
    assert_eq!(Some(total(&real.only_real_bytes)), counts.only_real.map(|sent| sent.bytes));
    assert_eq!(Some(total(&real.only_lqd_packets)), counts.only_lqd.map(|sent| sent.packets));
    let worst = &verdict.episodes[0];
    assert!(verdict.episodes.is_sorted_by_key(|episode| std::cmp::Reverse(episode.drops)));
    let seen = total(&worst.timeline.real.as_ref().expect("told").packets);
    assert!(seen <= worst.drops && worst.drops <= seen + total(&worst.timeline.lqd_packets));
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
