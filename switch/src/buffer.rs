//! The packets a switch holds.

use crate::longest::Longest;
use dropcast_data::{CollectSettings, SwitchSpec};
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

impl Fit {
    /// That of a trace's virtual LQD.
    pub fn of(settings: &CollectSettings) -> Self {
        if settings.strict_fit { Fit::Strict } else { Fit::Exact }
    }
}

/// A shared buffer: FIFO queues, their lengths, and the longest.
#[derive(Clone, Debug)]
pub struct Buffer {
    capacity_bytes: u32,
    occupancy_bytes: u32,
    fit: Fit,
    queues_per_port: usize,
    ports: Vec<Port>,
    queues: Vec<Queue>,
    lengths: Vec<u32>,
    /// Bytes of the queues in the shared buffer, 0 for queues that do not draw on it.
    shared_lengths: Vec<u32>,
    /// The same, if many questions about all queues are expected.
    shared_backlog: Option<Backlog<1>>,
    /// The longest of the queues in the shared buffer: of those that are not pushable, and of those that are.
    longest: [Longest; 2],
}

/// A bit for each queue of a port; it has at most 255.
pub(crate) type QueueBits = [u64; 4];

#[derive(Clone, Debug, Default)]
struct Port {
    /// Bytes of all its queues.
    bytes: u64,
    /// Which of its queues hold bytes.
    backlogged: QueueBits,
}

/// What a packet needs to know of its queue, in one place.
#[derive(Clone, Debug)]
struct Queue {
    packets: VecDeque<Held>,
    /// Its length.
    bytes: u32,
    /// Bytes of it in the shared buffer.
    shared_bytes: u32,
    /// Bytes beside the shared buffer.
    reserved_bytes: u32,
    port: u32,
    /// Its number at its port.
    number: u8,
    shares: bool,
    is_pushable: bool,
}

impl Buffer {
    /// The empty buffer of a switch.
    pub fn new(spec: &SwitchSpec, fit: Fit) -> Self {
        let queues = spec.queues();
        let queues_per_port = usize::from(spec.queues_per_port);
        let flags = spec.shared.iter().cycle().zip(spec.pushable.iter().cycle());
        let queue = |(queue, (&shares, &is_pushable))| Queue {
            packets: VecDeque::new(),
            bytes: 0,
            shared_bytes: 0,
            reserved_bytes: spec.reserved_bytes_of(queue),
            port: (queue / queues_per_port) as u32,
            number: (queue % queues_per_port) as u8,
            shares,
            is_pushable: shares && is_pushable,
        };
        Buffer {
            capacity_bytes: spec.buffer_bytes,
            occupancy_bytes: 0,
            fit,
            queues_per_port,
            ports: vec![Port::default(); spec.ports()],
            queues: (0..queues).zip(flags).map(queue).collect(),
            lengths: vec![0; queues],
            shared_lengths: vec![0; queues],
            shared_backlog: None,
            longest: [(); 2].map(|()| Longest::new(queues)),
        }
    }

    /// Size of the shared buffer, the papers' `B`.
    pub fn capacity_bytes(&self) -> u32 {
        self.capacity_bytes
    }

    /// Number of output ports, the papers' `N`.
    pub fn ports(&self) -> usize {
        self.ports.len()
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
        let Queue { bytes, shared_bytes, reserved_bytes, shares, .. } = self.queues[queue];
        if !shares {
            return 0;
        }
        let after = u64::from(bytes) + u64::from(size_bytes);
        let after = after.saturating_sub(u64::from(reserved_bytes));
        // At most the packet's own size.
        (after - u64::from(shared_bytes)) as u32
    }

