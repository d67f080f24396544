//! What an oracle could be worth on a trace.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{
    DropReason, Event, EventBatch, EventKind, EventOptions, EventReader, LabelledBatch, SwitchSpec,
    SwitchSpecs,
};
use dropcast_features::FeatureSet;
use dropcast_measure::measure::{ReportRows, measure};
use dropcast_measure::verdict::{
    AskedPolicies, Conclusion, Cost, DropCounts, RivalKind, Verdict, judge,
};
use dropcast_measure::{ModelSource, PolicySection};
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::collect::{TraceFile, collect, collect_in_memory};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::train_on;
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_train::{BatchSource, Monotone, Split, VoteRule};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A generated trace of a leaf switch whose incasts are this large, as a share of the buffer.
fn trace(folder: &Path, incast_burst: f64) -> PathBuf {
    let (events, trace) = (folder.join("events.parquet"), folder.join("trace.parquet"));
    let workload = LeafWorkload { incast_burst, duration_ns: 60_000_000, ..LeafWorkload::loaded() };
    generate(&WorkloadSettings::Leaf(workload.clone()), &events, &Silent)
        .expect("a valid workload");
    let reader = EventReader::open(&events, EventOptions::default()).expect("own output");
    let features = "occupancy,level_occupancy".parse().expect("known features");
    let settings = TracerSettings { features, ..TracerSettings::default() };
    let specs = reader.specs().clone();
    let collected = collect::<TraceFile>(reader, specs, &settings, 1_000_000, trace, &Silent);
    collected.expect("valid events").trace
}

