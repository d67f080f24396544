//! Switch descriptions (`docs/switch.md`): what a shared-buffer switch is made of.

use crate::printable_line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Output port number.
pub type PortId = u16;

/// How a port picks the queue it serves next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// One packet from each backlogged queue in turn.
    #[default]
    RoundRobin,
    /// The backlogged queue with the lowest number.
    StrictPriority,
    /// Deficit weighted round robin with `quantum_bytes` per queue.
    Dwrr,
}

/// One shared-buffer switch. Checked: a value of this type is consistent.
///
/// Queues are numbered `port * queues_per_port + queue` wherever a single index is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SpecText", into = "SpecText")]
pub struct SwitchSpec {
    /// Shared buffer `B`, bytes.
    pub buffer_bytes: u32,
    /// Base round-trip time, nanoseconds: the time constant of the moving averages.
    pub base_rtt_ns: u64,
    /// Line rate of each output port, bits per second.
    pub line_rate_bps: Vec<u64>,
    /// Queues of each port.
    pub queues_per_port: u8,
    /// How each port serves its queues.
    pub scheduler: Scheduler,
    /// Bytes that a packet takes on the wire in addition to its bytes in the buffer.
    pub wire_overhead_bytes: u32,
    /// Packets that a port takes out of the shared buffer ahead of the packet on the wire: the depth
    /// of its device queue. 0 where a packet leaves the buffer when its transmission begins; the
    /// Credence authors' ns-3 ports hold 1.
    pub transmit_ring_packets: u16,
    /// By queue within a port: may its packets be pushed out?
    pub pushable: Vec<bool>,
    /// By queue within a port: does it draw on the shared buffer? The packets of one that does
    /// not are never dropped and do not count in the occupancy.
    pub shared: Vec<bool>,
    /// By queue within a port: bytes beside the shared buffer that only this queue may use. Its packets
    /// draw on the shared buffer as far as the queue is longer. Empty if no queue has any.
    pub reserved_bytes: Vec<u32>,
    /// By queue within a port: bytes per DWRR round. Empty for other schedulers.
    pub quantum_bytes: Vec<u32>,
    /// By queue within a port: the `alpha` with which Dynamic Thresholds is replayed. Empty where the
    /// description has none.
    pub dt_alpha: Vec<f64>,
    /// Whether the description gives each `dt_alpha` as SONiC does: `dynamic_th`, the power of two that it is. Reports do the same.
    pub alpha_is_power: bool,
    /// How much longer than its threshold Credence lets a queue become, bytes, in replays and in exported
    /// decisions. 0, the default, is the paper's Algorithm 1.
    pub slack_bytes: u32,
    /// What it is called, such as `leaf-3`: what distinguishes switches in monitoring.
    pub name: Option<String>,
    /// What each port is called, such as `Ethernet48`. Empty where the description has no names.
    pub port_names: Vec<String>,
    /// What it is in its network, such as leaf or spine: switches of one role may share a model.
    pub role: Option<String>,
}

/// What is wrong with a switch description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct SpecError {
    /// The field at fault.
    pub field: &'static str,
    /// What is wrong and what is expected.
    pub problem: String,
}

pub(super) fn wrong(field: &'static str, problem: impl Into<String>) -> SpecError {
    SpecError { field, problem: problem.into() }
}

impl SwitchSpec {
    /// Queues of a switch, at most: 256 ports of 256 queues.
    pub const MOST_QUEUES: usize = 1 << 16;

    /// A switch of `ports` equal ports with one pushable queue each, round robin, no wire overhead.
    pub fn uniform(ports: u16, line_rate_bps: u64, buffer_bytes: u32, base_rtt_ns: u64) -> Self {
        SwitchSpec {
            buffer_bytes,
            base_rtt_ns,
            line_rate_bps: vec![line_rate_bps; usize::from(ports)],
            queues_per_port: 1,
            scheduler: Scheduler::RoundRobin,
            wire_overhead_bytes: 0,
            transmit_ring_packets: 0,
            pushable: vec![true],
            shared: vec![true],
            reserved_bytes: Vec::new(),
            quantum_bytes: Vec::new(),
            dt_alpha: Vec::new(),
            alpha_is_power: false,
            slack_bytes: 0,
            name: None,
            port_names: Vec::new(),
            role: None,
        }
    }

    /// Number of output ports, the papers' `N`.
    pub fn ports(&self) -> usize {
        self.line_rate_bps.len()
    }

