//! What the switch's own policy and the best alpha drop, by place and time, counted again by slow switches of one policy
//! each.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Event, EventBatch, SwitchSpec, SwitchSpecs};
use dropcast_features::FeatureSet;
use dropcast_measure::measure::{ReportRows, measure};
use dropcast_measure::verdict::{AskedPolicies, DropCounts, Verdict, judge};
use dropcast_measure::{ModelSource, PolicySection};
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::train_on;
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_switch::{Fit, LineRate, Packet, PolicySite, PolicySpec, Switch};
use dropcast_train::{Split, VoteRule};
use std::collections::BTreeMap;

/// The arrivals of a leaf, at two switches with these alphas.
fn traces(alphas: [&[f64]; 2]) -> (LabelledTraces, BTreeMap<u16, SwitchSpec>, Vec<Event>) {
    let workload =
        LeafWorkload { incast_burst: 1.0, duration_ns: 30_000_000, ..LeafWorkload::loaded() };
    let spec = workload.switch_spec().expect("valid");
    let spec = |dt_alpha: &[f64]| SwitchSpec { dt_alpha: dt_alpha.to_vec(), ..spec.clone() };
    let specs = BTreeMap::from([(0, spec(alphas[0])), (1, spec(alphas[1]))]);
    let mut all = Vec::new();
    let batches = workload.arrivals().expect("valid").map(|batch: EventBatch| {
        let at = |event: &Event| [0, 1].map(|switch_id| Event { switch_id, ..*event });
        EventBatch::new(batch.events.iter().flat_map(at).collect())
    });
    let batches: Vec<EventBatch> = batches.collect();
    batches.iter().for_each(|batch| all.extend_from_slice(&batch.events));
    let features = FeatureSet::level4();
    let settings = TracerSettings { features: features.clone(), ..TracerSettings::default() };
    let described = SwitchSpecs::Each(specs.clone());
    let trace = collect_in_memory("leaf", batches, described, &settings).expect("valid events");
    (LabelledTraces::new(vec![trace], &features).expect("a trace"), specs, all)
}

/// Of each arrival, whether a policy of its switch drops it: a switch at a time, a packet at a time.
fn dropped_by(
    policy: impl Fn(&SwitchSpec) -> PolicySpec,
    specs: &BTreeMap<u16, SwitchSpec>,
    arrivals: &[Event],
) -> Vec<bool> {
    let mut dropped = vec![false; arrivals.len()];
    for (switch_id, spec) in specs {
        let built = policy(spec).build(PolicySite::new(spec, 0)).expect("a policy");
        let mut switch = Switch::new(spec, Fit::default(), built, LineRate::new(spec));
        for (at, event) in arrivals.iter().enumerate().filter(|(_, of)| of.switch_id == *switch_id)
        {
            let queue = spec.queue_index(event.port, event.queue);
            let packet = Packet::new(at as u64, queue, event.size_bytes);
            dropped[at] = !switch.arrive(&packet, event.time_ns);
        }
    }
    dropped
}

fn own_policy(spec: &SwitchSpec) -> PolicySpec {
    match spec.dt_alpha.as_slice() {
        [] => "complete-sharing".parse().expect("a policy"),
        [alpha] => format!("dt:alpha={alpha}").parse().expect("a policy"),
        alphas => panic!("{alphas:?}"),
    }
}

fn sum(dropped: &[bool], arrivals: &[Event], is: impl Fn(&Event) -> bool) -> Sent {
    let mut sum = Sent::default();
    for (event, _) in arrivals.iter().zip(dropped).filter(|(event, by)| **by && is(event)) {
        sum.add(Sent { packets: 1, bytes: u64::from(event.size_bytes) });
    }
    sum
}

