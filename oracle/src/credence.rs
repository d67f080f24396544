//! Credence for a device: the whole decision about a packet in one call, in fixed memory.

use crate::{DropOracle, Situation, Verdict, VirtualLqd};

/// A switch's shared buffer under Credence (Algorithm 1): the lengths of its queues, the virtual LQD
/// whose queue lengths are the thresholds, and the oracle. No allocation; the caller owns all
/// memory that grows with the switch.
///
/// For each arriving packet, read its features from [`lqd`](Self::lqd) (and the caller's moving
/// averages), call [`arrives`](Self::arrives), and follow its verdict. When a packet leaves the
/// switch, call [`departs`](Self::departs); when the virtual LQD's port may send, call
/// [`virtual_departs`](Self::virtual_departs).
#[derive(Debug)]
pub struct Credence<'a, O> {
    ports: u32,
    occupancy_bytes: u32,
    lengths: &'a mut [u32],
    lqd: VirtualLqd<'a>,
    oracle: O,
}

impl<'a, O: DropOracle> Credence<'a, O> {
    /// Credence for an empty switch of `ports` ports (`N`) with a buffer of the virtual LQD's size.
    /// `lengths` holds the bytes in each of the switch's queues, as many as `lqd` has; its content
    /// is overwritten.
    pub fn new(ports: u32, lengths: &'a mut [u32], lqd: VirtualLqd<'a>, oracle: O) -> Self {
        lengths.fill(0);
        Credence { ports, occupancy_bytes: 0, lengths, lqd, oracle }
    }

    /// The virtual LQD: thresholds and features.
    pub fn lqd(&self) -> &VirtualLqd<'a> {
        &self.lqd
    }

    /// Bytes in one of the switch's queues; 0 if there is no such queue.
    pub fn queue_bytes(&self, queue: usize) -> u32 {
        self.lengths.get(queue).copied().unwrap_or(0)
    }

    /// Bytes in the switch's buffer, `Q`.
    pub fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    /// A packet of `size_bytes` arrives for `queue`; `features` are those of its arrival, read
    /// before this call, in the order that the oracle was trained with. If the verdict accepts, the
    /// packet is counted in its queue. `pushed_out` is called for every packet that LQD pushes out.
    pub fn arrives(
        &mut self,
        queue: usize,
        size_bytes: u32,
        features: &[u32],
        pushed_out: impl FnMut(&VirtualLqd<'a>, usize),
    ) -> Verdict {
        self.lqd.arrives(queue, size_bytes, pushed_out);
        let verdict =
            self.situation(queue, size_bytes).decide(|| self.oracle.predicts_drop(features));
        if let (true, Some(length)) = (verdict.accepts(), self.lengths.get_mut(queue)) {
            *length += size_bytes;
            self.occupancy_bytes += size_bytes;
        }
        verdict
    }

    /// A packet of `size_bytes` leaves `queue` of the switch.
    pub fn departs(&mut self, queue: usize, size_bytes: u32) {
        if let Some(length) = self.lengths.get_mut(queue) {
            let size_bytes = size_bytes.min(*length);
            *length -= size_bytes;
            self.occupancy_bytes -= size_bytes;
        }
    }

    /// The packet at the head of a queue of the virtual LQD leaves; returns its size, or `None` if
    /// the queue is empty. `UpdateThreshold(i, departure)` of Algorithm 1.
    pub fn virtual_departs(&mut self, queue: usize) -> Option<u32> {
        self.lqd.departs(queue)
    }

    fn situation(&self, queue: usize, size_bytes: u32) -> Situation {
        let after = u64::from(self.occupancy_bytes) + u64::from(size_bytes);
        Situation {
            fits: queue < self.lengths.len() && after <= u64::from(self.lqd.buffer_bytes()),
            longest_queue_bytes: self.lengths.iter().copied().max().unwrap_or(0),
            buffer_bytes: self.lqd.buffer_bytes(),
            ports: self.ports,
            queue_bytes: self.queue_bytes(queue),
            size_bytes,
            threshold_bytes: self.lqd.queue_bytes(queue),
        }
    }
}
