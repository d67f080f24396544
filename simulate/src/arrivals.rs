//! A leaf switch's arrivals: sources start flows, ingress links turn them into packets.

use crate::ingress::{Ack, Flow, Framing, Link, Packet, PacketKind};
use crate::leaf::{LeafWorkload, Rates};
use crate::sources::{Pattern, Shape, Source};
use crate::tournament::{NEVER, Tournament};
use dropcast_data::{Event, EventBatch, EventKind};

/// Events of a batch, except the last.
const BATCH_EVENTS: usize = 8192;

/// `Event::flags` of a packet sent within the flow's first round-trip time.
const UNSCHEDULED: u8 = 1;

/// The arrivals of a [`LeafWorkload`], in order of time, computed as they are asked for.
///
/// What happens at the same nanosecond happens in a fixed order: sources first, then links by
/// number. Memory: the flows that wait at the ingress links and the acknowledgements of one
/// round-trip time, whatever the length of the trace.
#[derive(Clone, Debug)]
pub struct LeafArrivals {
    duration_ns: u64,
    framing: Framing,
    shape: Shape,
    data_queue: u8,
    /// From a packet's arrival at the switch to its acknowledgement's being handed to the ingress
    /// link of the other direction, by that link.
    ack_delay_ns: Vec<u64>,
    sources: Vec<Source>,
    /// Ingress links, numbered as the port of the same cable.
    links: Vec<Link>,
    /// A slot for each source, then one for each link.
    clocks: Tournament,
    started: Vec<(u16, Flow)>,
}

impl LeafArrivals {
    /// For checked parameters.
    pub(crate) fn new(workload: &LeafWorkload, shape: Shape, rates: &Rates) -> Self {
        let ports = usize::from(shape.servers) + usize::from(shape.uplinks);
        let sources: Vec<Source> = [
            (Pattern::Incoming, rates.incoming_hz),
            (Pattern::Outgoing, rates.outgoing_hz),
            (Pattern::RackLocal, rates.rack_local_hz),
            (Pattern::Incast, rates.incast_hz),
            (Pattern::OutgoingIncast, rates.outgoing_incast_hz),
        ]
        .into_iter()
        .filter_map(|(pattern, hz)| Source::new(pattern, hz / 1e9, shape.servers, workload.seed))
        .collect();
        let mut clocks = Tournament::new(sources.len() + ports);
        for (slot, source) in sources.iter().enumerate() {
            clocks.set(slot, source.next_ns());
        }
        // A packet crosses four links each way in a round trip, and an acknowledgement four: two
        // of the eight lie between the switch and a server, six on the uplinks' side.
        let near = workload.base_rtt_ns / 4;
        let far = workload.base_rtt_ns - near;
        let ack_delay_ns =
            (0..ports).map(|port| if port < usize::from(shape.servers) { near } else { far });
        LeafArrivals {
            duration_ns: workload.duration_ns,
            framing: workload.framing(),
            data_queue: workload.queues_per_port - 1,
            ack_delay_ns: ack_delay_ns.collect(),
            shape,
            sources,
            links: vec![Link::new(); ports],
            clocks,
            started: Vec::new(),
        }
    }

    /// The next arrival, and the ingress link that it came over.
    fn next_arrival(&mut self) -> Option<(usize, Event)> {
        loop {
            let (slot, now) = self.clocks.first();
            if now >= self.duration_ns {
                return None;
            }
            let Some(link) = slot.checked_sub(self.sources.len()) else {
                self.fire(slot, now);
                continue;
            };
            let sent = self.links[link].take_sent();
            self.proceed(link, now);
            if let Some(packet) = sent {
                self.acknowledge(link, &packet, now);
                return Some((link, self.event(&packet, now)));
            }
        }
    }

    fn fire(&mut self, source: usize, now: u64) {
        let mut started = std::mem::take(&mut self.started);
        self.sources[source].fire(&self.shape, &mut started);
        for (link, flow) in started.drain(..) {
            let link = usize::from(link);
            if self.links[link].add_flow(flow) {
                self.proceed(link, now);
            }
        }
        self.started = started;
        self.clocks.set(source, self.sources[source].next_ns());
    }

    fn proceed(&mut self, link: usize, now: u64) {
        let next = self.links[link].proceed(now, &self.framing).unwrap_or(NEVER);
        self.clocks.set(self.sources.len() + link, next);
    }

    /// Lets the receiver of a packet that came over `link` acknowledge it, if it does.
    fn acknowledge(&mut self, link: usize, packet: &Packet, now: u64) {
        if !matches!(packet.kind, PacketKind::Data { acknowledged: true, .. }) {
            return;
        }
        let back = usize::from(packet.out_port);
        let ack = Ack {
            ready_ns: now + self.ack_delay_ns[back],
            hash: packet.hash,
            out_port: link as u16,
        };
        if self.links[back].add_ack(ack) {
            self.proceed(back, now);
        }
    }

    fn event(&self, packet: &Packet, now: u64) -> Event {
        let (queue, flags) = match packet.kind {
            PacketKind::Ack => (0, 0),
            PacketKind::Data { unscheduled, .. } => {
                (self.data_queue, if unscheduled { UNSCHEDULED } else { 0 })
            }
        };
        Event {
            time_ns: now,
            flow_hash: packet.hash,
            size_bytes: packet.size_bytes,
            switch_id: 0,
            port: packet.out_port,
            queue,
            kind: EventKind::Arrival,
            flags,
        }
    }
}

impl Iterator for LeafArrivals {
    type Item = EventBatch;

    /// The next batch, not empty.
    fn next(&mut self) -> Option<EventBatch> {
        let mut events = Vec::with_capacity(BATCH_EVENTS);
        while events.len() < BATCH_EVENTS
            && let Some((_, event)) = self.next_arrival()
        {
            events.push(event);
        }
        (!events.is_empty()).then_some(EventBatch { events })
    }
}

#[cfg(test)]
mod tests;
