//! The time models: when packets leave.

use crate::buffer::QueueBits;
use crate::{Buffer, Tournament, Turn};
use dropcast_data::{PauseChange, PauseSchedule, Scheduler, SwitchSpec};
use std::collections::VecDeque;

/// Chooses which packet leaves next, and when. Time never goes back.
pub trait TimeModel {
    /// A packet was added to `queue` at `now`.
    fn arrived(&mut self, queue: usize, now: u64);

    /// The next departure not after `now`: its time, and the queue whose head leaves. The head is
    /// then removed, and [`TimeModel::left`] called.
    fn next(&mut self, buffer: &Buffer, now: u64) -> Option<(u64, usize)>;

    /// The head of `queue` left at `time`, as [`TimeModel::next`] said, and had `size_bytes`; `buffer` is
    /// what remains.
    #[inline(always)]
    fn left(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        let _ = (buffer, queue, size_bytes, time);
    }
}

/// The papers' time (Credence, appendix A): at the end of every slot each queue sends one packet.
///
/// Arrivals of slot `t` come at time `t`, so they see the departure phases of all slots before.
#[derive(Clone, Debug, Default)]
pub struct Slotted {
    /// The slot of the current departure phase.
    slot: u64,
    /// The first queue not yet served in it.
    queue: usize,
}

impl TimeModel for Slotted {
    #[inline(always)]
    fn arrived(&mut self, _: usize, _: u64) {}
    #[inline(always)]
    fn next(&mut self, buffer: &Buffer, now: u64) -> Option<(u64, usize)> {
        while self.slot < now {
            while self.queue < buffer.queues() {
                self.queue += 1;
                if buffer.lengths()[self.queue - 1] > 0 {
                    return Some((self.slot, self.queue - 1));
                }
            }
            self.queue = 0;
            self.slot = if buffer.packets().next().is_none() { now } else { self.slot + 1 };
        }
        None
    }
}

/// Continuous time: each port serves its queues by its scheduler at line rate.
///
/// A packet leaves the buffer when its transmission begins, and the port is busy for its time on
/// the wire, [`SwitchSpec::wire_time_ns`]. A port with a transmit ring dequeues packets earlier:
/// the next one leaves the buffer when the ring has a free slot. Ports due at the same time go in
/// port order.
///
/// A paused queue is to the scheduler like an empty one: no packet of it is dequeued. A packet that
/// has left the buffer is sent (IEEE 802.1Qbb: a pause does not stop a frame whose transmission has
/// begun).
#[derive(Clone, Debug)]
pub struct LineRate {
    spec: SwitchSpec,
    /// When each busy or backlogged port may dequeue its next packet.
    due: Tournament,
    /// When the port that became due last is due, and which, if it was idle: it often sends all that it has
    /// before any other port is due, and never enters `due`.
    woken: (u64, usize),
    /// When the first of the ports in `due` and `woken` is due, and which; the lowest of these.
    first: (u64, usize),
    /// When the next queue is paused or resumed.
    change_ns: u64,
    /// When there is something to do: a port is due, or a queue is paused or resumed.
    wake_ns: u64,
    ports: Vec<Port>,
    queues: Vec<Queue>,
    /// Pauses and resumptions that are to come.
    schedule: PauseSchedule,
    /// By port, the queues that are paused. Empty while none has ever been.
    paused: Vec<QueueBits>,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    port: usize,
    /// The size of the last packet and its time on the wire: it takes a division.
    last: (u32, u64),
}

#[derive(Clone, Debug)]
struct Port {
    /// Its time in `due` or `woken`, [`Tournament::NEVER`] if it is in neither.
    due_ns: u64,
    /// When a port that is not in `due` may dequeue a packet.
    free_ns: u64,
    /// End of transmission of the last dequeued packet.
    sent_ns: u64,
    /// Transmission starts of the last dequeued packets, one per ring slot.
    ring_ns: VecDeque<u64>,
    turn: Turn,
}

impl Port {
    /// Whether both send the same packets at the same times from `now_ns` on. Transmissions that
    /// have ended no longer matter.
    fn continues_like(&self, other: &Port, now_ns: u64) -> bool {
        let later = |ns: &u64| (*ns).max(now_ns);
        self.due_ns == other.due_ns
            && self.turn == other.turn
            && later(&self.free_ns) == later(&other.free_ns)
            && later(&self.sent_ns) == later(&other.sent_ns)
            && self.ring_ns.iter().map(later).eq(other.ring_ns.iter().map(later))
    }