fn judged(trace: &Path, threads: usize) -> Verdict {
    let traces = LabelledTraces::open(&[trace.to_owned()], &FeatureSet::none()).expect("a trace");
    let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
    judge(&traces, &AskedPolicies::default(), &resources, &Silent)
        .expect("a trace that can be replayed")
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
    let most = of_kind(RivalKind::Alpha).map(|rival| rival.sent.bytes).max().expect("some");
    let alpha = rivals.best_alpha().expect("replayed");
    // The switch has Complete Sharing, so infinity is one of its alphas.
    assert_eq!(alpha.sent.bytes, most);
    let infinite = of_kind(RivalKind::Alpha).find(|rival| rival.alpha.is_none()).expect("one");
    assert_eq!(infinite.sent, sent(&verdict, ReplayPolicy::CompleteSharing));
    let optimum = rivals.optimum.expect("few arrivals");
    let all = verdict.policies.iter().map(|policy| policy.sent.bytes);
    let all = all.chain(rivals.policies.iter().map(|rival| rival.sent.bytes));
    assert!(all.chain([optimum.found.bytes]).all(|bytes| bytes <= optimum.most_bytes));
    let by_queue = rivals.class_alphas().map_or(0, |each| each.sent.bytes);
    let best = alpha.sent.bytes.max(by_queue);
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
        LeafWorkload { incast_burst: 1.0, duration_ns: 60_000_000, ..LeafWorkload::loaded() };
    let specs = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    // The first tenth says nothing of drops; then every ninth packet is dropped.
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
    let verdict = judge(&traces, &AskedPolicies::default(), &Resources::default(), &Silent)
        .expect("it can be replayed");

    let batches = traces.batches().expect("in memory");
    let batches: Vec<LabelledBatch> = batches.map(|rows| rows.expect("a row").batch).collect();
    let one = |size: u32| Sent { packets: 1, bytes: u64::from(size) };
    let sum = |is: &dyn Fn(bool, Option<DropReason>) -> bool, port: Option<u16>| {
        let mut sum = Sent::default();
        for batch in &batches {
            let arrivals = batch.arrivals.as_ref().expect("traced");
            let reasons = batch.real_drop.as_ref().expect("every row has a reason or none");
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
    let real = timeline.real.as_ref().expect("real drops");
    let total = |column: &[u64]| column.iter().sum::<u64>();
    assert_eq!(total(&timeline.lqd_bytes), counts.lqd.bytes);
    assert_eq!(Some(total(&real.only_real_bytes)), counts.only_real.map(|sent| sent.bytes));
    assert_eq!(Some(total(&real.only_lqd_packets)), counts.only_lqd.map(|sent| sent.packets));
    let worst = &verdict.episodes[0];
    assert!(verdict.episodes.is_sorted_by_key(|episode| std::cmp::Reverse(episode.drops)));
    let seen = total(&worst.timeline.real.as_ref().expect("real drops").packets);
    let others = total(&worst.timeline.lqd_packets) + total(&worst.timeline.own_packets);
    assert!(seen <= worst.drops && worst.drops <= seen + others);
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

fn in_memory(workload: &LeafWorkload, specs: SwitchSpecs) -> LabelledTraces {
    let settings = TracerSettings { features: FeatureSet::none(), ..TracerSettings::default() };
    let arrivals = workload.arrivals().expect("valid");
    let trace = collect_in_memory("leaf", arrivals, specs, &settings).expect("valid events");
    LabelledTraces::new(vec![trace], &FeatureSet::none()).expect("a trace")
}

fn asked(names: &[&str]) -> AskedPolicies {
    let policies = names.iter().map(|name| name.parse().expect("a policy")).collect();
    AskedPolicies { policies, ..AskedPolicies::default() }
}

/// Every policy of docs/policies.md, with its defaults, on a trace. Those that reports have anyway say the same.
#[test]
fn every_policy_of_the_page_is_replayed_or_says_why_not() {
    let workload =
        LeafWorkload { incast_burst: 1.0, duration_ns: 20_000_000, ..LeafWorkload::loaded() };
    let specs = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    let traces = in_memory(&workload, specs);
    let page = std::fs::read_to_string("../../docs/policies.md").expect("the page");
    let table = page.split("## Policies").nth(1).expect("its table").split("###").next();
    let rows = table.expect("a table").lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(names.len(), dropcast_switch::PolicySpec::NAMES.len(), "{names:?}");
    let names: Vec<&str> = names.into_iter().filter(|&name| name != "ndt").collect();
    let resources = Resources::default();
    let verdict = judge(&traces, &asked(&names), &resources, &Silent).expect("replayed");
    let found: Vec<&str> = verdict.rivals.asked().map(|rival| rival.policy.as_str()).collect();
    assert_eq!(found, names);
    let rival =
        |name: &str| verdict.rivals.asked().find(|rival| rival.policy == name).expect("asked");
    for (name, policy) in [
        ("lqd", ReplayPolicy::Lqd),
        ("follow-lqd", ReplayPolicy::FollowLqd),
        ("credence", ReplayPolicy::AlwaysAccept),
        ("complete-sharing", ReplayPolicy::CompleteSharing),
        ("complete-partitioning", ReplayPolicy::CompletePartitioning),
        ("dt", ReplayPolicy::DynamicThresholds),
        ("harmonic", ReplayPolicy::Harmonic),
    ] {
        assert_eq!(rival(name).sent, sent(&verdict, policy), "{name}");
    }
    // Others do something of their own.
    let same = |name: &str| {
        let mut others = verdict.policies.iter();
        others.any(|section| section.sent == rival(name).sent)
    };
    for name in ["abm", "edt", "smartbuf"] {
        assert!(!same(name), "{name}");
    }
    // Gains are those of what is transmitted.
    let advice = &verdict.advice;
    let of = |cost| advice.candidates.iter().find(|of| of.cost == cost).expect("compared");
    let (alpha, chip) = (of(Cost::Setting), of(Cost::OtherChip));
    let own = verdict.counts.own.bytes;
    assert_eq!((advice.now_lost_bytes, alpha.now_lost_bytes), (own, own));
    assert_eq!(alpha.lost_bytes, verdict.counts.best_alpha.expect("replayed").bytes);
    for candidate in [alpha, chip] {
        assert_eq!(candidate.gain.bytes, own as i64 - candidate.lost_bytes as i64);
    }
    assert_eq!(chip.lost_bytes, verdict.dropped.bytes);
    let without = judge(&traces, &AskedPolicies::default(), &resources, &Silent).expect("replayed");
    assert_eq!(without.conclusion, verdict.conclusion, "what is asked for decides nothing");
    assert_eq!(without.rivals.best_alpha, verdict.rivals.best_alpha);

    let refused = |name: &str, expected: &str| {
        let error = judge(&traces, &asked(&[name]), &resources, &Silent).expect_err(name);
        assert!(error.is_the_users() && error.to_string().contains(expected), "{error}");
    };
    refused("ndt:model=n.json", "policy: ndt:model=n.json: needs a network");
    refused("credence:model=m.json", "m.json: cannot be read");
    refused("oracle:base=lqd", "policy oracle:base=lqd: base: lqd pushes packets out");
    refused("follow-max:harmonic_share=2", "harmonic_share");
}

/// Queues for each port: the first has bursts that fit the buffer, the last is overloaded for long.
fn classes(queues: u8) -> LabelledTraces {
    let spec = SwitchSpec {
        queues_per_port: queues,
        ..SwitchSpec::uniform(2, 8_000_000_000, 40_000, 10_000)
    };
    let specs = SwitchSpecs::Same(spec);
    let mut events = Vec::new();
    let mut arrive = |time_ns: u64, port: u16, queue: u8| {
        events.push(Event {
            time_ns,
            flow_hash: 0,
            size_bytes: 1_000,
            switch_id: 0,
            port,
            queue,
            kind: EventKind::Arrival,
            flags: 0,
        });
    };
    for slot in 0..4_000_u64 {
        arrive(slot * 400, 0, queues - 1);
        if slot % 200 < 20 {
            (0..2).for_each(|_| arrive(slot * 400, 1, 0));
        }
    }
    let settings = TracerSettings { features: FeatureSet::none(), ..TracerSettings::default() };
    let events = vec![EventBatch::new(events)];
    let trace = collect_in_memory("classes", events, specs, &settings).expect("valid events");
    LabelledTraces::new(vec![trace], &FeatureSet::none()).expect("a trace")
}

#[test]
fn queues_of_a_port_have_alphas_of_their_own_where_that_is_better() {
    let traces = classes(2);
    let resources = Resources::default();
    let verdict = judge(&traces, &AskedPolicies::default(), &resources, &Silent).expect("replayed");
    let rivals = &verdict.rivals;
    let (alpha, each) = (rivals.best_alpha().expect("one"), rivals.class_alphas().expect("better"));
    assert!(each.sent.bytes > alpha.sent.bytes, "{each:?} {alpha:?}");
    assert_eq!(each.kind, RivalKind::ClassAlphas);
    let advice = &verdict.advice;
    let candidate = advice.candidates.iter().find(|of| of.cost == Cost::QueueSettings);
    let candidate = candidate.expect("compared");
    // One of 14 alphas for each of two queues.
    assert_eq!((&candidate.policy, candidate.gain.choices), (&each.policy, 14 * 14));
    assert_eq!(candidate.lost_bytes, verdict.arrived.bytes - each.sent.bytes);
    // It is the policy that its name says.
    let again = judge(&traces, &asked(&[&each.policy]), &resources, &Silent).expect("replayed");
    assert_eq!(again.rivals.asked().next().expect("asked").sent, each.sent);
    // No single change of an alpha is better.
    let of =
        |text: &str| text.parse::<dropcast_pipeline::named_policy::NamedPolicy>().expect("one");
    let alphas: Vec<f64> = each.policy["dt:alpha=[".len()..each.policy.len() - 1]
        .split(',')
        .map(|alpha| alpha.parse().expect("a number"))
        .collect();
    let grid = (-7..=6).map(|exponent| f64::from(exponent).exp2());
    let changed = grid.flat_map(|alpha| [[alpha, alphas[1]], [alphas[0], alpha]]);
    let policies = changed.map(|[a, b]| of(&format!("dt:alpha=[{a},{b}]"))).collect();
    let asked = AskedPolicies { policies, ..AskedPolicies::default() };
    let all = judge(&traces, &asked, &resources, &Silent).expect("replayed");
    assert!(all.rivals.asked().all(|rival| rival.sent.bytes <= each.sent.bytes));
}

#[test]
fn one_queue_for_each_port_has_one_alpha() {
    let resources = Resources::default();
    let judged = judge(&classes(1), &AskedPolicies::default(), &resources, &Silent);
    assert!(judged.expect("replayed").rivals.class_alphas().is_none());
}

/// Credence with forests against Credence with one comparison, all rows measured.
#[test]
fn a_report_says_whether_one_comparison_does_as_well() {
    let workload =
        LeafWorkload { incast_burst: 1.0, duration_ns: 40_000_000, ..LeafWorkload::loaded() };
    let specs = SwitchSpecs::Same(workload.switch_spec().expect("valid"));
    let features = FeatureSet::level4();
    let settings = TracerSettings { features: features.clone(), ..TracerSettings::default() };
    let arrivals = workload.arrivals().expect("valid");
    let trace = collect_in_memory("leaf", arrivals, specs, &settings).expect("valid events");
    let traces = LabelledTraces::new(vec![trace], &features).expect("a trace");
    let resources = Resources::default();
    // Trained on what they are measured on: the deeper the better.
    let report = |trees, depth| {
        let settings = TrainSettings {
            n_estimators: trees,
            max_depth: depth,
            min_samples_leaf: 1,
            vote: Some(VoteRule::F1),
            features: features.clone(),
            monotone: Monotone::Off,
            ..TrainSettings::default()
        };
        let fitted = train_on(&traces, &Split::None.into(), &settings, &resources, &Silent);
        let model = fitted.expect("rows with drops").model;
        let source = ModelSource::default();
        let asked = AskedPolicies::default();
        measure(&model, source, &traces, ReportRows::All, &asked, &Silent).expect("replayed")
    };
    let sides = [report(1, 1), report(16, 8)].map(|report| {
        let one = report.one_comparison.expect("replayed");
        let verdict = report.verdict.expect("replayed");
        let best = verdict.level_threshold.expect("tried");
        let total = report.replay.expect("replayed").total;
        let is_credence = |of: &&PolicySection| of.policy == ReplayPolicy::Credence;
        let model = total.policies.iter().find(is_credence).expect("replayed").sent;
        assert_eq!(
            (&one.feature, one.threshold_permille),
            (&best.feature, best.threshold_permille)
        );
        assert_eq!(one.more_bytes, best.sent.bytes as i64 - model.bytes as i64);
        assert!(!one.chosen_on_other_rows && best.other_rows.is_none());
        assert_eq!(one.does_as_well, one.more_bytes >= 0);
        one.more_bytes
    });
    // A large forest knows its rows, but LQD's drops are not the best in hindsight: a comparison may transmit more.
    assert!(sides[0] >= 0 && sides[0] > sides[1], "one split is a comparison: {sides:?}");
}
