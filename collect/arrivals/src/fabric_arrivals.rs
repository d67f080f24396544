//! A fabric's arrivals: packets move from switch to switch, simulated one link delay at a time.

use crate::fabric::FabricWorkload;
use crate::fabric_sources::{FabricShape, FabricSources};
use crate::ingress::{Ack, Framing, Packet};
use crate::leaf::WorkloadError;
use crate::senders::{Senders, Sent};
use crate::traffic::path_of;
use dropcast_data::{Event, EventBatch, Outcome, SwitchSpec, SwitchSpecs, Victim};
use dropcast_switch::{Buffer, Fit, LineRate, Lqd, Observer, Removal, Switch};
use std::collections::BTreeMap;

/// Minimum events of a batch, except the last.
const BATCH_EVENTS: usize = 8192;

/// The arrivals of a [`FabricWorkload`] at all its switches, in order of time, computed lazily.
///
/// A packet that leaves a switch arrives at the next at least a link delay later. So each switch in
/// turn can run for that long: all its arrivals in that time have already left their previous hop.
/// Memory: the flows that wait at the servers, the packets in the buffers and those on links,
/// independent of the length of the trace.
#[derive(Clone, Debug)]
pub struct FabricArrivals {
    duration_ns: u64,
    /// Everything before this time is done.
    now_ns: u64,
    hop_ns: u64,
    map: Map,
    senders: Senders<FabricSources>,
    nodes: Vec<Node>,
}

/// The topology.
#[derive(Clone, Copy, Debug)]
struct Map {
    leaves: u16,
    spines: u16,
    /// Of each leaf.
    servers: u16,
    data_queue: u8,
}

/// Where a link ends.
enum End {
    /// At a server, by number.
    Server(u16),
    /// At a port of a switch.
    Switch(u16, u16),
}

/// A packet in flight to the server `packet.to`.
#[derive(Clone, Copy, Debug)]
struct Traveller {
    packet: Packet,
    /// The server that it is from.
    from: u16,
}

impl Map {
    /// The port of switch `id` that leads on to a server.
    fn port(self, id: u16, packet: &Packet) -> u16 {
        let leaf = packet.to / self.servers;
        if id >= self.leaves {
            leaf
        } else if id == leaf {
            packet.to % self.servers
        } else {
            self.servers + path_of(packet.hash, self.spines)
        }
    }

    /// Where the link at a port of switch `id` ends.
    fn end(self, id: u16, port: u16) -> End {
        if id >= self.leaves {
            End::Switch(port, self.servers + (id - self.leaves))
        } else if port < self.servers {
            End::Server(id * self.servers + port)
        } else {
            End::Switch(self.leaves + (port - self.servers), id)
        }
    }
}

/// A switch with its pending arrivals.
#[derive(Clone, Debug)]
struct Node {
    spec: SwitchSpec,
    switch: Switch<Lqd, LineRate>,
    /// By time and port of the incoming link: a link delivers one packet at a time.
    inbox: BTreeMap<(u64, u16), Traveller>,
    /// Packets in the buffer, by number.
    held: Vec<Traveller>,
    /// Free numbers.
    free: Vec<u64>,
}

/// Records the packets that leave.
#[derive(Default)]
struct Left(Vec<Removal>);

impl Observer for Left {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0.push(*removal);
    }
}

impl FabricWorkload {
    /// The arrivals, in batches, as they are asked for.
    ///
    /// # Errors
    /// A parameter is out of its range, the flow-size table is not one, or a link would be
    /// overloaded.
    pub fn arrivals(&self) -> Result<FabricArrivals, WorkloadError> {
        let specs = self.switch_specs()?;
        let leaf = self.leaf();
        let (sizes, rates) = leaf.checked()?;
        let traffic = leaf.traffic(sizes);
        let shape = FabricShape { leaves: self.leaves, servers: self.servers, traffic };
        // What leaves one leaf comes to another: each flow is counted at both.
        let leaves = f64::from(self.leaves);
        let per_ns = (leaves * rates.incoming_hz / 1e9, leaves * rates.incast_hz / 1e9);
        let sources = FabricSources::new(shape, per_ns, self.seed);
        Ok(FabricArrivals::new(self, &specs, leaf.framing(), sources))
    }
}

impl FabricArrivals {
    /// For checked parameters.
    pub(crate) fn new(
        workload: &FabricWorkload,
        specs: &SwitchSpecs,
        framing: Framing,
        sources: FabricSources,
    ) -> Self {
        let &FabricWorkload { leaves, spines, servers, queues_per_port, .. } = workload;
        let map = Map { leaves, spines, servers, data_queue: queues_per_port - 1 };
        let links = usize::from(leaves) * usize::from(servers);
        FabricArrivals {
            duration_ns: workload.duration_ns,
            now_ns: 0,
            hop_ns: workload.hop_ns(),
            map,
            senders: Senders::new(framing, sources, links),
            nodes: (0..leaves + spines).filter_map(|id| specs.get(id)).map(Node::new).collect(),
        }
    }