    /// Whether packets of a queue may be pushed out.
    #[inline]
    pub fn is_pushable(&self, queue: usize) -> bool {
        self.queues[queue].is_pushable
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
    pub(crate) fn can_count(&self, queue: usize, size_bytes: u32) -> bool {
        self.lengths[queue].checked_add(size_bytes).is_some()
    }

    /// The longest pushable queue, and its length; `None` if all are empty. Ties go to the lowest
    /// port, then queue.
    pub fn longest_pushable(&self) -> Option<(usize, u32)> {
        let (queue, bytes) = self.longest_of(true);
        (bytes > 0).then_some((queue, bytes))
    }

    /// The longest queue of the shared buffer among those that are pushable, or that are not.
    fn longest_of(&self, is_pushable: bool) -> (usize, u32) {
        let is_one = |queue: usize| self.queues[queue].is_pushable == is_pushable;
        self.longest[usize::from(is_pushable)].winner(&self.shared_lengths, is_one)
    }

    /// The packet at the head of a queue.
    #[inline]
    pub fn head(&self, queue: usize) -> Option<&Held> {
        self.queues[queue].packets.front()
    }

    /// Which queues of a port hold bytes.
    #[inline]
    pub(crate) fn backlogged(&self, port: usize) -> &QueueBits {
        &self.ports[port].backlogged
    }

    /// Whether a port holds bytes.
    #[inline]
    pub(crate) fn is_backlogged(&self, port: usize) -> bool {
        self.ports[port].bytes > 0
    }

    /// Packets held, in all queues.
    pub fn packets(&self) -> impl Iterator<Item = &Held> {
        self.queues.iter().flat_map(|queue| &queue.packets)
    }

    /// Questions about all queues at once are then answered from the queues that hold something, at the
    /// price of keeping these together.
    pub(crate) fn keep_backlog(&mut self) {
        let mut backlog = Backlog::new(self.queues());
        for (queue, &bytes) in self.shared_lengths.iter().enumerate() {
            backlog.set(queue, [bytes]);
        }
        self.shared_backlog = Some(backlog);
    }

    /// The lengths of all queues in the shared buffer, in no order; some of those that are 0 are left out.
    fn held_lengths(&self) -> &[u32] {
        self.shared_backlog.as_ref().map_or(&self.shared_lengths, |backlog| backlog.bytes(0))
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, queue: usize, packet: Held) {
        let of = &mut self.queues[queue];
        of.packets.push_back(packet);
        let bytes = of.bytes + packet.size_bytes;
        self.set_length(queue, bytes);
    }

    #[inline(always)]
    pub(crate) fn pop_head(&mut self, queue: usize) -> Option<Held> {
        let of = &mut self.queues[queue];
        let packet = of.packets.pop_front()?;
        let bytes = of.bytes - packet.size_bytes;
        self.set_length(queue, bytes);
        Some(packet)
    }

    #[inline]
    pub(crate) fn pop_tail(&mut self, queue: usize) -> Option<Held> {
        let of = &mut self.queues[queue];
        let packet = of.packets.pop_back()?;
        let bytes = of.bytes - packet.size_bytes;
        self.set_length(queue, bytes);
        Some(packet)
    }

    #[inline(always)]
    fn set_length(&mut self, queue: usize, bytes: u32) {
        let of = &mut self.queues[queue];
        let before = std::mem::replace(&mut of.bytes, bytes);
        let port = &mut self.ports[of.port as usize];
        port.bytes = port.bytes - u64::from(before) + u64::from(bytes);
        let word = &mut port.backlogged[usize::from(of.number / 64)];
        let bit = 1 << (of.number % 64);
        *word = if bytes > 0 { *word | bit } else { *word & !bit };
        self.lengths[queue] = bytes;
        if of.shares {
            let bytes = bytes.saturating_sub(of.reserved_bytes);
            let before = std::mem::replace(&mut of.shared_bytes, bytes);
            self.shared_lengths[queue] = bytes;
            self.occupancy_bytes = self.occupancy_bytes - before + bytes;
            if let Some(backlog) = &mut self.shared_backlog {
                backlog.set(queue, [bytes]);
            }
            let longest = &mut self.longest[usize::from(of.is_pushable)];
            if bytes < before {
                longest.shrank(queue, before);
            } else {
                longest.grew(queue, bytes);
            }
        }
    }
}

impl BufferView for Buffer {
    fn queues(&self) -> usize {
        self.lengths.len()
    }
    #[inline]
    fn queue_bytes(&self, queue: usize) -> u32 {
        let Queue { bytes, shared_bytes, shares, .. } = self.queues[queue];
        if shares { shared_bytes } else { bytes }
    }

    fn capacity_bytes(&self) -> u32 {
        self.capacity_bytes
    }

    #[inline]
    fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    fn longest_queue_bytes(&self) -> u32 {
        self.longest_of(true).1.max(self.longest_of(false).1)
    }

    fn queues_longer_than(&self, bytes: u32) -> u32 {
        self.held_lengths().iter().map(|&length| u32::from(length > bytes)).sum()
    }

    fn bytes_up_to(&self, level_bytes: u32) -> u64 {
        bytes_up_to(self.held_lengths(), level_bytes)
    }
    #[inline]
    fn shares(&self, queue: usize) -> bool {
        self.queues[queue].shares
    }
}