fn check(verdict: &Verdict, specs: &BTreeMap<u16, SwitchSpec>, arrivals: &[Event]) {
    let own = dropped_by(own_policy, specs, arrivals);
    let best = verdict.rivals.best_alpha().expect("replayed");
    let best: PolicySpec = best.policy.parse().expect("of the registry");
    let best = dropped_by(|_| best.clone(), specs, arrivals);
    let expected =
        |is: &dyn Fn(&Event) -> bool| (sum(&own, arrivals, is), Some(sum(&best, arrivals, is)));
    let own_and_best = |counts: &DropCounts| (counts.own, counts.best_alpha);
    let all = expected(&|_| true);
    assert!(all.0.packets > 0 && all.1 != Some(all.0), "{all:?}");
    assert_eq!(own_and_best(&verdict.counts), all);
    assert_eq!(own_and_best(&verdict.by_trace[0].counts), all);
    assert_eq!(own_and_best(&verdict.hours[0].counts), all);
    assert_eq!(verdict.hours.len(), 1);
    let mut seen = Sent::default();
    for queue in &verdict.queues {
        let is = |event: &Event| {
            (event.switch_id, event.port, event.queue) == (queue.switch_id, queue.port, queue.queue)
        };
        assert_eq!(own_and_best(&queue.counts), expected(&is), "{queue:?}");
        seen.add(queue.counts.own);
    }
    assert_eq!(seen, all.0, "every queue with drops is listed");
    for switch in &verdict.switches {
        assert_eq!(
            own_and_best(&switch.counts),
            expected(&|event| event.switch_id == switch.switch_id)
        );
        assert_eq!(switch.own_policy, own_policy(&specs[&switch.switch_id]).to_string());
    }
    let line = &verdict.timelines[0];
    let columns = (line.best_alpha_packets.as_ref(), line.best_alpha_bytes.as_ref());
    let (Some(best_packets), Some(best_bytes)) = columns else { panic!("an alpha is best") };
    for at in 0..line.own_packets.len() {
        let from = line.begin_ns + at as u64 * line.bin_ns;
        let (own, best) = expected(&|event| (from..from + line.bin_ns).contains(&event.time_ns));
        assert_eq!((line.own_packets[at], line.own_bytes[at]), (own.packets, own.bytes), "{at}");
        let best_in_bin = Sent { packets: best_packets[at], bytes: best_bytes[at] };
        assert_eq!(Some(best_in_bin), best, "{at}");
    }
    assert!(!verdict.episodes.is_empty());
    for episode in &verdict.episodes {
        // Nothing is dropped for 10 round trips after the last drop but by an alpha that drops more.
        let (own, _) = expected(&|event| {
            event.switch_id == episode.switch_id
                && (episode.first_ns..=episode.last_ns).contains(&event.time_ns)
        });
        assert_eq!(episode.counts.own, own, "{episode:?}");
        assert!(episode.drops >= own.packets.max(episode.counts.lqd.packets));
    }
}

#[test]
fn each_place_and_time_has_the_drops_of_the_own_policy_and_the_best_alpha() {
    // An alpha that no report tries, and none: Complete Sharing.
    let (traces, specs, arrivals) = traces([&[0.75], &[]]);
    let judged = judge(&traces, &AskedPolicies::default(), &Resources::default(), &Silent);
    let verdict = judged.expect("it can be replayed");
    assert!(verdict.own_policy.is_none() && verdict.alpha_is_assumed);
    check(&verdict, &specs, &arrivals);
}

/// With a model, on its test rows: the other rows take room in the buffers, and do not count.
#[test]
fn rows_that_are_not_measured_take_room_and_do_not_count() {
    let (traces, _, _) = traces([&[0.5], &[0.5]]);
    let settings = TrainSettings {
        n_estimators: 1,
        max_depth: 2,
        vote: Some(VoteRule::F1),
        features: FeatureSet::level4(),
        ..TrainSettings::default()
    };
    let resources = Resources::default();
    let fitted = train_on(&traces, &Split::time().into(), &settings, &resources, &Silent);
    let model = fitted.expect("rows with drops").model;
    let (source, asked) = (ModelSource::default(), AskedPolicies::default());
    let of =
        |rows| measure(&model, source.clone(), &traces, rows, &asked, &Silent).expect("replayed");
    let [test, all] = [of(ReportRows::default()), of(ReportRows::All)];
    let arrived = |verdict: &Verdict| verdict.arrived.packets;
    let [test, all] = [test, all].map(|report| report.verdict.expect("replayed"));
    assert!(arrived(&test) < arrived(&all));
    for verdict in [&test, &all] {
        let dropped = |sent: Sent| Sent {
            packets: verdict.arrived.packets - sent.packets,
            bytes: verdict.arrived.bytes - sent.bytes,
        };
        let is_dt = |of: &&PolicySection| of.policy == ReplayPolicy::DynamicThresholds;
        let dt = verdict.policies.iter().find(is_dt).expect("replayed").sent;
        let best = verdict.rivals.best_alpha().expect("replayed").sent;
        assert_eq!(verdict.own_policy.as_deref(), Some("dt:alpha=0.5"));
        assert_eq!(
            (verdict.counts.own, verdict.counts.best_alpha),
            (dropped(dt), Some(dropped(best)))
        );
    }
}
