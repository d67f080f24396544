//! The rule's parameters, and the constants of a switch that follow from them.

use dropcast_data::SwitchSpec;

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

/// Why a rule cannot be written for a switch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Queues that keep bytes for themselves, or do not share the buffer.
    #[error(
        "the switch has reserved bytes or queues outside the shared buffer, which the rule's code does not know"
    )]
    Reserved,
    /// A gate that is no share.
    #[error("gate {0}: expected 0 to 1")]
    Gate(f64),
    /// No time ahead.
    #[error("horizon_ns is 0, expected at least 1")]
    Horizon,
    /// An alpha that integers cannot hold.
    #[error("alpha {0}: expected a multiple of 1/128 up to 65,536")]
    Alpha(f64),
    /// A port that is too fast for the horizon.
    #[error("port {0} sends more than 4 GiB within the horizon")]
    Drain(usize),
    /// The fabric's policy cannot be built, so there are no packets to check the code with.
    #[error("{0}")]
    Policy(String),
}

/// What the rule's code needs to know of a switch, in integers.
pub(crate) struct RuleConstants {
    /// By queue within a port, in 128ths.
    pub(crate) alpha_128: Vec<u32>,
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
    pub(crate) fn constants(&self, spec: &SwitchSpec) -> Result<RuleConstants, RuleError> {
        let reserves = spec.reserved_bytes.iter().any(|&bytes| bytes > 0);
        if reserves || spec.shared.iter().any(|shares| !shares) {
            return Err(RuleError::Reserved);
        }
        if !(0.0..=1.0).contains(&self.gate) {
            return Err(RuleError::Gate(self.gate));
        }
        if self.horizon_ns == 0 {
            return Err(RuleError::Horizon);
        }
        let class = |queue| self.alpha.get(queue).or(self.alpha.last()).copied().unwrap_or(1.0);
        let alphas = (0..usize::from(spec.queues_per_port)).map(|queue| in_128ths(class(queue)));
        let drains = (0..spec.ports()).map(|port| self.drain_bytes(spec, port));
        Ok(RuleConstants {
            alpha_128: alphas.collect::<Result<_, _>>()?,
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
    fn drain_bytes(&self, spec: &SwitchSpec, port: usize) -> Result<u32, RuleError> {
        let in_two_rtts = u128::from(spec.line_rate_bps[port])
            * u128::from(self.horizon_ns.saturating_mul(4))
            / 4_000_000_000;
        u32::try_from(in_two_rtts / 8).map_err(|_| RuleError::Drain(port))
    }
}

fn in_128ths(alpha: f64) -> Result<u32, RuleError> {
    let scaled = alpha * 128.0;
    let is_whole = scaled.fract() == 0.0 && (1.0..=8_388_608.0).contains(&scaled);
    if is_whole { Ok(scaled as u32) } else { Err(RuleError::Alpha(alpha)) }
}
