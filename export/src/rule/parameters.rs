//! The rule's parameters, and the constants of a switch that follow from them.

use crate::decision::drain_bytes;
use crate::policy_code::{Filtered, FilteredConstants, PolicyCodeError};
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::oracle::AnyOracle;

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

/// What the rule's code needs to know of a switch, in integers.
pub(crate) struct RuleConstants {
    /// What it has in common with other filters.
    pub(crate) filtered: FilteredConstants,
    /// By port: bytes that it sends until the horizon.
    pub(crate) drain_bytes: Vec<u32>,
    /// Arrivals are counted in a window of this length.
    pub(crate) window_ns: u32,
}

impl Rule {
    fn filtered(&self) -> Filtered<'_> {
        Filtered { alpha: &self.alpha, gate: Some(self.gate) }
    }

    /// The constants of a switch.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the rule's code can do.
    pub(crate) fn constants(&self, spec: &SwitchSpec) -> Result<RuleConstants, PolicyCodeError> {
        let filtered = self.filtered().constants(spec)?;
        if self.horizon_ns == 0 {
            return Err(PolicyCodeError::Horizon);
        }
        let drains = (0..spec.ports()).map(|port| self.drain_bytes(spec, port));
        Ok(RuleConstants {
            filtered,
            drain_bytes: drains.collect::<Result<_, _>>()?,
            window_ns: self.window_ns(),
        })
    }

    /// Arrivals are counted in a window of half the horizon, ns, as `level_in_quarter_rtt` does with a time constant of four
    /// horizons.
    fn window_ns(&self) -> u32 {
        u32::try_from(self.horizon_ns.saturating_mul(4) / 8).unwrap_or(u32::MAX).max(1)
    }

    /// What a port sends until the horizon, with the roundings of the feature.
    fn drain_bytes(&self, spec: &SwitchSpec, port: usize) -> Result<u32, PolicyCodeError> {
        let in_two_rtts = drain_bytes(spec.line_rate_bps[port], self.horizon_ns.saturating_mul(4));
        u32::try_from(in_two_rtts / 8).map_err(|_| PolicyCodeError::Drain(port))
    }

    /// The policy of the fabric and the replays.
    pub(crate) fn policy(&self, spec: &SwitchSpec) -> Result<AnyOracle, PolicyCodeError> {
        self.constants(spec)?;
        self.filtered().policy(spec, Some(self.horizon_ns), None)
    }
}
