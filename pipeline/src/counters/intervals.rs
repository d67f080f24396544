//! What counters show of each time between two polls, one after the other.

use super::bytes_range::{Range, total};
use super::coverage::{Doubts, grown};
use super::polls::{Poll, Polls, QueueId, Reading};
use dropcast_data::SwitchSpec;

/// The smallest Ethernet frame, bytes.
const LEAST_PACKET_BYTES: u64 = 64;

/// Counters, and what they are of.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// What was read.
    pub(super) polls: &'a Polls,
    /// The queues of the polls and then those of the description that are in none.
    pub(super) queues: &'a [QueueId],
    /// The switch.
    pub(super) spec: &'a SwitchSpec,
    /// Its largest packet.
    pub(super) mtu_bytes: u32,
    /// Intervals that may not be what they seem.
    pub(super) doubts: &'a Doubts,
}

impl Scope<'_> {
    /// Whether a queue is one of the pool.
    pub(super) fn is_shared(&self, queue: usize) -> bool {
        self.queues[queue].class.is_none_or(|class| self.spec.shared[class])
    }

    /// The pool's queues.
    pub(super) fn shared(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.queues.len()).filter(|&queue| self.is_shared(queue))
    }

    /// The switch's own alpha for a queue.
    pub(super) fn alpha_of(&self, queue: usize) -> Option<f64> {
        self.spec.dt_alpha.get(self.queues[queue].class?).copied()
    }

    /// The number of the first interval's last poll. A single poll counts from when its counters were cleared.
    pub(super) fn first(&self) -> usize {
        usize::from(self.polls.polls.len() > 1)
    }

    /// Packets dropped or trimmed, and their bytes. Which of the trimmed were counted as dropped, too, is not known.
    pub(super) fn lost(&self, grown: &Reading) -> (Range, Range) {
        let trimmed = grown.trimmed_packets.unwrap_or(0);
        let dropped = grown.dropped_packets;
        let packets =
            Range { at_least: dropped.max(trimmed), at_most: dropped.saturating_add(trimmed) };
        let mut bytes = self.dropped_bytes(grown);
        bytes.add(Range {
            at_least: (packets.at_least - dropped).saturating_mul(LEAST_PACKET_BYTES),
            at_most: trimmed.saturating_mul(self.mtu_bytes.into()),
        });
        (packets, bytes)
    }

    /// Bytes of the packets that were dropped.
    pub(super) fn dropped_bytes(&self, grown: &Reading) -> Range {
        let packets = grown.dropped_packets;
        grown.dropped_bytes.map_or(
            Range {
                at_least: packets.saturating_mul(LEAST_PACKET_BYTES),
                at_most: packets.saturating_mul(self.mtu_bytes.into()),
            },
            Range::exactly,
        )
    }
}

/// What happened between two polls, of each queue or port.
pub(super) struct Interval {
    /// The poll that ended it.
    pub(super) number: usize,
    /// Of each queue: whether its counters are known at both ends, without a reset or a missing poll.
    pub(super) is_known: Vec<bool>,
    /// Of each queue: whether it has no counters at one end or both.
    pub(super) is_missing: Vec<bool>,
    /// Of each queue: packets dropped or trimmed.
    pub(super) lost_packets: Vec<Range>,
    /// Of each queue: bytes of these.
    pub(super) lost_bytes: Vec<Range>,
    /// Of each queue: the most bytes that it can have held in the shared buffer.
    pub(super) queue_peak_bytes: Vec<u64>,
    /// The most bytes that the pool can have held.
    pub(super) pool_peak_bytes: u64,
    /// Whether watermarks limit that.
    pub(super) has_pool_peak: bool,
    /// Of each queue: whether watermarks limit its peak.
    pub(super) has_peak: Vec<bool>,
    /// Of each port: bytes on the wire that it could have sent while it was idle; at most `u64::MAX` where the time is
    /// unknown.
    pub(super) idle_bytes: Vec<Range>,
    /// Of each port: the most bytes that it sent beside its packets' own.
    pub(super) overhead_bytes: Vec<u64>,
    /// Of each queue: its packets were lost though it was below its threshold and the pool had room.
    pub(super) is_of_other_cause: Vec<bool>,
    /// Whether Complete Sharing certainly loses nothing, and the least alpha of which that is certain, too; `None` if
    /// only of Complete Sharing.
    pub(super) nothing_lost_at: Option<Option<f64>>,
}

