//! Events from captures (`docs/pcap.md`): each packet is an arrival.

use super::gate::{Gate, ROUNDED_TIME};
use super::rule_use::RuleUse;
use crate::batch::BATCH_ROWS;
use crate::capture::{
    CaptureStart, CaptureSummary, PacketFile, PacketHeaders, RawPacket, RawTime, Sight,
    read_headers, unwrapped,
};
use crate::capture_map::{CaptureMap, PacketFacts};
use crate::cell::BadCell;
use crate::input::TextInput;
use crate::{DataError, Event, EventBatch, EventKind, RowPlace, SwitchSpecs};

/// Bit 1 of an event's flags.
const ECN_CAPABLE: u8 = 2;

/// Packets that were taken out of ERSPAN are counted under this name.
const ERSPAN: &str = "erspan";

/// The events of a capture.
pub(crate) struct CaptureRows {
    packets: PacketFile,
    /// Name of the file, without its folder.
    name: String,
    map: CaptureMap,
    /// The places of the rules for ports that are about this file.
    rules: Vec<usize>,
    /// Where all packets go; none where rules say it.
    port: Option<u16>,
    /// The switch of packets whose rule names none.
    switch_id: u16,
    /// What was read so far, where no rules say the port.
    seen: CaptureSummary,
    /// By rule of the map: whether a packet met it.
    met: Met,
    /// The interface of each packet of the last batch, and what it says of itself.
    sights: Vec<(u32, Sight)>,
}

/// Whether a packet met a rule.
#[derive(Default)]
struct Met {
    ports: Vec<bool>,
    queues: Vec<bool>,
}

impl CaptureRows {
    /// `port` is that of all packets, if the map has no rules for ports; `switch_id` is their switch unless their
    /// rule names one.
    pub(crate) fn start(
        file: &str,
        name: &str,
        input: TextInput,
        start: CaptureStart,
        map: CaptureMap,
        (switch_id, port): (u16, Option<u16>),
        specs: &SwitchSpecs,
    ) -> Result<Self, DataError> {
        let has_one_port = specs.get(switch_id).is_some_and(|spec| spec.ports() == 1);
        let port = match port {
            _ if !map.port.is_empty() => None,
            None if has_one_port => Some(0),
            None => {
                let problem = "does not say which packet is for which port";
                let hint = "give one capture for each port, in order of the ports, or add \
                            [[capture.port]] to the switch description (docs/pcap.md)";
                return Err(DataError::file(file, problem, hint));
            }
            port => port,
        };
        let packets = PacketFile::start(file, start, input)?;
        let met = Met { ports: vec![false; map.port.len()], queues: vec![false; map.queue.len()] };
        let (name, seen) = (name.to_owned(), CaptureSummary::default());
        let rules = map.rules_of(&name);
        Ok(CaptureRows {
            packets,
            name,
            map,
            rules,
            port,
            switch_id,
            seen,
            met,
            sights: Vec::new(),
        })
    }

