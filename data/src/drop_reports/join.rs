//! Finds the packet of each report.

use super::cause::DropCause;
use super::files::DropReports;
use super::report::DropReport;
use crate::{DataError, DropReason, Event, EventKind, InputNote, InputProvenance};
use std::collections::{BTreeMap, VecDeque};

/// Packets that wait for their reports, at most.
const MOST_HELD: usize = 1 << 23;

/// Reports whose packet is not found are counted under this name, as rows left out.
pub(crate) const UNMATCHED: &str = "unmatched-report";
/// Reports that fit a packet, but for its port or queue: as rows left out.
pub(crate) const OTHER_PORT: &str = "other-port-report";
/// Reports from before the first packet or after the last: as rows left out.
pub(crate) const OTHER_TIME: &str = "other-time-report";
/// Packets that never came to the buffer: as rows left out.
const BEFORE_BUFFER: &str = "dropped-before-buffer";

/// What distinguishes a packet of a capture from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinPacket {
    /// 0 if it has none.
    pub(crate) ip_id: u16,
    /// Bytes after its IP header.
    pub(crate) payload_bytes: u16,
    /// Of TCP.
    pub(crate) sequence: Option<u32>,
}

struct Held {
    event: Event,
    packet: JoinPacket,
    /// The place of its file.
    file: usize,
    cause: Option<DropCause>,
}

/// Holds packets until their reports can come no more.
pub(crate) struct DropJoin {
    reports: DropReports,
    /// Reports that are decided: the first so many.
    decided: usize,
    /// By place of a report file.
    matched: Vec<Matched>,
    /// Of the first packet and the last.
    times_ns: Option<(u64, u64)>,
    held: VecDeque<Held>,
    /// Packets that were let go before the first of `held`.
    released: u64,
    /// Numbers of the packets of `flows` that are held, by flow and IP ID.
    by_flow: BTreeMap<(u64, u16), VecDeque<u64>>,
    /// Packets that were left out, by place of their file.
    left_out: BTreeMap<usize, u64>,
    switch_id: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Matched {
    at_buffer: u64,
    before_buffer: u64,
    ambiguous: u64,
    unmatched: u64,
    other_port: u64,
    other_time: u64,
}

impl DropJoin {
    pub(crate) fn new(reports: DropReports) -> Self {
        DropJoin {
            matched: vec![Matched::default(); reports.inputs().len()],
            reports,
            decided: 0,
            times_ns: None,
            held: VecDeque::new(),
            released: 0,
            by_flow: BTreeMap::new(),
            left_out: BTreeMap::new(),
            switch_id: None,
        }
    }

    /// Takes the next packet, of this file. Packets come in order of time.
    pub(crate) fn add(
        &mut self,
        event: Event,
        packet: JoinPacket,
        file: usize,
    ) -> Result<(), DataError> {
        let switch_id = *self.switch_id.get_or_insert(event.switch_id);
        if switch_id != event.switch_id {
            let problem =
                format!("are joined to packets of switches {switch_id} and {}", event.switch_id);
            return Err(DataError::file(
                "drop reports",
                &problem,
                "collect each switch on its own",
            ));
        }
        if self.held.len() >= MOST_HELD {
            let problem = format!("more than {MOST_HELD} packets wait for their reports");
            return Err(DataError::file(
                "drop reports",
                &problem,
                "make the window shorter (--drop-window-ms)",
            ));
        }
        let (first_ns, _) = self.times_ns.unwrap_or((event.time_ns, 0));
        self.times_ns = Some((first_ns, event.time_ns));
        self.decide(event.time_ns);
        if self.reports.read.flows.contains(&event.flow_hash) {
            let number = self.released + self.held.len() as u64;
            self.by_flow.entry((event.flow_hash, packet.ip_id)).or_default().push_back(number);
        }
        self.held.push_back(Held { event, packet, file, cause: None });
        Ok(())
    }

