//! Events from captures (`docs/pcap.md`): each packet is an arrival.

use super::columns::EventPlaces;
use super::file_kind::FileKind;
use super::format::{EventFormat, Opening};
use super::gate::Gate;
use super::rule_use::RuleUse;
use super::source::{EventSource, Opened, Seen};
use crate::capture::{
    CaptureMap, CaptureStart, CaptureSummary, CaptureTimes, Ingress, MirrorClocks, PacketFacts,
    PacketFile, PacketHeaders, RawPacket, RawTime, Sight, Wrapping, WrongStamp, read_headers,
    unwrapped,
};
use crate::io::TextInput;
use crate::tables::{BATCH_ROWS, BadCell};
use crate::types::other_kind;
use crate::{DataError, Event, EventBatch, EventKind, InputNote, RowPlace};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Bit 1 of an event's flags.
const ECN_CAPABLE: u8 = 2;

/// The notes under which packets are counted: their time was rounded, they were taken out of ERSPAN, their time is the
/// mirror's stamp, their stamp was not used, they came after a packet of a later time.
const NOTES: [InputNote; 5] = [
    InputNote::RoundedTime,
    InputNote::Erspan,
    InputNote::MirrorTime,
    InputNote::UnusedMirrorTime,
    InputNote::Reordered,
];

/// Packets that wait for earlier ones at most.
const MOST_WAITING: usize = 1 << 16;

/// Senders whose port is remembered.
const MOST_SENDERS: usize = 1 << 14;

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
    /// By sender: the port behind which it is, where rules say the ports.
    senders: BTreeMap<IpAddr, Option<(u16, u16)>>,
    /// Where times are those of mirrors.
    clocks: Option<MirrorClocks>,
    /// Rows by their time and number, until no earlier ones are expected.
    waiting: BTreeMap<(u64, u64), Row>,
    /// The latest time of them.
    latest_ns: u64,
    has_ended: bool,
}

/// A packet as an event.
struct Row {
    event: Event,
    /// Of the packet.
    number: u64,
    interface: u32,
    sight: Sight,
    /// Which of [`NOTES`] are about it.
    notes: [bool; NOTES.len()],
}

/// What was read.
enum Read {
    Row(Row),
    /// A packet that cannot be used.
    Bad,
    End,
}

/// Whether a packet met a rule.
#[derive(Default)]
struct Met {
    ports: Vec<bool>,
    queues: Vec<bool>,
}

/// How files of captures are called.
const ENDINGS: [&str; 3] = [".pcap", ".pcapng", ".cap"];

pub(super) const FORMAT: EventFormat = EventFormat {
    name: "capture",
    looks_like: |head, name| {
        CaptureStart::of(head).is_some() || ENDINGS.iter().any(|ending| name.ends_with(ending))
    },
    open,
    describe: |mut input, file, _| {
        let start = start_of(file, &mut input)?;
        let format = PacketFile::start(file, start, input)?.format();
        Ok(FileKind::Capture { format })
    },
};

fn start_of(file: &str, input: &mut TextInput) -> Result<CaptureStart, DataError> {
    let head = input.peek().map_err(DataError::io(file, "be read"))?;
    let problem = "is named like a capture, and does not begin like one";
    let expected = "expected pcap or pcapng; editcap -F pcapng converts others";
    CaptureStart::of(head).ok_or_else(|| {
        let (problem, hint) = other_kind(head).unwrap_or((problem, expected));
        DataError::file(file, problem, hint)
    })
}

