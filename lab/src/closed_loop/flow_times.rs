//! How long flows took, by class: distributions of their completion times and slowdowns.

use super::{Experiment, NamedPolicy};
use dropcast_fabric::{
    FabricObserver, FlowClass, FlowKind, FlowRecord, SizeBucket, SizeBuckets, quantile,
};
use dropcast_reports::csv::quoted;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Shares of flows at which a distribution is printed: every hundredth, and the tail.
pub(crate) fn shares() -> impl Iterator<Item = f64> {
    (0..=99).map(|percent| f64::from(percent) / 100.0).chain([0.995, 0.999, 1.0])
}

/// What is measured of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowMeasure {
    /// Flow completion time, nanoseconds.
    FctNs,
    /// [`FlowRecord::slowdown`].
    Slowdown,
}

impl FlowMeasure {
    /// Its name in files: `fct_ns`, `slowdown`.
    pub fn name(self) -> &'static str {
        match self {
            FlowMeasure::FctNs => "fct_ns",
            FlowMeasure::Slowdown => "slowdown",
        }
    }
}

/// Flows that share a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowGroup {
    /// A class.
    Kind(FlowKind),
    /// Flows outside incasts and collectives of these sizes.
    Size(SizeBucket),
}

impl FlowGroup {
    /// Its name in files.
    pub fn name(self) -> String {
        match self {
            FlowGroup::Kind(kind) => kind.name().to_owned(),
            FlowGroup::Size(bucket) => bucket.name(),
        }
    }

    /// Its flows, in words.
    pub fn words(self) -> String {
        match self {
            FlowGroup::Kind(kind) => format!("{} flows", kind.name()),
            FlowGroup::Size(bucket) => bucket.words(),
        }
    }
}

/// The distribution of a measure over a group of flows under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTimes {
    /// The policy's name.
    pub policy: String,
    /// Which flows.
    pub group: FlowGroup,
    /// What is measured.
    pub measure: FlowMeasure,
    /// Flows that started, in all runs.
    pub flows: u64,
    /// In order of shares.
    pub points: Vec<AtShare>,
}

/// The quantile of a measure at a share of the flows ([`quantile`]). It is undefined, and left out, where in a run so many flows did not complete.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfFlows {
    flows: u64,
    #[serde(deserialize_with = "at_all_shares")]
    at_shares: Vec<Option<f64>>,
}

/// As many values as there are [`shares`].
fn at_all_shares<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Option<f64>>, D::Error> {
    let values = Vec::deserialize(from)?;
    if values.len() != shares().count() {
        return Err(D::Error::custom("flow times are of other shares"));
    }
    Ok(values)
}

/// Both measures of one run, by group.
pub(super) type TimesOfRun = BTreeMap<(FlowGroup, FlowMeasure), OfFlows>;

/// Flows that started, and completion times and slowdowns of those that completed.
type Times = (u64, [Vec<f64>; 2]);

/// A sink that keeps what flows took.
pub(super) struct TimesSink {
    buckets: SizeBuckets,
    groups: BTreeMap<FlowGroup, Times>,
}

impl FabricObserver for TimesSink {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.add(FlowGroup::Kind(FlowKind::of(&record.flow)), record);
        let place = self.buckets.place(record.flow.size_bytes);
        if let (FlowClass::Single, Some(place)) = (record.flow.class, place) {
            self.add(FlowGroup::Size(self.buckets.all()[place]), record);
        }
    }
}

impl TimesSink {
    pub(super) fn new(buckets: SizeBuckets) -> Self {
        TimesSink { buckets, groups: BTreeMap::new() }
    }

    fn add(&mut self, group: FlowGroup, record: &FlowRecord) {
        let (flows, [times, slowdowns]) = self.groups.entry(group).or_default();
        *flows += 1;
        times.extend(record.fct_ns.map(|fct_ns| fct_ns as f64));
        slowdowns.extend(record.slowdown());
    }

    pub(super) fn finish(self) -> TimesOfRun {
        let at_shares = |mut values: Vec<f64>, flows| {
            values.sort_unstable_by(f64::total_cmp);
            shares().map(|share| quantile(&values, flows, share)).collect()
        };
        let of_group = |(group, (flows, [times, slowdowns])): (FlowGroup, Times)| {
            [(FlowMeasure::FctNs, times), (FlowMeasure::Slowdown, slowdowns)].map(
                |(measure, values)| {
                    ((group, measure), OfFlows { flows, at_shares: at_shares(values, flows) })
                },
            )
        };
        self.groups.into_iter().flat_map(of_group).collect()
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
        let times = |((group, measure), runs): (_, Vec<&OfFlows>)| FlowTimes {
            policy: policy.label.clone(),
            group,
            measure,
            flows: runs.iter().map(|run| run.flows).sum(),
            points: shares().enumerate().filter_map(|at| point(&runs, at)).collect(),
        };
        together.into_iter().map(times).collect::<Vec<_>>()
    };
    experiment.policies.iter().flat_map(of_policy).collect()
}

fn point(runs: &[&OfFlows], (at, share): (usize, f64)) -> Option<AtShare> {
    let values = runs.iter().map(|run| run.at_shares[at]).collect::<Option<Vec<f64>>>()?;
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
    for FlowTimes { policy, group, measure, flows, points } in all {
        let policy = quoted(policy);
        for AtShare { share, mean, low, high } in points {
            let (group, measure) = (group.name(), measure.name());
            let _ = writeln!(out, "{policy},{group},{measure},{flows},{share},{mean},{low},{high}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_fabric::{Flow, FlowClass, Transport};

    fn run(times: &[Option<u64>]) -> TimesOfRun {
        let buckets = SizeBuckets::new(&[400_000, 500_000]).expect("ascending");
        let mut sink = TimesSink::new(buckets);
        for &fct_ns in times {
            let flow = Flow {
                start_ns: 0,
                from: 0,
                to: 1,
                size_bytes: 500_000,
                class: FlowClass::Single,
                connection: FlowClass::Single.connection(),
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
        assert_eq!(all.len(), 4);
        let FlowTimes { group, measure, flows, points, .. } = &all[0];
        let middle = FlowGroup::Kind(FlowKind::Middle);
        assert_eq!((*group, *measure, *flows), (middle, FlowMeasure::FctNs, 8));
        assert_eq!(all[2].group.name(), "400001-500000-bytes");
        assert_eq!((all[2].flows, &all[2].points), (8, points));
        let at =
            |points: &[AtShare], share| points.iter().find(|point| point.share == share).copied();
        let half = AtShare { share: 0.5, mean: 337.5, low: 250.0, high: 425.0 };
        assert_eq!(at(points, 0.5), Some(half));
        assert_eq!(at(points, 0.0).map(|point| point.mean), Some(150.0));
        assert!(at(points, 0.66).is_some_and(|point| point.high < 600.0));
        assert_eq!(at(points, 0.67), None, "the last of a run's flows did not complete");
        assert_eq!(at(&all[1].points, 0.5).map(|point| point.mean), Some(3.375));
        let csv = csv(&all);
        assert!(csv.contains("\"lqd\",middle,fct_ns,8,0.5,337.5,250,425\n"), "{csv}");
    }
}
