//! Which queue a port of virtual LQD serves next, and when.

use crate::virtual_lqd::VirtualLqd;
use crate::{Service, memory::PREDICTED};

impl VirtualLqd<'_> {
    /// The queue that a port serves next; `None` if all are empty.
    pub(crate) fn pick(&mut self, port: usize) -> Option<usize> {
        let per_port = self.switch.queues_per_port as usize;
        let first = port * per_port;
        match self.switch.service {
            Service::StrictPriority => self.backlogged(first, per_port),
            Service::RoundRobin => {
                let turn = usize::from(self.memory.ports[port].turn);
                let places = (0..per_port).map(|step| (turn + step) % per_port);
                let at = { places }.find(|at| self.holds(first + at))?;
                self.memory.ports[port].turn = ((at + 1) % per_port) as u8;
                Some(first + at)
            }
            Service::Dwrr(quanta) if per_port > 1 => self.pick_by_deficit(port, quanta),
            Service::Dwrr(_) => self.backlogged(first, per_port),
        }
    }

    /// The first of `count` queues that is not empty.
    fn backlogged(&self, first: usize, count: usize) -> Option<usize> {
        (first..first + count).find(|&queue| self.holds(queue))
    }

    /// Deficit round robin: a visited queue gets its quantum once, sends while its deficit covers its
    /// head, and loses the deficit when it runs empty.
    fn pick_by_deficit(&mut self, port: usize, quanta: &[u32]) -> Option<usize> {
        let first = port * quanta.len();
        if self.backlogged(first, quanta.len()).is_none() {
            self.memory.deficits[first..first + quanta.len()].fill(0);
            let state = &mut self.memory.ports[port];
            (state.turn, state.was_credited) = (0, false);
            return None;
        }
        loop {
            for _ in 0..quanta.len() {
                let at = usize::from(self.memory.ports[port].turn);
                if self.holds(first + at) {
                    let head_bytes = u64::from(self.head_bytes(first + at));
                    let deficit = &mut self.memory.deficits[first + at];
                    if !self.memory.ports[port].was_credited {
                        *deficit += u64::from(quanta[at]);
                        self.memory.ports[port].was_credited = true;
                    }
                    if *deficit >= head_bytes {
                        *deficit -= head_bytes;
                        return Some(first + at);
                    }
                } else {
                    self.memory.deficits[first + at] = 0;
                }
                let state = &mut self.memory.ports[port];
                (state.turn, state.was_credited) = (((at + 1) % quanta.len()) as u8, false);
            }
            self.skip_rounds(first, quanta);
        }
    }

    /// Credits all rounds in which no queue of a port could send at once: with quanta far below the
    /// packet sizes there are many.
    fn skip_rounds(&mut self, first: usize, quanta: &[u32]) {
        let rounds = |(at, &quantum): (usize, &u32)| {
            let missing = u64::from(self.head_bytes(first + at)) - self.memory.deficits[first + at];
            missing.div_ceil(quantum.into())
        };
        let backlogged = |&(at, _): &(usize, &u32)| self.holds(first + at);
        let fewest = quanta.iter().enumerate().filter(backlogged).map(rounds).min().unwrap_or(1);
        for (at, &quantum) in quanta.iter().enumerate() {
            if self.holds(first + at) {
                self.memory.deficits[first + at] += (fewest - 1) * u64::from(quantum);
            }
        }
    }

    /// Bytes of the packet at the head of a queue that is not empty.
    pub(crate) fn head_bytes(&self, queue: usize) -> u32 {
        let head = self.memory.queues[queue].head;
        self.memory.packets[usize::from(head)].size_bytes & !PREDICTED
    }

    /// A port dequeues a packet at `time_ns`; returns when it may dequeue the next one: when the
    /// packet has been transmitted, or when its ring has a free place.
    pub(crate) fn send(&mut self, port: usize, time_ns: u64, size_bytes: u32) -> u64 {
        let wire_ns = self.switch.wire_ns(port, size_bytes);
        let places = self.switch.transmit_ring_packets as usize;
        if places == 0 {
            return time_ns.saturating_add(wire_ns);
        }
        let state = &mut self.memory.ports[port];
        let ring = &mut self.memory.rings[port * places..(port + 1) * places];
        let begins_ns = state.sent_ns.max(time_ns);
        state.sent_ns = begins_ns.saturating_add(wire_ns);
        ring[usize::from(state.next)] = begins_ns;
        state.next = if usize::from(state.next) + 1 == places { 0 } else { state.next + 1 };
        if usize::from(state.begun) < places {
            state.begun += 1;
        }
        if usize::from(state.begun) < places {
            return time_ns;
        }
        ring[usize::from(state.next)].max(time_ns)
    }
}
