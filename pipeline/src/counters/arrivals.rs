//! Packets that may have arrived between readings: as many bytes as counters show, evenly over the time from one reading of a
//! queue to its next, however many polls lack it. A fluid, in packets.

use super::bytes_range::total;
use super::polls::{Polls, Reading, missing_polls};
use crate::PipelineError;
use dropcast_data::{Event, EventBatch, EventKind, EventWriter, SwitchSpec, SwitchSpecs};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// Events of a batch.
const BATCH: usize = 1 << 16;
/// Most packets of a queue between two of its readings: a file may claim anything.
const MOST_PACKETS: u64 = 1 << 22;

/// What arrived at a queue between two of its readings.
struct Stretch {
    from_ns: u64,
    long_ns: u64,
    bytes: u64,
    packets: u64,
    /// Of the packets so far.
    next: u64,
}

impl Stretch {
    /// When a packet arrives: in the middle of its share of the time.
    fn time_ns(&self) -> u64 {
        let place = u128::from(self.long_ns) * (2 * u128::from(self.next) + 1);
        self.from_ns + (place / (2 * u128::from(self.packets))) as u64
    }
}

/// The readings of a queue.
struct Readings {
    port: u16,
    queue: u8,
    line_rate_bps: u64,
    /// Readings that are not used yet, the last one first.
    left: Vec<Read>,
    known: Known,
    now: Option<Stretch>,
}

/// A reading: the poll, and its place there.
#[derive(Clone, Copy)]
struct Read {
    poll: u32,
    place: u32,
}

/// The packets of all queues, in order of time, of [`arrivals`].
pub struct Arrivals<'a> {
    polls: &'a Polls,
    mtu_bytes: u32,
    queues: Vec<Readings>,
    /// The next packet of each queue that has one.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    doubts: ArrivalDoubts,
    usual_ns: Option<u64>,
    problem: Option<String>,
}

/// What makes arrivals doubtful: how often.
#[derive(Clone, Copy, Debug, Default)]
struct ArrivalDoubts {
    /// Times between two readings of a queue.
    stretches: u64,
    /// Of these, those between which polls lack the queue or are missing.
    gaps: u64,
    /// Those after which counters had gone back: nothing arrives there.
    resets: u64,
    /// Those in which more was sent than at line rate, and the most, of what that is.
    too_fast: u64,
    fastest: f64,
    /// Bytes of queues that the description does not have.
    other_bytes: u64,
    /// Queues of the description without two readings.
    unread: usize,
}

/// The arrivals between readings, in order: what was sent and lost, and what the queue grew by, if the polls have its length.
/// Packets are as large as those sent in that time, or take `mtu_bytes` where these were not counted.
///
/// # Errors
/// If there are no two polls or no times; in words. Packets end with an error where there are more between two readings than
/// telemetry can be meant to have.
pub fn arrivals<'a>(
    polls: &'a Polls,
    spec: &SwitchSpec,
    mtu_bytes: u32,
) -> Result<Arrivals<'a>, String> {
    if polls.polls.len() < 2 || polls.polls.iter().any(|poll| poll.time_ns.is_none()) {
        return Err("has no two polls with times, so nothing arrives between them".to_owned());
    }
    let mut left: Vec<Vec<Read>> = vec![Vec::new(); polls.queues.len()];
    let mut doubts = ArrivalDoubts::default();
    let mut sent_of_others: Vec<Option<(u64, u64)>> = vec![None; polls.queues.len()];
    for (number, poll) in polls.polls.iter().enumerate().rev() {
        for (place, polled) in poll.queues.iter().enumerate() {
            let Some(Reading { sent_bytes, .. }) = polled.counters else { continue };
            if polls.queues[polled.queue].class.is_some() {
                left[polled.queue].push(Read { poll: number as u32, place: place as u32 });
            } else {
                let ends = &mut sent_of_others[polled.queue];
                *ends = Some((sent_bytes, ends.map_or(sent_bytes, |(_, last)| last)));
            }
        }
    }
    let others = sent_of_others.iter().flatten().map(|(first, last)| last.saturating_sub(*first));
    doubts.other_bytes = total(others);
    let read_twice = left.iter().filter(|reads| reads.len() > 1).count();
    doubts.unread = spec.queues().saturating_sub(read_twice);
    let queues = polls.queues.iter().zip(left).map(|(id, left)| Readings {
        port: id.port as u16,
        queue: id.class.and_then(|class| u8::try_from(class).ok()).unwrap_or(0),
        line_rate_bps: spec.line_rate_bps[id.port],
        left,
        known: Known::default(),
        now: None,
    });
    let mut arrivals = Arrivals {
        polls,
        mtu_bytes: mtu_bytes.max(1),
        queues: queues.collect(),
        next: BinaryHeap::new(),
        doubts,
        usual_ns: polls.usual_ns(),
        problem: None,
    };
    for queue in 0..arrivals.queues.len() {
        arrivals.advance(queue);
    }
    Ok(arrivals)
}

