//! Early drops in bursts, so that senders are in recovery when their tails are dropped (`docs/spare-tails.md`).

use super::oracle::drain_time_ns;
use crate::flow_table::FlowTable;
use crate::{
    Alphas, Buffer, BuildError, Decision, Packet, Policy, PolicySite, PolicySpec, Service,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Drops one early packet of each flow of a burst, if bursts have overflowed and the flow's later packets will tell its sender.
///
/// Where a burst overflows, a drop-tail switch drops the tails of its flows, and nothing follows a tail that would tell the
/// sender: it waits for a timeout. A sender that lost an early packet learns of it within a round trip, and while it recovers
/// it repeats what it does not know to be lost, too (RFC 6675, `NextSeg`, rule 3): its tail.
///
/// A *burst* is on while `burst_flows` new flows began within the last window. In a burst a packet is dropped that the base
/// accepts, once for each flow, if
///
/// - its queue holds half of an equal share, `B / (2 N)`, or more;
/// - at least `overflow_share` of the last bursts overflowed, as a moving average of weight 1/8, which begins at 0. A burst
///   overflows if the base drops a packet, or a packet would not fit with the dropped ones held until the end of the burst;
/// - of the flows that began in bursts and reached this packet, counted from their first, nine in ten reached the fourth after
///   it: three that are acknowledged and one to spare.
///
/// Packets of unknown flows, and those below [`LEAST_BYTES`], are the base's alone: acknowledgements, requests, tails.
#[derive(Clone, Debug)]
pub struct SpareTails<B> {
    base: B,
    bursts: Bursts,
    flows: FlowTable<Flow>,
    silence_ns: u64,
    spared_packets: u32,
}

/// Shorter packets are neither counted nor dropped early.
pub const LEAST_BYTES: u32 = 512;

/// Packets of a flow that are counted.
const COUNTED: usize = 32;
/// So many packets must come after the one that is dropped.
const BEHIND: usize = 4;
/// A share of 1.
const ONE: u32 = 1 << 16;
/// The weight of a burst, in the share of those that overflow and in the counts of packets: an eighth.
const WEIGHT_BITS: u32 = 3;
/// A burst that lasts so many windows counts as one, and another begins.
const MOST_WINDOWS: u64 = 8;
/// What is known of fewer flows is not acted upon.
const LEAST_FLOWS: u32 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    seen_ns: u64,
    /// That arrived.
    packets: u32,
    /// It began in a burst.
    is_counted: bool,
    /// It has given its packet.
    has_given: bool,
}

/// The bursts of a switch.
#[derive(Clone, Debug)]
struct Bursts {
    window_ns: u64,
    flows: usize,
    /// At least this share of bursts must overflow.
    least_share: u32,
    /// When the last `flows` flows began.
    began_ns: VecDeque<u64>,
    /// When the burst began that is on.
    on_since_ns: Option<u64>,
    overflows: bool,
    /// Of packets that were dropped early in it.
    dropped_bytes: u32,
    /// The share of bursts that overflowed.
    share: u32,
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

    fn end(&mut self) {
        self.share -= self.share >> WEIGHT_BITS;
        if self.overflows {
            self.share += ONE >> WEIGHT_BITS;
        }
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
        (self.on_since_ns, self.overflows, self.dropped_bytes) = (None, false, 0);
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
            *flow = Flow { is_counted: is_on, ..Flow::default() };
        }
        let number = flow.packets as usize;
        (flow.seen_ns, flow.packets) = (now, flow.packets.saturating_add(1));
        if let (true, Some(flows)) = (flow.is_counted, bursts.reached.get_mut(number)) {
            *flows = flows.saturating_add(1);
        }
        if !is_on {
            return decision;
        }
        let is_accepted = decision == Decision::Accept;
        let with_dropped = packet.size_bytes.saturating_add(bursts.dropped_bytes);
        bursts.overflows |= !is_accepted || !buffer.fits(with_dropped);
        let held = u64::from(buffer.shared_lengths()[packet.queue]);
        let is_long = held * 2 * buffer.ports() as u64 >= u64::from(buffer.capacity_bytes());
        let is_safe = bursts.is_safe.get(number) == Some(&true);
        let is_dropped = is_accepted
            && is_long
            && is_safe
            && number >= self.spared_packets as usize
            && !flow.has_given
            && bursts.share >= bursts.least_share;
        if !is_dropped {
            return decision;
        }
        flow.has_given = true;
        bursts.dropped_bytes = bursts.dropped_bytes.saturating_add(packet.size_bytes);
        Decision::Reject
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
    /// The share of bursts, 0 to 1, that must overflow.
    pub overflow_share: f64,
    /// The first packets of a flow, which are never dropped early.
    pub spared_packets: u32,
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
            burst_flows: 6,
            window_ns: None,
            overflow_share: 0.05,
            spared_packets: 0,
            silence_ns: 100_000_000,
            flows: 1 << 16,
        }
    }
}

impl SpareTailsParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If the base cannot be built or pushes packets out, or a parameter is out of range.
    pub fn policy<S: Service + Clone + Send + 'static>(
        &self,
        site: PolicySite<'_, S>,
    ) -> Result<AnySpareTails, BuildError> {
        if self.base.pushes_out() {
            let problem =
                format!("{} pushes packets out, expected a drop-tail policy", self.base.name());
            return Err(BuildError::parameter("base", problem));
        }
        if !(1..=1 << 16).contains(&self.burst_flows) {
            let problem = format!("is {}, expected 1 to 65536", self.burst_flows);
            return Err(BuildError::parameter("burst_flows", problem));
        }
        if !(0.0..=1.0).contains(&self.overflow_share) {
            let problem = format!("is {}, expected 0 to 1", self.overflow_share);
            return Err(BuildError::parameter("overflow_share", problem));
        }
        let bursts = Bursts {
            window_ns: self.window_ns.unwrap_or_else(|| drain_time_ns(site.spec).saturating_mul(4)),
            flows: self.burst_flows,
            least_share: (self.overflow_share * f64::from(ONE)) as u32,
            began_ns: VecDeque::with_capacity(self.burst_flows),
            on_since_ns: None,
            overflows: false,
            dropped_bytes: 0,
            share: 0,
            reached: [0; COUNTED],
            is_safe: [false; COUNTED],
        };
        Ok(SpareTails {
            bursts,
            flows: FlowTable::new(self.flows)?,
            silence_ns: self.silence_ns,
            spared_packets: self.spared_packets,
            base: self.base.build(site)?,
        })
    }
}