    /// Bytes of a queue beside the shared buffer.
    pub fn reserved_bytes_of(&self, queue: usize) -> u32 {
        let class = queue % usize::from(self.queues_per_port);
        self.reserved_bytes.get(class).copied().unwrap_or(0)
    }

    /// Number of queues of the switch.
    pub fn queues(&self) -> usize {
        self.ports() * usize::from(self.queues_per_port)
    }

    /// How long a full buffer takes to drain through the slowest port, nanoseconds, rounded up.
    pub fn drain_ns(&self) -> u64 {
        let rate_bps = self.line_rate_bps.iter().copied().min().unwrap_or(1).max(1);
        let bits_ns = u128::from(self.buffer_bytes) * 8_000_000_000;
        u64::try_from(bits_ns.div_ceil(rate_bps.into())).unwrap_or(u64::MAX)
    }

    /// Index of a queue among all queues of the switch.
    pub fn queue_index(&self, port: PortId, queue: u8) -> usize {
        usize::from(port) * usize::from(self.queues_per_port) + usize::from(queue)
    }

    /// Time on the wire of a packet that takes `size_bytes` in the buffer, rounded up, nanoseconds.
    #[inline]
    pub fn wire_time_ns(&self, port: usize, size_bytes: u32) -> u64 {
        let bits = (u64::from(size_bytes) + u64::from(self.wire_overhead_bytes)) * 8;
        let rate_bps = self.line_rate_bps[port];
        // Bits times 10^9 fit in 64 of them up to 2 GB; a 128-bit division takes several times as long.
        match bits.checked_mul(1_000_000_000) {
            Some(scaled) => scaled.div_ceil(rate_bps),
            None => {
                let time = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(rate_bps));
                u64::try_from(time).unwrap_or(u64::MAX)
            }
        }
    }
}

/// A value for every port or queue, or a list with one each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected one value, or a list of them")]
enum OneOrEach<T> {
    One(T),
    Each(Vec<T>),
}

impl<T: Clone + PartialEq> OneOrEach<T> {
    fn expand(self, field: &'static str, count: usize) -> Result<Vec<T>, SpecError> {
        match self {
            OneOrEach::One(value) => Ok(vec![value; count]),
            OneOrEach::Each(values) if values.len() == count => Ok(values),
            OneOrEach::Each(values) => Err(wrong(
                field,
                format!("has {} values, expected one value or a list of {count}", values.len()),
            )),
        }
    }

    fn shorten(values: Vec<T>) -> Self {
        match values.first() {
            Some(first) if values.iter().all(|value| value == first) => {
                OneOrEach::One(first.clone())
            }
            _ => OneOrEach::Each(values),
        }
    }
}

/// Exported decisions add a slack to a threshold in 32 bits.
const MOST_SLACK_BYTES: u32 = 1 << 30;

/// A base RTT is at most 1,000 seconds: multiples of it are times, too.
const MOST_BASE_RTT_NS: u64 = 1_000_000_000_000;

/// SONiC's powers of two.
const DYNAMIC_TH: RangeInclusive<i8> = -16..=16;

/// Letters of a port's name, at most.
const MOST_PORT_NAME: usize = 512;

/// A switch description as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecText {
    pub(super) ports: u16,
    line_rate_bps: OneOrEach<u64>,
    buffer_bytes: u64,
    base_rtt_ns: u64,
    #[serde(default = "one")]
    pub(super) queues_per_port: u8,
    #[serde(default)]
    scheduler: Scheduler,
    #[serde(default)]
    wire_overhead_bytes: u32,
    #[serde(default)]
    transmit_ring_packets: u16,
    #[serde(default = "all")]
    pushable: OneOrEach<bool>,
    #[serde(default = "all")]
    shared: OneOrEach<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserved_bytes: Option<OneOrEach<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantum_bytes: Option<OneOrEach<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dt_alpha: Option<OneOrEach<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dynamic_th: Option<OneOrEach<i8>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    slack_bytes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    port_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

fn one() -> u8 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn all() -> OneOrEach<bool> {
    OneOrEach::One(true)
}

impl TryFrom<SpecText> for SwitchSpec {
    type Error = SpecError;

