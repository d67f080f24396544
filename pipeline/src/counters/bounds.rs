//! What must hold of every policy on the packets that arrived between two polls.
//!
//! A queue's port always sends while a packet waits there. So a switch that accepts `x` bytes more than the real one holds at
//! most `x` bytes more at any time, until its ports have had time to send them.

use super::bytes_range::{BytesRange, total};
use super::polls::{Polls, Reading};
use dropcast_data::SwitchSpec;

/// The smallest Ethernet frame, bytes.
const LEAST_PACKET_BYTES: u64 = 64;

/// What happened between two polls, of each queue or port.
pub(super) struct Interval {
    /// When it began; unknown where there is one poll.
    pub(super) from_ns: Option<u64>,
    /// When it ended.
    pub(super) to_ns: Option<u64>,
    /// Of each queue: packets dropped.
    pub(super) dropped_packets: Vec<u64>,
    /// Of each queue: bytes dropped.
    pub(super) dropped_bytes: Vec<BytesRange>,
    /// Of each queue: the most bytes that it can have held in the shared buffer.
    pub(super) queue_peak_bytes: Vec<u64>,
    /// The most bytes that the pool can have held.
    pub(super) pool_peak_bytes: u64,
    /// Of each port: bytes sent.
    pub(super) sent_bytes: Vec<u64>,
    /// Of each port: bytes on the wire that it could have sent while it was idle; at most `u64::MAX` where the time is
    /// unknown.
    pub(super) idle_bytes: Vec<BytesRange>,
    /// Of each port: the most bytes that it sent beside its packets' own.
    pub(super) overhead_bytes: Vec<u64>,
    /// Of each queue: its packets were dropped though it was below its threshold and the pool had room.
    pub(super) is_of_other_cause: Vec<bool>,
    /// Bytes of the drops that some policy saves at least.
    pub(super) saved_at_least: u64,
    /// Whether Complete Sharing certainly drops nothing, and the least alpha of which that is certain, too; `None` if
    /// only of Complete Sharing.
    pub(super) nothing_dropped_at: Option<Option<f64>>,
}

/// Polls between which counters were cleared, or whose counters do not fit together.
pub(super) struct Cleared {
    /// How many.
    pub(super) intervals: u64,
}

/// Of each interval what counters tell, without the bounds.
pub(super) fn intervals(
    polls: &Polls,
    spec: &SwitchSpec,
    mtu_bytes: u32,
) -> (Vec<Interval>, Cleared) {
    let count = polls.queues.len();
    let mut cleared = Cleared { intervals: 0 };
    let mut found = Vec::new();
    let zero = Reading {
        sent_bytes: 0,
        sent_packets: Some(0),
        dropped_packets: 0,
        dropped_bytes: Some(0),
    };
    let is_single = polls.polls.len() == 1;
    let mut before: Vec<Option<Reading>> = vec![is_single.then_some(zero); count];
    let mut from_ns = None;
    for (number, poll) in polls.polls.iter().enumerate() {
        let now: Vec<Option<Reading>> = (0..count)
            .map(|queue| poll.counters.get(queue).copied().flatten().or(before[queue]))
            .collect();
        if number > 0 || is_single {
            let grown: Option<Vec<Reading>> =
                before.iter().zip(&now).map(|(old, new)| since(*old, *new)).collect();
            match grown {
                Some(grown) => {
                    let mut interval =
                        told(&grown, polls, spec, mtu_bytes, (from_ns, poll.time_ns));
                    watermarks(&mut interval, polls, number, spec);
                    found.push(interval);
                }
                None => cleared.intervals += 1,
            }
        }
        (before, from_ns) = (now, poll.time_ns);
    }
    (found, cleared)
}