impl Arrivals<'_> {
    /// Goes on to the next stretch of a queue in which something arrives.
    fn advance(&mut self, queue: usize) {
        let Arrivals { polls, queues, doubts, .. } = self;
        let of = &mut queues[queue];
        of.now = None;
        while let Some(read) = of.left.pop() {
            let polled = &polls.polls[read.poll as usize].queues[read.place as usize];
            let (Some(to_ns), Some(now)) = (polled.time_ns, polled.counters) else { continue };
            let from = of.known.length;
            of.known.length = polled.queue_bytes.or(from);
            let Some((poll, from_ns, old)) = of.known.before.replace((read.poll, to_ns, now))
            else {
                continue;
            };
            let long_ns = to_ns.saturating_sub(from_ns);
            doubts.stretches += 1;
            let is_gap = read.poll > poll + 1 || missing_polls(long_ns, self.usual_ns) > 0;
            doubts.gaps += u64::from(is_gap);
            let Some(arrived) = of.known.grow((old, from), (now, polled.queue_bytes)) else {
                doubts.resets += 1;
                continue;
            };
            let may_send = u128::from(of.line_rate_bps)
                * u128::from(long_ns.saturating_add(polls.stale_ns))
                / 8_000_000_000;
            if u128::from(arrived.sent_bytes) > may_send + u128::from(self.mtu_bytes) {
                doubts.too_fast += 1;
                let times = arrived.sent_bytes as f64 / (may_send as f64).max(1.0);
                doubts.fastest = doubts.fastest.max(times);
            }
            let packet_bytes = of.known.packet_bytes.unwrap_or(self.mtu_bytes);
            let bytes = arrived.bytes;
            let packets = bytes.div_ceil(packet_bytes.into());
            if packets > MOST_PACKETS {
                self.problem = Some(format!(
                    "has more than {MOST_PACKETS} packets between two polls; arrivals are made of telemetry every 10 to 100 us"
                ));
                self.next.clear();
                return;
            }
            if packets > 0 {
                let stretch = Stretch { from_ns, long_ns, bytes, packets, next: 0 };
                self.next.push(Reverse((stretch.time_ns(), queue)));
                of.now = Some(stretch);
                return;
            }
        }
    }

    /// What makes the packets so far doubtful: sentences.
    fn notes(&self) -> Vec<String> {
        let doubts = self.doubts;
        let mut notes = Vec::new();
        let of = format!("of {} times from one reading of a queue to its next", doubts.stretches);
        if doubts.unread > 0 {
            notes.push(format!(
                "{} queues of the switch description have no two readings: nothing arrives there",
                doubts.unread
            ));
        }
        if doubts.gaps > 0 {
            notes.push(format!(
                "in {} {of} polls are missing: what arrived is spread evenly over them, so their bursts are lost",
                doubts.gaps
            ));
        }
        if doubts.resets > 0 {
            notes.push(format!(
                "in {} {of} counters went back: nothing arrives there",
                doubts.resets
            ));
        }
        if doubts.too_fast > 0 {
            notes.push(format!(
                "in {} {of} more was sent than at line rate, up to {:.1} times: check line_rate_bps and the times",
                doubts.too_fast, doubts.fastest
            ));
        }
        if doubts.other_bytes > 0 {
            notes.push(format!(
                "{} bytes were sent from queues that the switch description does not have: they do not arrive",
                doubts.other_bytes
            ));
        }
        notes
    }
}

