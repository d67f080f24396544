//! A comparison with intervals, and which differences are beyond them.

use super::{Experiment, NamedPolicy, PairedRuns};
use dropcast_fabric::{Interval, RunSummary};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that is printed of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentSummary {
    /// What was run.
    pub experiment: Experiment,
    /// By policy, in the order of the experiment.
    pub policies: Vec<PolicySummary>,
}

/// The runs of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicySummary {
    /// The policy's name.
    pub policy: String,
    /// The folder of its files, if there are any.
    pub folder: String,
    /// By seed.
    pub runs: Vec<RunSummary>,
    /// [`RunSummary::metrics`] by name, over the runs.
    pub metrics: BTreeMap<String, MetricSummary>,
}

/// One number over the runs of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetricSummary {
    /// Its mean, with its 95% interval; null if it is undefined in every run.
    pub value: Option<Interval>,
    /// How much larger it is than under the experiment's first policy, run by run; null for that
    /// policy, and if no run defines it under both.
    pub difference: Option<Interval>,
    /// Whether the difference is beyond its interval; null with too few runs.
    pub is_beyond_noise: Option<bool>,
}

impl PairedRuns {
    /// With intervals, and compared with the first policy.
    pub fn summary(&self, experiment: &Experiment) -> ExperimentSummary {
        let seed = experiment.traffic.seed;
        let first = self.policies.first().map_or("", |runs| &runs.policy);
        let of_policy = |policy: &NamedPolicy| {
            let runs = self.runs(&policy.label)?;
            let names = runs.runs.first()?.metrics().into_iter().map(|(name, _)| name);
            let metric = |name: String| {
                let difference = (policy.label != first)
                    .then(|| self.difference(&name, &policy.label, first, seed))
                    .flatten();
                let value = runs.interval(&name, seed);
                let is_beyond_noise = difference.and_then(|interval| interval.excludes_zero());
                (name, MetricSummary { value, difference, is_beyond_noise })
            };
            Some(PolicySummary {
                policy: policy.label.clone(),
                folder: experiment.folder_of(policy),
                runs: runs.runs.clone(),
                metrics: names.map(metric).collect(),
            })
        };
        ExperimentSummary {
            experiment: experiment.clone(),
            policies: experiment.policies.iter().filter_map(of_policy).collect(),
        }
    }
}
