//! The rule's parameters, and the constants of a switch that follow from them.

use crate::policy_code::{Filtered, FilteredConstants, PolicyCodeError};
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::oracle::{AnyOracle, LevelAhead};

/// The rule's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Dynamic Thresholds' alpha by queue within a port; the last one serves all further queues.
    pub alpha: Vec<f64>,
    /// How far ahead the rule looks, ns.
    pub horizon_ns: u64,
    /// The share of predictions that must come true for them to be followed; 0 follows all.
    pub gate: f64,
}

impl Rule {
    /// The feature `level_in_quarter_rtt` looks a quarter of its time constant ahead.
    fn filtered(&self) -> Filtered<'_> {
        Filtered {
            alpha: &self.alpha,
            gate: Some(self.gate),
            time_constant_ns: LevelAhead::time_constant_ns(self.horizon_ns),
            windows: 2,
        }
    }

    /// The constants of a switch.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the rule's code can do.
    pub(crate) fn constants(
        &self,
        spec: &SwitchSpec,
    ) -> Result<FilteredConstants, PolicyCodeError> {
        if self.horizon_ns == 0 {
            return Err(PolicyCodeError::Horizon);
        }
        self.filtered().constants(spec)
    }

    /// The policy of the fabric and the replays.
    pub(crate) fn policy(&self, spec: &SwitchSpec) -> Result<AnyOracle, PolicyCodeError> {
        self.constants(spec)?;
        self.filtered().policy(spec, Some(self.horizon_ns), None)
    }
}
