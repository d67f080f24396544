//! What a switch knows of bursts and their flows, and which of their packets it drops early.

use crate::BuildError;
use crate::flow_table::FlowTable;
use std::ops::RangeInclusive;

/// Shorter packets are neither counted nor dropped early.
pub(super) const LEAST_BYTES: u32 = 512;
/// A flow that sends more packets than this after a pause, beyond those of its first flight that were dropped, had more than one.
const MOST_LATER: u16 = 16;
/// A burst is at most so many new flows.
pub(super) const MOST_BURST_FLOWS: usize = 8;

/// Packets of a flow that are counted.
const COUNTED: usize = 32;
/// So many packets must come after the one that is dropped.
const BEHIND: usize = 4;
/// So many packets after one that was dropped tell its sender: that many acknowledgements start a recovery.
const TELLING: u8 = 3;
/// A flow that lost so many packets of its first flight makes no more room: what it repeats would be another burst.
const MOST_LOST: u16 = 8;
/// The weight of a burst in the counts of packets: an eighth.
const WEIGHT_BITS: u32 = 3;
/// A burst that lasts so many windows counts as one, and another begins.
const MOST_WINDOWS: u64 = 8;
/// What is known of fewer flows is not acted upon.
const LEAST_FLOWS: u32 = 8;
/// A gap so many times the mean of those before it is a pause.
const PAUSE: u64 = 8;
/// From this packet on a gap may be a pause.
const PAUSES_FROM: u16 = 4;

/// A switch, and the parameters of the decision there.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstParameters {
    /// The shared buffer, `B`.
    pub(super) buffer_bytes: u32,
    /// Ports, `N`.
    pub(super) ports: usize,
    /// A burst is on at a queue while `burst_flows` new flows began there within this time; at least 1.
    pub(super) window_ns: u64,
    /// New flows that are a burst: 1 to [`MOST_BURST_FLOWS`].
    pub(super) burst_flows: usize,
    /// A flow is new after a silence longer than this.
    pub(super) silence_ns: u64,
    /// Nothing is dropped early while the buffer holds less.
    pub(super) least_held_bytes: u32,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct FlowState {
    began_ns: u64,
    seen_ns: u64,
    /// That arrived.
    packets: u16,
    /// Of its first flight, that this switch dropped.
    dropped: u16,
    /// That arrived after its first pause, with which its first flight ends.
    later: u16,
    /// Its packets are counted, and whether it went on after them.
    counted: Counted,
    /// Of its first flight, accepted after one that was dropped; [`TELLING`] at most.
    telling: u8,
}

/// Whether a flow is of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Counted {
    #[default]
    No,
    Yes,
    /// Yes, and it had more than one flight.
    WentOn,
}

impl FlowState {
    /// Whether a packet comes after a gap much longer than those between the packets before it.
    fn pauses(&self, now_ns: u64) -> bool {
        let gap_ns = now_ns.saturating_sub(self.seen_ns);
        let gaps = u64::from(self.packets).saturating_sub(1);
        let so_far_ns = self.seen_ns.saturating_sub(self.began_ns);
        self.packets >= PAUSES_FROM && gap_ns.saturating_mul(gaps) > so_far_ns.saturating_mul(PAUSE)
    }
}

/// The beginnings of flows at a queue.
#[derive(Clone, Copy, Debug, Default)]
struct QueueBursts {
    /// When the last flows began, the last one first.
    began_ns: [u64; MOST_BURST_FLOWS],
    /// How many of them are known.
    begun: usize,
    /// When the burst began that is on.
    on_since_ns: Option<u64>,
}

/// What a switch learned from its bursts.
#[derive(Clone, Debug, Default)]
struct Learned {
    /// Flows whose first flight had so many packets, and one more.
    reached: [u32; COUNTED],
    /// Flows that had more than one flight.
    went_on: u32,
    /// Flows in `reached` at the last burst's end, whose later packets may have come since.
    known: u32,
    /// Packets that flows may give, one bit for each; as of the last burst's end.
    may_give: u32,
}

impl Learned {
    /// A flow of a burst sent these packets.
    fn count(&mut self, packets: RangeInclusive<usize>) {
        for reached in self.reached.get_mut(packets).unwrap_or_default() {
            *reached = reached.saturating_add(1);
        }
    }

