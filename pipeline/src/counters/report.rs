//! The verdict on counters: what another alpha or an oracle could have saved of what was dropped.

use super::bounds::{Interval, alpha_of, bound, intervals, is_shared};
use super::bytes_range::{BytesRange, total};
use super::polls::Polls;
use crate::wall_clock::known_utc;
use dropcast_data::SwitchSpec;
use serde::Serialize;

/// The version of [`CounterReport`] as JSON.
pub const COUNTERS_SCHEMA_VERSION: u32 = 1;

/// The fullest that the pool was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterPeak {
    /// Bytes.
    pub bytes: u64,
    /// Of the buffer.
    pub share: f64,
    /// Whether it is the sum of the queues' watermarks: the pool held no more, perhaps less.
    pub is_upper_bound: bool,
    /// The poll that told it, since 1970 or another origin.
    pub at_ns: Option<String>,
    /// The same in UTC.
    pub at_utc: Option<String>,
}

/// What follows from the counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CounterConclusion {
    /// Nothing was dropped: no policy could have transmitted more.
    NothingDropped,
    /// All packets were dropped while their queues were below their thresholds and the pool had room.
    OtherCause,
    /// Dynamic Thresholds with this alpha would have dropped none of these packets, so no oracle could have gained more;
    /// Complete Sharing where `alpha` is null.
    LargerAlpha {
        /// The least power of two of which it is certain.
        alpha: Option<f64>,
    },
    /// How much of what was dropped another alpha or an oracle saves depends on when packets arrived.
    Undecided,
}

/// Drops of a queue between two polls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DroppingQueue {
    /// When the poll before was, in UTC.
    pub from_utc: Option<String>,
    /// When the poll was that told it, in UTC.
    pub to_utc: Option<String>,
    /// The same, nanoseconds.
    pub to_ns: Option<String>,
    /// The port as the file names it.
    pub port: String,
    /// The queue as the file names it.
    pub queue: String,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes dropped.
    pub dropped_bytes: BytesRange,
    /// The most bytes that the queue can have held.
    pub queue_peak_bytes: u64,
    /// The most that the pool can have held, of the buffer.
    pub pool_peak_share: f64,
    /// The lowest that its threshold can have been, bytes; null if the description has no alpha.
    pub least_threshold_bytes: Option<u64>,
    /// Whether neither threshold nor pool can have been the cause.
    pub is_of_other_cause: bool,
}

/// All counters of a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortCounters {
    /// The port as the file names it.
    pub port: String,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Of what it could have sent in this time; null if that is unknown.
    pub utilisation: Option<f64>,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes dropped.
    pub dropped_bytes: BytesRange,
    /// The most bytes that one of its queues can have held.
    pub queue_peak_bytes: u64,
}

/// What counters tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterReport {
    /// 1.
    pub schema_version: u32,
    /// The shared buffer, bytes.
    pub buffer_bytes: u32,
    /// The pool whose watermark was read, if the file names it.
    pub pool: Option<String>,
    /// The first poll, in UTC.
    pub from_utc: Option<String>,
    /// The last poll, in UTC.
    pub to_utc: Option<String>,
    /// Times between polls.
    pub intervals: u64,
    /// Times between polls in which counters were cleared; they are left out.
    pub intervals_left_out: u64,
    /// Times between polls in which something was dropped.
    pub intervals_with_drops: u64,
    /// The fullest that the pool was; null without watermarks.
    pub peak: Option<CounterPeak>,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets dropped from the pool's queues.
    pub dropped_packets: u64,
    /// The same in bytes.
    pub dropped_bytes: BytesRange,
    /// Packets of these that neither threshold nor pool can have dropped.
    pub dropped_of_other_cause: u64,
    /// Bytes of what was dropped that the best policy transmits.
    pub saved_by_the_best: BytesRange,
    /// Times between polls with drops in which Complete Sharing, and so a large alpha, certainly drops nothing.
    pub intervals_of_larger_alpha: u64,
    /// What follows.
    pub conclusion: CounterConclusion,
    /// What makes this doubtful: sentences.
    pub cautions: Vec<String>,
    /// The ports.
    pub ports: Vec<PortCounters>,
    /// Drops of each queue between polls, by time; at most 4,096, those with the most bytes.
    pub drops: Vec<DroppingQueue>,
    /// How many of these are not listed.
    pub drops_left_out: u64,
}

