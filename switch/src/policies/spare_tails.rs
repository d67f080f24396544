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
/// A *burst* is on while `burst_flows` new flows began within the last window. In a burst a packet is dropped that the base
/// accepts, once for each flow, if
///
/// - the buffer holds `least_held` of what it can;
/// - its queue holds half of an equal share, `B / (2 N)`, or more;
/// - of the flows of bursts that reached this packet, counted from their first, nine in ten reached the fourth after it: three that
///   are acknowledged and one to spare. A flow is of a burst that is on within a window of its beginning.
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

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    began_ns: u64,
    seen_ns: u64,
    /// That arrived.
    packets: u32,
    /// Its packets are in [`Bursts::reached`].
    is_counted: bool,
    /// It has given its packet.
    has_given: bool,
}

/// The bursts of a switch.
#[derive(Clone, Debug)]
struct Bursts {
    window_ns: u64,
    flows: usize,
    /// When the last `flows` flows began.
    began_ns: VecDeque<u64>,
    /// When the burst began that is on.
    on_since_ns: Option<u64>,
    /// Flows that sent so many packets, and one more.
    reached: [u32; COUNTED],
    /// Packets behind which others come; as of the last burst's end.
    is_safe: [bool; COUNTED],
}

impl Bursts {
    /// A packet arrives, of a new flow or not. Returns whether a burst is on.
    fn arrives(&mut self, is_new: bool, now_ns: u64) -> bool {
        if is_new {
            if self.began_ns.len() == self.flows {
                self.began_ns.pop_front();
            }
            self.began_ns.push_back(now_ns);
        }
        let is_recent = |&began: &u64| now_ns.saturating_sub(began) < self.window_ns;
        let is_on =
            self.began_ns.len() == self.flows && self.began_ns.front().is_some_and(is_recent);
        let most_ns = self.window_ns.saturating_mul(MOST_WINDOWS);
        if self.on_since_ns.is_some_and(|since| !is_on || now_ns.saturating_sub(since) >= most_ns) {
            self.end();
        }
        if is_on && self.on_since_ns.is_none() {
            self.on_since_ns = Some(now_ns);
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
        let reached = &mut self.reached;
        let is_common = |flows: u32| flows >= LEAST_FLOWS && flows >= reached[0] / 8;
        for packet in 0..COUNTED - BEHIND {
            let (here, behind) = (reached[packet], reached[packet + BEHIND]);
            let goes_on = u64::from(behind) * 10 >= u64::from(here) * 9;
            self.is_safe[packet] = is_common(here) && goes_on;
        }
        for flows in reached {
            *flows -= *flows >> WEIGHT_BITS;
        }
        self.on_since_ns = None;
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
        let is_on = bursts.arrives(is_new, now);
        if is_new {
            *flow = Flow { began_ns: now, ..Flow::default() };
        }
        let number = flow.packets as usize;
        (flow.seen_ns, flow.packets) = (now, flow.packets.saturating_add(1));
        let is_of_burst = is_on && now.saturating_sub(flow.began_ns) < bursts.window_ns;
        let uncounted = if flow.is_counted { number } else { 0 };
        flow.is_counted |= is_of_burst;
        if flow.is_counted {
            bursts.count(uncounted..=number.min(COUNTED - 1));
        }
        let held_bytes = u64::from(buffer.shared_lengths()[packet.queue]);
        let is_long = held_bytes * 2 * buffer.ports() as u64 >= u64::from(buffer.capacity_bytes());
        let gives = is_on
            && decision == Decision::Accept
            && buffer.occupancy_bytes() >= self.least_held_bytes
            && is_long
            && bursts.is_safe.get(number) == Some(&true)
            && !flow.has_given;
        flow.has_given |= gives;
        if gives { Decision::Reject } else { decision }
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
    /// So many new flows within the window are a burst.
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
            began_ns: VecDeque::with_capacity(self.burst_flows),
            on_since_ns: None,
            reached: [0; COUNTED],
            is_safe: [false; COUNTED],
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
