//! The device's virtual LQD: Longest Queue Drop beside a switch, in memory that the caller owns.
//!
//! The tracer has its own, `dropcast_switch::VirtualLqd`, which allocates, finds the longest queue
//! in O(1) and has every option. This one needs no heap and has only the defaults: the tail of the
//! longest queue is the victim, ties go to the lowest queue, a packet fits if `Q + s <= B`. A
//! property test (`switch/tests/device_lqd.rs`) compares both, victim by victim.

/// A queue of the virtual LQD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualQueue {
    bytes: u32,
    head: u16,
    tail: u16,
}

/// A packet in the virtual LQD, or a free slot for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualPacket {
    size_bytes: u32,
    /// The next towards the tail; in the free list, the next free slot.
    next: u16,
    /// The next towards the head.
    previous: u16,
}

/// The end of a list; no packet has this index.
const NONE: u16 = u16::MAX;

impl VirtualQueue {
    /// An empty queue.
    pub const EMPTY: Self = VirtualQueue { bytes: 0, head: NONE, tail: NONE };
}

impl VirtualPacket {
    /// A free slot.
    pub const FREE: Self = VirtualPacket { size_bytes: 0, next: NONE, previous: NONE };
}

/// Push-out Longest Queue Drop beside a switch: the packets that it would hold. Its queue lengths
/// are the thresholds of Credence (Algorithm 1: "thresholds are treated as LQD queue lengths") and
/// the source of a model's features.
///
/// When a packet does not fit, packets are pushed out from the tail of the longest queue (ties: the
/// lowest) until it does; the arriving packet does not count in its own queue. Every queue shares
/// the buffer and may be pushed out of. A scan finds the longest queue, so an arrival takes O(N)
/// for each packet that it pushes out, and O(1) if it fits; a departure takes O(1).
#[derive(Debug)]
pub struct VirtualLqd<'a> {
    buffer_bytes: u32,
    occupancy_bytes: u32,
    queues: &'a mut [VirtualQueue],
    packets: &'a mut [VirtualPacket],
    /// The first free slot.
    free: u16,
}

impl<'a> VirtualLqd<'a> {
    /// An empty virtual switch with the memory of its queues and packets (at most 65,535 of
    /// `packets` are used); the content of both is overwritten.
    ///
    /// `buffer_bytes` divided by the smallest packet size is always enough. With fewer slots, a
    /// packet without a free slot is not admitted: thresholds get lower, and Credence drops more.
    pub fn new(
        buffer_bytes: u32,
        queues: &'a mut [VirtualQueue],
        packets: &'a mut [VirtualPacket],
    ) -> Self {
        queues.fill(VirtualQueue::EMPTY);
        let places = packets.len().min(usize::from(NONE));
        for (place, packet) in packets.iter_mut().enumerate().take(places) {
            // Below `NONE`, the maximum number of slots.
            let next = if place + 1 < places { place as u16 + 1 } else { NONE };
            *packet = VirtualPacket { next, ..VirtualPacket::FREE };
        }
        let free = if places == 0 { NONE } else { 0 };
        VirtualLqd { buffer_bytes, occupancy_bytes: 0, queues, packets, free }
    }

    /// Size of the buffer, `B`.
    pub fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// Number of virtual queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Bytes in the virtual buffer: the feature `occupancy`.
    pub fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    /// Bytes in a virtual queue: its threshold, and the feature `queue_length`. 0 if there is no
    /// such queue.
    pub fn queue_bytes(&self, queue: usize) -> u32 {
        self.queues.get(queue).map_or(0, |queue| queue.bytes)
    }

    /// Bytes in the longest virtual queue: the feature `longest_queue`.
    pub fn longest_queue_bytes(&self) -> u32 {
        self.queues.iter().map(|queue| queue.bytes).max().unwrap_or(0)
    }

    /// Number of virtual queues with more than `bytes`: with a queue's own length, the feature
    /// `rank`.
    pub fn queues_longer_than(&self, bytes: u32) -> usize {
        self.queues.iter().filter(|queue| queue.bytes > bytes).count()
    }

    /// Bytes that would be held if every virtual queue were cut down to `level_bytes`: with a
    /// queue's own length, the feature `level_occupancy`.
    pub fn bytes_up_to(&self, level_bytes: u32) -> u64 {
        self.queues.iter().map(|queue| u64::from(queue.bytes.min(level_bytes))).sum()
    }

    /// A packet of `size_bytes` arrives for `queue`. `pushed_out` is called with the queue of each
    /// packet pushed out for it, after the push-out, to update averages. Returns whether LQD
    /// accepts the packet.
    pub fn arrives(
        &mut self,
        queue: usize,
        size_bytes: u32,
        mut pushed_out: impl FnMut(&Self, usize),
    ) -> bool {
        while self.overflows(size_bytes) {
            let Some(longest) = self.longest() else { return false };
            self.push_out(longest);
            pushed_out(self, longest);
        }
        self.add(queue, size_bytes)
    }

    /// The packet at the head of `queue` leaves; returns its size, or `None` if the queue is empty.
    pub fn departs(&mut self, queue: usize) -> Option<u32> {
        let head = self.queues.get(queue)?.head;
        self.remove(queue, head)
    }

    fn overflows(&self, size_bytes: u32) -> bool {
        u64::from(self.occupancy_bytes) + u64::from(size_bytes) > u64::from(self.buffer_bytes)
    }

    /// The longest queue, if not all are empty; ties go to the lowest.
    fn longest(&self) -> Option<usize> {
        let mut longest = (None, 0);
        for (queue, state) in self.queues.iter().enumerate() {
            if state.bytes > longest.1 {
                longest = (Some(queue), state.bytes);
            }
        }
        longest.0
    }

    fn push_out(&mut self, queue: usize) {
        let tail = self.queues[queue].tail;
        self.remove(queue, tail);
    }

    fn add(&mut self, queue: usize, size_bytes: u32) -> bool {
        let place = self.free;
        let (Some(state), Some(packet)) =
            (self.queues.get_mut(queue), self.packets.get_mut(usize::from(place)))
        else {
            return false;
        };
        self.free = packet.next;
        let before = state.tail;
        *packet = VirtualPacket { size_bytes, next: NONE, previous: before };
        state.tail = place;
        state.bytes += size_bytes;
        if before == NONE {
            state.head = place;
        } else {
            self.packets[usize::from(before)].next = place;
        }
        self.occupancy_bytes += size_bytes;
        true
    }

    /// Removes the packet at either end of its queue.
    fn remove(&mut self, queue: usize, place: u16) -> Option<u32> {
        if place == NONE {
            return None;
        }
        let VirtualPacket { size_bytes, next, previous } = self.packets[usize::from(place)];
        let state = &mut self.queues[queue];
        if next == NONE {
            state.tail = previous;
        } else {
            self.packets[usize::from(next)].previous = previous;
        }
        if previous == NONE {
            state.head = next;
        } else {
            self.packets[usize::from(previous)].next = next;
        }
        state.bytes -= size_bytes;
        self.occupancy_bytes -= size_bytes;
        self.packets[usize::from(place)].next = self.free;
        self.free = place;
        Some(size_bytes)
    }
}