const MOST_DROPS: usize = 4_096;

/// Says what the counters of a switch tell of other policies (`docs/counters.md`). Its largest packet takes `mtu_bytes`.
pub fn judge_counters(polls: &Polls, spec: &SwitchSpec, mtu_bytes: u32) -> CounterReport {
    let (mut intervals, cleared) = intervals(polls, spec, mtu_bytes);
    bound(&mut intervals, polls, spec, mtu_bytes);
    let shared = |queue: &usize| is_shared(polls, spec, *queue);
    let queues: Vec<usize> = (0..polls.queues.len()).filter(shared).collect();
    let dropped_packets = total(
        intervals
            .iter()
            .flat_map(|interval| queues.iter().map(|&queue| interval.dropped_packets[queue])),
    );
    let mut dropped_bytes = BytesRange { at_least: 0, at_most: 0 };
    let mut dropped_of_other_cause = 0_u64;
    let (mut with_drops, mut of_larger_alpha) = (0, 0);
    for interval in &intervals {
        queues.iter().for_each(|&queue| dropped_bytes.add(interval.dropped_bytes[queue]));
        let others = queues.iter().filter(|&&queue| interval.is_of_other_cause[queue]);
        let of_others = total(others.map(|&queue| interval.dropped_packets[queue]));
        dropped_of_other_cause = dropped_of_other_cause.saturating_add(of_others);
        if queues.iter().any(|&queue| interval.dropped_packets[queue] > 0) {
            with_drops += 1;
            of_larger_alpha += u64::from(interval.nothing_dropped_at.is_some());
        }
    }
    let ports = of_ports(&intervals, polls, spec);
    let conclusion = if dropped_packets == 0 {
        CounterConclusion::NothingDropped
    } else if dropped_of_other_cause == dropped_packets {
        CounterConclusion::OtherCause
    } else {
        larger_alpha(&intervals, polls, spec)
    };
    let is_certain = matches!(conclusion, CounterConclusion::LargerAlpha { .. });
    let saved = total(intervals.iter().map(|interval| interval.saved_at_least));
    let (drops, drops_left_out) = dropping(&intervals, polls, spec);
    let time = |poll: Option<&super::Poll>| known_utc(poll?.time_ns?);
    CounterReport {
        schema_version: COUNTERS_SCHEMA_VERSION,
        buffer_bytes: spec.buffer_bytes,
        pool: polls.pool.clone(),
        from_utc: time(polls.polls.first()),
        to_utc: time(polls.polls.last()),
        intervals: intervals.len() as u64,
        intervals_left_out: cleared.intervals,
        intervals_with_drops: with_drops,
        peak: peak(polls, spec),
        sent_bytes: total(ports.iter().map(|port| port.sent_bytes)),
        dropped_packets,
        dropped_bytes,
        dropped_of_other_cause,
        saved_by_the_best: BytesRange {
            at_least: if is_certain { dropped_bytes.at_least } else { saved },
            at_most: most_saved(&intervals, polls, spec),
        },
        intervals_of_larger_alpha: of_larger_alpha,
        conclusion,
        cautions: cautions(polls, spec, &ports, cleared.intervals),
        ports,
        drops,
        drops_left_out,
    }
}

/// An alpha is enough if it is in every interval that another decision reaches.
fn larger_alpha(intervals: &[Interval], polls: &Polls, spec: &SwitchSpec) -> CounterConclusion {
    let own = (0..polls.queues.len())
        .filter_map(|queue| alpha_of(polls, spec, queue))
        .fold(0.0, f64::max);
    let mut least = Some(own);
    for interval in intervals {
        match interval.nothing_dropped_at {
            None => return CounterConclusion::Undecided,
            Some(alpha) => least = least.zip(alpha).map(|(least, alpha)| f64::max(least, alpha)),
        }
    }
    CounterConclusion::LargerAlpha { alpha: least }
}

