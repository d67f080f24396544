//! Events from ns-3's ASCII traces (`docs/ns3-ascii.md`).

use super::columns::EventPlaces;
use super::file_kind::FileKind;
use super::format::{EventFormat, Opening};
use super::gate::Gate;
use super::rule_use::RuleUse;
use super::source::{EventSource, Opened, Seen};
use super::time::read_time;
use super::time_unit::TimeUnit;
use crate::capture::Sight;
use crate::io::{Lines, TextInput, uncompressed};
use crate::ns3::{Happened, Line, NoSize, Ns3Map, Ns3Port, looks_like_ns3, read_line, read_packet};
use crate::tables::{BATCH_ROWS, BadCell, excerpt};
use crate::{
    DataError, DropReason, Event, EventBatch, EventKind, InputNote, RowPlace, SwitchSpecs,
};

/// Digits of a time that ns-3 prints by default.
const DEFAULT_DIGITS: usize = 6;

/// Bit 1 of an event's flags.
const ECN_CAPABLE: u8 = 2;

/// The events of an ns-3 trace.
pub(crate) struct Ns3Rows {
    lines: Lines,
    map: Ns3Map,
    /// The switches that are described; none if one description is for all.
    described: Option<Vec<u16>>,
    /// Node and device of lines without a path.
    own_device: Option<(u32, u32)>,
    digits: usize,
    rows: u64,
    /// By listed device: whether a line is of it.
    met: Vec<bool>,
}

/// What a line is to a buffer.
enum Read {
    Event(Event, bool),
    /// Nothing that happens to a buffer of ours.
    LeftOut(&'static str),
}

/// Where it happens.
enum TraceDevice {
    /// At a switch, a port and a queue.
    Queue(u16, u16, u8),
    /// At the listed device with this place.
    Listed(usize),
    /// At a device that is no port of ours; why it is left out.
    NoneOfOurs(&'static str),
}

pub(super) const FORMAT: EventFormat = EventFormat {
    name: "ns3",
    looks_like: |head, _| looks_like_ns3(head),
    open,
    describe: |_, _, _| {
        let (format, page) = ("ns-3 ASCII trace", "docs/ns3-ascii.md");
        Ok(FileKind::EventStream { format, page })
    },
};

/// Of a trace of one device, the name of the file ends in node and device.
fn open(input: TextInput, opening: &Opening<'_>) -> Opened {
    let specs = opening.switches_of_no_table()?;
    let expected = "expected the lines of ns-3's AsciiTraceHelper";
    let map = opening.options.maps.ns3.clone();
    Ok(Box::new(Ns3Rows {
        lines: Lines::start(opening.file, input, expected),
        met: vec![false; map.port.len()],
        map,
        described: match specs {
            SwitchSpecs::Same(_) => None,
            SwitchSpecs::Each(specs) => Some(specs.keys().copied().collect()),
        },
        own_device: device_in_name(opening.name),
        digits: 0,
        rows: 0,
    }))
}

impl EventSource for Ns3Rows {
    fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let mut events = Vec::with_capacity(BATCH_ROWS);
        while events.len() < BATCH_ROWS {
            if !self.lines.read(|line| line.trim_ascii().is_empty())? {
                if self.rows > 0 && self.digits == DEFAULT_DIGITS {
                    gate.note_rows(InputNote::SixDigitTime, std::mem::take(&mut self.rows));
                }
                break;
            }
            let place = RowPlace::Line(self.lines.number());
            match self.read_event() {
                Ok(Read::LeftOut(reason)) => gate.leave_out(reason),
                Ok(Read::Event(mut event, rounded)) => {
                    if gate.admit(&mut event, Some(place))? {
                        gate.note(InputNote::RoundedTime, rounded);
                        self.rows += 1;
                        events.push(event);
                    }
                }
                Err((field, bad)) => gate.unreadable(Some(place), field, &bad)?,
            }
        }
        Ok((!events.is_empty()).then_some(EventBatch::new(events)))
    }

    fn close(&mut self) {
        self.lines.close();
    }

    fn hash(&mut self) -> Result<String, DataError> {
        Ok(self.lines.hash().unwrap_or_default().to_owned())
    }

    fn places(&self) -> Option<&EventPlaces> {
        None
    }

    fn records_drops(&self) -> bool {
        true
    }

    /// The listed devices, and which of them have lines.
    fn rule_uses(&self) -> Vec<RuleUse> {
        let ports = self.map.port.iter().zip(&self.met).zip(1..);
        let uses = ports.map(|((&Ns3Port { node, device, switch, .. }, &is_met), place)| RuleUse {
            list: "[[ns3.port]]",
            place,
            name: format!("device {device} of node {node}"),
            switch_id: Some(switch),
            is_met,
        });
        uses.collect()
    }

    fn seen(&self) -> Option<Seen<'_>> {
        None
    }

    fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        Vec::new()
    }
}

