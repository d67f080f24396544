//! The untrained rule over Dynamic Thresholds: a decision without an oracle and without virtual LQD (`docs/rule.md`).

use crate::confirmation::{Confirmation, Waiting};
use crate::memory::decayed;
use crate::{NotReady, Verdict};

/// The constants of a switch and of the rule, which `dropcast export --policy` writes. `L` holds numbers: a slice, an array or
/// a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleConstants<L> {
    /// The shared buffer, `B`.
    pub buffer_bytes: u32,
    /// Arrivals are counted in a window of this length, half as far as the rule looks ahead; at least 1.
    pub window_ns: u32,
    /// The share of predictions that must come true for them to be followed, in 65,536ths.
    pub gate: u32,
    /// Bytes beside the shared buffer that only the queue may use, `u32::MAX` if it does not draw on that: one for each queue of a
    /// port.
    pub reserved_bytes: L,
    /// Dynamic Thresholds' alpha, in 128ths: one for each queue of a port.
    pub alpha_128: L,
    /// Bytes that a port sends until the horizon: one for each port.
    pub drain_bytes: L,
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleQueue {
    /// Its last event.
    updated_ns: u64,
    /// What it holds of the shared buffer.
    bytes: u32,
    /// What it holds of the bytes that are reserved for it.
    beside_bytes: u32,
    /// What arrived lately.
    recent_bytes: u32,
    /// What it is expected to hold at the horizon.
    expected_bytes: u32,
}

impl RuleQueue {
    /// An empty queue.
    pub const EMPTY: Self =
        RuleQueue { updated_ns: 0, bytes: 0, beside_bytes: 0, recent_bytes: 0, expected_bytes: 0 };
}

/// A switch's shared buffer under the rule: integers only, no allocation. The memory of the queues, `Q` and `W`, is the
/// caller's: arrays, mutable slices or vectors with an element for each queue.
#[derive(Clone, Debug)]
pub struct Rule<L, Q, W> {
    constants: RuleConstants<L>,
    queues: Q,
    confirmation: Confirmation<W>,
    occupancy_bytes: u32,
    /// What all queues are expected to hold.
    expected_bytes: u64,
    /// Queues that hold `B/N` or more: without one no drop is predicted.
    long_queues: u32,
}

