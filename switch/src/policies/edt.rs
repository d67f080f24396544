//! Enhanced Dynamic Threshold (Shan, Jiang and Ren, "Absorbing micro-burst traffic by enhancing
//! dynamic threshold policy of data center switches", INFOCOM 2015; "Analyzing and enhancing
//! dynamic threshold policy of data center switches", IEEE TPDS 2017).

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};

/// Dynamic Thresholds, except that a queue with a detected micro-burst is *uncontrolled* for a
/// while: its threshold is then an equal share of the whole buffer among the uncontrolled queues.
///
/// A queue becomes uncontrolled when it has grown by `burst_bytes`, arrivals less departures,
/// within `burst_ns` and without a drop. It is controlled again when
/// - it has been uncontrolled for `uncontrolled_ns`, too long for a micro-burst,
/// - `calm_bytes` have left it in a row without an arrival, or it is empty: the burst is over.
///
/// Each queue has its own state, where the paper has one queue per port.
#[derive(Clone, Debug)]
pub struct Edt {
    alpha: Alphas,
    timing: Timing,
    queues: Vec<Queue>,
    uncontrolled: u32,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    burst_bytes: u64,
    burst_ns: u64,
    uncontrolled_ns: u64,
    calm_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Start of its uncontrolled state, if it is uncontrolled.
    uncontrolled_from_ns: Option<u64>,
    /// Bytes by which it has grown since `growing_from_ns`.
    growth_bytes: u64,
    growing_from_ns: u64,
    /// Bytes that have left it since the last arrival.
    leaving_bytes: u64,
}

/// Parameters of [`Edt`]. `alpha` is the papers'. The authors count packets and tune their counts
/// and timers to one switch; the defaults here scale with the switch instead and are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdtParameters {
    /// By queue within a port, for controlled queues.
    pub alpha: Alphas,
    /// Growth that counts as a micro-burst, bytes; half of B/N if not given.
    pub burst_bytes: Option<u32>,
    /// Time within which it must be reached, nanoseconds; the base RTT if not given.
    pub burst_ns: Option<u64>,
    /// Maximum time that a queue is uncontrolled, nanoseconds; the slowest port's time to transmit
    /// a full buffer if not given.
    pub uncontrolled_ns: Option<u64>,
    /// Bytes leaving in a row that end a burst; a quarter of B/N if not given.
    pub calm_bytes: Option<u32>,
}

impl Default for EdtParameters {
    fn default() -> Self {
        EdtParameters {
            alpha: Alphas::try_from(1.0).expect("1 is positive"),
            burst_bytes: None,
            burst_ns: None,
            uncontrolled_ns: None,
            calm_bytes: None,
        }
    }
}

impl PolicyParameters for EdtParameters {
    fn about(&self) -> About<'_> {
        About { title: "EDT", pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl EdtParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If a parameter is 0.
    pub fn policy(&self, spec: &SwitchSpec) -> Result<Edt, BuildError> {
        let fair_bytes = u64::from(spec.buffer_bytes) / spec.ports() as u64;
        let bytes =
            |given: Option<u32>, part: u64| given.map_or((fair_bytes / part).max(1), u64::from);
        let timing = Timing {
            burst_bytes: bytes(self.burst_bytes, 2),
            burst_ns: self.burst_ns.unwrap_or(spec.base_rtt_ns),
            uncontrolled_ns: self.uncontrolled_ns.unwrap_or(spec.drain_ns()),
            calm_bytes: bytes(self.calm_bytes, 4),
        };
        for (name, value) in [
            ("burst_bytes", timing.burst_bytes),
            ("burst_ns", timing.burst_ns),
            ("uncontrolled_ns", timing.uncontrolled_ns),
            ("calm_bytes", timing.calm_bytes),
        ] {
            if value == 0 {
                return Err(BuildError::parameter(name, "is 0"));
            }
        }
        let queues = vec![Queue::default(); spec.queues()];
        Ok(Edt { alpha: self.alpha.clone(), timing, queues, uncontrolled: 0 })
    }
}

impl Edt {
    /// Whether a queue is in the uncontrolled state.
    pub fn is_uncontrolled(&self, queue: usize) -> bool {
        self.queues[queue].uncontrolled_from_ns.is_some()
    }

    fn control(&mut self, queue: usize) {
        if self.queues[queue].uncontrolled_from_ns.take().is_some() {
            self.uncontrolled -= 1;
        }
        self.queues[queue].growth_bytes = 0;
    }

    /// Ends the uncontrolled state if it has lasted too long.
    fn check_time(&mut self, queue: usize, now: u64) {
        let from_ns = self.queues[queue].uncontrolled_from_ns;
        if from_ns.is_some_and(|from_ns| now - from_ns.min(now) >= self.timing.uncontrolled_ns) {
            self.control(queue);
        }
    }

    fn grow(&mut self, queue: usize, size_bytes: u32, now: u64) {
        let Timing { burst_bytes, burst_ns, .. } = self.timing;
        let state = &mut self.queues[queue];
        state.leaving_bytes = 0;
        if state.uncontrolled_from_ns.is_some() {
            return;
        }
        let began_too_long_ago = now - state.growing_from_ns.min(now) > burst_ns;
        if state.growth_bytes == 0 || began_too_long_ago {
            state.growth_bytes = 0;
            state.growing_from_ns = now;
        }
        state.growth_bytes += u64::from(size_bytes);
        if state.growth_bytes >= burst_bytes {
            state.uncontrolled_from_ns = Some(now);
            self.uncontrolled += 1;
        }
    }
}

impl Policy for Edt {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        self.check_time(packet.queue, now);
        let threshold = if self.is_uncontrolled(packet.queue) {
            f64::from(buffer.capacity_bytes()) / f64::from(self.uncontrolled)
        } else {
            self.alpha.at(packet.queue % buffer.queues_per_port()) * free_bytes(buffer)
        };
        decide_below(buffer, packet, threshold)
    }

    fn settled(&mut self, _: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        if accepted {
            self.grow(packet.queue, packet.size_bytes, now);
        } else {
            // A queue that drops is at its threshold, so this is not a new burst.
            self.queues[packet.queue].growth_bytes = 0;
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.check_time(queue, time);
        let size_bytes = u64::from(size_bytes);
        let state = &mut self.queues[queue];
        state.growth_bytes = state.growth_bytes.saturating_sub(size_bytes);
        state.leaving_bytes += size_bytes;
        if state.leaving_bytes >= self.timing.calm_bytes || buffer.lengths()[queue] == 0 {
            state.leaving_bytes = 0;
            self.control(queue);
        }
    }
}
