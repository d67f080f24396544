//! Occamy (Shan et al., "Occamy: A Preemptive Buffer Management for On-chip Shared-memory Switches", EuroSys 2025).

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};

/// Dynamic Thresholds with a large alpha, which expels packets from the heads of the queues above the
/// threshold, in turn, as far as the memory has bandwidth to spare.
///
/// The memory reads at the rate of all ports together; what departures leave of that expels. A chip expels all
/// the time. Here the heads that it would have expelled since the last arrival leave at the next one, since
/// nothing is decided in between; queues that departures have taken below the threshold by then keep theirs.
#[derive(Clone, Debug)]
pub struct Occamy {
    alpha: Alphas,
    /// Rate at which the memory reads, bytes per nanosecond.
    read_bytes_per_ns: f64,
    /// Bytes that it could have read and has not; at most what one expulsion after another may take on credit.
    spare_bytes: f64,
    last_ns: u64,
    /// The queue that expels next.
    turn: usize,
}

/// Parameters of [`Occamy`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OccamyParameters {
    /// By queue within a port; 8 in the authors' configuration.
    pub alpha: Alphas,
    /// Rate at which the memory reads, as a share of all ports' rates: 1 is a memory that is just fast enough.
    pub memory: f64,
}

impl Default for OccamyParameters {
    fn default() -> Self {
        OccamyParameters { alpha: Alphas::try_from(8.0).expect("8 is positive"), memory: 1.0 }
    }
}

impl PolicyParameters for OccamyParameters {
    fn about(&self) -> About<'_> {
        About { title: "Occamy", pushes_out: true, sees: Sees::Queues, model: None, base: None }
    }
}

impl OccamyParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If the memory is slower than the ports.
    pub fn policy(&self, spec: &SwitchSpec) -> Result<Occamy, BuildError> {
        if !(self.memory >= 1.0 && self.memory.is_finite()) {
            return Err(BuildError::parameter("memory", "expected a number of at least 1"));
        }
        let rate_bps: f64 = spec.line_rate_bps.iter().map(|&rate| rate as f64).sum();
        Ok(Occamy {
            alpha: self.alpha.clone(),
            read_bytes_per_ns: self.memory * rate_bps / 8e9,
            spare_bytes: 0.0,
            last_ns: 0,
            turn: 0,
        })
    }
}

impl Occamy {
    fn threshold_bytes(&self, buffer: &Buffer, queue: usize) -> f64 {
        self.alpha.at(queue % buffer.queues_per_port()) * free_bytes(buffer)
    }

    /// The next queue, from that whose turn it is, that may be expelled from and is above its threshold.
    fn next_above(&self, buffer: &Buffer) -> Option<usize> {
        let queues = buffer.queues();
        let in_turn = (0..queues).map(|step| (self.turn + step) % queues);
        let is_above = |&queue: &usize| {
            let length = buffer.shared_lengths()[queue];
            length > 0
                && buffer.is_pushable(queue)
                && f64::from(length) > self.threshold_bytes(buffer, queue)
        };
        in_turn.into_iter().find(is_above)
    }
}

impl Policy for Occamy {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let passed_ns = now.saturating_sub(self.last_ns);
        self.last_ns = now;
        self.spare_bytes += passed_ns as f64 * self.read_bytes_per_ns;
        match self.next_above(buffer) {
            Some(queue) if self.spare_bytes > 0.0 => {
                self.turn = (queue + 1) % buffer.queues();
                Decision::PushOutHead(queue)
            }
            above => {
                if above.is_none() {
                    // Bandwidth that nothing was expelled with is gone.
                    self.spare_bytes = self.spare_bytes.min(0.0);
                }
                decide_below(buffer, packet, self.threshold_bytes(buffer, packet.queue))
            }
        }
    }

    fn departed(&mut self, _: &Buffer, _: usize, size_bytes: u32, _: u64) {
        self.spare_bytes -= f64::from(size_bytes);
    }
}