    fn try_from(text: SpecText) -> Result<Self, SpecError> {
        let ports = usize::from(text.ports);
        let queues = usize::from(text.queues_per_port);
        if ports == 0 {
            return Err(wrong("ports", "is 0, a switch has at least one port"));
        }
        if queues == 0 {
            return Err(wrong("queues_per_port", "is 0, a port has at least one queue"));
        }
        let (all, most) = (ports * queues, SwitchSpec::MOST_QUEUES);
        if all > most {
            let problem = format!(
                "{ports} ports of {queues} queues are {all} queues, a switch has at most {most}"
            );
            return Err(wrong("queues_per_port", problem));
        }
        let buffer_bytes = u32::try_from(text.buffer_bytes).unwrap_or(0);
        if buffer_bytes == 0 {
            let problem = format!("is {}, expected 1 to {} bytes", text.buffer_bytes, u32::MAX);
            return Err(wrong("buffer_bytes", problem));
        }
        if text.base_rtt_ns == 0 {
            return Err(wrong("base_rtt_ns", "is 0, the moving averages need a time constant"));
        }
        if text.base_rtt_ns > MOST_BASE_RTT_NS {
            let problem = format!("is {}, expected at most 10^12 ns", text.base_rtt_ns);
            return Err(wrong("base_rtt_ns", problem));
        }
        let line_rate_bps = text.line_rate_bps.expand("line_rate_bps", ports)?;
        if line_rate_bps.contains(&0) {
            return Err(wrong("line_rate_bps", "is 0 for a port, packets would never leave"));
        }
        let quantum_bytes = match (text.scheduler, text.quantum_bytes) {
            (Scheduler::Dwrr, None) => {
                return Err(wrong("quantum_bytes", "is missing, the dwrr scheduler needs it"));
            }
            (Scheduler::Dwrr, Some(quantum)) => quantum.expand("quantum_bytes", queues)?,
            (_, Some(_)) => {
                return Err(wrong("quantum_bytes", "is given, but the scheduler is not dwrr"));
            }
            (_, None) => Vec::new(),
        };
        if text.role.as_deref().is_some_and(|role| !is_plain(role, "-_")) {
            return Err(wrong("role", "expected a name of letters, digits, - and _"));
        }
        // A number would look like the place of a trace.
        let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
        if text.name.as_deref().is_some_and(|name| !begins(name) || !is_plain(name, "-_.")) {
            return Err(wrong("name", "expected letters, digits, -, _ and ., a letter first"));
        }
        if quantum_bytes.contains(&0) {
            return Err(wrong("quantum_bytes", "is 0 for a queue, it would never be served"));
        }
        let alpha_is_power = text.dynamic_th.is_some();
        let dt_alpha = alphas(text.dt_alpha, text.dynamic_th, queues)?;
        check_port_names(&text.port_names, ports)?;
        if text.slack_bytes > MOST_SLACK_BYTES {
            let problem = format!("is {}, expected at most {MOST_SLACK_BYTES}", text.slack_bytes);
            return Err(wrong("slack_bytes", problem));
        }
        let shared = text.shared.expand("shared", queues)?;
        let reserved_bytes = reserved(text.reserved_bytes, &shared, buffer_bytes)?;
        Ok(SwitchSpec {
            buffer_bytes,
            base_rtt_ns: text.base_rtt_ns,
            line_rate_bps,
            queues_per_port: text.queues_per_port,
            scheduler: text.scheduler,
            wire_overhead_bytes: text.wire_overhead_bytes,
            transmit_ring_packets: text.transmit_ring_packets,
            pushable: text.pushable.expand("pushable", queues)?,
            shared,
            reserved_bytes,
            quantum_bytes,
            dt_alpha,
            alpha_is_power,
            slack_bytes: text.slack_bytes,
            name: text.name,
            port_names: text.port_names,
            role: text.role,
        })
    }
}

/// The alpha of each queue of a port, given as a number or as a power of two; empty if it is not given.
fn alphas(
    alpha: Option<OneOrEach<f64>>,
    power: Option<OneOrEach<i8>>,
    queues: usize,
) -> Result<Vec<f64>, SpecError> {
    let alphas = match (alpha, power) {
        (None, None) => Vec::new(),
        (Some(_), Some(_)) => {
            return Err(wrong("dynamic_th", "is given with dt_alpha, expected one of them"));
        }
        (Some(alpha), None) => alpha.expand("dt_alpha", queues)?,
        (None, Some(power)) => {
            let powers = power.expand("dynamic_th", queues)?;
            if let Some(power) = powers.iter().find(|power| !DYNAMIC_TH.contains(*power)) {
                return Err(wrong("dynamic_th", format!("is {power}, expected -16 to 16")));
            }
            powers.into_iter().map(|power| f64::from(power).exp2()).collect()
        }
    };
    match alphas.iter().find(|alpha| !(alpha.is_finite() && **alpha > 0.0)) {
        Some(alpha) => Err(wrong("dt_alpha", format!("is {alpha}, expected a number above 0"))),
        None => Ok(alphas),
    }
}