    /// Runs servers and switches up to `end_ns`, at most a link delay ahead; appends the arrivals
    /// to `events`, by time, then by switch.
    fn run_until(&mut self, end_ns: u64, events: &mut Vec<Event>) {
        let first = events.len();
        while let Some(Sent { time_ns, link, packet }) = self.senders.next_sent(end_ns) {
            // There are at most as many servers as numbers for them.
            let from = link as u16;
            let (leaf, port) = (from / self.map.servers, from % self.map.servers);
            let inbox = &mut self.nodes[usize::from(leaf)].inbox;
            inbox.insert((time_ns + self.hop_ns, port), Traveller { packet, from });
        }
        for id in 0..self.map.leaves + self.map.spines {
            let sent = self.nodes[usize::from(id)].run_until(end_ns, self.map, id, events);
            for (sent_ns, port, traveller) in sent {
                self.pass_on(sent_ns + self.hop_ns, self.map.end(id, port), traveller, end_ns);
            }
        }
        events[first..].sort_by_key(|event| event.time_ns);
        self.now_ns = end_ns;
    }

    /// A packet gets to the end of a link at `arrives_ns`, not before `now_ns`.
    fn pass_on(&mut self, arrives_ns: u64, end: End, traveller: Traveller, now_ns: u64) {
        match end {
            End::Switch(id, port) => {
                self.nodes[usize::from(id)].inbox.insert((arrives_ns, port), traveller);
            }
            End::Server(server) if traveller.packet.is_acknowledged() => {
                let ack =
                    Ack { ready_ns: arrives_ns, hash: traveller.packet.hash, to: traveller.from };
                self.senders.acknowledge(usize::from(server), ack, now_ns);
            }
            End::Server(_) => {}
        }
    }
}

impl Node {
    fn new(spec: &SwitchSpec) -> Self {
        let lqd = Lqd::new(Victim::default());
        Node {
            spec: spec.clone(),
            switch: Switch::new(spec, Fit::Exact, lqd, LineRate::new(spec)),
            inbox: BTreeMap::new(),
            held: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Runs switch `id` up to `end_ns`. Returns the departures: time of the last bit on the link,
    /// port and packet.
    fn run_until(
        &mut self,
        end_ns: u64,
        map: Map,
        id: u16,
        events: &mut Vec<Event>,
    ) -> Vec<(u64, u16, Traveller)> {
        let mut left = Left::default();
        let mut sent = Vec::new();
        while let Some(entry) = self.inbox.first_entry()
            && entry.key().0 < end_ns
        {
            let ((now_ns, _), traveller) = entry.remove_entry();
            let port = map.port(id, &traveller.packet);
            let event = traveller.packet.arrival(now_ns, id, port, map.data_queue);
            self.switch.advance(now_ns, &mut left);
            let number = self.number(traveller);
            let queue = self.spec.queue_index(port, event.queue);
            let packet = dropcast_switch::Packet::new(number, queue, event.size_bytes);
            if !self.switch.admit(&packet, now_ns, &mut left) {
                self.free.push(number);
            }
            events.push(event);
            self.account_for(&mut left, &mut sent);
        }
        self.switch.advance(end_ns - 1, &mut left);
        self.account_for(&mut left, &mut sent);
        sent
    }

    /// A number for a packet while it is in the buffer.
    fn number(&mut self, traveller: Traveller) -> u64 {
        let number = self.free.pop().unwrap_or(self.held.len() as u64);
        match self.held.get_mut(number as usize) {
            Some(place) => *place = traveller,
            None => self.held.push(traveller),
        }
        number
    }

    /// Frees the numbers of packets that left, and puts departed ones on links.
    fn account_for(&mut self, left: &mut Left, sent: &mut Vec<(u64, u16, Traveller)>) {
        for Removal { packet, queue, time, outcome } in left.0.drain(..) {
            self.free.push(packet.id);
            if outcome == Outcome::Departed {
                let port = queue / usize::from(self.spec.queues_per_port);
                let sent_ns = time + self.spec.wire_time_ns(port, packet.size_bytes);
                sent.push((sent_ns, port as u16, self.held[packet.id as usize]));
            }
        }
    }
}

impl Iterator for FabricArrivals {
    type Item = EventBatch;

    /// The next batch, not empty.
    fn next(&mut self) -> Option<EventBatch> {
        let mut events = Vec::new();
        while events.len() < BATCH_EVENTS && self.now_ns < self.duration_ns {
            self.run_until((self.now_ns + self.hop_ns).min(self.duration_ns), &mut events);
        }
        (!events.is_empty()).then_some(EventBatch::new(events))
    }
}

#[cfg(test)]
mod tests;
