//! What runs of several policies came to.

use dropcast_fabric::{Interval, RunSummary, paired_difference};
use serde::Serialize;

/// Runs of several policies; run `n` of each has the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedRuns {
    /// By policy, in the order of the experiment.
    pub policies: Vec<PolicyRuns>,
}

/// Runs of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyRuns {
    /// The policy's name.
    pub policy: String,
    /// By seed.
    pub runs: Vec<RunSummary>,
}

impl PolicyRuns {
    /// One of [`RunSummary::metrics`], by run; null where it is undefined.
    pub fn metric(&self, name: &str) -> Vec<Option<f64>> {
        let find = |run: &RunSummary| run.metrics().into_iter().find(|(own, _)| own == name)?.1;
        self.runs.iter().map(find).collect()
    }

    /// The mean of a metric over the runs, with its 95% interval; none if it is undefined in all.
    pub fn interval(&self, metric: &str, seed: u64) -> Option<Interval> {
        let values: Vec<f64> = self.metric(metric).into_iter().flatten().collect();
        Interval::bootstrap(&values, seed)
    }
}

impl PairedRuns {
    /// The runs of a policy.
    pub fn runs(&self, policy: &str) -> Option<&PolicyRuns> {
        self.policies.iter().find(|runs| runs.policy == policy)
    }

    /// How much larger a metric is under one policy than under another, run by run, with its 95%
    /// interval; none if a policy is unknown or no run defines the metric under both.
    pub fn difference(
        &self,
        metric: &str,
        under: &str,
        than_under: &str,
        seed: u64,
    ) -> Option<Interval> {
        let [under, than_under] = [under, than_under].map(|policy| self.runs(policy));
        paired_difference(&under?.metric(metric), &than_under?.metric(metric), seed)
    }
}
