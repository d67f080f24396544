//! Early drops in bursts, so that senders are in recovery when their tails are dropped (`docs/spare-tails.md`).

use super::oracle::drain_time_ns;
use crate::flow_table::FlowTable;
use crate::{
    Alphas, Buffer, BuildError, Decision, Packet, Policy, PolicySite, PolicySpec, Service,
};
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Drops one early packet of each flow of a burst that fills the buffer, if the flow's later packets will tell its sender.
///
/// Where a burst overflows, a drop-tail switch drops the tails of its flows, and nothing follows a tail that would tell the
/// sender: it waits for a timeout. A sender that lost an early packet learns of it within a round trip, and while it recovers
/// it repeats what it does not know to be lost, too (RFC 6675, `NextSeg`, rule 3): its tail.
///
/// A *burst* is on at a queue while `burst_flows` new flows began there within the last window. In a burst a packet is dropped
/// that the base accepts, once for each flow, if
///
/// - the buffer holds `least_held` of what it can;
/// - its queue holds half of an equal share, `B / (2 N)`, or more;
/// - it is *safe*: of the flows of bursts whose first flight reached this packet, nine in ten reached the fourth after it, three
///   that are acknowledged and one to spare; and no packet twice as far is safe, so that shorter flows are left alone. A flow is
///   of a burst that is on within a window of its beginning;
/// - flows of bursts *end with their first flight*: less than half of them went on after a pause, by [`MOST_LATER`] packets more
///   than were dropped of that flight. Where they go on, the buffer is still full when the packet is repeated, and a repeated packet
///   that is lost costs a timeout.
///
/// Packets of unknown flows, and those below [`LEAST_BYTES`], are the base's alone: acknowledgements, requests, tails.
#[derive(Clone, Debug)]
pub struct SpareTails<B> {
    base: B,
    bursts: Bursts,
    flows: FlowTable<Flow>,
    silence_ns: u64,
    least_held_bytes: u32,
}

/// Shorter packets are neither counted nor dropped early.
pub const LEAST_BYTES: u32 = 512;

/// A flow that sends more packets than this after a pause, beyond those of its first flight that were dropped, had more than one.
pub const MOST_LATER: u32 = 16;

/// Packets of a flow that are counted.
const COUNTED: usize = 32;
/// So many packets must come after the one that is dropped.
const BEHIND: usize = 4;
/// The weight of a burst in the counts of packets: an eighth.
const WEIGHT_BITS: u32 = 3;
/// A burst that lasts so many windows counts as one, and another begins.
const MOST_WINDOWS: u64 = 8;
/// What is known of fewer flows is not acted upon.
const LEAST_FLOWS: u32 = 8;
/// A gap so many times the mean of those before it is a pause.
const PAUSE: u64 = 8;
/// From this packet on a gap may be a pause.
const PAUSES_FROM: u32 = 4;

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    began_ns: u64,
    seen_ns: u64,
    /// That arrived.
    packets: u32,
    /// Of its first flight, that this switch dropped.
    dropped: u32,
    /// That arrived after its first pause.
    later: u32,
    /// Its first flight is over.
    has_paused: bool,
    /// It is in [`Bursts::went_on`].
    went_on: bool,
    /// Its packets are in [`Bursts::reached`].
    is_counted: bool,
    /// It has given its packet.
    has_given: bool,
}

impl Flow {
    /// Whether a packet comes after a gap much longer than those between the packets before it.
    fn pauses(&self, now_ns: u64) -> bool {
        let gap_ns = now_ns.saturating_sub(self.seen_ns);
        let gaps = u64::from(self.packets).saturating_sub(1);
        let so_far_ns = self.seen_ns.saturating_sub(self.began_ns);
        self.packets >= PAUSES_FROM && gap_ns.saturating_mul(gaps) > so_far_ns.saturating_mul(PAUSE)
    }
}

/// The beginnings of flows at a queue.
#[derive(Clone, Debug, Default)]
struct Beginnings {
    /// When the last `flows` flows began.
    began_ns: VecDeque<u64>,
    /// When the burst began that is on.
    on_since_ns: Option<u64>,
}

