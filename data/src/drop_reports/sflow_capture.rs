//! Reports in a capture of sFlow datagrams (UDP port 6343).

use super::report::{Badness, DropReport, OneFile};
use super::sflow::{Discarded, Origin, discarded_packets};
use crate::capture::{CaptureStart, PacketFile, RawTime, udp_payload};
use crate::io::TextInput;
use crate::tables::BadCell;
use crate::{DataError, OnBadRow, RowPlace};
use std::collections::BTreeMap;

const SFLOW: u16 = 6343;
/// Sources whose reports are counted, at most.
const MOST_ORIGINS: usize = 4_096;

/// What is known of the numbers of a source's reports.
struct Numbers {
    first: u32,
    last: u32,
    reports: u32,
    first_missed: u32,
    last_missed: u32,
}

impl Numbers {
    /// Reports that were sent and did not come, and packets that the agent did not report.
    fn missing(&self) -> u64 {
        let sent = u64::from(self.last.wrapping_sub(self.first)) + 1;
        let missed = u64::from(self.last_missed.wrapping_sub(self.first_missed));
        // Numbers that step back are those of an agent that began anew.
        let sent = if sent > 1 << 31 { 0 } else { sent };
        let missed = if missed > 1 << 31 { 0 } else { missed };
        sent.saturating_sub(u64::from(self.reports)) + missed
    }
}

/// Gives all reports of a capture to `keep`.
pub(super) fn read_capture(
    file: &str,
    input: TextInput,
    start: CaptureStart,
    on_bad_row: OnBadRow,
    mut keep: impl FnMut(DropReport) -> Result<(), DataError>,
) -> Result<OneFile, DataError> {
    let mut packets = PacketFile::start(file, start, input)?;
    let mut bad = Badness::new(file, on_bad_row);
    let mut origins: BTreeMap<Origin, Numbers> = BTreeMap::new();
    let mut is_of_reports = false;
    while let Some(packet) = packets.next_packet()? {
        let Some((_, SFLOW, datagram)) = udp_payload(packet.link_type, packet.captured) else {
            continue;
        };
        let place = Some(RowPlace::Packet(packet.number));
        let RawTime::Known(time_ns, _) = packet.time else {
            let cell = BadCell::Empty("a block with the time");
            bad.note(packet.number - 1, place, "time", &cell)?;
            continue;
        };
        let found = match discarded_packets(datagram) {
            Ok(found) => found,
            Err(problem) => {
                let expected = "a whole datagram of sFlow version 5; capture it with -s 0";
                let cell = BadCell::Unknown { text: problem.to_owned(), expected };
                bad.note(packet.number - 1, place, "sFlow", &cell)?;
                continue;
            }
        };
        is_of_reports = true;
        for discarded in found {
            count(&mut origins, &discarded);
            let Discarded { cause, flow_hash, sight, .. } = discarded;
            keep(DropReport {
                time_ns,
                cause,
                flow_hash,
                size_bytes: None,
                ip_id: sight.ip_id,
                payload_bytes: (flow_hash != 0).then_some(sight.payload_bytes),
                sequence: sight.tcp.map(|tcp| tcp.sequence.0),
                port: None,
                queue: None,
            })?;
        }
    }
    let missing = origins.values().map(Numbers::missing).sum();
    let sha256 = packets.hash().unwrap_or_default().to_owned();
    Ok(OneFile { sha256, skipped: bad.skipped, missing, is_of_reports })
}

fn count(origins: &mut BTreeMap<Origin, Numbers>, report: &Discarded) {
    let Discarded { origin, number, missed, .. } = report;
    let has_room = origins.len() < MOST_ORIGINS;
    match origins.get_mut(origin) {
        Some(numbers) => {
            numbers.last = *number;
            numbers.last_missed = *missed;
            numbers.reports += 1;
        }
        None if has_room => {
            let (first, last, first_missed) = (*number, *number, *missed);
            let numbers =
                Numbers { first, last, reports: 1, first_missed, last_missed: first_missed };
            origins.insert(origin.clone(), numbers);
        }
        None => {}
    }
}
