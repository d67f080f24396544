//! PRED's parameters.

use crate::BuildError;
use crate::aqm::Signal;
use serde::{Deserialize, Serialize};

/// Parameters of [`super::Pred`] (PRED, section 4.3). The paper counts queues in packets, here of 1,500 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PredParameters {
    /// `maxK`, bytes.
    pub max_bytes: u32,
    /// Initial `minK`, bytes.
    pub min_bytes: u32,
    /// `Delta minK`, bytes.
    pub min_step_bytes: u32,
    /// `lambda_min`, 1/MB.
    pub lambda_min: f64,
    /// `Delta lambda`, 1/MB.
    pub lambda_step: f64,
    /// Initial `lambda`, 1/MB: 0.1 in the paper's testbed (section 6.2). Rounded to whole steps above
    /// `lambda_min`.
    pub lambda: f64,
    /// `f(N)`, what the slope is multiplied with.
    pub flows_function: FlowsFunction,
    /// Weight of throughput against queue length.
    pub beta: f64,
    /// `q_left`, bytes: below it a shorter queue is no better.
    pub left_bytes: u32,
    /// `T_FCS`, nanoseconds; 1.25 base RTTs if not given.
    pub flows_ns: Option<u64>,
    /// `T_QLA`, nanoseconds; 5 base RTTs if not given. 0: `lambda` and `minK` are constant, the
    /// paper's "only FCS".
    pub trial_ns: Option<u64>,
    /// How senders learn of congestion.
    pub signal: Signal,
}

/// How the slope follows `N` flows (PRED, sections 4.1 and 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowsFunction {
    /// `N`, the paper's choice.
    #[default]
    N,
    /// Its root, which the fluid model asks for.
    RootN,
    /// Its square.
    NSquared,
}

impl FlowsFunction {
    pub(super) fn of(self, flows: u32) -> f64 {
        let flows = f64::from(flows);
        match self {
            FlowsFunction::N => flows,
            FlowsFunction::RootN => flows.sqrt(),
            FlowsFunction::NSquared => flows * flows,
        }
    }
}

const PACKET_BYTES: u32 = 1500;

impl Default for PredParameters {
    fn default() -> Self {
        PredParameters {
            max_bytes: 500_000,
            min_bytes: 10 * PACKET_BYTES,
            min_step_bytes: 5 * PACKET_BYTES,
            lambda_min: 0.05,
            lambda_step: 0.025,
            lambda: 0.1,
            flows_function: FlowsFunction::default(),
            beta: 0.4,
            left_bytes: 15 * PACKET_BYTES,
            flows_ns: None,
            trial_ns: None,
            signal: Signal::default(),
        }
    }
}

impl PredParameters {
    /// Whether they are in range.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        for (name, number) in [
            ("lambda_min", self.lambda_min),
            ("lambda_step", self.lambda_step),
            ("lambda", self.lambda),
        ] {
            if !is_positive(number) {
                return Err(BuildError::parameter(name, "expected a positive number"));
            }
        }
        if self.lambda < self.lambda_min {
            return Err(BuildError::parameter("lambda", "is less than lambda_min"));
        }
        if !(0.0..=1.0).contains(&self.beta) {
            return Err(BuildError::parameter("beta", "expected 0 to 1"));
        }
        if self.min_bytes >= self.max_bytes || self.left_bytes >= self.max_bytes {
            let problem = "expected more than min_bytes and left_bytes";
            return Err(BuildError::parameter("max_bytes", problem));
        }
        if self.min_step_bytes == 0 {
            return Err(BuildError::parameter("min_step_bytes", "is 0"));
        }
        Ok(())
    }
}