/// The intervals in order of time, without the bounds.
pub(super) struct Intervals<'a> {
    scope: Scope<'a>,
    /// Of each queue: its last counters, and the poll that had them.
    before: Vec<Option<(usize, Reading)>>,
    next: usize,
}

impl<'a> Intervals<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Self {
        let mut before = vec![None; scope.queues.len()];
        let first = scope.first();
        if let Some(poll) = scope.polls.polls.first().filter(|_| first > 0) {
            for polled in &poll.queues {
                before[polled.queue] = polled.counters.map(|reading| (0, reading));
            }
        }
        Intervals { scope, before, next: first }
    }
}

impl Iterator for Intervals<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        let scope = self.scope;
        let number = self.next;
        let poll = scope.polls.polls.get(number)?;
        self.next += 1;
        let is_single = scope.first() == 0;
        let is_sound = scope.doubts.is_sound(number);
        let mut growth: Vec<Option<Reading>> = vec![None; scope.queues.len()];
        let mut is_missing = vec![true; scope.queues.len()];
        for polled in &poll.queues {
            let Some(now) = polled.counters else { continue };
            let before = self.before[polled.queue].replace((number, now));
            let old = match before {
                _ if is_single => Some(Reading::CLEARED),
                Some((from, old)) if from + 1 == number && has_both_ends(old, now) => Some(old),
                _ => None,
            };
            is_missing[polled.queue] = old.is_none();
            let old = old.filter(|_| is_sound);
            growth[polled.queue] = old.and_then(|old| grown(old, now));
        }
        let from_ns = number.checked_sub(1).and_then(|before| scope.polls.polls[before].time_ns);
        let mut interval = interval_of(&growth, scope, number, from_ns.zip(poll.time_ns));
        interval.is_missing = is_missing;
        watermarks(&mut interval, scope, is_sound);
        Some(interval)
    }
}

/// Whether a counter that one of two readings has is in the other, too.
pub(super) fn has_both_ends(old: Reading, new: Reading) -> bool {
    let is_single = old == Reading::CLEARED;
    is_single || old.trimmed_packets.is_some() == new.trimmed_packets.is_some()
}

fn interval_of(
    growth: &[Option<Reading>],
    scope: Scope<'_>,
    number: usize,
    times_ns: Option<(u64, u64)>,
) -> Interval {
    let Scope { queues, spec, polls, mtu_bytes, .. } = scope;
    let ports = spec.ports();
    let mut sent = vec![Range::default(); ports];
    let mut overhead = vec![Range::default(); ports];
    for (queue, reading) in queues.iter().zip(growth) {
        let Some(reading) = reading else {
            sent[queue.port].add(Range::UNKNOWN);
            continue;
        };
        sent[queue.port].add(Range::exactly(reading.sent_bytes));
        let of = |packets: u64| packets.saturating_mul(u64::from(spec.wire_overhead_bytes));
        overhead[queue.port].add(Range {
            at_least: of(reading.sent_packets.unwrap_or(0)),
            at_most: reading.sent_packets.map_or(most_overhead(spec, reading.sent_bytes), of),
        });
    }
    let idle = |port: usize| {
        let capacity = |ns: u64| {
            let bits_ns = u128::from(spec.line_rate_bps[port]) * u128::from(ns);
            u64::try_from(bits_ns / 8_000_000_000).unwrap_or(u64::MAX)
        };
        let Some((from, to)) = times_ns else { return Range::UNKNOWN };
        let ns = to - from;
        let (short, long) = (ns.saturating_sub(polls.stale_ns), ns.saturating_add(polls.stale_ns));
        // A packet counts when it leaves the buffer, and may be sent after the poll.
        let packet = u64::from(mtu_bytes) + u64::from(spec.wire_overhead_bytes);
        let begun = packet.saturating_mul(beside_the_buffer(spec));
        let least = total([sent[port].at_most, overhead[port].at_most, begun]);
        let most = sent[port].at_least.saturating_add(overhead[port].at_least);
        Range {
            at_least: capacity(short).saturating_sub(least),
            at_most: capacity(long).saturating_sub(most.saturating_sub(begun)),
        }
    };
    let lost = |reading: &Option<Reading>| {
        reading.map_or((Range::UNKNOWN, Range::UNKNOWN), |reading| scope.lost(&reading))
    };
    let (lost_packets, lost_bytes) = growth.iter().map(lost).unzip();
    Interval {
        number,
        is_known: growth.iter().map(Option::is_some).collect(),
        is_missing: Vec::new(),
        lost_packets,
        lost_bytes,
        queue_peak_bytes: Vec::new(),
        pool_peak_bytes: 0,
        has_pool_peak: false,
        has_peak: Vec::new(),
        idle_bytes: (0..ports).map(idle).collect(),
        overhead_bytes: overhead.iter().map(|bytes| bytes.at_most).collect(),
        is_of_other_cause: vec![false; growth.len()],
        nothing_lost_at: None,
    }
}