/// The bursts of a switch.
#[derive(Clone, Debug)]
struct Bursts {
    window_ns: u64,
    flows: usize,
    /// By queue.
    beginnings: Vec<Beginnings>,
    /// Flows whose first flight had so many packets, and one more.
    reached: [u32; COUNTED],
    /// Flows that had more than one flight.
    went_on: u32,
    /// Flows in `reached` at the last burst's end, whose later packets may have come since.
    known: u32,
    /// Packets that flows may give; as of the last burst's end.
    may_give: [bool; COUNTED],
}

impl Bursts {
    /// A packet arrives at a queue, of a new flow or not. Returns whether a burst is on there.
    fn arrives(&mut self, queue: usize, is_new: bool, now_ns: u64) -> bool {
        let Beginnings { began_ns, on_since_ns } = &mut self.beginnings[queue];
        if is_new {
            if began_ns.len() == self.flows {
                began_ns.pop_front();
            }
            began_ns.push_back(now_ns);
        }
        let is_recent = |&began: &u64| now_ns.saturating_sub(began) < self.window_ns;
        let is_on = began_ns.len() == self.flows && began_ns.front().is_some_and(is_recent);
        let most_ns = self.window_ns.saturating_mul(MOST_WINDOWS);
        let ends = on_since_ns
            .is_some_and(|since_ns| !is_on || now_ns.saturating_sub(since_ns) >= most_ns);
        if ends {
            *on_since_ns = None;
        }
        if is_on {
            on_since_ns.get_or_insert(now_ns);
        }
        if ends {
            self.end();
        }
        is_on
    }

    /// A flow of a burst sent these packets.
    fn count(&mut self, packets: RangeInclusive<usize>) {
        for reached in self.reached.get_mut(packets).unwrap_or_default() {
            *reached = reached.saturating_add(1);
        }
    }

    fn end(&mut self) {
        let reached = &self.reached;
        let is_safe = |packet: usize| {
            let (here, behind) = (reached[packet], reached[packet + BEHIND]);
            let is_common = here >= LEAST_FLOWS && here >= reached[0] / 8;
            is_common && u64::from(behind) * 10 >= u64::from(here) * 9
        };
        let is_one_flight = self.known >= LEAST_FLOWS && self.went_on <= self.known / 2;
        let last = (0..COUNTED - BEHIND).rev().find(|&packet| is_one_flight && is_safe(packet));
        self.may_give = std::array::from_fn(|packet| {
            last.is_some_and(|last| packet <= last && packet * 2 >= last && is_safe(packet))
        });
        for flows in self.reached.iter_mut().chain([&mut self.went_on]) {
            *flows -= *flows >> WEIGHT_BITS;
        }
        self.known = self.reached[0];
    }
}

impl<B: Policy> Policy for SpareTails<B> {
    fn advance(&mut self, now: u64) {
        self.base.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.base.arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let decision = self.base.decide(buffer, packet, now);
        if packet.flow_hash == 0 || packet.size_bytes < LEAST_BYTES {
            return decision;
        }
        let flow = self.flows.flow(packet.flow_hash);
        let is_new = flow.packets == 0 || now.saturating_sub(flow.seen_ns) > self.silence_ns;
        let bursts = &mut self.bursts;
        let is_on = bursts.arrives(packet.queue, is_new, now);
        if is_new {
            *flow = Flow { began_ns: now, ..Flow::default() };
        }
        flow.has_paused |= flow.pauses(now);
        let number = flow.packets as usize;
        (flow.seen_ns, flow.packets) = (now, flow.packets.saturating_add(1));
        if flow.has_paused {
            flow.later = flow.later.saturating_add(1);
            let goes_on = flow.later > flow.dropped.saturating_add(MOST_LATER);
            if goes_on && flow.is_counted && !flow.went_on {
                flow.went_on = true;
                bursts.went_on = bursts.went_on.saturating_add(1);
            }
        } else {
            let is_of_burst = is_on && now.saturating_sub(flow.began_ns) < bursts.window_ns;
            let uncounted = if flow.is_counted { number } else { 0 };
            flow.is_counted |= is_of_burst;
            if flow.is_counted {
                bursts.count(uncounted..=number.min(COUNTED - 1));
            }
        }
        let held_bytes = u64::from(buffer.shared_lengths()[packet.queue]);
        let is_long = held_bytes * 2 * buffer.ports() as u64 >= u64::from(buffer.capacity_bytes());
        let gives = is_on
            && decision == Decision::Accept
            && buffer.occupancy_bytes() >= self.least_held_bytes
            && is_long
            && bursts.may_give.get(number) == Some(&true)
            && !flow.has_given;
        flow.has_given |= gives;
        let decision = if gives { Decision::Reject } else { decision };
        let is_lost = decision == Decision::Reject && !flow.has_paused;
        flow.dropped = flow.dropped.saturating_add(u32::from(is_lost));
        decision
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.base.settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.base.departed(buffer, queue, size_bytes, time);
    }
}

