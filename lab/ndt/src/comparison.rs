//! NDT beside the policies of its paper (section VI-A, figure 8).

use crate::Scenario;
use crate::training::mean;
use dropcast_data::Threads;
use dropcast_fabric::{Interval, quantile};
use dropcast_switch::PolicySpec;
use dropcast_switch::policies::ndt::NdtNetwork;
use serde::Serialize;
use std::num::NonZeroUsize;

/// The paper's static threshold, Complete Sharing, DT with alpha 1 and NDT; and two that it leaves out: DT
/// with NDT's largest alpha, and LQD. The paper's EDT is left out: ours follows secondary sources.
pub const POLICIES: [&str; 6] = [
    "complete-partitioning",
    "complete-sharing",
    "dt:alpha=[1.0]",
    "dt:alpha=[32.0]",
    "lqd",
    "ndt",
];

/// A trace under one policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TraceFct {
    /// Mean completion time, nanoseconds; null without flows.
    pub mean_ns: Option<f64>,
    /// 99th percentile, nanoseconds; null without flows.
    pub p99_ns: Option<f64>,
}

/// One policy over all traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyFct {
    /// One of [`POLICIES`].
    pub policy: &'static str,
    /// By trace.
    pub traces: Vec<TraceFct>,
    /// Mean over traces of mean FCT over DT's, minus 1, with its 95% interval; null without flows.
    pub mean_beyond_dt: Option<Interval>,
    /// The same of the 99th percentile.
    pub p99_beyond_dt: Option<Interval>,
    /// Share of traces whose mean FCT is below DT's; null without flows.
    pub better_than_dt: Option<f64>,
}

/// Runs each policy on this many traces of a scenario. The same at any number of threads.
pub fn compare(
    scenario: &Scenario,
    network: &NdtNetwork,
    traces: u64,
    threads: NonZeroUsize,
) -> Vec<PolicyFct> {
    let tasks = POLICIES.iter().flat_map(|&policy| (0..traces).map(move |nth| (policy, nth)));
    let fcts = Threads::new(threads).map(tasks.collect(), |(policy, nth)| {
        let policy: PolicySpec = match policy {
            "ndt" => PolicySpec::Ndt(Default::default()),
            name => name.parse().expect("a known policy"),
        };
        let fct_ns = scenario.trace(nth).fct_ns(&policy, Some(network));
        TraceFct {
            mean_ns: (!fct_ns.is_empty()).then(|| mean(&fct_ns)),
            p99_ns: {
                let fct_ns: Vec<f64> = fct_ns.iter().map(|&ns| ns as f64).collect();
                quantile(&fct_ns, fct_ns.len() as u64, 0.99)
            },
        }
    });
    let by_policy: Vec<&[TraceFct]> = fcts.chunks(traces.max(1) as usize).collect();
    let Some(dt) = POLICIES.iter().position(|name| name.starts_with("dt")) else {
        return Vec::new();
    };
    let dt = by_policy[dt];
    POLICIES
        .iter()
        .zip(&by_policy)
        .map(|(&policy, traces)| {
            let pairs = || traces.iter().zip(dt);
            let means: Vec<f64> =
                pairs().filter_map(|(own, dt)| Some(own.mean_ns? / dt.mean_ns? - 1.0)).collect();
            let p99s: Vec<f64> =
                pairs().filter_map(|(own, dt)| Some(own.p99_ns? / dt.p99_ns? - 1.0)).collect();
            let better = means.iter().filter(|&&beyond| beyond < 0.0).count();
            PolicyFct {
                policy,
                traces: traces.to_vec(),
                better_than_dt: (!means.is_empty()).then(|| better as f64 / means.len() as f64),
                mean_beyond_dt: Interval::bootstrap(&means, scenario.seed),
                p99_beyond_dt: Interval::bootstrap(&p99s, scenario.seed),
            }
        })
        .collect()
}