    /// A burst ends.
    fn end(&mut self) {
        let reached = &self.reached;
        let is_safe = |packet: usize| {
            let (here, behind) = (reached[packet], reached[packet + BEHIND]);
            let is_common = here >= LEAST_FLOWS && here >= reached[0] / 8;
            is_common && u64::from(behind) * 10 >= u64::from(here) * 9
        };
        let is_one_flight = self.known >= LEAST_FLOWS && self.went_on <= self.known / 2;
        let last = (0..COUNTED - BEHIND).rev().find(|&packet| is_one_flight && is_safe(packet));
        self.may_give = last.map_or(0, |last| {
            let safe = (last.div_ceil(2)..=last).filter(|&packet| is_safe(packet));
            safe.fold(0, |bits, packet| bits | 1 << packet)
        });
        for flows in self.reached.iter_mut().chain([&mut self.went_on]) {
            *flows -= *flows >> WEIGHT_BITS;
        }
        self.known = self.reached[0];
    }
}

/// A packet that arrives, and what it finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    /// Hash of its flow; 0 if that is not known.
    pub(super) flow_hash: u64,
    /// Its queue of the switch.
    pub(super) queue: usize,
    /// Its size.
    pub(super) size_bytes: u32,
    /// What its queue holds of the shared buffer.
    pub(super) queue_bytes: u32,
    /// What the buffer holds.
    pub(super) occupancy_bytes: u32,
}

/// Drops one early packet of each flow of a burst that fills the buffer, if the flow's later packets will tell its sender.
///
/// Where a burst overflows, a drop-tail switch drops the tails of its flows, and nothing follows a tail that would tell the
/// sender: it waits for a timeout. A sender that lost an early packet learns of it within a round trip, and while it recovers
/// it repeats what it does not know to be lost, too (RFC 6675, `NextSeg`, rule 3): its tail.
///
/// A *burst* is on at a queue while `burst_flows` new flows began there within the last window. In a burst a packet is dropped
/// that the base accepts, of a flow that has lost none of its first flight, if
///
/// - the buffer holds `least_held_bytes`;
/// - its queue holds half of an equal share, `B / (2 N)`, or more;
/// - it is *safe*: of the flows of bursts whose first flight reached this packet, nine in ten reached the fourth after it, three
///   that are acknowledged and one to spare; and no packet twice as far is safe, so that shorter flows are left alone. A flow is
///   of a burst that is on within a window of its beginning;
/// - flows of bursts *end with their first flight*: less than half of them went on after a pause, by [`MOST_LATER`] packets more
///   than were dropped of that flight. Where they go on, the buffer is still full when the packet is repeated, and a repeated packet
///   that is lost costs a timeout.
///
/// The sender of a flow that lost a packet, and of which three packets went on after it, repeats what is lost from there on. So
/// the others of its first flight *make room*: while flows of bursts may give packets, these are dropped if their queue holds more than
/// is free, as Dynamic Thresholds with an alpha of 1 would, until eight of its first flight are lost. The room is for flows that lost nothing yet, and for packets that are
/// repeated.
///
/// Packets of unknown flows, and those below [`LEAST_BYTES`], are the base's alone: acknowledgements, requests, tails.
///
/// Flows whose hashes agree in the last bits share a slot; the last one has it.
#[derive(Clone, Debug)]
pub(super) struct EarlyDrops {
    parameters: BurstParameters,
    queues: Vec<QueueBursts>,
    flows: FlowTable<FlowState>,
    learned: Learned,
}

impl EarlyDrops {
    /// A switch of so many queues that has seen no packets, with a table of so many flows.
    ///
    /// # Errors
    /// If the slots for flows are no power of two up to 2^24.
    pub(super) fn new(
        parameters: BurstParameters,
        queues: usize,
        flows: usize,
    ) -> Result<Self, BuildError> {
        Ok(EarlyDrops {
            parameters,
            queues: vec![QueueBursts::default(); queues],
            flows: FlowTable::new(flows)?,
            learned: Learned::default(),
        })
    }