/// How counters have grown. Those of a queue that had none before are a beginning.
fn since(old: Option<Reading>, new: Option<Reading>) -> Option<Reading> {
    let none =
        Reading { sent_bytes: 0, sent_packets: None, dropped_packets: 0, dropped_bytes: Some(0) };
    let (Some(old), Some(new)) = (old, new) else { return Some(none) };
    let optional = |old: Option<u64>, new: Option<u64>| match (old, new) {
        (Some(old), Some(new)) => new.checked_sub(old).map(Some),
        _ => Some(None),
    };
    Some(Reading {
        sent_bytes: new.sent_bytes.checked_sub(old.sent_bytes)?,
        sent_packets: optional(old.sent_packets, new.sent_packets)?,
        dropped_packets: new.dropped_packets.checked_sub(old.dropped_packets)?,
        dropped_bytes: optional(old.dropped_bytes, new.dropped_bytes)?,
    })
}

fn told(
    grown: &[Reading],
    polls: &Polls,
    spec: &SwitchSpec,
    mtu_bytes: u32,
    (from_ns, to_ns): (Option<u64>, Option<u64>),
) -> Interval {
    let ports = spec.ports();
    let mut sent_bytes = vec![0_u64; ports];
    let mut overhead = vec![BytesRange { at_least: 0, at_most: 0 }; ports];
    for (queue, reading) in polls.queues.iter().zip(grown) {
        sent_bytes[queue.port] = sent_bytes[queue.port].saturating_add(reading.sent_bytes);
        let of = |packets: u64| packets.saturating_mul(u64::from(spec.wire_overhead_bytes));
        overhead[queue.port].add(BytesRange {
            at_least: of(reading.sent_packets.unwrap_or(0)),
            at_most: reading.sent_packets.map_or(most_overhead(spec, reading.sent_bytes), of),
        });
    }
    let long_ns = from_ns.zip(to_ns).map(|(from, to)| to - from);
    let idle = |port: usize| {
        let capacity = |ns: u64| {
            let bits_ns = u128::from(spec.line_rate_bps[port]) * u128::from(ns);
            u64::try_from(bits_ns / 8_000_000_000).unwrap_or(u64::MAX)
        };
        let Some(ns) = long_ns else { return BytesRange { at_least: 0, at_most: u64::MAX } };
        let (short, long) = (ns.saturating_sub(polls.stale_ns), ns.saturating_add(polls.stale_ns));
        let busy = |overhead: u64| sent_bytes[port].saturating_add(overhead);
        // A packet counts when it leaves the buffer, and may be sent after the poll.
        let packet = u64::from(mtu_bytes) + u64::from(spec.wire_overhead_bytes);
        let begun = packet.saturating_mul(beside_the_buffer(spec));
        let least = busy(overhead[port].at_most).saturating_add(begun);
        let most = busy(overhead[port].at_least).saturating_sub(begun);
        BytesRange {
            at_least: capacity(short).saturating_sub(least),
            at_most: capacity(long).saturating_sub(most),
        }
    };
    let idle_bytes = (0..ports).map(idle).collect();
    let dropped = |reading: &Reading| {
        let packets = reading.dropped_packets;
        let at_most = packets.saturating_mul(mtu_bytes.into());
        reading.dropped_bytes.map_or(
            BytesRange { at_least: packets.saturating_mul(LEAST_PACKET_BYTES), at_most },
            |bytes| BytesRange { at_least: bytes, at_most: bytes },
        )
    };
    Interval {
        from_ns,
        to_ns,
        dropped_packets: grown.iter().map(|reading| reading.dropped_packets).collect(),
        dropped_bytes: grown.iter().map(dropped).collect(),
        queue_peak_bytes: Vec::new(),
        pool_peak_bytes: 0,
        sent_bytes,
        idle_bytes,
        overhead_bytes: overhead.iter().map(|bytes| bytes.at_most).collect(),
        is_of_other_cause: vec![false; grown.len()],
        saved_at_least: 0,
        nothing_dropped_at: None,
    }
}