    /// The next packet whose reports have all come; `has_ended` if no packet follows.
    pub(crate) fn release(&mut self, has_ended: bool) -> Option<Event> {
        if has_ended {
            self.decide(u64::MAX);
        }
        let now_ns = self.held.back()?.event.time_ns;
        let most_ns = self.reports.window_ns.saturating_mul(2);
        loop {
            let first = self.held.front()?;
            if !has_ended && now_ns - first.event.time_ns <= most_ns {
                return None;
            }
            let Held { mut event, packet, file, cause } = self.held.pop_front()?;
            let key = (event.flow_hash, packet.ip_id);
            self.released += 1;
            if let Some(numbers) = self.by_flow.get_mut(&key) {
                numbers.pop_front();
                if numbers.is_empty() {
                    self.by_flow.remove(&key);
                }
            }
            match cause {
                None => return Some(event),
                // Where it was pushed out is not known: its row is that of its arrival.
                Some(DropCause::AtBuffer(DropReason::PushOut)) => {
                    event.kind = EventKind::Drop(DropReason::Unstated);
                    return Some(event);
                }
                Some(DropCause::AtBuffer(reason)) => {
                    event.kind = EventKind::Drop(reason);
                    return Some(event);
                }
                Some(DropCause::BeforeBuffer) => *self.left_out.entry(file).or_insert(0) += 1,
            }
        }
    }

    /// Matches all reports that a packet at `time_ns` comes too late for.
    fn decide(&mut self, time_ns: u64) {
        let window_ns = self.reports.window_ns;
        let is_due = |report: &DropReport| {
            time_ns == u64::MAX || report.time_ns.saturating_add(window_ns) < time_ns
        };
        while let Some((file, report)) = self.reports.read.reports.get(self.decided).copied()
            && is_due(&report)
        {
            self.decided += 1;
            let Some((place, others)) = self.nearest(&report) else {
                *self.reason(file, &report) += 1;
                continue;
            };
            let matched = &mut self.matched[file];
            matched.ambiguous += u64::from(others);
            match report.cause {
                DropCause::AtBuffer(_) => matched.at_buffer += 1,
                DropCause::BeforeBuffer => matched.before_buffer += 1,
            }
            self.held[place].cause = Some(report.cause);
        }
    }

    /// The count of reports like this one, for which no packet was found.
    fn reason(&mut self, file: usize, report: &DropReport) -> &mut u64 {
        let window_ns = self.reports.window_ns;
        let is_near = |(first_ns, last_ns): (u64, u64)| {
            report.time_ns.saturating_add(window_ns) >= first_ns
                && report.time_ns <= last_ns.saturating_add(window_ns)
        };
        let anywhere = DropReport { port: None, queue: None, ..*report };
        let fits_elsewhere = anywhere != *report && self.nearest(&anywhere).is_some();
        let matched = &mut self.matched[file];
        match (self.times_ns.is_some_and(is_near), fits_elsewhere) {
            (false, _) => &mut matched.other_time,
            (true, true) => &mut matched.other_port,
            (true, false) => &mut matched.unmatched,
        }
    }

    /// The place of the nearest packet that fits and has no report, and whether others fit, too.
    fn nearest(&self, report: &DropReport) -> Option<(usize, bool)> {
        // A packet without an ID fits any, and a report without one fits all.
        let ids = if report.ip_id == 0 { 0..=u16::MAX } else { report.ip_id..=report.ip_id };
        let keys = (report.flow_hash, *ids.start())..=(report.flow_hash, *ids.end());
        let without = self.by_flow.get(&(report.flow_hash, 0)).filter(|_| report.ip_id != 0);
        let queues = self.by_flow.range(keys).map(|(_, numbers)| numbers).chain(without);
        let near: Vec<_> = queues.flat_map(|numbers| self.nearest_of(numbers, report)).collect();
        let (_, place) = near.iter().min()?;
        Some((*place, near.len() > 1))
    }