/// A name is part of a line of a report.
fn check_port_names(names: &[String], ports: usize) -> Result<(), SpecError> {
    if !names.is_empty() && names.len() != ports {
        let problem = format!("has {} names, expected one for each of {ports} ports", names.len());
        return Err(wrong("port_names", problem));
    }
    let is_name = |name: &&String| {
        (1..=MOST_PORT_NAME).contains(&name.chars().count()) && printable_line(name) == **name
    };
    if let Some(name) = names.iter().find(|name| !is_name(name)) {
        let problem = format!("has {name:?}, expected 1 to {MOST_PORT_NAME} printable characters");
        return Err(wrong("port_names", problem));
    }
    let mut known = BTreeSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(wrong("port_names", format!("has {name:?} twice"))),
        None => Ok(()),
    }
}

/// Bytes beside the shared buffer by queue; empty if there are none.
fn reserved(
    text: Option<OneOrEach<u32>>,
    shared: &[bool],
    buffer_bytes: u32,
) -> Result<Vec<u32>, SpecError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let reserved = text.expand("reserved_bytes", shared.len())?;
    if reserved.iter().zip(shared).any(|(&bytes, &shared)| bytes > 0 && !shared) {
        let problem = "is given for a queue that does not draw on the shared buffer, whose packets \
                       are never dropped; expected 0 there";
        return Err(wrong("reserved_bytes", problem));
    }
    if let Some(bytes) = reserved.iter().find(|&bytes| bytes.checked_add(buffer_bytes).is_none()) {
        let problem = format!("is {bytes}, with the shared buffer more than {} bytes", u32::MAX);
        return Err(wrong("reserved_bytes", problem));
    }
    let has_some = reserved.iter().any(|&bytes| bytes > 0);
    Ok(if has_some { reserved } else { Vec::new() })
}

/// A role becomes part of a file's name, a name a label of monitoring.
fn is_plain(text: &str, others: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

impl From<SwitchSpec> for SpecText {
    fn from(spec: SwitchSpec) -> Self {
        let ports = u16::try_from(spec.ports()).expect("ports were counted in 16 bits");
        let alphas = (!spec.dt_alpha.is_empty()).then_some(spec.dt_alpha);
        // A caller may have set other alphas since.
        let power =
            |alpha: &f64| DYNAMIC_TH.into_iter().find(|&power| f64::from(power).exp2() == *alpha);
        let powers = |alphas: &Vec<f64>| alphas.iter().map(power).collect::<Option<Vec<i8>>>();
        let dynamic_th = alphas.as_ref().filter(|_| spec.alpha_is_power).and_then(powers);
        let dt_alpha = alphas.filter(|_| dynamic_th.is_none());
        SpecText {
            ports,
            line_rate_bps: OneOrEach::shorten(spec.line_rate_bps),
            buffer_bytes: u64::from(spec.buffer_bytes),
            base_rtt_ns: spec.base_rtt_ns,
            queues_per_port: spec.queues_per_port,
            scheduler: spec.scheduler,
            wire_overhead_bytes: spec.wire_overhead_bytes,
            transmit_ring_packets: spec.transmit_ring_packets,
            pushable: OneOrEach::shorten(spec.pushable),
            shared: OneOrEach::shorten(spec.shared),
            reserved_bytes: (!spec.reserved_bytes.is_empty())
                .then(|| OneOrEach::shorten(spec.reserved_bytes)),
            quantum_bytes: (!spec.quantum_bytes.is_empty())
                .then(|| OneOrEach::shorten(spec.quantum_bytes)),
            dt_alpha: dt_alpha.map(OneOrEach::shorten),
            dynamic_th: dynamic_th.map(OneOrEach::shorten),
            slack_bytes: spec.slack_bytes,
            name: spec.name,
            port_names: spec.port_names,
            role: spec.role,
        }
    }
}

#[cfg(test)]
mod tests;
