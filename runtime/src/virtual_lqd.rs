//! The device's virtual LQD: Longest Queue Drop beside a switch, at line rate, in memory that the caller
//! owns.
//!
//! The tracer has its own, `dropcast_switch::VirtualLqd`, which allocates, finds the longest queue
//! in O(1) and has every option. This one needs no heap and has only the defaults: the tail of the
//! longest pushable queue is the victim, ties go to the lowest queue, a packet fits if `Q + s <= B`.

use crate::classes::{self, Cut};
use crate::memory::{Memory, NOWHERE, PREDICTED, PacketState, QueueState, recent_bytes};
use crate::row::Queues;
use crate::{DriftMonitor, Keeps, SwitchConstants};

/// The packets that push-out Longest Queue Drop would hold in a switch whose ports always serve.
#[derive(Debug)]
pub(crate) struct VirtualLqd<'a> {
    pub(crate) switch: SwitchConstants<'a>,
    pub(crate) memory: Memory<'a>,
    pub(crate) occupancy_bytes: u32,
    pub(crate) drift: DriftMonitor,
    /// Packets that found no place.
    pub(crate) unheld: u64,
    /// Calls with a time before that of an earlier one.
    pub(crate) stepped_back: u64,
    /// What the features need.
    pub(crate) keeps: Keeps,
    /// Where the sums by length class say that LQD would cut.
    pub(crate) cut: Cut,
    /// What every port sends in two base RTTs; `None` if they differ.
    pub(crate) drain_bytes: Option<u64>,
    /// The first free place.
    pub(crate) free: u16,
    pub(crate) now_ns: u64,
    /// No port is due before this.
    pub(crate) next_due_ns: u64,
}