    /// Of packets in order of time, the nearest two that fit before a report and the nearest two after it, and as near ones: how
    /// far each is, and its place. The rest is not looked at: a flow may have millions of packets in a window.
    fn nearest_of(&self, numbers: &VecDeque<u64>, report: &DropReport) -> Vec<(u64, usize)> {
        let held = |&number: &u64| {
            let place = usize::try_from(number - self.released).ok()?;
            Some((place, self.held.get(place)?))
        };
        let is_before =
            |number: &u64| held(number).is_some_and(|(_, own)| own.event.time_ns < report.time_ns);
        let middle = numbers.partition_point(is_before);
        let mut near = Vec::new();
        let mut look = |numbers: &mut dyn Iterator<Item = &u64>| {
            let (mut fitting, mut nearest_ns) = (0, u64::MAX);
            for (place, own) in numbers.filter_map(held) {
                let apart_ns = own.event.time_ns.abs_diff(report.time_ns);
                if apart_ns > self.reports.window_ns || fitting >= 2 && apart_ns > nearest_ns {
                    break;
                }
                if own.cause.is_none() && fits(own, report) {
                    (fitting, nearest_ns) = (fitting + 1, nearest_ns.min(apart_ns));
                    near.push((apart_ns, place));
                }
            }
        };
        look(&mut numbers.range(..middle).rev());
        look(&mut numbers.range(middle..));
        near
    }

    /// How many packets of a file were left out.
    pub(crate) fn left_out(&self, file: usize) -> Option<(&'static str, u64)> {
        Some((BEFORE_BUFFER, *self.left_out.get(&file)?))
    }

    /// What became of the reports of each file.
    pub(crate) fn inputs(&self) -> Vec<InputProvenance> {
        let counted = |(input, matched): (&InputProvenance, &Matched)| {
            let Matched { at_buffer, before_buffer, ambiguous, .. } = *matched;
            let mut provenance = input.clone();
            provenance.events = at_buffer + before_buffer;
            let mut count = |name: &str, rows| {
                if rows > 0 {
                    provenance.skipped.insert(name.to_owned(), rows);
                }
            };
            count(UNMATCHED, matched.unmatched);
            count(OTHER_PORT, matched.other_port);
            count(OTHER_TIME, matched.other_time);
            if ambiguous > 0 {
                provenance.notes.insert(InputNote::AmbiguousReport, ambiguous);
            }
            provenance
        };
        self.reports.inputs().iter().zip(&self.matched).map(counted).collect()
    }

    /// What became of the reports, in a sentence.
    pub(crate) fn remark(&self) -> String {
        let sum = |count: fn(&Matched) -> u64| self.matched.iter().map(count).sum::<u64>();
        let other_port = match sum(|matched| matched.other_port) {
            0 => String::new(),
            reports => format!(
                "; {reports} fit a packet, but for its port or queue: check [[capture.port]] and [[capture.queue]] \
                 (docs/pcap.md)"
            ),
        };
        let other_time = match sum(|matched| matched.other_time) {
            0 => String::new(),
            reports => format!("; {reports} are from before or after the packets"),
        };
        format!(
            "drop reports: {} of packets that the buffer dropped, {} of packets dropped before it, which are left out; \
             {} of both fit several packets, and the nearest was taken; {} found no packet within {} ms{other_port}\
             {other_time} (docs/drops.md)",
            sum(|matched| matched.at_buffer),
            sum(|matched| matched.before_buffer),
            sum(|matched| matched.ambiguous),
            sum(|matched| matched.unmatched),
            self.reports.window_ns / 1_000_000,
        )
    }
}

/// Whether a packet of the report's flow can be the one that it is about.
fn fits(held: &Held, report: &DropReport) -> bool {
    let Held { event, packet, .. } = held;
    let differs = |one: u16, other: u16| one != 0 && other != 0 && one != other;
    let has_other_sequence =
        report.sequence.zip(packet.sequence).is_some_and(|(one, other)| one != other);
    event.flow_hash == report.flow_hash
        && report.size_bytes.is_none_or(|bytes| bytes == event.size_bytes)
        && report.payload_bytes.is_none_or(|bytes| bytes == packet.payload_bytes)
        && report.port.is_none_or(|port| port == event.port)
        && report.queue.is_none_or(|queue| queue == event.queue)
        && !differs(report.ip_id, packet.ip_id)
        && !has_other_sequence
}

#[cfg(test)]
mod tests {
    use super::super::files::ReadReports;
    use super::*;
    use proptest::prelude::*;