impl Iterator for Arrivals<'_> {
    type Item = Result<Event, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(problem) = self.problem.take() {
            return Some(Err(problem));
        }
        let Reverse((time_ns, queue)) = self.next.pop()?;
        let of = &mut self.queues[queue];
        let stretch = of.now.as_mut()?;
        let (packet, bytes, packets) = (stretch.next, stretch.bytes, stretch.packets);
        let event = Event {
            time_ns,
            flow_hash: 0,
            size_bytes: (bytes / packets + u64::from(packet < bytes % packets)) as u32,
            switch_id: 0,
            port: of.port,
            queue: of.queue,
            kind: EventKind::Arrival,
            flags: 0,
        };
        stretch.next += 1;
        if stretch.next < packets {
            let next_ns = stretch.time_ns();
            self.next.push(Reverse((next_ns, queue)));
        } else {
            self.advance(queue);
        }
        Some(Ok(event))
    }
}

/// What is known of a queue.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The poll of the last reading, when it was, and the counters.
    before: Option<(u32, u64, Reading)>,
    length: Option<u64>,
    /// Bytes that left before their arrival was counted.
    owed: u64,
    packet_bytes: Option<u32>,
}

/// What grew between two readings.
struct Grown {
    sent_bytes: u64,
    /// That arrived.
    bytes: u64,
}

impl Known {
    /// What arrived from one reading to the next; none where counters were cleared.
    fn grow(
        &mut self,
        (before, from): (Reading, Option<u64>),
        (now, length): (Reading, Option<u64>),
    ) -> Option<Grown> {
        let grown = super::coverage::grown(before, now)?;
        let sent = grown.sent_bytes;
        if let Some(mean) = grown.sent_packets.and_then(|packets| sent.checked_div(packets)) {
            self.packet_bytes = u32::try_from(mean).ok().filter(|&mean| mean > 0);
        }
        let packet_bytes = u64::from(self.packet_bytes.unwrap_or(0));
        let of = |packets: u64| packets.saturating_mul(packet_bytes);
        let dropped = grown.dropped_bytes.unwrap_or(of(grown.dropped_packets));
        // Some switches count trimmed packets as dropped, too.
        let trimmed = grown.trimmed_packets.unwrap_or(0).saturating_sub(grown.dropped_packets);
        let (grown, shrunk) = from
            .zip(length)
            .map_or((0, 0), |(from, to)| (to.saturating_sub(from), from.saturating_sub(to)));
        let arrived = total([sent, dropped, of(trimmed), grown]);
        let left = shrunk.saturating_add(self.owed);
        self.owed = left.saturating_sub(arrived);
        Some(Grown { sent_bytes: sent, bytes: arrived.saturating_sub(left) })
    }
}

/// Writes [`arrivals`] as events (`docs/events.md`). Returns what makes them doubtful: sentences.
///
/// # Errors
/// Those of [`arrivals`], and if the file cannot be written.
pub fn write_arrivals(
    (file, polls): (&Path, &Polls),
    spec: &SwitchSpec,
    mtu_bytes: u32,
    path: &Path,
) -> Result<Vec<String>, PipelineError> {
    let unfit = |problem: String| PipelineError::unfit(file.display(), problem);
    let mut arrivals = arrivals(polls, spec, mtu_bytes).map_err(unfit)?;
    let mut writer = EventWriter::create(path, &SwitchSpecs::Same(spec.clone()))?;
    let mut waiting = Vec::with_capacity(BATCH);
    for event in arrivals.by_ref() {
        waiting.push(event.map_err(unfit)?);
        if waiting.len() == BATCH {
            let batch = std::mem::replace(&mut waiting, Vec::with_capacity(BATCH));
            writer.write(&EventBatch::new(batch))?;
        }
    }
    if !waiting.is_empty() {
        writer.write(&EventBatch::new(waiting))?;
    }
    writer.finish()?;
    Ok(arrivals.notes())
}
