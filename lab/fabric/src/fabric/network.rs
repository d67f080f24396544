//! Packets in flight: interfaces, links and switches.

use super::config::{Fabric, OnFull, Paths};
use super::event_queue::EventQueue;
use super::hash::hash;
use super::packet::{ECN_CAPABLE, MARKED, NO_TRAIL, Packet, PacketKind, Slab, UNSCHEDULED};
use super::server::Interface;
use super::sink::{DroppedPacket, FabricDropReason, FabricObserver, Occupancy, Telemetry};
use super::switch::FabricSwitch;
use super::topology::{End, Link, Topology};
use crate::transport::Hop;
use dropcast_arrivals::path_of;
use dropcast_data::random::mix;
use dropcast_data::{Event, EventKind};
use dropcast_features::BufferView;
use dropcast_switch::aqm::Action;
use dropcast_switch::{AqmSite, Buffer, BuildError, Policy, PolicySite};
use std::collections::VecDeque;

/// An event of the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NetworkEvent {
    /// The last bit of a packet is on a link.
    Sent { link: u32 },
    /// The last bit of a packet has reached the end of its link.
    Arrived { packet: u32 },
    /// A flow's timer.
    Timer { flow: u32 },
    /// A paced flow may go on.
    Pace { flow: u32 },
    /// A flow starts; `is_next`: it is the workload's next.
    Start { place: u32, is_next: bool },
    /// Occupancies are sampled.
    Sample,
}

/// The network's state of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTag {
    pub(crate) id: u64,
    /// Its packets that are in the network.
    pub(crate) packets: u32,
}

/// Counts since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NetworkCounts {
    /// Packets handed to an interface.
    pub(crate) sent: u64,
    /// Packets that reached their server.
    pub(crate) delivered: u64,
    /// Links crossed.
    pub(crate) hops: u64,
    pub(crate) marked: u64,
    /// By [`FabricDropReason`].
    pub(crate) dropped: [u64; 4],
}

/// The network, and the events to come.
pub(crate) struct Network {
    pub(crate) events: EventQueue<NetworkEvent>,
    pub(crate) packets: Slab<Packet>,
    /// Telemetry of packets that collect it.
    pub(crate) trails: Slab<Vec<Hop>>,
    /// By place of the flow's state.
    pub(crate) tags: Vec<FlowTag>,
    /// Flows that lost a packet since this was last emptied.
    pub(crate) flows_with_drops: Vec<u32>,
    pub(crate) counts: NetworkCounts,
    /// Latest delay that a server adds to a packet, nanoseconds, and a seed.
    jitter: (u64, u64),
    /// Spines to spray packets over, and a seed.
    sprays: Option<(u16, u64)>,
    /// Bytes of the header that a trimmed packet keeps.
    trims_to: Option<u32>,
    /// Headers that are about to enter the switch that trimmed them.
    trimmed: VecDeque<Packet>,
    topology: Topology,
    links: Vec<Link>,
    interfaces: Vec<Interface>,
    switches: Vec<FabricSwitch>,
    /// Packets on wires.
    on_wire: usize,
}