    const WINDOW_NS: u64 = 50;
    const PACKET: Event = Event {
        time_ns: 0,
        flow_hash: 1,
        size_bytes: 100,
        switch_id: 0,
        port: 0,
        queue: 0,
        kind: EventKind::Arrival,
        flags: 0,
    };

    fn report((time_ns, ip_id, payload_bytes, queue): (u64, u16, u16, Option<u8>)) -> DropReport {
        let cause = DropCause::AtBuffer(DropReason::Admission);
        let payload_bytes = Some(payload_bytes);
        let (size_bytes, sequence) = (None, None);
        let (flow_hash, port) = (1, queue.map(u16::from));
        DropReport {
            time_ns,
            cause,
            flow_hash,
            size_bytes,
            ip_id,
            payload_bytes,
            sequence,
            port,
            queue,
        }
    }

    proptest! {
        /// All packets within the window are looked at for each report, in order of time.
        #[test]
        fn each_report_takes_the_nearest_packet_that_fits(
            mut packets in prop::collection::vec((100_u64..300, 0_u16..3, 0_u16..2, 0_u8..2), 1..40),
            mut reports in prop::collection::vec((0_u64..400, 0_u16..3, 0_u16..2, prop::option::of(0_u8..2)), 1..20),
        ) {
            packets.sort_by_key(|packet| packet.0);
            reports.sort_by_key(|report| report.0);
            let differs = |one: u16, other: u16| one != 0 && other != 0 && one != other;
            let mut is_dropped = vec![false; packets.len()];
            let mut expected = Matched::default();
            let times = packets[0].0.saturating_sub(WINDOW_NS)..=packets[packets.len() - 1].0 + WINDOW_NS;
            for &(time_ns, ip_id, bytes, queue) in &reports {
                let near: Vec<usize> = (0..packets.len()).filter(|&place| {
                    let packet = packets[place];
                    !is_dropped[place]
                        && packet.0.abs_diff(time_ns) <= WINDOW_NS
                        && !differs(packet.1, ip_id)
                        && packet.2 == bytes
                }).collect();
                let of_queue = |&&place: &&usize| queue.is_none_or(|queue| queue == packets[place].3);
                let fitting: Vec<usize> = near.iter().filter(of_queue).copied().collect();
                expected.ambiguous += u64::from(fitting.len() > 1);
                match fitting.iter().min_by_key(|&&place| packets[place].0.abs_diff(time_ns)) {
                    Some(&place) => {
                        is_dropped[place] = true;
                        expected.at_buffer += 1;
                    }
                    None if !near.is_empty() => expected.other_port += 1,
                    None if times.contains(&time_ns) => expected.unmatched += 1,
                    None => expected.other_time += 1,
                }
            }

            let reports = reports.into_iter().map(|row| (0, report(row))).collect();
            let inputs = vec![InputProvenance::default()];
            let read = ReadReports { reports, inputs, ..ReadReports::default() };
            let mut join = DropJoin::new(DropReports::new(read, WINDOW_NS));
            let mut joined = Vec::new();
            for &(time_ns, ip_id, payload_bytes, queue) in &packets {
                let event = Event { time_ns, port: u16::from(queue), queue, ..PACKET };
                let packet = JoinPacket { ip_id, payload_bytes, sequence: None };
                join.add(event, packet, 0).expect("one switch");
                joined.extend(std::iter::from_fn(|| join.release(false)));
            }
            joined.extend(std::iter::from_fn(|| join.release(true)));
            let found: Vec<bool> =
                joined.iter().map(|event| matches!(event.kind, EventKind::Drop(_))).collect();
            prop_assert_eq!(found, is_dropped);
            prop_assert_eq!(join.matched[0], expected);
        }
    }
}
