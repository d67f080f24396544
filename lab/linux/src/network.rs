//! Links, and the switch between them, in virtual time.

use crate::packet::mark;
use dropcast_data::random::{below, uniform};
use dropcast_data::{Event, EventKind, Outcome, SwitchSpec};
use dropcast_fabric::Fabric;
use dropcast_switch::aqm::{Action, Aqm};
use dropcast_switch::{
    AqmSite, Buffer, BuildError, Fit, LineRate, Live, Observer, Packet, Policy, PolicyModel,
    PolicySite, PolicySpec, Removal, Switch,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a policy asks; how it was made is of no interest here.
pub type AnyModel = dropcast_forest::Model<serde::de::IgnoredAny>;

/// A packet on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WirePacket {
    /// As the sender's kernel wrote it, but for marks.
    pub bytes: Vec<u8>,
    /// The receiving server.
    pub to: u16,
    /// Queue within its port.
    pub queue: u8,
    /// A hash of its flow.
    pub flow_hash: u64,
    /// [`Packet::FIRST_RTT`] and [`Packet::ECN_CAPABLE`].
    pub flags: u8,
    /// When it entered the switch, nanoseconds.
    entered_ns: u64,
}

/// What became of packets at the switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Those that were dropped on arrival.
    pub dropped: u64,
    /// Those that were pushed out.
    pub pushed_out: u64,
    /// Those that were marked.
    pub marked: u64,
}

/// Servers' links, and the switch.
///
/// Time is what [`Network::advance`] says, and never goes back. It may jump over times at which something happens in the switch, as
/// long as none of it reaches a server before: up to [`Network::wake_ns`].
pub struct Network {
    switch: Switch<Box<dyn Policy + Send>, LineRate>,
    /// When each server's link is free again.
    free_ns: Vec<u64>,
    /// When each server's last packet reaches the switch.
    arrives_ns: Vec<u64>,
    wire: Wire,
}

/// Times, numbers that decide between equal times, and places of frames.
type Upcoming = BinaryHeap<Reverse<(u64, u64, usize)>>;

/// All but the switch itself: it observes what leaves the switch.
struct Wire {
    spec: SwitchSpec,
    aqm: Box<dyn Aqm + Send>,
    delay_ns: u64,
    /// Its seed, and the most of it, nanoseconds.
    jitter: (u64, u64),
    frames: Vec<WirePacket>,
    unused: Vec<usize>,
    /// When each port's last packet is sent.
    sent_ns: Vec<u64>,
    /// Arrivals at the switch, in order of time, then of sending.
    arrivals: Upcoming,
    /// Arrivals at servers.
    deliveries: Upcoming,
    number: u64,
    counts: SwitchCounts,
    events: Option<Vec<Event>>,
}

impl WirePacket {
    /// A packet that a server's kernel sends.
    pub fn new(bytes: &[u8], to: u16, queue: u8, flow_hash: u64, flags: u8) -> Self {
        WirePacket { bytes: bytes.to_vec(), to, queue, flow_hash, flags, entered_ns: 0 }
    }
}

impl Network {
    /// The idle network of a fabric of one leaf, with the model that the policy names.
    ///
    /// # Errors
    /// If the policy or the AQM cannot be built.
    pub fn new(
        fabric: &Fabric,
        policy: &PolicySpec,
        model: Option<&AnyModel>,
    ) -> Result<Self, BuildError> {
        let (spec, config) = (fabric.switch_spec(0), fabric.config());
        let aqm = config.aqm.build(AqmSite { spec, seed: config.seed })?;
        let model = model.map(|model| {
            let model = model.for_buffer(spec.buffer_bytes).unwrap_or_else(|_| model.clone());
            let live = Live { features: model.features, oracle: model.forest };
            PolicyModel::Predictor(Box::new(live))
        });
        let policy = policy.build(PolicySite { model, ..PolicySite::new(spec, config.seed) })?;
        Ok(Network {
            switch: Switch::new(spec, Fit::Exact, policy, LineRate::new(spec)),
            free_ns: vec![0; spec.ports()],
            arrives_ns: vec![0; spec.ports()],
            wire: Wire {
                spec: spec.clone(),
                aqm,
                delay_ns: config.server_delay_ns,
                jitter: (config.seed, config.jitter_ns),
                frames: Vec::new(),
                unused: Vec::new(),
                sent_ns: vec![0; spec.ports()],
                arrivals: BinaryHeap::new(),
                deliveries: BinaryHeap::new(),
                number: 0,
                counts: SwitchCounts::default(),
                events: None,
            },
        })
    }

    /// Packet events at the switch are kept from now on.
    pub fn keep_events(&mut self) {
        self.wire.events = Some(Vec::new());
    }

    /// The packet events that were kept, in order.
    pub fn into_events(self) -> Vec<Event> {
        self.wire.events.unwrap_or_default()
    }

    /// What became of packets until now.
    pub fn counts(&self) -> SwitchCounts {
        self.wire.counts
    }

