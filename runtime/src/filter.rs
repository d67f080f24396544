//! Dynamic Thresholds with a filter, on a switch's own queues: decisions without virtual LQD (`docs/rule.md`, `docs/filter.md`).

use crate::confirmation::{Confirmation, Waiting};
use crate::memory::{decayed, expected_bytes};
use crate::{NotReady, Verdict};

/// The constants of a switch and of what predicts, which `dropcast export --policy` writes. `L` holds numbers: a slice, an array or
/// a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterConstants<L> {
    /// The shared buffer, `B`.
    pub buffer_bytes: u32,
    /// Arrivals are counted in a window of this length, at least 1: half as far as the rule looks ahead, an eighth of a forest's base
    /// RTT.
    pub window_ns: u32,
    /// The share of predictions that must come true for them to be followed, in 65,536ths.
    pub gate: u32,
    /// Bytes beside the shared buffer that only the queue may use, `u32::MAX` if it does not draw on that: one for each queue of a
    /// port.
    pub reserved_bytes: L,
    /// Dynamic Thresholds' alpha, in 128ths: one for each queue of a port.
    pub alpha_128: L,
    /// Bytes that a port sends until the rule's horizon, or in two of a forest's base RTTs: one for each port.
    pub drain_bytes: L,
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterQueue {
    /// Its last event.
    updated_ns: u64,
    /// What it holds of the shared buffer.
    pub(crate) bytes: u32,
    /// What it holds of the bytes that are reserved for it.
    beside_bytes: u32,
    /// What arrived lately.
    pub(crate) recent_bytes: u32,
    /// What it is expected to hold as far ahead as [`Predicts::WINDOWS`] are.
    pub(crate) expected_bytes: u32,
}

impl FilterQueue {
    /// An empty queue.
    pub const EMPTY: Self = FilterQueue {
        updated_ns: 0,
        bytes: 0,
        beside_bytes: 0,
        recent_bytes: 0,
        expected_bytes: 0,
    };
}

/// The switch's own queues, as what predicts sees them.
#[derive(Clone, Copy, Debug)]
pub struct OwnQueues<'a> {
    pub(crate) buffer_bytes: u32,
    pub(crate) occupancy_bytes: u32,
    /// What all queues are expected to hold.
    pub(crate) expected_bytes: u64,
    pub(crate) queues: &'a [FilterQueue],
    /// By port.
    pub(crate) drain_bytes: &'a [u32],
}

/// What predicts that LQD would drop a packet.
pub trait Predicts {
    /// How many windows ahead lengths of queues are kept.
    const WINDOWS: u32;

    /// Whether a drop is predicted for a packet that arrives for a queue.
    fn predicts(&self, own: OwnQueues<'_>, queue: usize) -> bool;
}

/// A switch's shared buffer under Dynamic Thresholds and what predicts, `P`: integers only, no allocation. The memory of the queues,
/// `Q` and `W`, is the caller's: arrays, mutable slices or vectors with an element for each queue.
#[derive(Clone, Debug)]
pub struct Filter<L, Q, W, P> {
    constants: FilterConstants<L>,
    queues: Q,
    confirmation: Confirmation<W>,
    occupancy_bytes: u32,
    /// What all queues are expected to hold.
    expected_bytes: u64,
    /// Queues that hold `B/N` or more: without one no drop is predicted.
    long_queues: u32,
    predictor: P,
}

impl<L, Q, W, P> Filter<L, Q, W, P>
where
    L: AsRef<[u32]>,
    Q: AsRef<[FilterQueue]> + AsMut<[FilterQueue]>,
    W: AsRef<[Waiting]> + AsMut<[Waiting]>,
    P: Predicts,
{
    /// An empty switch. What the memory holds is overwritten.
    ///
    /// # Errors
    /// If there are no ports or queues, alphas and reserved bytes are not for as many, the window is 0, or the memory is not that of so many queues.
    pub fn over(
        constants: FilterConstants<L>,
        mut queues: Q,
        waiting: W,
        predictor: P,
    ) -> Result<Self, NotReady> {
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
        queues.as_mut().fill(FilterQueue::EMPTY);
        let confirmation = Confirmation::new(constants.gate, waiting);
        Ok(Filter {
            constants,
            queues,
            confirmation,
            occupancy_bytes: 0,
            expected_bytes: 0,
            long_queues: 0,
            predictor,
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
        if self.predicts(queue) && self.confirmation.predicted(queue, size_bytes) {
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

    fn predicts(&self, queue: usize) -> bool {
        let own = OwnQueues {
            buffer_bytes: self.constants.buffer_bytes,
            occupancy_bytes: self.occupancy_bytes,
            expected_bytes: self.expected_bytes,
            queues: self.queues.as_ref(),
            drain_bytes: self.constants.drain_bytes.as_ref(),
        };
        self.predictor.predicts(own, queue)
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
        let FilterConstants { buffer_bytes, window_ns, alpha_128, drain_bytes, .. } =
            &self.constants;
        let (per_port, drains) = (alpha_128.as_ref().len(), drain_bytes.as_ref());
        let queue = &mut self.queues.as_mut()[number];
        let since_ns = now_ns.saturating_sub(queue.updated_ns);
        let kept_bytes = decayed(queue.recent_bytes, since_ns, (*window_ns).into());
        queue.recent_bytes = kept_bytes.saturating_add(arrived_bytes);
        queue.updated_ns = now_ns;

        let drain_bytes = drains[number / per_port].into();
        let expected = expected_bytes(bytes, queue.recent_bytes, P::WINDOWS, drain_bytes);
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
