//! Intelligent Buffer: Approximate Fair Dropping of long flows, none of short ones (Pan, Breslau, Prabhakar and Shenker,
//! "Approximate Fairness through Differential Dropping", CCR 2003; Cisco Nexus 9000). As the ABM authors compare with it
//! (ABM, section 4.1, and their ns-3 code), but for what [`IntelligentBuffer`] says.

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::flow_table::flow_table;
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;
use dropcast_features::FlowTable;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

/// Dynamic Thresholds, and a long flow that sends more than its fair share loses packets with probability
/// `1 - fair / sent`, where its queue is long.
///
/// `sent` is what the flow sent in the last window. `fair` is the same for all flows of a queue; once a window it falls
/// by `a1` times what the queue is longer than its reference, and rises by `a2` times what it was longer a window before. It
/// stays between 0 and what the port sends in a window: without a bound, which the authors' code lacks, it grows while the
/// queue is short, and takes long to fall.
///
/// Dynamic Packet Prioritization: the first packets of a flow are not dropped so. A policy cannot put them into another queue,
/// as the authors' code can. That code counts `sent` for a whole queue; here it is each flow's, as in the paper of 2003. Packets
/// of unknown flows are dropped by Dynamic Thresholds only.
#[derive(Clone, Debug)]
pub struct IntelligentBuffer {
    parameters: IntelligentBufferParameters,
    reference_bytes: f64,
    first_packets: u64,
    flows: FlowTable<Flow>,
    /// By queue.
    queues: Vec<Fair>,
    /// The number of the window, and when it began.
    window: (u64, u64),
    random: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    seen_ns: u64,
    /// Since it was new.
    packets: u64,
    /// The window of its last packet, its bytes in that, and in the one before.
    window: u64,
    sent_bytes: [u64; 2],
}

#[derive(Clone, Copy, Debug)]
struct Fair {
    bytes: f64,
    most_bytes: f64,
    /// Its length when the window began.
    length_bytes: f64,
}

/// Parameters of [`IntelligentBuffer`]. The defaults are those of the ABM authors' comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntelligentBufferParameters {
    /// By queue within a port.
    pub alpha: Alphas,
    /// Fair shares change, and flows are measured, once in this time, nanoseconds.
    pub window_ns: u64,
    /// The length that a queue shall have; what the slowest port sends in a base RTT if not given.
    pub reference_bytes: Option<u32>,
    /// No packet is dropped for fairness while its queue holds less.
    pub least_bytes: u32,
    /// Gain of the queue's length.
    pub a1: f64,
    /// Gain of its length a window before.
    pub a2: f64,
    /// First packets of a flow, which are not dropped for fairness; those of 1,500 bytes in a base RTT if not given.
    pub first_packets: Option<u64>,
    /// A flow is new after a silence longer than this, nanoseconds.
    pub silence_ns: u64,
    /// Slots of the flow table; a power of two.
    pub flows: usize,
}

impl Default for IntelligentBufferParameters {
    fn default() -> Self {
        IntelligentBufferParameters {
            alpha: Alphas::try_from(0.5).expect("0.5 is positive"),
            window_ns: 50_000,
            reference_bytes: None,
            least_bytes: 150 * 1024,
            a1: 1.8,
            a2: 1.7,
            first_packets: None,
            silence_ns: 5_000_000,
            flows: 8192,
        }
    }
}

impl PolicyParameters for IntelligentBufferParameters {
    fn about(&self) -> About<'_> {
        let title = "Intelligent Buffer";
        About { title, pushes_out: false, sees: Sees::Flows, model: None, base: None }
    }
}

impl IntelligentBufferParameters {
    /// The policy.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn policy(&self, spec: &SwitchSpec, seed: u64) -> Result<IntelligentBuffer, BuildError> {
        for (name, gain) in [("a1", self.a1), ("a2", self.a2)] {
            if !gain.is_finite() || gain < 0.0 {
                return Err(BuildError::parameter(name, format!("is {gain}, expected at least 0")));
            }
        }
        if self.window_ns == 0 {
            return Err(BuildError::parameter("window_ns", "is 0, expected at least 1"));
        }
        let sends = |rate_bps: u64, time_ns: u64| rate_bps as f64 / 8e9 * time_ns as f64;
        let slowest_bps = spec.line_rate_bps.iter().copied().min().unwrap_or(0);
        let rtt_bytes = sends(slowest_bps, spec.base_rtt_ns);
        let fair = |port: usize| {
            let most_bytes = sends(spec.line_rate_bps[port], self.window_ns);
            Fair { bytes: most_bytes, most_bytes, length_bytes: 0.0 }
        };
        let per_port = usize::from(spec.queues_per_port);
        Ok(IntelligentBuffer {
            reference_bytes: self.reference_bytes.map_or(rtt_bytes, f64::from),
            first_packets: self.first_packets.unwrap_or((rtt_bytes / 1_500.0) as u64),
            flows: flow_table(self.flows)?,
            queues: (0..spec.queues()).map(|queue| fair(queue / per_port)).collect(),
            window: (0, 0),
            random: ChaCha8Rng::seed_from_u64(seed),
            parameters: self.clone(),
        })
    }
}

impl IntelligentBuffer {
    /// Begins the next window.
    fn roll(&mut self, buffer: &Buffer, now: u64) {
        let IntelligentBufferParameters { a1, a2, .. } = self.parameters;
        for (fair, &length) in self.queues.iter_mut().zip(buffer.lengths()) {
            let (length, before) = (f64::from(length), fair.length_bytes);
            let change =
                a2 * (before - self.reference_bytes) - a1 * (length - self.reference_bytes);
            fair.bytes = (fair.bytes + change).clamp(0.0, fair.most_bytes);
            fair.length_bytes = length;
        }
        self.window = (self.window.0 + 1, now);
    }

    /// Counts a packet of a flow. Returns what the flow sent in the last window; none if it is among its first packets.
    fn count(&mut self, packet: &Packet, now: u64) -> Option<u64> {
        let window = self.window.0;
        let flow = self.flows.flow(packet.flow_hash);
        if now.saturating_sub(flow.seen_ns) > self.parameters.silence_ns {
            flow.packets = 0;
        }
        flow.seen_ns = now;
        flow.packets += 1;
        flow.sent_bytes = match window - flow.window {
            0 => flow.sent_bytes,
            1 => [0, flow.sent_bytes[0]],
            _ => [0, 0],
        };
        flow.window = window;
        flow.sent_bytes[0] += u64::from(packet.size_bytes);
        (flow.packets > self.first_packets).then_some(flow.sent_bytes[1])
    }
}

impl Policy for IntelligentBuffer {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        if now.saturating_sub(self.window.1) > self.parameters.window_ns {
            self.roll(buffer, now);
        }
        let sent = if packet.flow_hash == 0 { None } else { self.count(packet, now) };
        let fair = self.queues[packet.queue].bytes;
        let excess = sent.map_or(0.0, |sent| 1.0 - fair.min(sent as f64) / (sent as f64).max(1.0));
        let is_long = buffer.lengths()[packet.queue] > self.parameters.least_bytes;
        if is_long && f64::from(self.random.next_u32()) < excess * 2_f64.powi(32) {
            return Decision::Reject;
        }
        let alpha = self.parameters.alpha.at(packet.queue % buffer.queues_per_port());
        decide_below(buffer, packet, alpha * free_bytes(buffer))
    }
}