fn open(mut input: TextInput, opening: &Opening<'_>) -> Opened {
    let &Opening { file, name, options, clocks } = opening;
    let start = start_of(file, &mut input)?;
    let specs = opening.switches_of_no_table()?;
    let (map, switch_id) = (options.maps.capture.clone(), options.switch_id.unwrap_or_default());
    let has_one_port = specs.get(switch_id).is_some_and(|spec| spec.ports() == 1);
    let port = match options.port {
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
    let rules = map.rules_of(name);
    let clocks = (map.times == CaptureTimes::Mirror).then(|| clocks.clone());
    Ok(Box::new(CaptureRows {
        packets,
        name: name.to_owned(),
        map,
        rules,
        port,
        switch_id,
        seen: CaptureSummary::default(),
        met,
        sights: Vec::new(),
        senders: BTreeMap::new(),
        clocks,
        waiting: BTreeMap::new(),
        latest_ns: 0,
        has_ended: false,
    }))
}

impl EventSource for CaptureRows {
    fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        self.sights.clear();
        let mut events = Vec::with_capacity(BATCH_ROWS);
        while events.len() < BATCH_ROWS {
            let Some(row) = self.next_row(gate)? else { break };
            let Row { mut event, number, interface, sight, notes } = row;
            if gate.admit(&mut event, Some(RowPlace::Packet(number)))? {
                for (note, is) in NOTES.into_iter().zip(notes) {
                    gate.note(note, is);
                }
                events.push(event);
                self.sights.push((interface, sight));
            }
        }
        Ok((!events.is_empty()).then_some(EventBatch::new(events)))
    }

    fn close(&mut self) {
        self.sights = Vec::new();
        self.waiting = BTreeMap::new();
        self.packets.close();
    }

    fn hash(&mut self) -> Result<String, DataError> {
        Ok(self.packets.hash().unwrap_or_default().to_owned())
    }

    fn places(&self) -> Option<&EventPlaces> {
        None
    }

    fn records_drops(&self) -> bool {
        false
    }

    /// The rules that are about this file, and which of them a packet met.
    fn rule_uses(&self) -> Vec<RuleUse> {
        let ports = self.map.port.iter().zip(&self.met.ports).zip(1..);
        let ports = ports.filter(|((rule, _), _)| rule.is_of(&self.name)).map(
            |((rule, &is_met), number)| RuleUse {
                list: "[[capture.port]]",
                place: number,
                name: format!("rule {number} (port = {})", rule.port),
                switch_id: Some(rule.switch.unwrap_or(self.switch_id)),
                is_met,
            },
        );
        let queues = self.map.queue.iter().zip(&self.met.queues).zip(1..);
        let queues = queues.map(|((rule, &is_met), number)| RuleUse {
            list: "[[capture.queue]]",
            place: number,
            name: format!("rule {number} (queue = {})", rule.queue),
            switch_id: None,
            is_met,
        });
        ports.chain(queues).collect()
    }

    fn seen(&self) -> Option<Seen<'_>> {
        let one_port = self.port.map(|port| (self.switch_id, port));
        Some(Seen { one_port, summary: &self.seen })
    }

    fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        std::mem::take(&mut self.sights)
    }
}

impl CaptureRows {
    /// The next row. Where the times are those of mirrors, or a window reorders, packets come out in their order: the earliest
    /// of those that may wait.
    fn next_row(&mut self, gate: &mut Gate) -> Result<Option<Row>, DataError> {
        loop {
            if self.has_ended || self.waiting.len() > MOST_WAITING || self.first_is_due() {
                return Ok(self.waiting.pop_first().map(|(_, row)| row));
            }
            match self.read_row(gate)? {
                Read::Row(row) if self.clocks.is_none() && self.map.reorder_ns == 0 => {
                    return Ok(Some(row));
                }
                Read::Row(mut row) => {
                    let time_ns = row.event.time_ns;
                    row.notes[NOTES.len() - 1] = self.clocks.is_none() && time_ns < self.latest_ns;
                    self.latest_ns = self.latest_ns.max(time_ns);
                    self.waiting.insert((time_ns, row.number), row);
                }
                Read::Bad => {}
                Read::End => self.has_ended = true,
            }
        }
    }

    /// Whether no packet that may still come goes before the first that waits.
    fn first_is_due(&self) -> bool {
        let first = self.waiting.first_key_value();
        self.clocks.is_none()
            && first.is_some_and(|(&(time_ns, _), _)| {
                time_ns < self.latest_ns.saturating_sub(self.map.reorder_ns)
            })
    }