/// No port sends more than it has time for, or than was dropped there.
fn most_saved(intervals: &[Interval], polls: &Polls, spec: &SwitchSpec) -> u64 {
    let of_port = |port: usize| {
        let at_port =
            |queue: &usize| polls.queues[*queue].port == port && is_shared(polls, spec, *queue);
        let queues: Vec<usize> = (0..polls.queues.len()).filter(at_port).collect();
        let (mut dropped, mut idle) = (0_u64, u64::from(spec.buffer_bytes));
        for interval in intervals {
            let bytes = queues.iter().map(|&queue| interval.dropped_bytes[queue].at_most);
            dropped = bytes.fold(dropped, u64::saturating_add);
            // Larger packets take less beside their bytes.
            let unused = [interval.idle_bytes[port].at_most, interval.overhead_bytes[port]];
            idle = total([idle, unused[0], unused[1]]);
        }
        dropped.min(idle)
    };
    total((0..spec.ports()).map(of_port))
}

fn peak(polls: &Polls, spec: &SwitchSpec) -> Option<CounterPeak> {
    let is_upper_bound = polls.polls.iter().all(|poll| poll.pool_watermark_bytes.is_none());
    let of_poll = |poll: &super::Poll| {
        let queue = |queue: usize| poll.watermark_bytes.get(queue).copied().flatten();
        let shared = (0..polls.queues.len()).filter(|&queue| is_shared(polls, spec, queue));
        let sum = || shared.map(queue).collect::<Option<Vec<u64>>>().map(total);
        Some((poll.pool_watermark_bytes.or_else(sum)?, poll.time_ns))
    };
    // The first poll's is of a time before it.
    let before = usize::from(polls.polls.len() > 1);
    let all = polls.polls.iter().skip(before).filter_map(of_poll);
    let (bytes, time_ns) =
        all.max_by_key(|&(bytes, time_ns)| (bytes, std::cmp::Reverse(time_ns)))?;
    Some(CounterPeak {
        bytes,
        share: bytes as f64 / f64::from(spec.buffer_bytes),
        is_upper_bound,
        at_ns: time_ns.map(|ns| ns.to_string()),
        at_utc: time_ns.and_then(known_utc),
    })
}

fn of_ports(intervals: &[Interval], polls: &Polls, spec: &SwitchSpec) -> Vec<PortCounters> {
    let of_port = |port: usize| {
        let queues: Vec<usize> =
            (0..polls.queues.len()).filter(|&queue| polls.queues[queue].port == port).collect();
        let name = queues.first().map(|&queue| polls.queues[queue].port_name.clone());
        let mut dropped_bytes = BytesRange { at_least: 0, at_most: 0 };
        let (mut dropped_packets, mut queue_peak_bytes, mut sent_bytes, mut idle) =
            (0_u64, 0, 0_u64, Some(0_u64));
        for interval in intervals {
            sent_bytes = sent_bytes.saturating_add(interval.sent_bytes[port]);
            let is_timed = interval.from_ns.is_some();
            idle = idle
                .filter(|_| is_timed)
                .map(|idle| idle.saturating_add(interval.idle_bytes[port].at_most));
            for &queue in &queues {
                dropped_packets = dropped_packets.saturating_add(interval.dropped_packets[queue]);
                dropped_bytes.add(interval.dropped_bytes[queue]);
                queue_peak_bytes = queue_peak_bytes.max(interval.queue_peak_bytes[queue]);
            }
        }
        let utilisation = idle.map(|idle| (sent_bytes, sent_bytes.saturating_add(idle)));
        let utilisation = utilisation.filter(|(_, could)| *could > 0);
        PortCounters {
            port: name.unwrap_or_else(|| port.to_string()),
            sent_bytes,
            utilisation: utilisation.map(|(sent, could)| sent as f64 / could as f64),
            dropped_packets,
            dropped_bytes,
            queue_peak_bytes,
        }
    };
    (0..spec.ports()).map(of_port).collect()
}