    /// A packet is dequeued at `now`; returns when the next one may be.
    #[inline]
    fn send(&mut self, now: u64, wire_ns: u64, ring_packets: usize) -> u64 {
        let begins_ns = self.sent_ns.max(now);
        self.sent_ns = begins_ns.saturating_add(wire_ns);
        if ring_packets == 0 {
            return self.sent_ns;
        }
        if self.ring_ns.len() == ring_packets {
            self.ring_ns.pop_front();
        }
        self.ring_ns.push_back(begins_ns);
        let has_place = self.ring_ns.len() < ring_packets;
        if has_place { now } else { self.ring_ns[0].max(now) }
    }
}

impl LineRate {
    /// The service of a switch whose ports are idle.
    pub fn new(spec: &SwitchSpec) -> Self {
        let port = Port {
            due_ns: Tournament::NEVER,
            free_ns: 0,
            sent_ns: 0,
            ring_ns: VecDeque::new(),
            turn: Turn::new(spec),
        };
        let queues = usize::from(spec.queues_per_port);
        let queue =
            |queue| Queue { port: queue / queues, last: (0, spec.wire_time_ns(queue / queues, 0)) };
        LineRate {
            spec: spec.clone(),
            due: Tournament::new(spec.ports()),
            woken: (Tournament::NEVER, 0),
            first: (Tournament::NEVER, 0),
            change_ns: Tournament::NEVER,
            wake_ns: Tournament::NEVER,
            queues: (0..spec.queues()).map(queue).collect(),
            ports: vec![port; spec.ports()],
            schedule: PauseSchedule::default(),
            paused: Vec::new(),
        }
    }

    /// Also pauses queues.
    #[must_use]
    pub fn pausing(mut self, schedule: PauseSchedule) -> Self {
        self.schedule = schedule;
        self.await_change();
        self
    }

    /// A queue will be paused or resumed, not before the changes that are known, and later than the
    /// service has advanced to.
    pub fn will_change(&mut self, change: PauseChange) {
        self.schedule.push(change);
        self.await_change();
    }

    fn await_change(&mut self) {
        let first = self.schedule.first();
        self.change_ns = first.map_or(Tournament::NEVER, |change| change.time_ns);
        self.wake_ns = self.first.0.min(self.change_ns);
    }

    /// Whether both serve alike from `now_ns` on if they serve the same queues.
    pub fn continues_like(&self, other: &LineRate, now_ns: u64) -> bool {
        self.ports.iter().zip(&other.ports).all(|(a, b)| a.continues_like(b, now_ns))
    }

    /// The first port will next be due at this time; [`Tournament::NEVER`] if when a packet arrives for it.
    #[inline(always)]
    fn set_due(&mut self, due_ns: u64) {
        let (_, port) = self.first;
        self.ports[port].due_ns = due_ns;
        let was_woken = self.first == self.woken;
        if was_woken {
            self.woken = (Tournament::NEVER, 0);
        }
        if !was_woken || due_ns != Tournament::NEVER {
            self.due.set(port, due_ns);
        }
        let (port, time_ns) = self.due.first();
        self.first = self.woken.min((time_ns, port));
        self.wake_ns = self.first.0.min(self.change_ns);
    }

    /// The time on the wire of a packet of this queue.
    #[inline]
    fn wire_time_ns(&mut self, queue: usize, size_bytes: u32) -> u64 {
        let Queue { port, last } = &mut self.queues[queue];
        if last.0 != size_bytes {
            *last = (size_bytes, self.spec.wire_time_ns(*port, size_bytes));
        }
        last.1
    }

    /// Applies the next pause or resumption if it is not after `now`, nor after any departure before.
    /// Returns whether it did.
    fn change(&mut self, now: u64) -> bool {
        let Some(&PauseChange { time_ns, queue, is_paused }) = self.schedule.first() else {
            return false;
        };
        if time_ns > now.min(self.first.0) {
            return false;
        }
        self.schedule.pass();
        self.await_change();
        let queues = usize::from(self.spec.queues_per_port);
        self.paused.resize(self.spec.ports(), QueueBits::default());
        let (port, number) = (queue / queues, queue % queues);
        let word = &mut self.paused[port][number / 64];
        let bit = 1 << (number % 64);
        *word = if is_paused { *word | bit } else { *word & !bit };
        if !is_paused {
            self.arrived(queue, time_ns);
        }
        true
    }

