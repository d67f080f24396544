//! ABM's measurements: the number of congested queues, and each queue's drain rate.

use crate::policies::dynamic_thresholds::free_bytes;
use crate::{Alphas, Buffer};
use dropcast_data::{Scheduler, SwitchSpec};
use serde::{Deserialize, Serialize};

/// A queue with at least this share of its threshold is congested (ABM, section 3.1).
const CONGESTED_PART: f64 = 0.9;

/// From this many bytes the authors' ns-3 code counts a queue as fully saturated.
const ARTIFACT_SATURATION_BYTES: f64 = 28_000.0;

/// How ABM counts congested queues and measures how fast queues drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// A queue is congested if it holds at least 0.9 of its current threshold (section 3.1), that
    /// is, with the previous `n_p`. `mu` is the queue's share of the bytes that its port sent while
    /// it held packets. Measured for each packet, `mu` is the share of the port that the scheduler
    /// gives the queue among the queues that hold packets now (section 3.4). Under strict priority
    /// it would be 0, and so would the threshold, whenever a queue of higher priority holds a
    /// packet; there the queue counts as sharing equally with those.
    #[default]
    Paper,
    /// As the authors' ns-3 code does: `n_p` adds up `min(1, length / 28,000 bytes)`; `mu` is the
    /// queue's rate since the last measurement, or the port's rate if that is less than an equal
    /// share among the port's queues. Cannot be measured for each packet.
    Artifact,
}

#[derive(Clone, Debug)]
pub(super) struct Statistics {
    counting: Counting,
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
    line_rate_bps: f64,
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
    pub(super) fn new(spec: &SwitchSpec, counting: Counting, update_ns: u64) -> Self {
        let queues_per_port = usize::from(spec.queues_per_port);
        let fastest = spec.line_rate_bps.iter().copied().max().unwrap_or(1) as f64;
        let queue = |index: usize| {
            let line_rate_bps = spec.line_rate_bps[index / queues_per_port] as f64;
            let port_rate = line_rate_bps / fastest;
            let priority = index % queues_per_port;
            Queue {
                priority,
                shares: spec.shared[priority],
                line_rate_bps,
                port_rate,
                drain: port_rate,
                sent_bytes: 0,
                others_bytes: 0,
            }
        };
        Statistics {
            counting,
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
            let sent = match self.counting {
                Counting::Paper => queue.part_of_sent(),
                Counting::Artifact => queue.rate_or_port(elapsed_ns, self.queues_per_port),
            };
            queue.drain = sent * queue.port_rate;
            queue.sent_bytes = 0;
            queue.others_bytes = 0;
        }
        for priority in 0..self.queues_per_port {
            self.congested[priority] = match self.counting {
                Counting::Paper => self.congested_queues(buffer, alpha, priority),
                Counting::Artifact => self.saturated_queues(buffer, priority),
            };
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

    fn saturated_queues(&self, buffer: &Buffer, priority: usize) -> f64 {
        let of_priority = buffer.lengths()[priority..].iter().step_by(self.queues_per_port);
        let saturation =
            of_priority.map(|&length| (f64::from(length) / ARTIFACT_SATURATION_BYTES).min(1.0));
        saturation.sum::<f64>().max(1.0)
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

    fn rate_or_port(&self, elapsed_ns: u64, queues_per_port: usize) -> f64 {
        let rate = self.sent_bytes as f64 * 8e9 / (elapsed_ns as f64 * self.line_rate_bps);
        if rate < 1.0 / queues_per_port as f64 || rate > 1.0 { 1.0 } else { rate }
    }
}
