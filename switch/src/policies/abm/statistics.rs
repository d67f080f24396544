//! ABM's measurements as its paper defines them: the number of congested queues, and each queue's drain rate.

use crate::policies::dynamic_thresholds::free_bytes;
use crate::{Alphas, Buffer};
use dropcast_data::{Scheduler, SwitchSpec};

/// A queue with at least this share of its threshold is congested (ABM, section 3.1).
const CONGESTED_PART: f64 = 0.9;

#[derive(Clone, Debug)]
pub(super) struct Statistics {
    /// 0: measured for each packet.
    update_ns: u64,
    updated_ns: u64,
    queues_per_port: usize,
    wire_overhead_bytes: u32,
    scheduler: Scheduler,
    quantum_bytes: Vec<u32>,
    queues: Vec<Queue>,
    /// By priority: `n_p`, at least 1.
    congested: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Queue {
    priority: usize,
    shares: bool,
    /// Rate of its port, as a share of the fastest port's.
    port_rate: f64,
    /// `mu/b`.
    drain: f64,
    /// Bytes on the wire since the last measurement.
    sent_bytes: u64,
    /// The same of other queues of its port, while it held packets.
    others_bytes: u64,
}

impl Statistics {
    pub(super) fn new(spec: &SwitchSpec, update_ns: u64) -> Self {
        let queues_per_port = usize::from(spec.queues_per_port);
        let fastest = spec.line_rate_bps.iter().copied().max().unwrap_or(1) as f64;
        let queue = |index: usize| {
            let line_rate_bps = spec.line_rate_bps[index / queues_per_port] as f64;
            let port_rate = line_rate_bps / fastest;
            let priority = index % queues_per_port;
            Queue {
                priority,
                shares: spec.shared[priority],
                port_rate,
                drain: port_rate,
                sent_bytes: 0,
                others_bytes: 0,
            }
        };
        Statistics {
            update_ns,
            updated_ns: 0,
            queues_per_port,
            wire_overhead_bytes: spec.wire_overhead_bytes,
            scheduler: spec.scheduler,
            quantum_bytes: spec.quantum_bytes.clone(),
            queues: (0..spec.queues()).map(queue).collect(),
            congested: vec![1.0; queues_per_port],
        }
    }

    pub(super) fn measures_each_packet(&self) -> bool {
        self.update_ns == 0
    }

    pub(super) fn priority(&self, queue: usize) -> usize {
        self.queues[queue].priority
    }

    /// `mu/b` of a queue.
    pub(super) fn drain(&self, queue: usize) -> f64 {
        self.queues[queue].drain
    }

    /// `n_p` of a priority.
    pub(super) fn congested(&self, priority: usize) -> f64 {
        self.congested[priority]
    }

    /// A packet left a queue.
    pub(super) fn removed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32) {
        let bytes = u64::from(size_bytes) + u64::from(self.wire_overhead_bytes);
        self.queues[queue].sent_bytes += bytes;
        let first = queue - self.priority(queue);
        for other in first..first + self.queues_per_port {
            if other != queue && buffer.lengths()[other] > 0 {
                self.queues[other].others_bytes += bytes;
            }
        }
    }

    /// Measures everything, if the interval is over.
    pub(super) fn update(&mut self, buffer: &Buffer, alpha: &Alphas, now: u64) {
        let elapsed_ns = now - self.updated_ns.min(now);
        if self.update_ns == 0 || elapsed_ns < self.update_ns {
            return;
        }
        for queue in &mut self.queues {
            queue.drain = queue.part_of_sent() * queue.port_rate;
            queue.sent_bytes = 0;
            queue.others_bytes = 0;
        }
        for priority in 0..self.queues_per_port {
            self.congested[priority] = self.congested_queues(buffer, alpha, priority);
        }
        self.updated_ns = now;
    }

    /// Measures the inputs of one queue's threshold from the current queues.
    pub(super) fn measure_for(&mut self, buffer: &Buffer, alpha: &Alphas, queue: usize) {
        let priority = self.priority(queue);
        for other in (priority..self.queues.len()).step_by(self.queues_per_port) {
            self.queues[other].drain = self.queues[other].port_rate * self.share(buffer, other);
        }
        self.congested[priority] = self.congested_queues(buffer, alpha, priority);
    }

    /// The share of its port that a queue gets if it and the queues with packets are served.
    fn share(&self, buffer: &Buffer, queue: usize) -> f64 {
        let own = self.priority(queue);
        let first = queue - own;
        let lengths = &buffer.lengths()[first..first + self.queues_per_port];
        let served = |(other, &length): (usize, &u32)| other == own || length > 0;
        let count = |until: usize| {
            lengths[..until].iter().enumerate().filter(|&queue| served(queue)).count() as f64
        };
        match self.scheduler {
            Scheduler::RoundRobin => 1.0 / count(lengths.len()),
            Scheduler::StrictPriority => 1.0 / count(own + 1),
            Scheduler::Dwrr => {
                let quantum = |other: usize| f64::from(self.quantum_bytes[other]);
                let all = lengths.iter().enumerate().filter(|&queue| served(queue));
                quantum(own) / all.map(|(other, _)| quantum(other)).sum::<f64>()
            }
        }
    }

    /// Number of queues with at least 0.9 of the threshold by the previous `n_p`.
    fn congested_queues(&self, buffer: &Buffer, alpha: &Alphas, priority: usize) -> f64 {
        let allowed = alpha.at(priority) * free_bytes(buffer) * CONGESTED_PART;
        let allowed = allowed / self.congested[priority];
        let of_priority = (priority..self.queues.len()).step_by(self.queues_per_port);
        let is_congested = |&queue: &usize| {
            let length = f64::from(buffer.lengths()[queue]);
            let state = &self.queues[queue];
            state.shares && length > 0.0 && length >= allowed * state.drain
        };
        (of_priority.filter(is_congested).count() as f64).max(1.0)
    }
}

impl Queue {
    /// Its share of its port's bytes while it held packets.
    fn part_of_sent(&self) -> f64 {
        match self.sent_bytes + self.others_bytes {
            0 => 1.0,
            all => self.sent_bytes as f64 / all as f64,
        }
    }
}
