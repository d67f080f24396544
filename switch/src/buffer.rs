//! The packets a switch holds.

use crate::longest::Longest;
use dropcast_data::SwitchSpec;
use dropcast_features::{Backlog, BufferView, bytes_up_to};
use std::collections::VecDeque;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its number.
    pub id: u64,
    /// Bytes it takes in the buffer.
    pub size_bytes: u32,
}

/// The rule by which a packet of `s` bytes fits into a buffer of `B` bytes that holds `Q`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// `Q + s <= B`.
    #[default]
    Exact,
    /// `Q + s < B`: the Credence authors' ns-3 code never fills its buffer to the last byte.
    Strict,
}

/// A shared buffer: FIFO queues, their lengths, and the longest.
#[derive(Clone, Debug)]
pub struct Buffer {
    capacity_bytes: u32,
    occupancy_bytes: u32,
    fit: Fit,
    ports: usize,
    queues_per_port: usize,
    fifos: Vec<VecDeque<Held>>,
    lengths: Vec<u32>,
    /// Bytes of the queues in the shared buffer, 0 for queues that do not draw on it.
    shared_lengths: Vec<u32>,
    shared_backlog: Backlog<1>,
    shares: Vec<bool>,
    /// Bytes of each queue beside the shared buffer.
    reserved: Vec<u32>,
    pushable: Vec<bool>,
    longest_pushable: Longest,
    longest_other: Longest,
}

impl Buffer {
    /// The empty buffer of a switch.
    pub fn new(spec: &SwitchSpec, fit: Fit) -> Self {
        let queues = spec.queues();
        let per_queue =
            |of: &[bool]| -> Vec<bool> { of.iter().copied().cycle().take(queues).collect() };
        let shares = per_queue(&spec.shared);
        let pushable =
            per_queue(&spec.pushable).into_iter().zip(&shares).map(|(p, &s)| p && s).collect();
        Buffer {
            capacity_bytes: spec.buffer_bytes,
            occupancy_bytes: 0,
            fit,
            ports: spec.ports(),
            queues_per_port: usize::from(spec.queues_per_port),
            fifos: vec![VecDeque::new(); queues],
            lengths: vec![0; queues],
            shared_lengths: vec![0; queues],
            shared_backlog: Backlog::new(queues),
            shares,
            reserved: (0..queues).map(|queue| spec.reserved_bytes_of(queue)).collect(),
            pushable,
            longest_pushable: Longest::new(queues),
            longest_other: Longest::new(queues),
        }
    }

    /// Size of the shared buffer, the papers' `B`.
    pub fn capacity_bytes(&self) -> u32 {
        self.capacity_bytes
    }

    /// Number of output ports, the papers' `N`.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// Number of queues at each port.
    pub fn queues_per_port(&self) -> usize {
        self.queues_per_port
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.lengths.len()
    }

    /// Length of every queue, bytes.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// What each queue has in the shared buffer: its length without its reserved bytes; 0 for queues that
    /// do not draw on it.
    #[inline]
    pub fn shared_lengths(&self) -> &[u32] {
        &self.shared_lengths
    }

    /// What a packet of `size_bytes` for `queue` adds to the shared buffer: 0 if it fits into the reserved
    /// bytes of its queue, or the queue draws on no shared buffer.
    #[inline]
    pub fn shared_part(&self, queue: usize, size_bytes: u32) -> u32 {
        if !self.shares[queue] {
            return 0;
        }
        let after = u64::from(self.lengths[queue]) + u64::from(size_bytes);
        let after = after.saturating_sub(u64::from(self.reserved[queue]));
        // At most the packet's own size.
        (after - u64::from(self.shared_lengths[queue])) as u32
    }

    /// Whether packets of a queue may be pushed out.
    #[inline]
    pub fn is_pushable(&self, queue: usize) -> bool {
        self.pushable[queue]
    }