fn dropping(intervals: &[Interval], polls: &Polls, spec: &SwitchSpec) -> (Vec<DroppingQueue>, u64) {
    let buffer = f64::from(spec.buffer_bytes);
    let mut all = Vec::new();
    for interval in intervals {
        for (number, queue) in polls.queues.iter().enumerate() {
            if interval.dropped_packets[number] == 0 {
                continue;
            }
            let free = buffer - interval.pool_peak_bytes as f64;
            all.push(DroppingQueue {
                from_utc: interval.from_ns.and_then(known_utc),
                to_utc: interval.to_ns.and_then(known_utc),
                to_ns: interval.to_ns.map(|ns| ns.to_string()),
                port: queue.port_name.clone(),
                queue: queue.queue_name.clone(),
                dropped_packets: interval.dropped_packets[number],
                dropped_bytes: interval.dropped_bytes[number],
                queue_peak_bytes: interval.queue_peak_bytes[number],
                pool_peak_share: interval.pool_peak_bytes as f64 / buffer,
                least_threshold_bytes: alpha_of(polls, spec, number)
                    .map(|alpha| (alpha * free) as u64),
                is_of_other_cause: interval.is_of_other_cause[number],
            });
        }
    }
    let left_out = all.len().saturating_sub(MOST_DROPS);
    if left_out > 0 {
        let mut places: Vec<usize> = (0..all.len()).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(all[place].dropped_bytes.at_most));
        let mut keep = vec![false; all.len()];
        places.iter().take(MOST_DROPS).for_each(|&place| keep[place] = true);
        let mut kept = keep.iter();
        all.retain(|_| kept.next() == Some(&true));
    }
    (all, left_out as u64)
}

fn cautions(polls: &Polls, spec: &SwitchSpec, ports: &[PortCounters], cleared: u64) -> Vec<String> {
    let mut cautions = Vec::new();
    if polls.polls.len() == 1 {
        cautions.push(
            "There is one poll: counters and watermarks are taken to be cleared at the same time."
                .to_owned(),
        );
    }
    if cleared > 0 {
        cautions.push(format!("Counters went back {cleared} times, these intervals are left out."));
    }
    let has_pool = polls.polls.iter().any(|poll| poll.pool_watermark_bytes.is_some());
    let over = polls.polls.iter().filter_map(|poll| poll.pool_watermark_bytes).max();
    if let Some(over) = over.filter(|&bytes| bytes > u64::from(spec.buffer_bytes)) {
        cautions.push(format!(
            "The pool's watermark is {over} bytes, but the switch description has buffer_bytes {}: one of them is of \
             another pool.",
            spec.buffer_bytes
        ));
    }
    let has_queues =
        polls.polls.iter().any(|poll| poll.watermark_bytes.iter().any(Option::is_some));
    if !has_pool && !has_queues {
        cautions.push("There are no watermarks: the pool may have been full.".to_owned());
    }
    for (number, port) in ports.iter().enumerate() {
        // Up to the wire's overhead, and what polls are late.
        if port.utilisation.is_some_and(|share| share >= 1.0) && port.sent_bytes > 0 {
            cautions.push(format!(
                "Port {} sent as much as it can at {} bps, or more: check its line_rate_bps.",
                port.port, spec.line_rate_bps[number]
            ));
        }
    }
    if let Some(queue) = (0..polls.queues.len()).find(|&queue| !is_shared(polls, spec, queue)) {
        cautions.push(format!(
            "Queues such as {} of port {} are of another pool, by the switch description; their drops are not judged.",
            polls.queues[queue].queue_name, polls.queues[queue].port_name
        ));
    }
    cautions
}