/// The peaks. Where watermarks may be older than their poll, those of the next one count, too.
fn watermarks(interval: &mut Interval, polls: &Polls, number: usize, spec: &SwitchSpec) {
    let also = if polls.stale_ns > 0 { 2 } else { 1 };
    let now = &polls.polls[number..polls.polls.len().min(number + also)];
    let buffer = u64::from(spec.buffer_bytes);
    let of_queue = |queue: usize| {
        now.iter().map(|poll| poll.watermark_bytes.get(queue).copied().flatten()).max().flatten()
    };
    let pool = now.iter().map(|poll| poll.pool_watermark_bytes).max().flatten();
    let shared: Vec<usize> =
        (0..polls.queues.len()).filter(|&queue| is_shared(polls, spec, queue)).collect();
    let sum: Option<Vec<u64>> = shared.iter().map(|&queue| of_queue(queue)).collect();
    let sum = sum.map(total);
    interval.pool_peak_bytes = pool.or(sum).unwrap_or(buffer).min(buffer);
    let pool_peak = interval.pool_peak_bytes;
    interval.queue_peak_bytes = (0..polls.queues.len())
        .map(|queue| of_queue(queue).unwrap_or(pool_peak).min(pool_peak))
        .collect();
}

/// Packets of a port that have left the buffer, but may not be sent.
fn beside_the_buffer(spec: &SwitchSpec) -> u64 {
    1 + u64::from(spec.transmit_ring_packets)
}

/// The most that so many bytes of packets take on the wire beside their own.
fn most_overhead(spec: &SwitchSpec, bytes: u64) -> u64 {
    bytes.div_ceil(LEAST_PACKET_BYTES).saturating_mul(spec.wire_overhead_bytes.into())
}

/// Whether a queue is one of the pool.
pub(super) fn is_shared(polls: &Polls, spec: &SwitchSpec, queue: usize) -> bool {
    polls.queues[queue].class.is_none_or(|class| spec.shared[class])
}

/// The switch's own alpha for a queue.
pub(super) fn alpha_of(polls: &Polls, spec: &SwitchSpec, queue: usize) -> Option<f64> {
    spec.dt_alpha.get(polls.queues[queue].class?).copied()
}

/// What bounds the bytes that a policy saves between two polls.
struct Spare {
    /// Bytes dropped.
    dropped_bytes: BytesRange,
    /// Packets dropped.
    dropped_packets: u64,
    /// The most bytes more that may be held than the real switch holds.
    room_bytes: u64,
    /// Bytes on the wire that each port that holds more sends of these.
    idle_bytes: u64,
}