    /// [`TimeModel::next`] if a port is due or a queue is paused or resumed.
    #[inline(always)]
    fn serve(&mut self, buffer: &Buffer, now: u64) -> Option<(u64, usize)> {
        loop {
            if self.change_ns <= now && self.change(now) {
                continue;
            }
            let (time, port) = self.first;
            if time > now || time == Tournament::NEVER {
                return None;
            }
            let turn = &mut self.ports[port].turn;
            let picked = turn.pick_unpaused(&self.spec, buffer, port, &self.paused);
            match picked {
                Some(queue) => return Some((time, queue)),
                None => self.set_due(Tournament::NEVER),
            }
        }
    }
}

impl TimeModel for LineRate {
    #[inline(always)]
    fn arrived(&mut self, queue: usize, now: u64) {
        let port = self.queues[queue].port;
        let Port { due_ns, free_ns, .. } = &mut self.ports[port];
        if *due_ns == Tournament::NEVER {
            *due_ns = now.max(*free_ns);
            let (time_ns, before) = std::mem::replace(&mut self.woken, (*due_ns, port));
            if time_ns != Tournament::NEVER {
                self.due.set(before, time_ns);
            }
            self.first = self.first.min(self.woken);
            self.wake_ns = self.wake_ns.min(self.woken.0);
        }
    }

    #[inline(always)]
    fn next(&mut self, buffer: &Buffer, now: u64) -> Option<(u64, usize)> {
        if now < self.wake_ns {
            return None;
        }
        self.serve(buffer, now)
    }

    #[inline(always)]
    fn left(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        let (_, port) = self.first;
        let wire_ns = self.wire_time_ns(queue, size_bytes);
        let ring_packets = usize::from(self.spec.transmit_ring_packets);
        let of = &mut self.ports[port];
        of.free_ns = of.send(time, wire_ns, ring_packets);
        // DWRR forgets its deficits when the port is due and has nothing to send.
        let stays = buffer.is_backlogged(port) || self.spec.scheduler == Scheduler::Dwrr;
        let due_ns = if stays { of.free_ns } else { Tournament::NEVER };
        self.set_due(due_ns);
    }
}

/// A trace's own departures drain the queues.
///
/// Departing bytes are credited to the queue they left; its head packets leave as far as the
/// credit covers them. If the traced switch ran LQD, that is exactly the packet that departed.
/// Credit of an empty queue is lost, as a threshold of 0 stays 0 (Credence, Algorithm 1,
/// UpdateThreshold).
#[derive(Clone, Debug)]
pub struct Observed {
    credit_bytes: Vec<u64>,
    /// The departure being applied.
    departure: Option<(u64, usize)>,
}

impl Observed {
    /// No departures yet, for a switch with `queues` queues.
    pub fn new(queues: usize) -> Self {
        Observed { credit_bytes: vec![0; queues], departure: None }
    }

    /// `size_bytes` left `queue` at `time` in the trace. Applied by the next
    /// [`crate::Switch::advance`], which must precede the next departure.
    pub fn departed(&mut self, queue: usize, size_bytes: u32, time: u64) {
        self.credit_bytes[queue] += u64::from(size_bytes);
        self.departure = Some((time, queue));
    }
}

impl TimeModel for Observed {
    #[inline(always)]
    fn arrived(&mut self, _: usize, _: u64) {}
    #[inline(always)]
    fn next(&mut self, buffer: &Buffer, _: u64) -> Option<(u64, usize)> {
        let (time, queue) = self.departure?;
        let credit_bytes = &mut self.credit_bytes[queue];
        match buffer.head(queue) {
            Some(head) if u64::from(head.size_bytes) <= *credit_bytes => {
                *credit_bytes -= u64::from(head.size_bytes);
                return Some((time, queue));
            }
            Some(_) => {}
            None => *credit_bytes = 0,
        }
        self.departure = None;
        None
    }
}