    /// The next good events; `None` after the last.
    pub(crate) fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let CaptureRows { packets, map, rules, port, switch_id, seen, met, sights, .. } = self;
        sights.clear();
        let mut events = Vec::with_capacity(BATCH_ROWS);
        while events.len() < BATCH_ROWS {
            let packet = match packets.next_packet() {
                Ok(Some(packet)) => packet,
                Ok(None) => break,
                Err(error) => {
                    end_at_cut(packets, gate, error)?;
                    break;
                }
            };
            let (place, interface) = (Some(RowPlace::Packet(packet.number)), packet.interface);
            let (packet, is_mirrored) = unwrapped(packet);
            let headers = read_headers(packet.link_type, packet.captured);
            if port.is_some() {
                seen.add(&packet, &headers);
            }
            match read_event(&packet, headers, (map, rules), (*switch_id, *port), met) {
                Ok((mut event, rounded)) => {
                    if gate.admit(&mut event, place)? {
                        gate.note(ROUNDED_TIME, rounded);
                        gate.note(ERSPAN, is_mirrored);
                        events.push(event);
                        sights.push((interface, headers.sight));
                    }
                }
                Err((field, bad)) => gate.unreadable(place, field, &bad)?,
            }
        }
        Ok((!events.is_empty()).then_some(EventBatch::new(events)))
    }

    /// The switch and port of all its packets, where no rules say them.
    pub(crate) fn one_port(&self) -> Option<(u16, u16)> {
        self.port.map(|port| (self.switch_id, port))
    }

    /// The interface of each packet of the last batch, and what it says of itself.
    pub(crate) fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        std::mem::take(&mut self.sights)
    }

    /// What was read so far, where no rules say the port.
    pub(crate) fn seen(&self) -> &CaptureSummary {
        &self.seen
    }

    /// The rules that are about this file, and which of them a packet met.
    pub(crate) fn rule_uses(&self) -> Vec<RuleUse> {
        let ports = self.map.port.iter().zip(&self.met.ports).zip(1..);
        let ports = ports.filter(|((rule, _), _)| rule.is_of(&self.name)).map(
            |((rule, &is_met), number)| RuleUse {
                unmet: format!(
                    "no packet met rule {number} of [[capture.port]] (port = {})",
                    rule.port
                ),
                switch_id: Some(rule.switch.unwrap_or(self.switch_id)),
                is_met,
            },
        );
        let queues = self.map.queue.iter().zip(&self.met.queues).zip(1..);
        let queues = queues.map(|((rule, &is_met), number)| RuleUse {
            unmet: format!(
                "no packet met rule {number} of [[capture.queue]] (queue = {})",
                rule.queue
            ),
            switch_id: None,
            is_met,
        });
        ports.chain(queues).collect()
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        self.sights = Vec::new();
        self.packets.close();
    }

    /// The hash of the file, known after the last event.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.packets.hash()
    }
}

/// What comes before the cut of a file that is cut off may be used.
fn end_at_cut(packets: &PacketFile, gate: &mut Gate, error: DataError) -> Result<(), DataError> {
    match packets.is_cut_off() {
        true => gate.cut_off(error, packets.packets()),
        false => Err(error),
    }
}

/// An event, and whether its time is rounded.
fn read_event(
    packet: &RawPacket<'_>,
    headers: PacketHeaders,
    (map, rules): (&CaptureMap, &[usize]),
    (switch_id, port): (u16, Option<u16>),
    met: &mut Met,
) -> Result<(Event, bool), (&'static str, BadCell)> {
    let expected = "a time after 1970; set it with editcap -t";
    let (time_ns, rounded) = match packet.time {
        RawTime::Known(time_ns, rounded) => (time_ns, rounded),
        RawTime::Absent => return Err(("time", BadCell::Empty("a block that tells the time"))),
        RawTime::OutOfRange => {
            let value = "out of range".to_owned();
            return Err(("time", BadCell::OutOfRange { value, expected }));
        }
    };
    let captured = packet.captured.len();
    if captured as u64 > u64::from(packet.original_bytes) {
        let value = format!("{}, less than the {captured} captured", packet.original_bytes);
        let expected = "the size on the wire";
        return Err(("size_bytes", BadCell::OutOfRange { value, expected }));
    }
    let PacketHeaders { facts, flow_hash, ecn_capable, .. } = headers;
    let facts = PacketFacts { interface: packet.interface, ..facts };
    let (switch_id, port) = match port {
        Some(port) => (switch_id, port),
        None => {
            let place = map.port(rules, &facts);
            let place = place.ok_or_else(|| ("packet", BadCell::NoPort(shown(&facts))))?;
            met.ports[place] = true;
            let rule = &map.port[place];
            (rule.switch.unwrap_or(switch_id), rule.port)
        }
    };
    let queue = map.queue(&facts).map_or(0, |place| {
        met.queues[place] = true;
        map.queue[place].queue
    });
    let event = Event {
        time_ns,
        flow_hash,
        size_bytes: packet.original_bytes,
        switch_id,
        port,
        queue,
        kind: EventKind::Arrival,
        flags: if ecn_capable { ECN_CAPABLE } else { 0 },
    };
    Ok((event, rounded))
}

/// What rules could be about.
fn shown(facts: &PacketFacts) -> String {
    let mut parts = vec![format!("interface {}", facts.interface)];
    parts.extend(facts.vlan.map(|vlan| format!("VLAN {vlan}")));
    parts.extend(facts.destination_mac.map(|mac| format!("destination MAC {mac}")));
    parts.extend(facts.destination_ip.map(|address| format!("destination IP {address}")));
    parts.join(", ")
}
