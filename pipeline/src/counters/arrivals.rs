//! Packets that may have arrived between polls: as many bytes as counters tell, evenly over the time. A fluid, in packets.

use super::bytes_range::total;
use super::polls::{Polls, Reading};
use crate::PipelineError;
use dropcast_data::{Event, EventBatch, EventKind, EventWriter, SwitchSpec, SwitchSpecs};
use std::path::Path;

/// Events of a batch.
const BATCH: usize = 1 << 16;
/// Most packets between two polls: they are sorted in memory.
const MOST_PACKETS: u64 = 1 << 22;

/// The arrivals of each time between polls, in order: what was sent and dropped, and what the queue grew by, if the polls
/// tell its length. Packets are as large as those sent in that time, or take `mtu_bytes` where these were not counted.
///
/// # Errors
/// If there are no two polls, no times, or more packets between two polls than are kept in memory; in words.
pub fn arrivals(
    polls: &Polls,
    mtu_bytes: u32,
) -> Result<impl Iterator<Item = Result<Vec<Event>, String>>, String> {
    let times: Option<Vec<u64>> = polls.polls.iter().map(|poll| poll.time_ns).collect();
    let Some(times) = times.filter(|times| times.len() > 1) else {
        return Err("has no two polls with times, so nothing arrives between them".to_owned());
    };
    let mut queues = vec![Told::default(); polls.queues.len()];
    let mtu_bytes = mtu_bytes.max(1);
    Ok(polls.polls.iter().zip(times).enumerate().map(move |(number, (poll, now_ns))| {
        let from_ns = number.checked_sub(1).and_then(|before| polls.polls[before].time_ns);
        let (mut events, mut all) = (Vec::new(), 0_u64);
        for (place, told) in queues.iter_mut().enumerate() {
            let now = poll.counters.get(place).copied().flatten();
            let length = poll.queue_bytes.get(place).copied().flatten();
            let grown = told.grow(now, length);
            let (Some(from_ns), Some((bytes, packet_bytes))) = (from_ns, grown) else { continue };
            let id = &polls.queues[place];
            let Some(queue) = id.class.and_then(|class| u8::try_from(class).ok()) else { continue };
            let packets = bytes
                .div_ceil(u64::from(packet_bytes.unwrap_or(mtu_bytes)))
                .max(u64::from(bytes > 0));
            all = all.saturating_add(packets);
            if all > MOST_PACKETS {
                return Err(format!(
                    "has more than {MOST_PACKETS} packets between two polls; arrivals are made of telemetry every 10 to 100 us"
                ));
            }
            let long_ns = u128::from(now_ns - from_ns);
            events.extend((0..packets).map(|packet| Event {
                time_ns: from_ns
                    + (long_ns * (2 * u128::from(packet) + 1) / (2 * u128::from(packets))) as u64,
                flow_hash: 0,
                size_bytes: (bytes / packets + u64::from(packet < bytes % packets)) as u32,
                switch_id: 0,
                port: id.port as u16,
                queue,
                kind: EventKind::Arrival,
                flags: 0,
            }));
        }
        events.sort_by_key(|event| event.time_ns);
        Ok(events)
    }))
}

/// What is known of a queue.
#[derive(Clone, Copy, Default)]
struct Told {
    before: Option<Reading>,
    length: Option<u64>,
    /// Bytes that left before their arrival was told.
    owed: u64,
    packet_bytes: Option<u32>,
}

impl Told {
    /// Bytes that arrived since the last poll, and the size of packets; none at the first, and where counters were cleared.
    fn grow(&mut self, now: Option<Reading>, length: Option<u64>) -> Option<(u64, Option<u32>)> {
        let now = now?;
        let (before, from) = (self.before.replace(now), self.length);
        self.length = length.or(from);
        let before = before?;
        let sent = now.sent_bytes.checked_sub(before.sent_bytes)?;
        let packets = now
            .sent_packets
            .zip(before.sent_packets)
            .and_then(|(now, before)| now.checked_sub(before));
        if let Some(mean) = packets.and_then(|packets| sent.checked_div(packets)) {
            self.packet_bytes = u32::try_from(mean).ok().filter(|&mean| mean > 0);
        }
        let bytes = now
            .dropped_bytes
            .zip(before.dropped_bytes)
            .and_then(|(now, before)| now.checked_sub(before));
        let packets = now.dropped_packets.checked_sub(before.dropped_packets)?;
        let packet_bytes = u64::from(self.packet_bytes.unwrap_or(0));
        let dropped = bytes.unwrap_or(packets.saturating_mul(packet_bytes));
        let (grown, shrunk) = from
            .zip(length)
            .map_or((0, 0), |(from, to)| (to.saturating_sub(from), from.saturating_sub(to)));
        let (arrived, left) = (total([sent, dropped, grown]), shrunk.saturating_add(self.owed));
        self.owed = left.saturating_sub(arrived);
        Some((arrived.saturating_sub(left), self.packet_bytes))
    }
}

/// Writes [`arrivals`] as events (`docs/events.md`).
///
/// # Errors
/// Those of [`arrivals`], and if the file cannot be written.
pub fn write_arrivals(
    (file, polls): (&Path, &Polls),
    spec: &SwitchSpec,
    mtu_bytes: u32,
    path: &Path,
) -> Result<(), PipelineError> {
    let unfit = |problem: String| PipelineError::unfit(file.display(), problem);
    let intervals = arrivals(polls, mtu_bytes).map_err(unfit)?;
    let mut writer = EventWriter::create(path, &SwitchSpecs::Same(spec.clone()))?;
    let mut waiting = Vec::new();
    for events in intervals {
        waiting.extend(events.map_err(unfit)?);
        while waiting.len() >= BATCH {
            let rest = waiting.split_off(BATCH);
            writer.write(&EventBatch::new(std::mem::replace(&mut waiting, rest)))?;
        }
    }
    if !waiting.is_empty() {
        writer.write(&EventBatch::new(waiting))?;
    }
    Ok(writer.finish()?)
}
