//! A leaf switch's arrivals: sources start flows, ingress links turn them into packets.

use crate::ingress::{Ack, Packet};
use crate::leaf::{LeafWorkload, Rates, WorkloadError};
use crate::senders::{Senders, Sent};
use crate::sources::{LeafSources, Pattern, Shape, Source};
use dropcast_data::{Event, EventBatch};

/// Events of a batch, except the last.
const BATCH_EVENTS: usize = 8192;

/// The arrivals of a [`LeafWorkload`], in order of time, computed lazily.
///
/// Memory: the flows that wait at the ingress links and the acknowledgements of one round-trip
/// time, independent of the length of the trace.
#[derive(Clone, Debug)]
pub struct LeafArrivals {
    duration_ns: u64,
    data_queue: u8,
    /// By ingress link, the time from a packet's arrival at the switch until its acknowledgement
    /// reaches the ingress link of the other direction.
    ack_delay_ns: Vec<u64>,
    /// Ingress links are numbered as the port of the same cable.
    senders: Senders<LeafSources>,
}

impl LeafWorkload {
    /// The arrivals, in batches, as they are asked for.
    ///
    /// # Errors
    /// A parameter is out of its range, the flow-size table is not one, or an ingress link would
    /// be overloaded.
    pub fn arrivals(&self) -> Result<LeafArrivals, WorkloadError> {
        let (sizes, rates) = self.checked()?;
        let LeafWorkload { servers, uplinks, .. } = *self;
        let shape = Shape { servers, uplinks, traffic: self.traffic(sizes) };
        Ok(LeafArrivals::new(self, shape, &rates))
    }
}

impl LeafArrivals {
    /// For checked parameters.
    pub(crate) fn new(workload: &LeafWorkload, shape: Shape, rates: &Rates) -> Self {
        let ports = usize::from(shape.servers) + usize::from(shape.uplinks);
        let servers = shape.servers;
        let sources: Vec<Source> = [
            (Pattern::Incoming, rates.incoming_hz),
            (Pattern::Outgoing, rates.outgoing_hz),
            (Pattern::RackLocal, rates.rack_local_hz),
            (Pattern::Incast, rates.incast_hz),
            (Pattern::OutgoingIncast, rates.outgoing_incast_hz),
        ]
        .into_iter()
        .filter_map(|(pattern, hz)| Source::new(pattern, hz / 1e9, servers, workload.seed))
        .collect();
        // A packet crosses four links each way in a round trip, and an acknowledgement four: two
        // of the eight lie between the switch and a server, six on the uplinks' side.
        let near = workload.base_rtt_ns / 4;
        let far = workload.base_rtt_ns - near;
        let ack_delay_ns =
            (0..ports).map(|port| if port < usize::from(servers) { near } else { far });
        LeafArrivals {
            duration_ns: workload.duration_ns,
            data_queue: workload.queues_per_port - 1,
            ack_delay_ns: ack_delay_ns.collect(),
            senders: Senders::new(workload.framing(), LeafSources { shape, sources }, ports),
        }
    }

    /// The next arrival, and the ingress link that it came over.
    fn next_arrival(&mut self) -> Option<(usize, Event)> {
        let Sent { time_ns, link, packet } = self.senders.next_sent(self.duration_ns)?;
        self.acknowledge(link, &packet, time_ns);
        Some((link, packet.arrival(time_ns, 0, packet.to, self.data_queue)))
    }

    /// Schedules the acknowledgement of a packet that came over `link`, if its receiver sends one.
    fn acknowledge(&mut self, link: usize, packet: &Packet, now_ns: u64) {
        if packet.is_acknowledged() {
            let back = usize::from(packet.to);
            let ready_ns = now_ns + self.ack_delay_ns[back];
            let ack = Ack { ready_ns, hash: packet.hash, to: link as u16 };
            self.senders.acknowledge(back, ack, now_ns);
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
        (!events.is_empty()).then_some(EventBatch::new(events))
    }
}

#[cfg(test)]
mod tests;