/// [`SpareTails`] as settings describe it.
pub type AnySpareTails = SpareTails<Box<dyn Policy + Send>>;

/// Parameters of [`SpareTails`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpareTailsParameters {
    /// The policy that decides otherwise.
    pub base: Box<PolicySpec>,
    /// So many new flows of a queue within the window are a burst.
    pub burst_flows: usize,
    /// The window, ns; four times [`drain_time_ns`] if not given.
    pub window_ns: Option<u64>,
    /// The share of the buffer, 0 to 1, that must be held.
    pub least_held: f64,
    /// A flow is new after a silence longer than this, ns. Longer than a timeout, or a repeated packet is a flow's first.
    pub silence_ns: u64,
    /// Slots of the flow table; a power of two.
    pub flows: usize,
}

impl Default for SpareTailsParameters {
    fn default() -> Self {
        let alpha = Alphas::try_from(8.0).expect("8 is positive");
        SpareTailsParameters {
            base: Box::new(PolicySpec::dt(alpha)),
            burst_flows: 4,
            window_ns: None,
            least_held: 0.5,
            silence_ns: 100_000_000,
            flows: 1 << 16,
        }
    }
}

impl SpareTailsParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If the base cannot be built, pushes packets out or has a model, or a parameter is out of range.
    pub fn policy<S: Service + Clone + Send + 'static>(
        &self,
        site: PolicySite<'_, S>,
    ) -> Result<AnySpareTails, BuildError> {
        self.base.check_drop_tail_base()?;
        if self.base.model().is_some() {
            let why = "has a model, expected a policy without one";
            return Err(BuildError::parameter("base", format!("{} {why}", self.base.name())));
        }
        if !(1..=1 << 16).contains(&self.burst_flows) {
            let problem = format!("is {}, expected 1 to 65536", self.burst_flows);
            return Err(BuildError::parameter("burst_flows", problem));
        }
        if !(0.0..=1.0).contains(&self.least_held) {
            let problem = format!("is {}, expected 0 to 1", self.least_held);
            return Err(BuildError::parameter("least_held", problem));
        }
        let bursts = Bursts {
            window_ns: self.window_ns.unwrap_or_else(|| drain_time_ns(site.spec).saturating_mul(4)),
            flows: self.burst_flows,
            beginnings: vec![Beginnings::default(); site.spec.queues()],
            reached: [0; COUNTED],
            went_on: 0,
            known: 0,
            may_give: [false; COUNTED],
        };
        Ok(SpareTails {
            bursts,
            flows: FlowTable::new(self.flows)?,
            silence_ns: self.silence_ns,
            least_held_bytes: (self.least_held * f64::from(site.spec.buffer_bytes)) as u32,
            base: self.base.build(site)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets at 0, 100, 200 and 300: a gap of more than eight times 100 is a pause, from the fourth packet on.
    #[test]
    fn a_pause_is_a_gap_much_longer_than_those_before() {
        let flow = Flow { seen_ns: 300, packets: 4, ..Flow::default() };
        assert!(!flow.pauses(1_100) && flow.pauses(1_101));
        let three = Flow { seen_ns: 200, packets: 3, ..Flow::default() };
        assert!(!three.pauses(1_000_000));
    }
}
