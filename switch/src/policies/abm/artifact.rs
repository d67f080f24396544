//! ABM's measurements as the authors' ns-3 code makes them (inet-tub/ns3-datacenter, `gen-queue-disc.cc` and
//! `shared-memory.cc`).

use crate::Buffer;
use dropcast_data::{Scheduler, SwitchSpec};

/// From this many bytes a queue counts as fully saturated.
const SATURATION_BYTES: f64 = 28_000.0;

/// Bytes that a queue counts as sent when its scheduler finds it empty.
const SKIPPED_BYTES: u64 = 1_472;

/// A port without a packet so far has no timer.
const NO_TIMER: u64 = u64::MAX;

/// `n_p` and `mu` by the authors' code. Each port measures by a timer of its own that starts with its
/// first packet. A queue's saturation is as of the latest packet that asked to enter it, so it stays when the
/// queue drains.
#[derive(Clone, Debug)]
pub(super) struct ArtifactStatistics {
    update_ns: u64,
    queues_per_port: usize,
    wire_overhead_bytes: u32,
    scheduler: Scheduler,
    ports: Vec<Port>,
    queues: Vec<Queue>,
    /// The earliest timer.
    due_ns: u64,
}

#[derive(Clone, Debug)]
struct Port {
    line_rate_bps: f64,
    /// When it measures next, or [`NO_TIMER`].
    due_ns: u64,
    /// The queue that its scheduler looks at first.
    turn: usize,
}

#[derive(Clone, Debug)]
struct Queue {
    /// `min(1, length / 28,000 bytes)` when a packet last asked to enter.
    saturation: f64,
    /// Bytes since the last measurement: sent, and counted for being empty.
    counted_bytes: u64,
    /// `mu`, as a share of the port's rate.
    drain: f64,
    /// `n_p`, as the port last read it.
    congested: f64,
}

impl ArtifactStatistics {
    pub(super) fn new(spec: &SwitchSpec, update_ns: u64) -> Self {
        let port = |&rate: &u64| Port { line_rate_bps: rate as f64, due_ns: NO_TIMER, turn: 0 };
        let queue = Queue { saturation: 0.0, counted_bytes: 0, drain: 1.0, congested: 1.0 };
        ArtifactStatistics {
            update_ns,
            queues_per_port: usize::from(spec.queues_per_port),
            wire_overhead_bytes: spec.wire_overhead_bytes,
            scheduler: spec.scheduler,
            ports: spec.line_rate_bps.iter().map(port).collect(),
            queues: vec![queue; spec.queues()],
            due_ns: NO_TIMER,
        }
    }

    pub(super) fn priority(&self, queue: usize) -> usize {
        queue % self.queues_per_port
    }

    /// `mu` of a queue, as a share of its port's rate.
    pub(super) fn drain(&self, queue: usize) -> f64 {
        self.queues[queue].drain
    }

    /// `n_p` of a queue's priority, as its port last read it.
    pub(super) fn congested(&self, queue: usize) -> f64 {
        self.queues[queue].congested
    }

    /// A packet asks to enter a queue.
    pub(super) fn asked(&mut self, buffer: &Buffer, queue: usize, now: u64) {
        self.update(now);
        let length = f64::from(buffer.shared_lengths()[queue]);
        self.queues[queue].saturation = (length / SATURATION_BYTES).min(1.0);
        let port = queue / self.queues_per_port;
        if self.ports[port].due_ns == NO_TIMER {
            self.measure(port);
            self.ports[port].due_ns = now.saturating_add(self.update_ns);
            self.due_ns = self.due_ns.min(self.ports[port].due_ns);
        }
    }

    /// A packet left a queue. The scheduler passed the empty queues before it; a port that it emptied
    /// is asked once more, in vain.
    pub(super) fn removed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, now: u64) {
        self.update(now);
        let own = self.priority(queue);
        let first = queue - own;
        let of_port = first..first + self.queues_per_port;
        let bytes = u64::from(size_bytes) + u64::from(self.wire_overhead_bytes);
        self.queues[queue].counted_bytes += bytes;
        let port = &mut self.ports[queue / self.queues_per_port];
        let mut looked_at = match self.scheduler {
            Scheduler::StrictPriority => 0,
            Scheduler::RoundRobin | Scheduler::Dwrr => port.turn,
        };
        while looked_at != own {
            if buffer.lengths()[first + looked_at] == 0 {
                self.queues[first + looked_at].counted_bytes += SKIPPED_BYTES;
            }
            looked_at = (looked_at + 1) % self.queues_per_port;
        }
        port.turn = (own + 1) % self.queues_per_port;
        if buffer.lengths()[of_port.clone()].iter().all(|&length| length == 0) {
            for queue in &mut self.queues[of_port] {
                queue.counted_bytes += SKIPPED_BYTES;
            }
        }
    }

    /// Lets the timers go off that are due.
    fn update(&mut self, now: u64) {
        if now < self.due_ns {
            return;
        }
        for port in 0..self.ports.len() {
            let due_ns = self.ports[port].due_ns;
            if due_ns > now {
                continue;
            }
            self.measure(port);
            let further = (now - due_ns) / self.update_ns;
            if further > 0 {
                // Nothing has happened since: all further measurements are the same.
                self.measure(port);
            }
            self.ports[port].due_ns = due_ns + (further + 1) * self.update_ns;
        }
        self.due_ns = self.ports.iter().map(|port| port.due_ns).min().unwrap_or(NO_TIMER);
    }

    fn measure(&mut self, port: usize) {
        let bit_ns = self.ports[port].line_rate_bps * self.update_ns as f64;
        let first = port * self.queues_per_port;
        for own in 0..self.queues_per_port {
            let of_priority = self.queues[own..].iter().step_by(self.queues_per_port);
            let congested = of_priority.map(|queue| queue.saturation).sum::<f64>().max(1.0);
            let queue = &mut self.queues[first + own];
            let rate = queue.counted_bytes as f64 * 8e9 / bit_ns;
            let is_odd = rate < 1.0 / self.queues_per_port as f64 || rate > 1.0;
            queue.drain = if is_odd { 1.0 } else { rate };
            queue.congested = congested;
            queue.counted_bytes = 0;
        }
    }
}
