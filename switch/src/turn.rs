//! Schedulers: which queue of a port is served next.

use crate::Buffer;
use dropcast_data::{Scheduler, SwitchSpec};

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
        let queues = usize::from(spec.queues_per_port);
        let first = port * queues;
        self.pick_of(spec, buffer, first, &buffer.lengths()[first..first + queues])
    }

    /// The same, where a paused queue counts as empty; `paused` has a value for each queue of the
    /// switch.
    pub(crate) fn pick_unpaused(
        &mut self,
        spec: &SwitchSpec,
        buffer: &Buffer,
        port: usize,
        paused: &[bool],
    ) -> Option<usize> {
        let queues = usize::from(spec.queues_per_port);
        let first = port * queues;
        let lengths = buffer.lengths()[first..first + queues].iter().zip(&paused[first..]);
        let lengths: Vec<u32> =
            lengths.map(|(&bytes, &is_paused)| if is_paused { 0 } else { bytes }).collect();
        self.pick_of(spec, buffer, first, &lengths)
    }
    #[inline]
    fn pick_of(
        &mut self,
        spec: &SwitchSpec,
        buffer: &Buffer,
        first: usize,
        lengths: &[u32],
    ) -> Option<usize> {
        let picked = match spec.scheduler {
            Scheduler::StrictPriority => lengths.iter().position(|&bytes| bytes > 0),
            Scheduler::RoundRobin => self.pick_round_robin(lengths),
            Scheduler::Dwrr => self.pick_dwrr(&spec.quantum_bytes, lengths, |queue| {
                buffer.head(first + queue).map_or(0, |head| u64::from(head.size_bytes))
            }),
        };
        picked.map(|queue| first + queue)
    }
    #[inline]
    fn pick_round_robin(&mut self, lengths: &[u32]) -> Option<usize> {
        let backlogged = |queue: &usize| lengths[*queue] > 0;
        let picked =
            (self.queue..lengths.len()).find(backlogged).or((0..self.queue).find(backlogged))?;
        self.queue = if picked + 1 == lengths.len() { 0 } else { picked + 1 };
        Some(picked)
    }

    /// Deficit round robin (Shreedhar and Varghese): a visited queue gets its quantum once, sends
    /// while its deficit covers its head, and loses the deficit when it runs empty.
    fn pick_dwrr(
        &mut self,
        quantum_bytes: &[u32],
        lengths: &[u32],
        head_bytes: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        if lengths.iter().all(|&bytes| bytes == 0) {
            *self = Turn { deficit_bytes: vec![0; lengths.len()], ..Turn::default() };
            return None;
        }
        for visit in 1.. {
            let queue = self.queue;
            if lengths[queue] > 0 {
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
            self.queue = (queue + 1) % lengths.len();
            self.was_credited = false;
            if visit == lengths.len() {
                self.skip_rounds(quantum_bytes, lengths, &head_bytes);
            }
        }
        None
    }

    /// Credits all rounds in which no queue could send at once: with quanta far below the packet
    /// sizes there are many.
    fn skip_rounds(
        &mut self,
        quantum_bytes: &[u32],
        lengths: &[u32],
        head_bytes: impl Fn(usize) -> u64,
    ) {
        let backlogged = || (0..lengths.len()).filter(|&queue| lengths[queue] > 0);
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
