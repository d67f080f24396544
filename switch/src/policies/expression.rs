//! A policy of the user's own, written as an expression.

mod program;

use super::dynamic_thresholds::free_bytes;
use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, BuildError, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use program::{Kind, Named, Program, is_name, unknown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Accepts a packet that fits while an expression holds. It is computed in `f64` by IEEE 754's exact operations: the same
/// everywhere.
#[derive(Clone, Debug)]
pub struct Expression {
    program: Program<Variable>,
    stack: Vec<f64>,
    /// By port.
    line_rate_bps: Vec<u64>,
    base_rtt_ns: u64,
}

/// Parameters of [`Expression`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct ExpressionParameters {
    /// Holds for packets that are accepted.
    pub accept: String,
    /// Further parameters: numbers that the expression names.
    #[serde(flatten)]
    pub constants: BTreeMap<String, f64>,
}

impl PolicyParameters for ExpressionParameters {
    fn about(&self) -> About<'_> {
        let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let mut words = self.accept.split(|sign| !is_part(sign));
        let names_first_rtt = words.any(|word| word == "first_rtt");
        let sees = if names_first_rtt { Sees::FirstRtt } else { Sees::Queues };
        About { title: "Expression", pushes_out: false, sees, model: None, base: None }
    }
}

/// [`ExpressionParameters`] before they are checked.
#[derive(Deserialize)]
struct Written {
    #[serde(default = "default_accept")]
    accept: String,
    #[serde(flatten)]
    constants: BTreeMap<String, toml::Value>,
}

/// That of Dynamic Thresholds.
fn default_accept() -> String {
    "queue < 0.5 * free".to_owned()
}

impl Default for ExpressionParameters {
    fn default() -> Self {
        ExpressionParameters { accept: default_accept(), constants: BTreeMap::new() }
    }
}

impl TryFrom<Written> for ExpressionParameters {
    type Error = BuildError;

    fn try_from(Written { accept, constants }: Written) -> Result<Self, BuildError> {
        let number = |(name, value): (String, toml::Value)| match value {
            toml::Value::Float(number) => Ok((name, number)),
            toml::Value::Integer(number) => Ok((name, number as f64)),
            other => {
                let problem =
                    format!("{name} is {other}, expected a number; the text is accept=...");
                Err(BuildError::parameter("constant", problem))
            }
        };
        let constants = constants.into_iter().map(number).collect::<Result<_, _>>()?;
        let parameters = ExpressionParameters { accept, constants };
        parameters.program().map(|_| parameters)
    }
}

impl ExpressionParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If the expression or a constant has a mistake.
    pub fn policy(&self, spec: &SwitchSpec) -> Result<Expression, BuildError> {
        let program = self.program()?;
        Ok(Expression {
            stack: Vec::with_capacity(program.most_held()),
            program,
            line_rate_bps: spec.line_rate_bps.clone(),
            base_rtt_ns: spec.base_rtt_ns,
        })
    }

    fn program(&self) -> Result<Program<Variable>, BuildError> {
        let error = |problem: String| BuildError::parameter("accept", problem);
        for (name, value) in &self.constants {
            if variable(name).is_some() || !is_name(name) {
                let names = self.names();
                return Err(error(format!("{name:?} cannot be a constant; {names}")));
            }
            if !value.is_finite() {
                return Err(error(format!("{name} is {value}, expected a finite number")));
            }
        }
        let mut unused: Vec<&str> = self.constants.keys().map(String::as_str).collect();
        let program = Program::compile(&self.accept, |name| {
            unused.retain(|&other| other != name);
            let constant = self.constants.get(name).map(|&value| Named::Number(value));
            constant.or_else(|| variable(name)).ok_or_else(|| {
                let known = VARIABLES.iter().map(|known| known.0);
                let known = known.chain(self.constants.keys().map(String::as_str));
                unknown(name, known).unwrap_or_else(|| self.names())
            })
        });
        let program = program.map_err(|mistake| error(mistake.to_string()))?;
        match unused.first() {
            Some(name) => {
                Err(error(format!("{name} is given, but the expression does not name it")))
            }
            None => Ok(program),
        }
    }

    /// What an expression can name.
    fn names(&self) -> String {
        let names: Vec<&str> = VARIABLES.iter().map(|known| known.0).collect();
        format!(
            "known are {}; constants are further parameters, such as alpha=0.5",
            names.join(", ")
        )
    }
}