    /// A server's kernel sends a packet at `now_ns`, up to which the network has advanced.
    pub fn send(&mut self, from: u16, frame: WirePacket, now_ns: u64) {
        let free_ns = &mut self.free_ns[usize::from(from)];
        let wire_ns = self.wire.spec.wire_time_ns(from.into(), frame.bytes.len() as u32);
        *free_ns = now_ns.max(*free_ns) + wire_ns;
        let place = self.wire.unused.pop().unwrap_or(self.wire.frames.len());
        if place == self.wire.frames.len() {
            self.wire.frames.push(WirePacket::default());
        }
        self.wire.frames[place] = frame;
        let wire = &mut self.wire;
        wire.number += 1;
        let jitter_ns = below(uniform(wire.jitter.0, &[wire.number]), wire.jitter.1 + 1);
        let arrives_ns = &mut self.arrives_ns[usize::from(from)];
        *arrives_ns = (*free_ns + wire.delay_ns + jitter_ns).max(*arrives_ns);
        wire.arrivals.push(Reverse((*arrives_ns, wire.number, place)));
    }

    /// The time up to which nothing can reach a server; `None` while no packet is on its way. Packets in the switch wait for one that
    /// is on a wire.
    pub fn wake_ns(&self) -> Option<u64> {
        let arrival_ns = self.wire.arrivals.peek().map(|Reverse((ns, ..))| ns + self.wire.delay_ns);
        let delivery_ns = self.wire.deliveries.peek().map(|Reverse((ns, ..))| *ns);
        arrival_ns.into_iter().chain(delivery_ns).min()
    }

    /// All that happens in the switch up to and including `now_ns`.
    pub fn advance(&mut self, now_ns: u64) {
        while let Some(&Reverse((time_ns, _, place))) = self.wire.arrivals.peek()
            && time_ns <= now_ns
        {
            self.wire.arrivals.pop();
            self.switch.advance(time_ns, &mut self.wire);
            self.enter(place, time_ns);
            // An idle port sends it before another packet arrives at the same time.
            self.switch.advance(time_ns, &mut self.wire);
        }
        self.switch.advance(now_ns, &mut self.wire);
    }

    /// The next packet that has reached its server by `now_ns`, up to which the network has advanced.
    pub fn delivered(&mut self, now_ns: u64) -> Option<WirePacket> {
        let &Reverse((time_ns, _, place)) = self.wire.deliveries.peek()?;
        (time_ns <= now_ns).then(|| {
            self.wire.deliveries.pop();
            self.wire.take(place)
        })
    }

    fn enter(&mut self, place: usize, now_ns: u64) {
        let wire = &mut self.wire;
        wire.counts.arrived += 1;
        wire.record(place, EventKind::Arrival, now_ns);
        let frame = &mut wire.frames[place];
        frame.entered_ns = now_ns;
        let queue = wire.spec.queue_index(frame.to, frame.queue);
        let &mut WirePacket { flow_hash, flags, .. } = frame;
        let packet = Packet {
            flow_hash,
            flags,
            ..Packet::new(place as u64, queue, frame.bytes.len() as u32)
        };
        let action = wire.aqm.arrives(self.switch.buffer(), &packet, now_ns);
        if action != Action::Drop && self.switch.admit(&packet, now_ns, wire) {
            if action == Action::Mark {
                wire.mark(place);
            }
            return;
        }
        wire.counts.dropped += 1;
        wire.take(place);
    }
}

impl Wire {
    fn mark(&mut self, place: usize) {
        self.counts.marked += 1;
        mark(&mut self.frames[place].bytes);
    }

    fn take(&mut self, place: usize) -> WirePacket {
        self.unused.push(place);
        std::mem::take(&mut self.frames[place])
    }

    fn record(&mut self, place: usize, kind: EventKind, time_ns: u64) {
        let Some(events) = &mut self.events else { return };
        let WirePacket { bytes, to, queue, flow_hash, flags, .. } = &self.frames[place];
        events.push(Event {
            time_ns,
            flow_hash: *flow_hash,
            size_bytes: bytes.len() as u32,
            switch_id: 0,
            port: *to,
            queue: *queue,
            kind,
            flags: *flags,
        });
    }
}

impl Observer for Wire {
    fn removed(&mut self, removal: &Removal, buffer: &Buffer) {
        let &Removal { packet, queue, time, outcome } = removal;
        let place = packet.id as usize;
        self.aqm.departed(buffer, queue, packet.size_bytes, time);
        if outcome == Outcome::PushedOut {
            self.counts.pushed_out += 1;
            self.take(place);
            return;
        }
        self.record(place, EventKind::Departure, time);
        let &WirePacket { to, flags, entered_ns, .. } = &self.frames[place];
        let is_marked = self.aqm.marks_leaving(buffer, queue, time - entered_ns, time);
        if is_marked && flags & Packet::ECN_CAPABLE != 0 {
            self.mark(place);
        }
        let begins_ns = self.sent_ns[usize::from(to)].max(time);
        let sent_ns = begins_ns + self.spec.wire_time_ns(to.into(), packet.size_bytes);
        self.sent_ns[usize::from(to)] = sent_ns;
        self.number += 1;
        self.deliveries.push(Reverse((sent_ns + self.delay_ns, self.number, place)));
    }
}