    /// Reads a packet.
    #[inline]
    fn read_row(&mut self, gate: &mut Gate) -> Result<Read, DataError> {
        let CaptureRows {
            packets, map, rules, port, switch_id, seen, met, clocks, senders, ..
        } = self;
        let packet = match packets.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => return Ok(Read::End),
            Err(error) => return end_at_cut(packets, gate, error).map(|()| Read::End),
        };
        let (number, interface) = (packet.number, packet.interface);
        let (packet, wrapping) = unwrapped(packet);
        let headers = read_headers(packet.link_type, packet.captured);
        if port.is_some() {
            seen.add(&packet, &headers);
        }
        let has_stamp = matches!(wrapping, Wrapping::Mirror(Some(_)));
        let read = match clocks {
            None => Ok(packet),
            Some(clocks) => at_mirror(packet, wrapping, clocks),
        };
        let read = read.and_then(|packet| {
            read_event(&packet, headers, (map, rules), (*switch_id, *port), met)
        });
        match read {
            Ok((event, rounded)) => {
                let is_mirrored = wrapping != Wrapping::Plain;
                let notes = [
                    rounded,
                    is_mirrored,
                    has_stamp && clocks.is_some(),
                    has_stamp && clocks.is_none(),
                    false,
                ];
                let mut sight = headers.sight;
                sight.ingress = headers.source_ip.and_then(|source| match port {
                    Some(_) => Some(Ingress::Source(*switch_id, source)),
                    None => sender_port(senders, map, source, *switch_id),
                });
                Ok(Read::Row(Row { event, number, interface, sight, notes }))
            }
            Err((field, bad)) => {
                gate.unreadable(Some(RowPlace::Packet(number)), field, &bad)?;
                Ok(Read::Bad)
            }
        }
    }
}

/// The port behind which a sender is, by the rules.
fn sender_port(
    senders: &mut BTreeMap<IpAddr, Option<(u16, u16)>>,
    map: &CaptureMap,
    sender: IpAddr,
    switch_id: u16,
) -> Option<Ingress> {
    let known = senders.get(&sender).copied();
    let found = known.unwrap_or_else(|| {
        let found = map.port_of_sender(sender, switch_id);
        if senders.len() < MOST_SENDERS {
            senders.insert(sender, found);
        }
        found
    });
    found.map(|(switch_id, port)| Ingress::Port(switch_id, port))
}

/// What comes before the cut of a file that is cut off may be used.
fn end_at_cut(packets: &PacketFile, gate: &mut Gate, error: DataError) -> Result<(), DataError> {
    match packets.is_cut_off() {
        true => gate.cut_off(error, packets.packets()),
        false => Err(error),
    }
}

/// A packet with the time at which it was mirrored.
fn at_mirror<'a>(
    packet: RawPacket<'a>,
    wrapping: Wrapping,
    clocks: &MirrorClocks,
) -> Result<RawPacket<'a>, (&'static str, BadCell)> {
    // That it has no time of the capture is an error later.
    let RawTime::Known(captured_ns, _) = packet.time else { return Ok(packet) };
    let Wrapping::Mirror(Some(time)) = wrapping else {
        return Err(("time", BadCell::NoMirrorTime));
    };
    let wrong = |value: &str, expected| {
        Err(("time", BadCell::OutOfRange { value: value.to_owned(), expected }))
    };
    match clocks.time_ns(&time, captured_ns) {
        Ok(time_ns) => Ok(RawPacket { time: RawTime::Known(time_ns, false), ..packet }),
        Err(WrongStamp::FarOff) => wrong(
            "of IEEE 1588 and more than a day from the capture's",
            "clocks that count from 1970",
        ),
        Err(WrongStamp::Jumped) => wrong(
            "by the mirror's stamp more than a second from where it was against the capture's",
            "clocks that go on",
        ),
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
        RawTime::Absent => return Err(("time", BadCell::Empty("a block with the time"))),
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
