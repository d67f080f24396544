//! The untrained rule over Dynamic Thresholds as C: a header that is the same for every switch, and the switch's constants
//! (`docs/rule.md`).

use crate::target::EmittedFile;
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
}

/// The arithmetic, the same for every switch.
const HEADER: &str = include_str!("rule/dropcast_rule.h");

impl Rule {
    /// Arrivals are counted in a window of half the horizon, ns, as `level_in_quarter_rtt` does with a time constant of four
    /// horizons.
    fn window_ns(&self) -> u64 {
        (self.horizon_ns.saturating_mul(4) / 8).clamp(1, u64::from(u32::MAX))
    }

    /// The header and the switch's constants.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the header can do.
    pub fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, RuleError> {
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
        let alphas = alphas.collect::<Result<Vec<u32>, RuleError>>()?;
        let drains = (0..spec.ports()).map(|port| self.drain_bytes(spec, port));
        let drains = drains.collect::<Result<Vec<u32>, RuleError>>()?;
        let constants = [
            ("QUEUES", spec.queues().to_string()),
            ("PORTS", spec.ports().to_string()),
            ("QUEUES_PER_PORT", spec.queues_per_port.to_string()),
            ("BUFFER_BYTES", format!("{}u", spec.buffer_bytes)),
            ("WINDOW_NS", format!("{}u", self.window_ns())),
            ("GATE", format!("{}u", (self.gate * 65_536.0) as u32)),
            ("ALPHA_128", list(&alphas)),
            ("DRAIN_BYTES", list(&drains)),
        ];
        let mut text = format!(
            "/* Constants of a switch for dropcast_rule.h: a horizon of {} ns. */\n#ifndef DROPCAST_RULE_CONFIG_H\n\
             #define DROPCAST_RULE_CONFIG_H\n\n",
            self.horizon_ns
        );
        for (name, value) in constants {
            text.push_str(&format!("#define DROPCAST_RULE_{name} {value}\n"));
        }
        text.push_str("\n#endif\n");
        let file = |name: &str, text: String| EmittedFile {
            name: name.to_owned(),
            bytes: text.into_bytes(),
        };
        Ok(vec![file("dropcast_rule.h", HEADER.to_owned()), file("dropcast_rule_config.h", text)])
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

fn list(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number}u")).collect();
    format!("{{{}}}", numbers.join(", "))
}