    /// A packet arrives at `now_ns`, which never falls, and the base accepts it or not. Returns whether the switch does.
    pub(super) fn accepts(&mut self, packet: &Arriving, base_accepts: bool, now_ns: u64) -> bool {
        let &Arriving { flow_hash, queue, size_bytes, queue_bytes, occupancy_bytes } = packet;
        if flow_hash == 0 || size_bytes < LEAST_BYTES {
            return base_accepts;
        }
        let BurstParameters { buffer_bytes, ports, window_ns, silence_ns, .. } = self.parameters;
        let flow = self.flows.flow(flow_hash);
        let is_new = flow.packets == 0 || now_ns.saturating_sub(flow.seen_ns) > silence_ns;
        if is_new {
            *flow = FlowState { began_ns: now_ns, ..FlowState::default() };
        }
        let is_on = self.is_on(queue, is_new, now_ns);
        let (flow, learned) = (self.flows.flow(flow_hash), &mut self.learned);
        let has_paused = flow.later > 0 || flow.pauses(now_ns);
        let is_of_burst = is_on && !has_paused && now_ns.saturating_sub(flow.began_ns) < window_ns;
        let number = usize::from(flow.packets);
        (flow.seen_ns, flow.packets) = (now_ns, flow.packets.saturating_add(1));
        if has_paused {
            flow.later = flow.later.saturating_add(1);
            let goes_on = flow.later > flow.dropped.saturating_add(MOST_LATER);
            if goes_on && flow.counted == Counted::Yes {
                flow.counted = Counted::WentOn;
                learned.went_on = learned.went_on.saturating_add(1);
            }
        } else {
            let was_counted = flow.counted != Counted::No;
            if was_counted || is_of_burst {
                flow.counted = Counted::Yes;
                let uncounted = if was_counted { number } else { 0 };
                learned.count(uncounted..=number.min(COUNTED - 1));
            }
        }
        let is_long = u64::from(queue_bytes) * 2 * (ports as u64) >= u64::from(buffer_bytes);
        let gives = is_on
            && occupancy_bytes >= self.parameters.least_held_bytes
            && is_long
            && number < COUNTED
            && learned.may_give >> number & 1 == 1
            && flow.dropped == 0;
        let makes_room = is_of_burst
            && flow.telling == TELLING
            && flow.dropped < MOST_LOST
            && learned.may_give != 0
            && queue_bytes > buffer_bytes.saturating_sub(occupancy_bytes);
        let is_accepted = base_accepts && !gives && !makes_room;
        if !has_paused && !is_accepted {
            flow.dropped = flow.dropped.saturating_add(1);
        } else if !has_paused && flow.dropped > 0 {
            flow.telling = (flow.telling + 1).min(TELLING);
        }
        is_accepted
    }

    /// A packet arrives at a queue, of a new flow or not. Returns whether a burst is on there.
    fn is_on(&mut self, queue: usize, is_new: bool, now_ns: u64) -> bool {
        let QueueBursts { began_ns, begun, on_since_ns } = &mut self.queues[queue];
        let BurstParameters { burst_flows, window_ns, .. } = self.parameters;
        if is_new {
            began_ns.rotate_right(1);
            began_ns[0] = now_ns;
            *begun = (*begun + 1).min(MOST_BURST_FLOWS);
        }
        let since_ns = now_ns.saturating_sub(began_ns[burst_flows - 1]);
        let is_on = *begun >= burst_flows && since_ns < window_ns;
        let most_ns = window_ns * MOST_WINDOWS;
        let ends = on_since_ns
            .is_some_and(|since_ns| !is_on || now_ns.saturating_sub(since_ns) >= most_ns);
        if ends {
            *on_since_ns = None;
            self.learned.end();
        }
        if is_on {
            on_since_ns.get_or_insert(now_ns);
        }
        is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets at 0, 100, 200 and 300: a gap of more than eight times 100 is a pause, from the fourth packet on.
    #[test]
    fn a_pause_is_a_gap_much_longer_than_those_before() {
        let flow = FlowState { seen_ns: 300, packets: 4, ..FlowState::default() };
        assert!(!flow.pauses(1_100) && flow.pauses(1_101));
        let three = FlowState { seen_ns: 200, packets: 3, ..FlowState::default() };
        assert!(!three.pauses(1_000_000));
    }
}