impl<L, Q, W> Rule<L, Q, W>
where
    L: AsRef<[u32]>,
    Q: AsRef<[RuleQueue]> + AsMut<[RuleQueue]>,
    W: AsRef<[Waiting]> + AsMut<[Waiting]>,
{
    /// An empty switch. What the memory holds is overwritten.
    ///
    /// # Errors
    /// If there are no ports or queues, alphas and reserved bytes are not for as many, the window is 0, or the memory is not that of so many queues.
    pub fn new(constants: RuleConstants<L>, mut queues: Q, waiting: W) -> Result<Self, NotReady> {
        let (ports, per_port) =
            (constants.drain_bytes.as_ref().len(), constants.alpha_128.as_ref().len());
        let reserves = constants.reserved_bytes.as_ref().len();
        if ports == 0 || per_port == 0 || reserves != per_port || constants.window_ns == 0 {
            return Err(NotReady::BadConstants);
        }
        let lengths = [("queues", queues.as_ref().len()), ("waiting", waiting.as_ref().len())];
        for (name, length) in lengths {
            if Some(length) != ports.checked_mul(per_port) {
                return Err(NotReady::TooLittleMemory(name));
            }
        }
        queues.as_mut().fill(RuleQueue::EMPTY);
        let confirmation = Confirmation::new(constants.gate, waiting);
        Ok(Rule {
            constants,
            queues,
            confirmation,
            occupancy_bytes: 0,
            expected_bytes: 0,
            long_queues: 0,
        })
    }

    /// A packet arrives at `now_ns`, which never falls. If it is accepted, it is counted in its queue. `queue` is port times
    /// queues per port plus the queue within the port.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn arrival(&mut self, queue: usize, size_bytes: u32, now_ns: u64) -> Verdict {
        let verdict = self.decide(queue, size_bytes);
        self.settled(queue, size_bytes, verdict.accepts(), now_ns);
        verdict
    }

    /// A packet that was accepted leaves its queue.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn departure(&mut self, queue: usize, size_bytes: u32, now_ns: u64) {
        let of = &mut self.queues.as_mut()[queue];
        let left_bytes = of.bytes - size_bytes.min(of.bytes);
        of.beside_bytes -= size_bytes.saturating_sub(of.bytes).min(of.beside_bytes);
        let is_empty = left_bytes == 0 && of.beside_bytes == 0;
        self.changed(queue, left_bytes, 0, now_ns);
        if is_empty {
            self.confirmation.emptied(queue);
        }
    }

    /// The verdict about a packet that arrives. Whatever the switch then does, [`settled`](Self::settled) must hear of it.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn decide(&mut self, queue: usize, size_bytes: u32) -> Verdict {
        let size_bytes = self.shared_part(queue, size_bytes);
        if size_bytes == 0 {
            return Verdict::Accepted;
        }
        let free_bytes = self.constants.buffer_bytes - self.occupancy_bytes;
        self.confirmation.arrives(size_bytes, |bytes| bytes <= free_bytes);
        let bytes = self.queues.as_ref()[queue].bytes;
        let alphas = self.constants.alpha_128.as_ref();
        let alpha_128 = alphas[queue % alphas.len()];
        if 128 * u64::from(bytes) >= u64::from(alpha_128) * u64::from(free_bytes) {
            return Verdict::AboveThreshold;
        }
        if size_bytes > free_bytes {
            return Verdict::NoRoom;
        }
        if self.long_queues == 0 {
            return Verdict::Safeguarded;
        }
        if self.reaches(bytes) && self.confirmation.predicted(queue, size_bytes) {
            return Verdict::PredictedDrop;
        }
        Verdict::Accepted
    }

    /// A packet that arrived was added to its queue, or not.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn settled(&mut self, queue: usize, size_bytes: u32, is_accepted: bool, now_ns: u64) {
        let shared_bytes = self.shared_part(queue, size_bytes);
        let of = &mut self.queues.as_mut()[queue];
        let mut bytes = of.bytes;
        if is_accepted {
            bytes += shared_bytes;
            of.beside_bytes += size_bytes - shared_bytes;
        }
        self.changed(queue, bytes, size_bytes, now_ns);
    }

    /// Bytes in the shared buffer.
    pub fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    /// Whether the level, projected to the horizon, reaches the buffer: what all queues would hold then, if each were cut
    /// down to `cut_bytes`.
    fn reaches(&self, cut_bytes: u32) -> bool {
        let buffer_bytes = u64::from(self.constants.buffer_bytes);
        if self.expected_bytes < buffer_bytes {
            return false;
        }
        let queues = self.queues.as_ref().iter();
        let level: u64 = queues.map(|queue| u64::from(queue.expected_bytes.min(cut_bytes))).sum();
        level >= buffer_bytes
    }

    /// What a packet adds to the shared buffer: nothing while the bytes that are reserved for its queue have room.
    fn shared_part(&self, queue: usize, size_bytes: u32) -> u32 {
        let reserved_bytes = self.constants.reserved_bytes.as_ref();
        let room_bytes =
            reserved_bytes[queue % reserved_bytes.len()] - self.queues.as_ref()[queue].beside_bytes;
        size_bytes.saturating_sub(room_bytes)
    }

    /// An event of a queue, which holds `bytes` of the shared buffer after it: what it is then expected to hold.
    fn changed(&mut self, number: usize, bytes: u32, arrived_bytes: u32, now_ns: u64) {
        let RuleConstants { buffer_bytes, window_ns, alpha_128, drain_bytes, .. } = &self.constants;
        let (per_port, drains) = (alpha_128.as_ref().len(), drain_bytes.as_ref());
        let queue = &mut self.queues.as_mut()[number];
        let since_ns = now_ns.saturating_sub(queue.updated_ns);
        let kept_bytes = decayed(queue.recent_bytes, since_ns, (*window_ns).into());
        queue.recent_bytes = kept_bytes.saturating_add(arrived_bytes);
        queue.updated_ns = now_ns;

        let coming = u64::from(bytes) + 2 * u64::from(queue.recent_bytes);
        let expected = match bytes {
            0 => 0,
            _ => coming.saturating_sub(drains[number / per_port].into()),
        };
        let expected_bytes = u32::try_from(expected).unwrap_or(u32::MAX);
        self.expected_bytes -= u64::from(queue.expected_bytes);
        self.expected_bytes += u64::from(expected_bytes);
        queue.expected_bytes = expected_bytes;

        let is_long =
            |bytes: u32| u64::from(bytes) * drains.len() as u64 >= u64::from(*buffer_bytes);
        self.long_queues -= u32::from(is_long(queue.bytes));
        self.long_queues += u32::from(is_long(bytes));
        self.occupancy_bytes = self.occupancy_bytes - queue.bytes + bytes;
        queue.bytes = bytes;
    }
}
