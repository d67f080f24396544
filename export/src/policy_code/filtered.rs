//! Dynamic Thresholds with a filter: what the code of the untrained rule and that of a forest have in common.

use super::error::PolicyCodeError;
use super::shared::{alphas_in_128ths, c_array, drain_bytes, long_bytes, reserved_bytes};
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::oracle::{AnyOracle, Confirmation, OracleParameters};
use dropcast_switch::{Alphas, PolicyModel, PolicySite, PolicySpec};

/// Dynamic Thresholds, and the gate of what drops some of what they accept.
pub(crate) struct Filtered<'a> {
    /// By queue within a port; the last one serves all further queues.
    pub(crate) alpha: &'a [f64],
    /// The share of predictions that must come true for them to be followed; all are followed if not given.
    pub(crate) gate: Option<f64>,
    /// Takes the place of the base RTT in the definitions of features.
    pub(crate) time_constant_ns: u64,
    /// How far ahead lengths of queues are kept, in eighths of the time constant: 2 or 16.
    pub(crate) windows: u64,
}

/// The same for a switch, in integers.
pub(crate) struct FilteredConstants {
    /// By queue within a port, in 128ths.
    pub(crate) alpha_128: Vec<u32>,
    /// By queue within a port: see [`reserved_bytes`].
    pub(crate) reserved_bytes: Vec<u32>,
    /// In 65,536ths.
    pub(crate) gate: u32,
    /// By port: bytes that it sends so far ahead.
    pub(crate) drain_bytes: Vec<u32>,
    /// Arrivals are counted in a window of this length.
    pub(crate) window_ns: u32,
}

impl Filtered<'_> {
    /// The constants of a switch.
    ///
    /// # Errors
    /// If the gate is no share, or integers cannot hold an alpha or what a port sends.
    pub(crate) fn constants(
        &self,
        spec: &SwitchSpec,
    ) -> Result<FilteredConstants, PolicyCodeError> {
        let gate = self.gate.unwrap_or(0.0);
        if !(0.0..=Confirmation::HIGHEST_GATE).contains(&gate) {
            return Err(PolicyCodeError::Gate(gate));
        }
        let drained = |(port, &rate): (usize, &u64)| {
            let drained = drain_bytes(rate, self.time_constant_ns) / (16 / self.windows);
            u32::try_from(drained).map_err(|_| PolicyCodeError::Drain(port))
        };
        let window_ns = u32::try_from(self.time_constant_ns / 8).unwrap_or(u32::MAX).max(1);
        let alpha = |queue| self.alpha.get(queue).or(self.alpha.last()).copied().unwrap_or(1.0);
        Ok(FilteredConstants {
            alpha_128: alphas_in_128ths(spec, alpha)?,
            reserved_bytes: reserved_bytes(spec),
            gate: (gate * 65_536.0) as u32,
            drain_bytes: spec
                .line_rate_bps
                .iter()
                .enumerate()
                .map(drained)
                .collect::<Result<_, _>>()?,
            window_ns,
        })
    }

    /// The policy of the fabric and the replays: with a model, or with the untrained rule that looks so far ahead.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub(crate) fn policy(
        &self,
        spec: &SwitchSpec,
        horizon_ns: Option<u64>,
        model: Option<PolicyModel>,
    ) -> Result<AnyOracle, PolicyCodeError> {
        let unfit = |error: &dyn std::fmt::Display| PolicyCodeError::Policy(error.to_string());
        let alpha = Alphas::new(self.alpha.to_vec()).map_err(|error| unfit(&error))?;
        let parameters = OracleParameters {
            base: Box::new(PolicySpec::dt(alpha)),
            model: None,
            horizon_ns,
            gate: self.gate,
            ..OracleParameters::default()
        };
        let site = PolicySite { model, ..PolicySite::new(spec, 1) };
        parameters.policy(site).map_err(|error| unfit(&error))
    }
}

impl FilteredConstants {
    /// The switch and these as macros of C.
    pub(crate) fn c_macros(&self, spec: &SwitchSpec) -> Vec<(&'static str, String)> {
        let by_queue = |of: &[u32]| c_array((0..spec.queues()).map(|queue| of[queue % of.len()]));
        let ports_of_queues =
            (0..spec.queues()).map(|queue| queue / usize::from(spec.queues_per_port));
        vec![
            ("QUEUES", spec.queues().to_string()),
            ("QUEUES_PER_PORT", spec.queues_per_port.to_string()),
            ("BUFFER_BYTES", format!("{}u", spec.buffer_bytes)),
            ("LONG_BYTES", format!("{}u", long_bytes(spec))),
            ("GATE", format!("{}u", self.gate)),
            ("RESERVED_BYTES", by_queue(&self.reserved_bytes)),
            ("ALPHA_128", by_queue(&self.alpha_128)),
            ("DRAIN_BYTES", c_array(ports_of_queues.map(|port| self.drain_bytes[port]))),
        ]
    }

    /// The same as a constant of Rust.
    pub(crate) fn in_rust(&self, spec: &SwitchSpec) -> String {
        format!(
            "\
pub const CONSTANTS: FilterConstants<&'static [u32]> = FilterConstants {{
    buffer_bytes: {},
    window_ns: {},
    gate: {},
    reserved_bytes: &{:?},
    alpha_128: &{:?},
    drain_bytes: &{:?},
}};
",
            spec.buffer_bytes,
            self.window_ns,
            self.gate,
            self.reserved_bytes,
            self.alpha_128,
            self.drain_bytes,
        )
    }
}