/// The peaks. Where watermarks may be older than their poll, those of the next one count, too; where queues were read one
/// after the other, also those of the one before. A reset clears them, and one poll's may not cover a time in which others
/// are missing.
fn watermarks(interval: &mut Interval, scope: Scope<'_>, is_sound: bool) {
    let Scope { polls, queues, spec, .. } = scope;
    let number = interval.number;
    let buffer = u64::from(spec.buffer_bytes);
    let is_stale = polls.stale_ns > 0;
    let last = polls.polls.len().min(number + if is_stale { 2 } else { 1 });
    let mut of_queue = vec![if is_sound { Some(0_u64) } else { None }; queues.len()];
    let mut pool = is_sound.then_some(0_u64);
    for poll in &polls.polls[number..last] {
        let mut now = vec![None; queues.len()];
        poll.queues.iter().for_each(|polled| now[polled.queue] = polled.watermark_bytes);
        for (peak, now) in of_queue.iter_mut().zip(now) {
            *peak = peak.zip(now).map(|(peak, now)| peak.max(now));
        }
        pool = pool.zip(poll.pool_watermark_bytes).map(|(peak, now)| peak.max(now));
    }
    let before = number.checked_sub(1).map(|before| &polls.polls[before]);
    let is_one_by_one = |poll: &&Poll| is_stale && (number > 1 || poll.span_ns() > 0);
    if let Some(before) = before.filter(is_one_by_one) {
        for polled in &before.queues {
            let peak = &mut of_queue[polled.queue];
            *peak = peak.map(|peak| peak.max(polled.watermark_bytes.unwrap_or(0)));
        }
        pool = pool.map(|peak| peak.max(before.pool_watermark_bytes.unwrap_or(0)));
    }
    let sum: Option<Vec<u64>> = scope.shared().map(|queue| of_queue[queue]).collect();
    let pool = pool.or(sum.map(total));
    interval.has_pool_peak = pool.is_some();
    interval.pool_peak_bytes = pool.unwrap_or(buffer).min(buffer);
    let pool_peak = interval.pool_peak_bytes;
    interval.queue_peak_bytes =
        of_queue.iter().map(|peak| peak.unwrap_or(pool_peak).min(pool_peak)).collect();
    interval.has_peak = of_queue.iter().map(|peak| peak.or(pool).is_some()).collect();
}

/// Packets of a port that have left the buffer, but may not be sent.
pub(super) fn beside_the_buffer(spec: &SwitchSpec) -> u64 {
    1 + u64::from(spec.transmit_ring_packets)
}

/// The most that so many bytes of packets take on the wire beside their own.
pub(super) fn most_overhead(spec: &SwitchSpec, bytes: u64) -> u64 {
    bytes.div_ceil(LEAST_PACKET_BYTES).saturating_mul(spec.wire_overhead_bytes.into())
}