impl Ns3Rows {
    fn read_event(&mut self) -> Result<Read, (&'static str, BadCell)> {
        let text = self.lines.line();
        let expected = "a line of an ns-3 ASCII trace: + - d or r, a time, a path, headers";
        let line = read_line(text)
            .ok_or_else(|| ("line", BadCell::Unknown { text: excerpt(text), expected }))?;
        let kind = match line.happened {
            Happened::Enqueued => EventKind::Arrival,
            Happened::Dropped => EventKind::Drop(DropReason::Admission),
            Happened::Dequeued => EventKind::Departure,
            Happened::Received => return Ok(Read::LeftOut("received")),
            Happened::Lost => return Ok(Read::LeftOut("lost-before-device")),
            Happened::Other => return Ok(Read::LeftOut("other-object")),
        };
        let (switch_id, port, queue) = match self.place_of(&line)? {
            TraceDevice::Queue(switch_id, port, queue) => (switch_id, port, queue),
            TraceDevice::Listed(place) => {
                self.met[place] = true;
                let Ns3Port { switch, port, queue, .. } = self.map.port[place];
                (switch, port, queue)
            }
            TraceDevice::NoneOfOurs(reason) => return Ok(Read::LeftOut(reason)),
        };
        let time = read_time(line.time, Some(TimeUnit::S)).map_err(|bad| ("time", bad))?;
        let packet = read_packet(line.headers, &self.map.header_bytes)
            .map_err(|why| no_size(why, line.headers))?;
        let digits = digits_of(line.time);
        let event = Event {
            time_ns: time.time_ns,
            flow_hash: packet.flow_hash,
            size_bytes: packet.size_bytes,
            switch_id,
            port,
            queue,
            kind,
            flags: if packet.ecn_capable { ECN_CAPABLE } else { 0 },
        };
        self.digits = self.digits.max(digits);
        Ok(Read::Event(event, time.rounded))
    }

    fn place_of(&self, line: &Line<'_>) -> Result<TraceDevice, (&'static str, BadCell)> {
        let (node, device) = line.device.or(self.own_device).ok_or_else(|| {
            let expected = "a path /NodeList/N/DeviceList/D/..., or a file named PREFIX-N-D.tr";
            ("path", BadCell::Empty(expected))
        })?;
        if !self.map.port.is_empty() {
            let is_it = |port: &Ns3Port| (port.node, port.device) == (node, device);
            let place = self.map.port.iter().position(is_it);
            return Ok(place.map_or(TraceDevice::NoneOfOurs("other-device"), TraceDevice::Listed));
        }
        let is_described = |described: &Vec<u16>| {
            u16::try_from(node).is_ok_and(|node| described.binary_search(&node).is_ok())
        };
        let is_switch = match &self.map.nodes {
            Some(nodes) => nodes.contains(&node),
            None => self.described.as_ref().is_none_or(is_described),
        };
        if !is_switch {
            return Ok(TraceDevice::NoneOfOurs("other-node"));
        }
        let number = |field, value: u32| {
            let expected = "a number from 0 to 65535; map it in [ns3] of the switch description";
            let out = |_| (field, BadCell::OutOfRange { value: value.to_string(), expected });
            u16::try_from(value).map_err(out)
        };
        Ok(TraceDevice::Queue(number("node", node)?, number("device", device)?, 0))
    }
}

fn no_size(why: NoSize, headers: &str) -> (&'static str, BadCell) {
    let (text, expected) = match why {
        NoSize::Header(text) => {
            let expected = "a header of known size; say it in [ns3.header_bytes] of the switch \
                            description";
            (text, expected)
        }
        NoSize::Unreadable => (
            excerpt(headers.as_bytes()),
            "headers as ns-3 prints them, such as ns3::PppHeader (...), up to the end",
        ),
    };
    ("headers", BadCell::Unknown { text, expected })
}

/// Node and device in the name of a trace of one device: `PREFIX-NODE-DEVICE.tr`.
fn device_in_name(name: &str) -> Option<(u32, u32)> {
    let mut parts = uncompressed(name).strip_suffix(".tr")?.rsplit('-');
    let device = parts.next()?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, device))
}

/// Digits of a number from the first that is not 0.
fn digits_of(time: &[u8]) -> usize {
    let mantissa = time.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or(time);
    mantissa.iter().filter(|byte| byte.is_ascii_digit()).skip_while(|&&byte| byte == b'0').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_the_device() {
        assert_eq!(device_in_name("star-2-13.tr"), Some((2, 13)));
        assert_eq!(device_in_name("my-star-2-3.tr.gz"), Some((2, 3)));
        for name in ["star.tr", "star-3.tr", "star-a-3.tr", "star-2-3.txt"] {
            assert_eq!(device_in_name(name), None, "{name}");
        }
    }

    #[test]
    fn digits_are_counted_from_the_first_that_counts() {
        assert_eq!(
            ["1.00001", "0.00345", "12", "1.5e-05"].map(|t| digits_of(t.as_bytes())),
            [6, 3, 2, 2]
        );
    }
}