/// Adds to the intervals, in order of time, what is certain of other policies. They begin as the real switch does.
pub(super) fn bound(intervals: &mut [Interval], polls: &Polls, spec: &SwitchSpec, mtu_bytes: u32) {
    let (buffer, mtu) = (u64::from(spec.buffer_bytes), u64::from(mtu_bytes));
    let overhead = u64::from(spec.wire_overhead_bytes);
    // Ports send other packets at a time than the real switch's.
    let shift = mtu.saturating_mul(beside_the_buffer(spec));
    // What a switch that accepts all may hold more than the real one, of each port, on the wire.
    let mut more = vec![0_u64; spec.ports()];
    // Whether it may have dropped packets that the real switch holds, and so may hold as much in larger packets.
    let mut has_others = false;
    let mut spares = Vec::with_capacity(intervals.len());
    for interval in intervals.iter_mut() {
        let shared = |queue: &usize| is_shared(polls, spec, *queue);
        let queues: Vec<usize> = (0..polls.queues.len()).filter(shared).collect();
        let mut dropped = vec![0_u64; spec.ports()];
        let mut spare = Spare {
            dropped_bytes: BytesRange { at_least: 0, at_most: 0 },
            dropped_packets: 0,
            room_bytes: 0,
            idle_bytes: u64::MAX,
        };
        for &queue in &queues {
            let (bytes, packets) = (interval.dropped_bytes[queue], interval.dropped_packets[queue]);
            let port = polls.queues[queue].port;
            let on_wire = bytes.at_most.saturating_add(packets.saturating_mul(overhead));
            dropped[port] = dropped[port].saturating_add(on_wire);
            spare.dropped_bytes.add(bytes);
            spare.dropped_packets = spare.dropped_packets.saturating_add(packets);
            let threshold = |alpha: f64| alpha * (buffer - interval.pool_peak_bytes) as f64;
            let is_below = |alpha| (interval.queue_peak_bytes[queue] as f64) < threshold(alpha);
            interval.is_of_other_cause[queue] = packets > 0
                && interval.pool_peak_bytes + mtu <= buffer
                && alpha_of(polls, spec, queue).is_some_and(is_below);
        }
        has_others &= more.iter().any(|&bytes| bytes > 0);
        let extra = |port: usize| more[port].saturating_add(dropped[port]);
        let ports_with_more: Vec<usize> =
            (0..spec.ports()).filter(|&port| extra(port) > 0).collect();
        let margin = shift.saturating_mul(ports_with_more.len() as u64);
        let all = margin.saturating_add(total(ports_with_more.iter().map(|&port| extra(port))));
        let larger = if has_others { most_overhead(spec, interval.pool_peak_bytes) } else { 0 };
        let occupied = total([interval.pool_peak_bytes, all, larger]);
        has_others |= occupied > buffer;
        interval.nothing_dropped_at = (occupied <= buffer).then(|| {
            // The switch's own alphas dropped nothing.
            if ports_with_more.is_empty() && !spec.dt_alpha.is_empty() {
                return Some(0.0);
            }
            let free = (buffer - occupied) as f64;
            let length = |&queue: &usize| {
                let port = polls.queues[queue].port;
                let shift = if extra(port) > 0 { shift } else { 0 };
                total([interval.queue_peak_bytes[queue], extra(port), shift]) as f64
            };
            let longest = queues.iter().map(length).fold(0.0, f64::max);
            (-7..=6).map(|power| 2_f64.powi(power)).find(|alpha| longest < alpha * free)
        });
        spare.room_bytes = buffer.saturating_sub(interval.pool_peak_bytes.saturating_add(margin));
        for port in ports_with_more {
            let idle = interval.idle_bytes[port].at_least;
            spare.idle_bytes = spare.idle_bytes.min(idle);
            more[port] = more[port].saturating_sub(idle).saturating_add(dropped[port]);
            more[port] = more[port].min(buffer + most_overhead(spec, buffer));
        }
        spares.push(spare);
    }
    save(intervals, &spares, mtu, overhead);
}

/// Counts the dropped bytes that can be saved for certain: by a switch that accepts all that the real one accepts, and of
/// what that one drops as much as its own buffer has room for.
fn save(intervals: &mut [Interval], spares: &[Spare], mtu_bytes: u64, overhead_bytes: u64) {
    // The most that the switch may hold beyond the real one when each interval begins: what is too much for a later
    // interval has to be sent before that one.
    let mut most = vec![u64::MAX; spares.len() + 1];
    for (number, spare) in spares.iter().enumerate().rev() {
        most[number] = spare.room_bytes.min(most[number + 1].saturating_add(spare.idle_bytes));
    }
    let mut held = 0_u64;
    for ((interval, spare), &next) in intervals.iter_mut().zip(spares).zip(&most[1..]) {
        let left = held.saturating_sub(spare.idle_bytes);
        let room = (spare.room_bytes - held).min(next - left);
        let overhead = spare.dropped_packets.saturating_mul(overhead_bytes);
        let all = spare.dropped_bytes.at_most.saturating_add(overhead);
        held = left + all.min(room);
        interval.saved_at_least = spare.dropped_bytes.at_least;
        if all > room {
            // The largest packets are saved first, until one does not fit. Their overhead is at most that of the others,
            // as a share of their bytes.
            let on_wire = (room + 1).saturating_sub(mtu_bytes + overhead_bytes);
            let dropped = u128::from(spare.dropped_bytes.at_least);
            let bytes = u128::from(on_wire) * dropped / (dropped + u128::from(overhead)).max(1);
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            interval.saved_at_least = bytes.min(interval.saved_at_least);
        }
    }
}