impl VirtualLqd<'_> {
    /// The queues of the switch.
    pub(crate) fn queues(&self) -> &[QueueState] {
        &self.memory.queues[..self.switch.queues()]
    }

    /// Bytes that a port sends in two base RTTs.
    pub(crate) fn drain_bytes(&self, port: usize) -> u64 {
        self.drain_bytes.unwrap_or_else(|| self.switch.drain_bytes(port))
    }

    /// Serves the ports up to and including `now_ns`. Ports due at the same time go in port order.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        while self.serve(now_ns) {}
        self.stepped_back += u64::from(now_ns < self.now_ns);
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Serves the port that is due first, if it is by `now_ns`; whether another may be.
    pub(crate) fn serve(&mut self, now_ns: u64) -> bool {
        if self.next_due_ns > now_ns || self.next_due_ns == u64::MAX {
            return false;
        }
        let (port, time_ns) = self.earliest();
        self.next_due_ns = time_ns;
        if time_ns > now_ns || time_ns == u64::MAX {
            return false;
        }
        self.memory.ports[port].due_ns = match self.pick(port) {
            None => u64::MAX,
            Some(queue) => {
                let size_bytes = self.head_bytes(queue);
                let due_ns = self.send(port, time_ns, size_bytes);
                self.take(queue, self.memory.queues[queue].head, time_ns);
                due_ns
            }
        };
        true
    }

    /// The port that is due first, the lowest of those, and when.
    fn earliest(&self) -> (usize, u64) {
        let mut earliest = (0, u64::MAX);
        for (port, state) in self.memory.ports[..self.switch.ports()].iter().enumerate() {
            if state.due_ns < earliest.1 {
                earliest = (port, state.due_ns);
            }
        }
        earliest
    }

    /// A packet arrives; returns whether it is added. While it does not fit, the tail of the longest
    /// pushable queue is pushed out (Aiello et al.).
    pub(crate) fn admit(&mut self, queue: usize, size_bytes: u32) -> bool {
        while !self.has_room(queue, size_bytes) {
            let Some(victim) = self.longest() else {
                let before = self.expected_soon(queue);
                self.changed(queue, Change::Arrived(size_bytes), self.now_ns, before);
                return false;
            };
            let tail = self.memory.queues[victim].tail;
            if self.memory.packets[usize::from(tail)].size_bytes & PREDICTED != 0 {
                self.drift.confirmed();
            }
            self.take(victim, tail, self.now_ns);
        }
        let before = self.expected_soon(queue);
        let added = self.put(queue, size_bytes);
        let port = queue / self.switch.queues_per_port as usize;
        if added && self.memory.ports[port].due_ns == u64::MAX {
            self.memory.ports[port].due_ns = self.now_ns;
            self.next_due_ns = self.next_due_ns.min(self.now_ns);
        }
        self.changed(queue, Change::Arrived(size_bytes), self.now_ns, before);
        added
    }

    /// What a packet for a queue adds to the shared buffer. It becomes less when packets of its own queue are pushed out.
    fn shared_part(&self, queue: usize, size_bytes: u32) -> u32 {
        let beside_bytes = self.memory.reserves.get(queue).map_or(0, |beside| beside.bytes);
        self.switch.shared_part(queue, beside_bytes, size_bytes)
    }

    fn has_room(&self, queue: usize, size_bytes: u32) -> bool {
        let part = u64::from(self.shared_part(queue, size_bytes));
        u64::from(self.occupancy_bytes) + part <= u64::from(self.switch.buffer_bytes)
    }

    /// Whether a queue holds packets.
    pub(crate) fn holds(&self, queue: usize) -> bool {
        self.memory.queues[queue].bytes > 0
            || self.memory.reserves.get(queue).is_some_and(|beside| beside.bytes > 0)
    }

    /// The drop of the last packet of a queue, which arrived last, was predicted.
    pub(crate) fn mark(&mut self, queue: usize) {
        let tail = self.memory.queues[queue].tail;
        self.memory.packets[usize::from(tail)].size_bytes |= PREDICTED;
    }

    /// The longest pushable queue, if not all are empty; ties go to the lowest.
    fn longest(&self) -> Option<usize> {
        let mut longest = (None, 0);
        for (queue, state) in self.queues().iter().enumerate() {
            if state.bytes > longest.1 && self.switch.is_pushable(queue) {
                longest = (Some(queue), state.bytes);
            }
        }
        longest.0
    }

    fn put(&mut self, queue: usize, size_bytes: u32) -> bool {
        let place = self.free;
        if place == NOWHERE {
            self.unheld += 1;
            return false;
        }
        let is_first = !self.holds(queue);
        let part_bytes = self.shared_part(queue, size_bytes);
        let state = &mut self.memory.queues[queue];
        let packet = &mut self.memory.packets[usize::from(place)];
        self.free = packet.next;
        let before = if is_first { NOWHERE } else { state.tail };
        *packet = PacketState { size_bytes, next: NOWHERE, previous: before };
        state.tail = place;
        state.bytes += part_bytes;
        if before == NOWHERE {
            state.head = place;
        } else {
            self.memory.packets[usize::from(before)].next = place;
        }
        self.occupancy_bytes += part_bytes;
        if let Some(beside) = self.memory.reserves.get_mut(queue) {
            beside.bytes += size_bytes - part_bytes;
        }
        true
    }

    /// Removes the packet at either end of its queue.
    fn take(&mut self, queue: usize, place: u16, time_ns: u64) {
        let PacketState { size_bytes, next, previous } = self.memory.packets[usize::from(place)];
        let size_bytes = size_bytes & !PREDICTED;
        let before = self.expected_soon(queue);
        let state = &mut self.memory.queues[queue];
        if place == state.tail {
            state.tail = previous;
        }
        if place == state.head {
            state.head = next;
        }
        let part_bytes = size_bytes.min(state.bytes);
        state.bytes -= part_bytes;
        self.occupancy_bytes -= part_bytes;
        if let Some(beside) = self.memory.reserves.get_mut(queue) {
            beside.bytes -= size_bytes - part_bytes;
        }
        self.memory.packets[usize::from(place)].next = self.free;
        self.free = place;
        self.changed(queue, Change::Left, time_ns, before);
    }

    /// The bytes expected in a queue in a quarter of a base RTT, if that matters.
    fn expected_soon(&self, queue: usize) -> u64 {
        if !self.keeps.classes {
            return 0;
        }
        let port = queue / self.switch.queues_per_port as usize;
        self.memory.queues[queue].expected_bytes(self.drain_bytes(port), 2)
    }

    /// Updates the features' memory by a change of a queue; `before` is what was expected in it.
    fn changed(&mut self, queue: usize, change: Change, time_ns: u64, before: u64) {
        let Keeps { arrivals, averages, classes, .. } = self.keeps;
        if arrivals {
            let elapsed_ns = time_ns.saturating_sub(self.memory.heard_ns[queue]);
            let state = &mut self.memory.queues[queue];
            let arrived_bytes = match change {
                Change::Arrived(bytes) => bytes,
                Change::Left => 0,
            };
            state.recent_bytes =
                recent_bytes(&self.switch, state.recent_bytes, arrived_bytes, elapsed_ns);
            self.memory.heard_ns[queue] = time_ns;
        }
        if classes {
            let expected = [before, self.expected_soon(queue)];
            self.cut.changed(self.memory.classes, expected, self.switch.buffer_bytes);
        }
        if averages && change == Change::Left {
            let (tau_ns, of_buffer) = (self.switch.base_rtt_ns, self.switch.queues());
            let bytes = self.memory.queues[queue].bytes;
            self.memory.averages[queue].update(bytes, time_ns, tau_ns);
            self.memory.averages[of_buffer].update(self.occupancy_bytes, time_ns, tau_ns);
        }
    }
}

/// What happened to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A packet of this many bytes was added or rejected.
    Arrived(u32),
    /// A packet departed or was pushed out.
    Left,
}

impl Queues for VirtualLqd<'_> {
    fn queue_bytes(&self, queue: usize) -> u32 {
        self.memory.queues[queue].bytes
    }

    fn lengths(&self) -> impl Iterator<Item = u32> {
        self.queues().iter().map(|queue| queue.bytes)
    }

    fn expected(&self, eighths: u32) -> impl Iterator<Item = u64> {
        let per_port = self.switch.queues_per_port as usize;
        let ports = self.queues().chunks_exact(per_port).enumerate();
        ports.flat_map(move |(port, queues)| {
            let drain_bytes = self.drain_bytes(port);
            queues.iter().map(move |queue| queue.expected_bytes(drain_bytes, eighths))
        })
    }

    fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    fn averages(&self, queue: usize) -> [u32; 2] {
        [queue, self.queues().len()].map(|of| self.memory.averages[of].value())
    }

    fn classed(&self, own: u32) -> [u64; 2] {
        let classes = &*self.memory.classes;
        [classes::bytes_up_to(classes, own), self.cut.bytes_up_to(classes, own)]
    }
}
