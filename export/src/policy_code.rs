//! Policies that need no model as code: files that are the same for every switch, the switch's constants, and packets to check
//! the code with.

mod error;
mod packets;

pub use error::PolicyCodeError;
pub use packets::{PacketArrival, PolicyEvent, PolicyPackets};

use crate::rule::Rule;
use crate::spare_tails;
use crate::target::EmittedFile;
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;

/// A policy that can be had as code.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyCode {
    /// The untrained rule over Dynamic Thresholds (`docs/rule.md`).
    Rule(Rule),
    /// Early drops in bursts over Dynamic Thresholds (`docs/spare-tails.md`).
    SpareTails(SpareTailsParameters),
}

impl PolicyCode {
    /// The code, the switch's constants, and [packets](Self::golden) to check it with.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, PolicyCodeError> {
        let mut files = match self {
            PolicyCode::Rule(rule) => rule.files(spec)?,
            PolicyCode::SpareTails(parameters) => spare_tails::files(parameters, spec)?,
        };
        let packets = self.golden(spec)?.to_csv();
        files.push(EmittedFile { name: self.packets_file().to_owned(), bytes: packets.into() });
        Ok(files)
    }

    /// The file of [packets](Self::golden).
    pub fn packets_file(&self) -> &'static str {
        match self {
            PolicyCode::Rule(_) => "dropcast_rule_packets.csv",
            PolicyCode::SpareTails(_) => "dropcast_spare_tails_packets.csv",
        }
    }

    /// Packets of which every line of the code decides about some.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn golden(&self, spec: &SwitchSpec) -> Result<PolicyPackets, PolicyCodeError> {
        let arrivals = match self {
            PolicyCode::Rule(_) => Rule::golden(spec),
            PolicyCode::SpareTails(parameters) => spare_tails::golden(parameters, spec),
        };
        self.decided(spec, arrivals)
    }

    /// What the fabric's policy decides about packets that arrive. Ports serve at line rate.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn decided(
        &self,
        spec: &SwitchSpec,
        arrivals: impl IntoIterator<Item = PacketArrival>,
    ) -> Result<PolicyPackets, PolicyCodeError> {
        match self {
            PolicyCode::Rule(rule) => packets::decided(rule.policy(spec)?, spec, arrivals),
            PolicyCode::SpareTails(parameters) => {
                packets::decided(spare_tails::policy(parameters, spec)?, spec, arrivals)
            }
        }
    }
}

/// What the code's XDP programs share.
pub(crate) const FRAME: (&str, &str) =
    ("dropcast_frame.h", include_str!("policy_code/dropcast_frame.h"));

/// Files that are the same for every switch.
pub(crate) fn sources(sources: &[(&str, &str)]) -> Vec<EmittedFile> {
    let file =
        |&(name, text): &(&str, &str)| EmittedFile { name: name.to_owned(), bytes: text.into() };
    sources.iter().map(file).collect()
}

/// Constants of a switch as macros of C, in a header of its own: `what` they are for.
pub(crate) fn c_constants(prefix: &str, what: &str, defined: &[(&str, String)]) -> String {
    let mut text = format!(
        "/* Constants of a switch for {what}. */\n#ifndef {prefix}_CONFIG_H\n#define {prefix}_CONFIG_H\n\n"
    );
    for (name, value) in defined {
        text += &format!("#define {prefix}_{name} {value}\n");
    }
    text + "\n#endif\n"
}

/// An array of C.
pub(crate) fn c_array(numbers: impl Iterator<Item = u32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| format!("{number}u")).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// Alphas of a switch whose queues all share the buffer, by queue within a port, in 128ths.
///
/// # Errors
/// If queues keep bytes for themselves or do not share the buffer, or integers cannot hold an alpha.
pub(crate) fn alphas_in_128ths(
    spec: &SwitchSpec,
    alpha: impl Fn(usize) -> f64,
) -> Result<Vec<u32>, PolicyCodeError> {
    let reserves = spec.reserved_bytes.iter().any(|&bytes| bytes > 0);
    if reserves || spec.shared.iter().any(|shares| !shares) {
        return Err(PolicyCodeError::Reserved);
    }
    (0..usize::from(spec.queues_per_port)).map(|queue| in_128ths(alpha(queue))).collect()
}

fn in_128ths(alpha: f64) -> Result<u32, PolicyCodeError> {
    let scaled = alpha * 128.0;
    let is_whole = scaled.fract() == 0.0 && (1.0..=8_388_608.0).contains(&scaled);
    if is_whole { Ok(scaled as u32) } else { Err(PolicyCodeError::Alpha(alpha)) }
}