    /// Whether adding a packet of `size_bytes` would exceed the capacity, regardless of [`Fit`].
    #[inline]
    pub fn overflows(&self, size_bytes: u32) -> bool {
        u64::from(self.occupancy_bytes) + u64::from(size_bytes) > u64::from(self.capacity_bytes)
    }

    /// Whether there is room for a packet of `size_bytes`.
    #[inline]
    pub fn fits(&self, size_bytes: u32) -> bool {
        let after = u64::from(self.occupancy_bytes) + u64::from(size_bytes);
        match self.fit {
            Fit::Exact => after <= u64::from(self.capacity_bytes),
            Fit::Strict => after < u64::from(self.capacity_bytes),
        }
    }

    /// Whether a queue's length would still fit 32 bits with `size_bytes` more. Matters only for
    /// queues outside the shared buffer, whose length has no other bound.
    #[inline]
    pub fn can_count(&self, queue: usize, size_bytes: u32) -> bool {
        self.lengths[queue].checked_add(size_bytes).is_some()
    }

    /// The longest pushable queue, and its length; `None` if all are empty. Ties go to the lowest
    /// port, then queue.
    pub fn longest_pushable(&self) -> Option<(usize, u32)> {
        let (queue, bytes) = self.longest_pushable.winner();
        (bytes > 0).then_some((queue, bytes))
    }

    /// The packet at the head of a queue.
    #[inline]
    pub fn head(&self, queue: usize) -> Option<&Held> {
        self.fifos[queue].front()
    }

    /// Packets held, in all queues.
    pub fn packets(&self) -> impl Iterator<Item = &Held> {
        self.fifos.iter().flatten()
    }
    #[inline]
    pub(crate) fn push(&mut self, queue: usize, packet: Held) {
        self.fifos[queue].push_back(packet);
        self.set_length(queue, self.lengths[queue] + packet.size_bytes);
    }
    #[inline]
    pub(crate) fn pop_head(&mut self, queue: usize) -> Option<Held> {
        let packet = self.fifos[queue].pop_front()?;
        self.forget(queue, packet);
        Some(packet)
    }
    #[inline]
    pub(crate) fn pop_tail(&mut self, queue: usize) -> Option<Held> {
        let packet = self.fifos[queue].pop_back()?;
        self.forget(queue, packet);
        Some(packet)
    }
    #[inline]
    fn forget(&mut self, queue: usize, packet: Held) {
        self.set_length(queue, self.lengths[queue] - packet.size_bytes);
    }
    #[inline]
    fn set_length(&mut self, queue: usize, bytes: u32) {
        self.lengths[queue] = bytes;
        if self.shares[queue] {
            let bytes = bytes.saturating_sub(self.reserved[queue]);
            self.occupancy_bytes = self.occupancy_bytes - self.shared_lengths[queue] + bytes;
            self.shared_lengths[queue] = bytes;
            self.shared_backlog.set(queue, [bytes]);
            let longest = if self.pushable[queue] {
                &mut self.longest_pushable
            } else {
                &mut self.longest_other
            };
            longest.set(queue, bytes);
        }
    }
}

impl BufferView for Buffer {
    fn queues(&self) -> usize {
        self.lengths.len()
    }
    #[inline]
    fn queue_bytes(&self, queue: usize) -> u32 {
        if self.shares[queue] { self.shared_lengths[queue] } else { self.lengths[queue] }
    }

    fn capacity_bytes(&self) -> u32 {
        self.capacity_bytes
    }

    #[inline]
    fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    fn longest_queue_bytes(&self) -> u32 {
        self.longest_pushable.winner().1.max(self.longest_other.winner().1)
    }

    fn queues_longer_than(&self, bytes: u32) -> u32 {
        self.shared_backlog.bytes(0).iter().map(|&length| u32::from(length > bytes)).sum()
    }

    fn bytes_up_to(&self, level_bytes: u32) -> u64 {
        bytes_up_to(self.shared_backlog.bytes(0), level_bytes)
    }
    #[inline]
    fn shares(&self, queue: usize) -> bool {
        self.shares[queue]
    }
}
