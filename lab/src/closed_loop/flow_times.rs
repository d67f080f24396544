//! How long flows took, by class: distributions of their completion times and slowdowns.

use super::{Experiment, NamedPolicy};
use dropcast_simulate::{FlowKind, FlowRecord, Sink};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Shares of flows at which a distribution is told: every hundredth, and the tail.
pub(crate) fn shares() -> impl Iterator<Item = f64> {
    (0..=99).map(|percent| f64::from(percent) / 100.0).chain([0.995, 0.999, 1.0])
}

/// The value that this share of `all` things stays within, of those that have one, sorted; none if so many have none.
pub(crate) fn at_share(sorted: &[f64], all: u64, share: f64) -> Option<f64> {
    let rank = (share * all as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// What is measured of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Flow completion time, nanoseconds.
    FctNs,
    /// [`FlowRecord::slowdown`].
    Slowdown,
}

impl Measure {
    /// Its name in files: `fct_ns`, `slowdown`.
    pub fn name(self) -> &'static str {
        match self {
            Measure::FctNs => "fct_ns",
            Measure::Slowdown => "slowdown",
        }
    }
}

/// The distribution of a measure over the flows of a class under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTimes {
    /// The policy's name.
    pub policy: String,
    /// Which flows.
    pub kind: FlowKind,
    /// What is measured.
    pub measure: Measure,
    /// Flows that started, in all runs.
    pub flows: u64,
    /// In order of shares.
    pub points: Vec<AtShare>,
}

/// The value that a share of the flows stays within. It is undefined, and left out, where in a run so many flows did not complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtShare {
    /// Of all flows that started, 0 to 1; at 0 is the least value.
    pub share: f64,
    /// Mean over the runs with such flows.
    pub mean: f64,
    /// The least of a run.
    pub low: f64,
    /// The largest of a run.
    pub high: f64,
}

/// Flows that started, and a measure of them at each of [`shares`].
type OfFlows = (u64, Vec<Option<f64>>);

/// Both measures of one run, by class.
pub(super) type TimesOfRun = BTreeMap<(FlowKind, Measure), OfFlows>;

/// A sink that keeps what flows took.
#[derive(Default)]
pub(super) struct TimesSink(BTreeMap<FlowKind, (u64, [Vec<f64>; 2])>);

impl Sink for TimesSink {
    fn flow_ended(&mut self, record: &FlowRecord) {
        let (flows, [times, slowdowns]) = self.0.entry(FlowKind::of(&record.flow)).or_default();
        *flows += 1;
        times.extend(record.fct_ns.map(|fct_ns| fct_ns as f64));
        slowdowns.extend(record.slowdown());
    }
}

impl TimesSink {
    pub(super) fn finish(self) -> TimesOfRun {
        let at_shares = |mut values: Vec<f64>, flows| {
            values.sort_unstable_by(f64::total_cmp);
            shares().map(|share| at_share(&values, flows, share)).collect()
        };
        let of_kind = |(kind, (flows, [times, slowdowns])): (FlowKind, (u64, [Vec<f64>; 2]))| {
            [(Measure::FctNs, times), (Measure::Slowdown, slowdowns)]
                .map(|(measure, values)| ((kind, measure), (flows, at_shares(values, flows))))
        };
        self.0.into_iter().flat_map(of_kind).collect()
    }
}

/// Joins the runs of each policy, in the order of the experiment.
pub(super) fn joined(
    experiment: &Experiment,
    runs: &BTreeMap<(String, u32), TimesOfRun>,
) -> Vec<FlowTimes> {
    let of_policy = |policy: &NamedPolicy| {
        let own = runs.iter().filter(|((label, _), _)| *label == policy.label);
        let mut together: BTreeMap<_, Vec<&OfFlows>> = BTreeMap::new();
        for (key, run) in own.flat_map(|(_, run)| run) {
            together.entry(*key).or_default().push(run);
        }
        let times = |((kind, measure), runs): (_, Vec<&OfFlows>)| FlowTimes {
            policy: policy.label.clone(),
            kind,
            measure,
            flows: runs.iter().map(|run| run.0).sum(),
            points: shares().enumerate().filter_map(|at| point(&runs, at)).collect(),
        };
        together.into_iter().map(times).collect::<Vec<_>>()
    };
    experiment.policies.iter().flat_map(of_policy).collect()
}

fn point(runs: &[&OfFlows], (at, share): (usize, f64)) -> Option<AtShare> {
    let values = runs.iter().map(|run| run.1[at]).collect::<Option<Vec<f64>>>()?;
    Some(AtShare {
        share,
        mean: values.iter().sum::<f64>() / values.len() as f64,
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// A row for each point.
pub(super) fn csv(all: &[FlowTimes]) -> String {
    let mut out = "policy,class,measure,flows,share_of_flows,mean,low,high\n".to_owned();
    for FlowTimes { policy, kind, measure, flows, points } in all {
        // RFC 4180.
        let policy = policy.replace('"', "\"\"");
        for AtShare { share, mean, low, high } in points {
            let (kind, measure) = (kind.name(), measure.name());
            let _ =
                writeln!(out, "\"{policy}\",{kind},{measure},{flows},{share},{mean},{low},{high}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_simulate::{Flow, FlowClass, Transport};

    fn run(times: &[Option<u64>]) -> TimesOfRun {
        let mut sink = TimesSink::default();
        for &fct_ns in times {
            let flow = Flow {
                start_ns: 0,
                from: 0,
                to: 1,
                size_bytes: 500_000,
                class: FlowClass::Single,
                transport: Transport::Dctcp,
                queue: 1,
                spines: None,
            };
            sink.flow_ended(&FlowRecord {
                id: 0,
                flow,
                fct_ns,
                ideal_fct_ns: 100,
                received_bytes: 0,
                timeouts: 0,
                retransmissions: 0,
            });
        }
        sink.finish()
    }

    #[test]
    fn shares_are_of_all_flows_and_runs_have_a_range() {
        let experiment = Experiment {
            policies: vec!["lqd".parse().expect("a policy")],
            ..Experiment::default()
        };
        let runs = BTreeMap::from([
            (("lqd".to_owned(), 0), run(&[Some(400), Some(200), Some(100), Some(300)])),
            (("lqd".to_owned(), 1), run(&[Some(600), Some(200), None, Some(250)])),
            (("other".to_owned(), 0), run(&[Some(1)])),
        ]);
        let all = joined(&experiment, &runs);
        assert_eq!(all.len(), 2);
        let FlowTimes { kind, measure, flows, points, .. } = &all[0];
        assert_eq!((*kind, *measure, *flows), (FlowKind::Middle, Measure::FctNs, 8));
        let at =
            |points: &[AtShare], share| points.iter().find(|point| point.share == share).copied();
        let half = AtShare { share: 0.5, mean: 225.0, low: 200.0, high: 250.0 };
        assert_eq!(at(points, 0.5), Some(half));
        assert_eq!(at(points, 0.0).map(|point| point.mean), Some(150.0));
        assert_eq!(at(points, 0.75).map(|point| point.high), Some(600.0));
        assert_eq!(at(points, 0.76), None, "a quarter of a run's flows did not complete");
        assert_eq!(at(&all[1].points, 0.5).map(|point| point.mean), Some(2.25));
        let csv = csv(&all);
        assert!(csv.contains("\"lqd\",middle,fct_ns,8,0.5,225,200,250\n"), "{csv}");
    }
}
