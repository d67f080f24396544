//! The rule's parameters, and the constants of a switch that follow from them.

use crate::policy_code::{PolicyCodeError, alphas_in_128ths, reserved_bytes};
use dropcast_data::{SwitchSpec, Victim};
use dropcast_switch::policies::dynamic_thresholds::DynamicThresholdsParameters;
use dropcast_switch::policies::oracle::{AnyOracle, OracleParameters};
use dropcast_switch::{Alphas, Fit, LineRate, PolicySite, PolicySpec};

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
    /// By queue within a port, in 128ths.
    pub(crate) alpha_128: Vec<u32>,
    /// By queue within a port: see [`reserved_bytes`].
    pub(crate) reserved_bytes: Vec<u32>,
    /// By port: bytes that it sends until the horizon.
    pub(crate) drain_bytes: Vec<u32>,
    /// Arrivals are counted in a window of this length.
    pub(crate) window_ns: u32,
    /// In 65,536ths.
    pub(crate) gate: u32,
}

impl Rule {
    /// The constants of a switch.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the rule's code can do.
    pub(crate) fn constants(&self, spec: &SwitchSpec) -> Result<RuleConstants, PolicyCodeError> {
        if !(0.0..=1.0).contains(&self.gate) {
            return Err(PolicyCodeError::Gate(self.gate));
        }
        if self.horizon_ns == 0 {
            return Err(PolicyCodeError::Horizon);
        }
        let class = |queue| self.alpha.get(queue).or(self.alpha.last()).copied().unwrap_or(1.0);
        let alpha_128 = alphas_in_128ths(spec, class)?;
        let drains = (0..spec.ports()).map(|port| self.drain_bytes(spec, port));
        Ok(RuleConstants {
            alpha_128,
            reserved_bytes: reserved_bytes(spec),
            drain_bytes: drains.collect::<Result<_, _>>()?,
            window_ns: self.window_ns(),
            gate: (self.gate * 65_536.0) as u32,
        })
    }

    /// Arrivals are counted in a window of half the horizon, ns, as `level_in_quarter_rtt` does with a time constant of four
    /// horizons.
    fn window_ns(&self) -> u32 {
        u32::try_from(self.horizon_ns.saturating_mul(4) / 8).unwrap_or(u32::MAX).max(1)
    }

    /// What a port sends until the horizon, with the roundings of the feature.
    fn drain_bytes(&self, spec: &SwitchSpec, port: usize) -> Result<u32, PolicyCodeError> {
        let in_two_rtts = u128::from(spec.line_rate_bps[port])
            * u128::from(self.horizon_ns.saturating_mul(4))
            / 4_000_000_000;
        u32::try_from(in_two_rtts / 8).map_err(|_| PolicyCodeError::Drain(port))
    }

    /// The policy of the fabric and the replays.
    pub(crate) fn policy(&self, spec: &SwitchSpec) -> Result<AnyOracle, PolicyCodeError> {
        self.constants(spec)?;
        let alpha = Alphas::new(self.alpha.clone())
            .map_err(|error| PolicyCodeError::Policy(error.to_string()))?;
        let base = PolicySpec::DynamicThresholds(DynamicThresholdsParameters { alpha });
        let parameters = OracleParameters {
            base: Box::new(base),
            model: None,
            horizon_ns: Some(self.horizon_ns),
            gate: Some(self.gate),
            told_late_ns: 0,
        };
        let service = LineRate::new(spec);
        let (fit, victim) = (Fit::Exact, Victim::default());
        let site = PolicySite { spec, fit, service, victim, seed: 1, model: None };
        parameters.policy(site).map_err(|error| PolicyCodeError::Policy(error.to_string()))
    }
}
