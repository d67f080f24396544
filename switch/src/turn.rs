//! Schedulers: which queue of a port is served next.

use crate::Buffer;
use crate::buffer::QueueBits;
use dropcast_data::{Scheduler, SwitchSpec};
use std::hint::select_unpredictable;

/// The state of a port's scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Round robin and DWRR: the first queue to consider.
    queue: usize,
    /// DWRR: bytes each queue may still send.
    deficit_bytes: Vec<u64>,
    /// DWRR: whether `queue` got its quantum in this visit.
    was_credited: bool,
}

impl Turn {
    /// The scheduler of a port of this switch, before it has served anything.
    pub fn new(spec: &SwitchSpec) -> Self {
        Turn { deficit_bytes: vec![0; spec.quantum_bytes.len()], ..Turn::default() }
    }

    /// The queue of a port to serve now, or `None` if all are empty. The caller then dequeues its
    /// head.
    #[inline]
    pub fn pick(&mut self, spec: &SwitchSpec, buffer: &Buffer, port: usize) -> Option<usize> {
        self.pick_unpaused(spec, buffer, port, &[])
    }

    /// The same, where a paused queue counts as empty. `paused` has them by port, or nothing.
    #[inline(always)]
    pub(crate) fn pick_unpaused(
        &mut self,
        spec: &SwitchSpec,
        buffer: &Buffer,
        port: usize,
        paused: &[QueueBits],
    ) -> Option<usize> {
        let queues = usize::from(spec.queues_per_port);
        let first = port * queues;
        let backlogged = buffer.backlogged(port);
        let word = |at: usize| match paused {
            [] => backlogged[at],
            paused => backlogged[at] & !paused[port][at],
        };
        let picked = match spec.scheduler {
            Scheduler::StrictPriority => first_from(0, &word),
            Scheduler::RoundRobin => self.pick_round_robin(queues, &word),
            Scheduler::Dwrr => {
                let holds = |queue: usize| word(queue / 64) >> (queue % 64) & 1 != 0;
                self.pick_dwrr(&spec.quantum_bytes, holds, |queue| {
                    buffer.head(first + queue).map_or(0, |head| u64::from(head.size_bytes))
                })
            }
        };
        picked.map(|queue| first + queue)
    }

    #[inline(always)]
    fn pick_round_robin(&mut self, queues: usize, word: &impl Fn(usize) -> u64) -> Option<usize> {
        let picked = if queues <= 64 {
            let bits = word(0);
            let later = bits & (!0 << self.queue);
            let bits = select_unpredictable(later == 0, bits, later);
            (bits != 0).then_some(bits.trailing_zeros() as usize)?
        } else {
            first_from(self.queue, word).or_else(|| first_from(0, word))?
        };
        self.queue = if picked + 1 == queues { 0 } else { picked + 1 };
        Some(picked)
    }

    /// Deficit round robin (Shreedhar and Varghese): a visited queue gets its quantum once, sends
    /// while its deficit covers its head, and loses the deficit when it runs empty.
    fn pick_dwrr(
        &mut self,
        quantum_bytes: &[u32],
        holds: impl Fn(usize) -> bool,
        head_bytes: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let queues = quantum_bytes.len();
        if !(0..queues).any(&holds) {
            *self = Turn { deficit_bytes: vec![0; queues], ..Turn::default() };
            return None;
        }
        for visit in 1.. {
            let queue = self.queue;
            if holds(queue) {
                if !self.was_credited {
                    self.deficit_bytes[queue] += u64::from(quantum_bytes[queue]);
                    self.was_credited = true;
                }
                let head = head_bytes(queue);
                if self.deficit_bytes[queue] >= head {
                    self.deficit_bytes[queue] -= head;
                    return Some(queue);
                }
            } else {
                self.deficit_bytes[queue] = 0;
            }
            self.queue = (queue + 1) % queues;
            self.was_credited = false;
            if visit == queues {
                self.skip_rounds(quantum_bytes, &holds, &head_bytes);
            }
        }
        None
    }

    /// Credits all rounds in which no queue could send at once: with quanta far below the packet
    /// sizes there are many.
    fn skip_rounds(
        &mut self,
        quantum_bytes: &[u32],
        holds: impl Fn(usize) -> bool,
        head_bytes: impl Fn(usize) -> u64,
    ) {
        let backlogged = || (0..quantum_bytes.len()).filter(|&queue| holds(queue));
        let rounds_to_send = backlogged().map(|queue| {
            let missing = head_bytes(queue) - self.deficit_bytes[queue];
            missing.div_ceil(u64::from(quantum_bytes[queue]))
        });
        let idle_rounds = rounds_to_send.min().unwrap_or(1) - 1;
        for queue in backlogged() {
            self.deficit_bytes[queue] += idle_rounds * u64::from(quantum_bytes[queue]);
        }
    }
}

/// The first queue of a port from number `from` on whose bit is set.
#[inline(always)]
fn first_from(from: usize, word: &impl Fn(usize) -> u64) -> Option<usize> {
    let mut at = from / 64;
    let mut bits = word(at) & (!0 << (from % 64));
    while bits == 0 {
        at += 1;
        if at == QueueBits::default().len() {
            return None;
        }
        bits = word(at);
    }
    Some(64 * at + bits.trailing_zeros() as usize)
}