/// What an expression sees of a packet's arrival.
#[derive(Clone, Copy, Debug)]
enum Variable {
    Active,
    BaseRttNs,
    Buffer,
    Class,
    FirstRtt,
    Free,
    Longest,
    Occupancy,
    Port,
    PortActive,
    PortBytes,
    Ports,
    Queue,
    Queues,
    RateBps,
    Size,
}

/// By name; `docs/policies.md` says what they are.
const VARIABLES: [(&str, Variable, Kind); 16] = [
    ("queue", Variable::Queue, Kind::Number),
    ("occupancy", Variable::Occupancy, Kind::Number),
    ("buffer", Variable::Buffer, Kind::Number),
    ("free", Variable::Free, Kind::Number),
    ("size", Variable::Size, Kind::Number),
    ("longest", Variable::Longest, Kind::Number),
    ("active", Variable::Active, Kind::Number),
    ("port_bytes", Variable::PortBytes, Kind::Number),
    ("port_active", Variable::PortActive, Kind::Number),
    ("ports", Variable::Ports, Kind::Number),
    ("queues", Variable::Queues, Kind::Number),
    ("port", Variable::Port, Kind::Number),
    ("class", Variable::Class, Kind::Number),
    ("rate_bps", Variable::RateBps, Kind::Number),
    ("base_rtt_ns", Variable::BaseRttNs, Kind::Number),
    ("first_rtt", Variable::FirstRtt, Kind::Truth),
];

fn variable(name: &str) -> Option<Named<Variable>> {
    let known = VARIABLES.iter().find(|known| known.0 == name);
    known.map(|&(_, variable, kind)| Named::Variable(variable, kind))
}

/// How many queues hold bytes of the shared buffer, the packet's own among them in any case.
fn active(lengths: &[u32], own: usize) -> f64 {
    let others = lengths.iter().enumerate().filter(|&(queue, &bytes)| queue != own && bytes > 0);
    (others.count() + 1) as f64
}

impl Policy for Expression {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if !buffer.fits(packet.size_bytes) {
            return Decision::Reject;
        }
        let (lengths, per_port) = (buffer.shared_lengths(), buffer.queues_per_port());
        let (port, class) = (packet.queue / per_port, packet.queue % per_port);
        let of_port = || &lengths[port * per_port..][..per_port];
        let value = |variable| match variable {
            Variable::Active => active(lengths, packet.queue),
            Variable::BaseRttNs => self.base_rtt_ns as f64,
            Variable::Buffer => f64::from(buffer.capacity_bytes()),
            Variable::Class => class as f64,
            Variable::FirstRtt => f64::from(u8::from(packet.is_first_rtt())),
            Variable::Free => free_bytes(buffer),
            Variable::Longest => f64::from(buffer.longest_queue_bytes()),
            Variable::Occupancy => f64::from(buffer.occupancy_bytes()),
            Variable::Port => port as f64,
            Variable::PortActive => active(of_port(), class),
            Variable::PortBytes => of_port().iter().map(|&bytes| f64::from(bytes)).sum(),
            Variable::Ports => buffer.ports() as f64,
            Variable::Queue => f64::from(lengths[packet.queue]),
            Variable::Queues => per_port as f64,
            Variable::RateBps => self.line_rate_bps[port] as f64,
            Variable::Size => f64::from(packet.size_bytes),
        };
        if self.program.holds(value, &mut self.stack) { Decision::Accept } else { Decision::Reject }
    }
}