impl Network {
    pub(crate) fn new(
        fabric: &Fabric,
        mut policy: impl FnMut(u16, PolicySite<'_>) -> Result<Box<dyn Policy + Send>, BuildError>,
    ) -> Result<Self, BuildError> {
        let config = fabric.config();
        let topology = Topology::new(fabric);
        let mut first_link = u32::from(fabric.servers());
        let mut switches = Vec::new();
        for id in 0..fabric.switches() {
            let spec = fabric.switch_spec(id);
            // Switches must not draw the same numbers.
            let seed = config.seed.wrapping_mul(1 << 16).wrapping_add(id.into());
            let aqm = config.aqm.build(AqmSite { spec, seed })?;
            let policy = policy(id, PolicySite::new(spec, seed))?;
            switches.push(FabricSwitch::new(spec, policy, aqm, first_link));
            first_link += spec.ports() as u32;
        }
        Ok(Network {
            events: EventQueue::default(),
            packets: Slab::default(),
            trails: Slab::default(),
            tags: Vec::new(),
            flows_with_drops: Vec::new(),
            counts: NetworkCounts::default(),
            jitter: (config.jitter_ns, config.seed.rotate_left(16)),
            sprays: (config.paths == Paths::Spray && config.spines > 0)
                .then_some((config.spines, config.seed)),
            trimmed: VecDeque::new(),
            trims_to: (config.on_full == OnFull::Trim).then_some(config.header_bytes),
            topology,
            links: topology.links(fabric),
            interfaces: vec![Interface::default(); usize::from(fabric.servers())],
            switches,
            on_wire: 0,
        })
    }

    /// A server sends a packet.
    pub(crate) fn send(&mut self, mut packet: Packet, now_ns: u64) {
        if let Some((spines, seed)) = self.sprays {
            packet.spine = path_of(hash(!seed, self.counts.sent, 0), spines);
        }
        self.counts.sent += 1;
        self.tags[packet.flow as usize].packets += 1;
        let server = packet.from;
        let place = self.packets.add(packet);
        let interface = &mut self.interfaces[usize::from(server)];
        interface.waiting.push_back(place);
        if !interface.is_busy {
            self.serve_interface(server, now_ns);
        }
    }

    /// A link is free again.
    pub(crate) fn sent<S: FabricObserver>(&mut self, link: u32, now_ns: u64, sink: &mut S) {
        if (link as usize) < self.interfaces.len() {
            self.interfaces[link as usize].is_busy = false;
            self.serve_interface(link as u16, now_ns);
            return;
        }
        let next = self.switches.partition_point(|switch| switch.first_link <= link);
        let id = next as u16 - 1;
        let port = (link - self.switches[usize::from(id)].first_link) as u16;
        self.switches[usize::from(id)].ports[usize::from(port)].is_busy = false;
        self.serve_port(id, port, now_ns, sink);
    }

    /// A packet reaches the end of its link; returns whether that is its server.
    pub(crate) fn arrived<S: FabricObserver>(
        &mut self,
        place: u32,
        now_ns: u64,
        sink: &mut S,
    ) -> bool {
        self.counts.hops += 1;
        self.on_wire -= 1;
        let packet = self.packets.get(place);
        match self.links[packet.link as usize].end {
            End::Server(_) => {
                self.counts.delivered += 1;
                self.tags[packet.flow as usize].packets -= 1;
                true
            }
            End::Switch(id) => {
                self.enter(id, place, now_ns, sink);
                false
            }
        }
    }

    /// The buffer of a switch.
    pub(crate) fn buffer(&self, switch_id: u16) -> &Buffer {
        self.switches[usize::from(switch_id)].buffer()
    }

    /// Samples every switch.
    pub(crate) fn sample<S: FabricObserver>(&self, now_ns: u64, sink: &mut S) {
        for (switch_id, switch) in (0..).zip(&self.switches) {
            sink.sampled(&Occupancy {
                time_ns: now_ns,
                switch_id,
                occupancy_bytes: switch.buffer().occupancy_bytes(),
                longest_queue_bytes: switch.buffer().longest_queue_bytes(),
                buffer_bytes: switch.spec.buffer_bytes,
            });
        }
    }

    /// Whether every packet is accounted for and the bytes of every buffer add up.
    pub(crate) fn adds_up(&self) -> bool {
        let NetworkCounts { sent, delivered, dropped, .. } = self.counts;
        let held: usize = self.switches.iter().map(FabricSwitch::packets).sum();
        let waiting: usize = self.interfaces.iter().map(|at| at.waiting.len()).sum();
        let present = held + waiting + self.on_wire;
        let of_flows: u64 = self.tags.iter().map(|tag| u64::from(tag.packets)).sum();
        self.switches.iter().all(FabricSwitch::adds_up)
            && present == self.packets.len()
            && of_flows == present as u64
            && sent == delivered + dropped.iter().sum::<u64>() + present as u64
    }

    fn serve_interface(&mut self, server: u16, now_ns: u64) {
        let interface = &mut self.interfaces[usize::from(server)];
        if let Some(place) = interface.waiting.pop_front() {
            interface.is_busy = true;
            let (most_ns, seed) = self.jitter;
            interface.sent += 1;
            let draw = mix(seed ^ (u64::from(server) << 48) ^ interface.sent);
            let late_ns = ((u128::from(draw) * (u128::from(most_ns) + 1)) >> 64) as u64;
            let (sent_ns, delay_ns) = self.occupy(u32::from(server), place, now_ns);
            let interface = &mut self.interfaces[usize::from(server)];
            interface.arrives_ns = interface.arrives_ns.max(sent_ns + delay_ns + late_ns);
            self.events.schedule(interface.arrives_ns, NetworkEvent::Arrived { packet: place });
        }
    }

    /// The first bit of a packet goes on a switch's link now.
    fn transmit(&mut self, link: u32, place: u32, now_ns: u64) {
        let (sent_ns, delay_ns) = self.occupy(link, place, now_ns);
        self.events.schedule(sent_ns + delay_ns, NetworkEvent::Arrived { packet: place });
    }

    /// A packet takes a link from now on; returns until when, and the link's delay, nanoseconds.
    fn occupy(&mut self, link: u32, place: u32, now_ns: u64) -> (u64, u64) {
        let packet = self.packets.get_mut(place);
        packet.link = link;
        let size_bytes = packet.size_bytes;
        let on = &mut self.links[link as usize];
        let sent_ns = now_ns + on.wire_ns(size_bytes);
        let delay_ns = on.delay_ns();
        self.on_wire += 1;
        // A port dequeues before a simultaneous arrival is admitted, because virtual queues are
        // also served up to and including the time of an arrival.
        self.events.schedule_urgent(sent_ns, NetworkEvent::Sent { link });
        (sent_ns, delay_ns)
    }

    /// A packet enters a switch.
    fn enter<S: FabricObserver>(&mut self, id: u16, place: u32, now_ns: u64, sink: &mut S) {
        let packet = *self.packets.get(place);
        let port = self.topology.port(id, &packet);
        let switch = &mut self.switches[usize::from(id)];
        let queue = switch.spec.queue_index(port, packet.queue);
        if S::WANTS_EVENTS {
            sink.packet_event(&event_of(&packet, EventKind::Arrival, now_ns, id, port));
        }
        let arriving = dropcast_switch::Packet {
            flow_hash: packet.flow_hash,
            flags: packet.flags & (UNSCHEDULED | ECN_CAPABLE),
            ..dropcast_switch::Packet::new(place.into(), queue, packet.size_bytes)
        };
        let action = switch.judge(&arriving, now_ns);
        if action == Action::Drop {
            return self.drop(id, queue, place, FabricDropReason::Aqm, now_ns, sink);
        }
        let fits = switch.buffer().fits(packet.size_bytes);
        let is_accepted = switch.admit(&arriving, now_ns);
        for nth in 0..switch.pushed_out.len() {
            let (held, queue) = self.switches[usize::from(id)].pushed_out[nth];
            self.drop(id, queue, held.id as u32, FabricDropReason::PushOut, now_ns, sink);
        }
        if is_accepted {
            self.packets.get_mut(place).entered_ns = now_ns;
            if action == Action::Mark {
                self.mark(place);
            }
            self.serve_port(id, port, now_ns, sink);
        } else {
            let reason = if fits { FabricDropReason::Policy } else { FabricDropReason::Full };
            self.drop(id, queue, place, reason, now_ns, sink);
        }
        while let Some(header) = self.trimmed.pop_front() {
            // It counts as a packet that the switch sends.
            self.counts.sent += 1;
            self.tags[header.flow as usize].packets += 1;
            let place = self.packets.add(header);
            self.enter(id, place, now_ns, sink);
        }
    }

    /// Lets a port send, and refill its ring.
    fn serve_port<S: FabricObserver>(&mut self, id: u16, port: u16, now_ns: u64, sink: &mut S) {
        let ring_packets = usize::from(self.switches[usize::from(id)].spec.transmit_ring_packets);
        loop {
            let state = &mut self.switches[usize::from(id)].ports[usize::from(port)];
            if state.is_busy && state.ring.len() >= ring_packets {
                return;
            }
            let from_ring = if state.is_busy { None } else { state.ring.pop_front() };
            let Some(place) = from_ring.or_else(|| self.take(id, port, now_ns, sink)) else {
                return;
            };
            let switch = &mut self.switches[usize::from(id)];
            let state = &mut switch.ports[usize::from(port)];
            if state.is_busy {
                state.ring.push_back(place);
            } else {
                state.is_busy = true;
                let link = switch.first_link + u32::from(port);
                self.transmit(link, place, now_ns);
            }
        }
    }

    /// Dequeues the next packet of a port.
    fn take<S: FabricObserver>(
        &mut self,
        id: u16,
        port: u16,
        now_ns: u64,
        sink: &mut S,
    ) -> Option<u32> {
        let switch = &mut self.switches[usize::from(id)];
        let (place, queue) = switch.take(port, now_ns)?;
        let &Packet { entered_ns, flags, .. } = self.packets.get(place);
        let is_marked = switch.marks_leaving(queue, now_ns - entered_ns, now_ns);
        if is_marked && flags & ECN_CAPABLE != 0 {
            self.mark(place);
        }
        let switch = &self.switches[usize::from(id)];
        let packet = self.packets.get(place);
        if S::WANTS_EVENTS {
            sink.packet_event(&event_of(packet, EventKind::Departure, now_ns, id, port));
        }
        let has_trail = packet.trail != NO_TRAIL && packet.kind == PacketKind::Data;
        if !has_trail && !S::WANTS_TELEMETRY {
            return Some(place);
        }
        let link = switch.first_link + u32::from(port);
        let sent_bytes = switch.ports[usize::from(port)].sent_bytes;
        let hop = Hop {
            queue_bytes: switch.buffer().lengths()[queue],
            time_ns: now_ns,
            sent_bytes: sent_bytes - u64::from(packet.size_bytes),
            rate_bps: self.links[link as usize].rate_bps(),
            link,
        };
        if has_trail {
            self.trails.get_mut(packet.trail).push(hop);
        }
        if S::WANTS_TELEMETRY {
            sink.left(&Telemetry {
                time_ns: now_ns,
                flow_id: self.tags[packet.flow as usize].id,
                switch_id: id,
                port,
                queue: packet.queue,
                queue_bytes: hop.queue_bytes,
                sent_bytes: hop.sent_bytes,
                rate_bps: hop.rate_bps,
            });
        }
        Some(place)
    }

    fn mark(&mut self, place: u32) {
        self.counts.marked += 1;
        self.packets.get_mut(place).flags |= MARKED;
    }

    /// Drops a packet. If the policy did not hold it and it is trimmed, its header is to enter next.
    fn drop<S: FabricObserver>(
        &mut self,
        id: u16,
        queue: usize,
        place: u32,
        reason: FabricDropReason,
        now_ns: u64,
        sink: &mut S,
    ) {
        let switch = &self.switches[usize::from(id)];
        let packet = self.packets.get(place);
        let queues_per_port = usize::from(switch.spec.queues_per_port);
        sink.dropped(&DroppedPacket {
            time_ns: now_ns,
            flow_id: self.tags[packet.flow as usize].id,
            switch_id: id,
            port: (queue / queues_per_port) as u16,
            queue: (queue % queues_per_port) as u8,
            size_bytes: packet.size_bytes,
            reason,
            queue_bytes: switch.buffer().lengths()[queue],
            is_innocent: switch.is_innocent(queue),
        });
        self.counts.dropped[reason as usize] += 1;
        self.tags[packet.flow as usize].packets -= 1;
        self.flows_with_drops.push(packet.flow);
        if packet.trail != NO_TRAIL {
            self.trails.release(packet.trail);
        }
        if let Some(size_bytes) = self.trims_to
            && reason != FabricDropReason::Aqm
            && packet.kind == PacketKind::Data
        {
            let kind = PacketKind::Trimmed;
            self.trimmed.push_back(Packet {
                kind,
                size_bytes,
                queue: 0,
                trail: NO_TRAIL,
                ..*packet
            });
        }
        self.packets.release(place);
    }
}

fn event_of(packet: &Packet, kind: EventKind, time_ns: u64, switch_id: u16, port: u16) -> Event {
    Event {
        time_ns,
        flow_hash: packet.flow_hash,
        size_bytes: packet.size_bytes,
        switch_id,
        port,
        queue: packet.queue,
        kind,
        flags: packet.flags & (UNSCHEDULED | ECN_CAPABLE),
    }
}
