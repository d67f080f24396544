//! What was counted of each queue from its first reading to its last.

use super::bytes_range::{Range, total};
use super::coverage::grown;
use super::intervals::{Interval, Scope};
use super::polls::{Polls, QueueId, Reading};
use super::report::{DroppingQueue, PortCounters};
use crate::wall_clock::known_utc;
use std::cmp::Reverse;

/// Most entries of [`DroppingQueue`].
const MOST_DROPS: usize = 4_096;

/// What was counted of a queue, or of several.
#[derive(Clone, Copy, Default)]
pub(super) struct Total {
    pub(super) sent_bytes: Range,
    pub(super) dropped_packets: Range,
    pub(super) dropped_bytes: Range,
    /// If the file counts them.
    pub(super) trimmed_packets: Option<Range>,
    pub(super) lost_packets: Range,
    pub(super) lost_bytes: Range,
}

impl Total {
    fn of(grown: &Reading, scope: Scope<'_>, is_known: bool) -> Self {
        let (lost_packets, lost_bytes) = scope.lost(grown);
        let all = Total {
            sent_bytes: Range::exactly(grown.sent_bytes),
            dropped_packets: Range::exactly(grown.dropped_packets),
            dropped_bytes: scope.dropped_bytes(grown),
            trimmed_packets: grown.trimmed_packets.map(Range::exactly),
            lost_packets,
            lost_bytes,
        };
        if is_known { all } else { all.or_more() }
    }

    /// Only what is certainly so many.
    pub(super) fn or_more(self) -> Self {
        Total {
            sent_bytes: self.sent_bytes.or_more(),
            dropped_packets: self.dropped_packets.or_more(),
            dropped_bytes: self.dropped_bytes.or_more(),
            trimmed_packets: self.trimmed_packets.map(Range::or_more),
            lost_packets: self.lost_packets.or_more(),
            lost_bytes: self.lost_bytes.or_more(),
        }
    }

    pub(super) fn add(&mut self, other: &Total) {
        self.sent_bytes.add(other.sent_bytes);
        self.dropped_packets.add(other.dropped_packets);
        self.dropped_bytes.add(other.dropped_bytes);
        if let Some(trimmed) = other.trimmed_packets {
            self.trimmed_packets.get_or_insert_default().add(trimmed);
        }
        self.lost_packets.add(other.lost_packets);
        self.lost_bytes.add(other.lost_bytes);
    }
}

/// What all intervals came to, of each queue and port.
pub(super) struct Totals<'a> {
    scope: Scope<'a>,
    before: Vec<Option<(usize, Reading)>>,
    /// Of each queue.
    pub(super) of_queue: Vec<Total>,
    /// Of each port: intervals in which its queues are known.
    covered: Vec<u64>,
    /// Of each port: what it could have sent, and what its packets took beside their bytes, at most.
    idle_bytes: Vec<u64>,
    overhead_bytes: Vec<u64>,
    /// Of each port: the longest that one of its queues can have been; `None` where watermarks do not show it.
    peak_bytes: Vec<Option<u64>>,
    /// Losses between readings: that of one queue each.
    drops: Vec<DroppingQueue>,
    drops_left_out: u64,
    /// Losses of the pool's queues, and how many of these have another cause.
    pub(super) losses: u64,
    pub(super) losses_of_other_cause: u64,
    /// Packets of these, at least.
    pub(super) lost_of_other_cause: u64,
}

impl<'a> Totals<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Self {
        let ports = scope.spec.ports();
        let mut before = vec![None; scope.queues.len()];
        if scope.first() > 0 {
            for polled in &scope.polls.polls[0].queues {
                before[polled.queue] = polled.counters.map(|reading| (0, reading));
            }
        }
        Totals {
            scope,
            before,
            of_queue: vec![Total::default(); scope.queues.len()],
            covered: vec![0; ports],
            idle_bytes: vec![0; ports],
            overhead_bytes: vec![0; ports],
            peak_bytes: vec![Some(0); ports],
            drops: Vec::new(),
            drops_left_out: 0,
            losses: 0,
            losses_of_other_cause: 0,
            lost_of_other_cause: 0,
        }
    }

    /// Adds an interval; says whether its last poll has losses from the pool.
    pub(super) fn add(&mut self, interval: &Interval) -> bool {
        let Scope { queues, spec, polls, doubts, .. } = self.scope;
        let mut is_covered = vec![true; spec.ports()];
        for (number, queue) in queues.iter().enumerate() {
            is_covered[queue.port] &= interval.is_known[number];
            let peak = interval.has_peak[number].then_some(interval.queue_peak_bytes[number]);
            let most = &mut self.peak_bytes[queue.port];
            *most = most.zip(peak).map(|(most, peak)| most.max(peak));
            if !interval.is_known[number] {
                self.of_queue[number] = self.of_queue[number].or_more();
            }
        }
        for (port, is_covered) in is_covered.into_iter().enumerate() {
            self.covered[port] += u64::from(is_covered);
            let sums = [&mut self.idle_bytes[port], &mut self.overhead_bytes[port]];
            let more = [interval.idle_bytes[port].at_most, interval.overhead_bytes[port]];
            sums.into_iter().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
        let mut has_losses = false;
        for polled in &polls.polls[interval.number].queues {
            let (queue, Some(now)) = (polled.queue, polled.counters) else { continue };
            let before = self.before[queue].replace((interval.number, now));
            let (from, old) = match before {
                Some((from, old)) => (Some(from), old),
                None if self.scope.first() == 0 => (None, Reading::CLEARED),
                None => continue,
            };
            // After a reset at least what was counted since.
            let grown = grown(old, now).unwrap_or(now);
            let is_known = interval.is_known[queue];
            debug_assert!(
                !is_known || !from.is_some_and(|from| doubts.has_reset(from, interval.number))
            );
            let total = Total::of(&grown, self.scope, is_known);
            self.of_queue[queue].add(&total);
            if total.lost_packets.at_least > 0 {
                has_losses |= self.scope.is_shared(queue);
                self.lose(interval, queue, from, &total);
            }
        }
        has_losses
    }

    fn lose(&mut self, interval: &Interval, queue: usize, from: Option<usize>, total: &Total) {
        let polls = &self.scope.polls.polls;
        let is_of_other_cause = interval.is_of_other_cause[queue];
        if self.scope.is_shared(queue) {
            self.losses += 1;
            self.losses_of_other_cause += u64::from(is_of_other_cause);
            if is_of_other_cause {
                let lost = total.lost_packets.at_least;
                self.lost_of_other_cause = self.lost_of_other_cause.saturating_add(lost);
            }
        }
        let buffer = f64::from(self.scope.spec.buffer_bytes);
        let pool_peak = interval.pool_peak_bytes;
        // What watermarks show is of the last interval only.
        let is_known = interval.is_known[queue];
        let to_ns = polls[interval.number].time_ns;
        let id = &self.scope.queues[queue];
        self.drops.push(DroppingQueue {
            from_utc: from.and_then(|from| known_utc(polls[from].time_ns?)),
            to_utc: to_ns.and_then(known_utc),
            to_ns: to_ns.map(|ns| ns.to_string()),
            port: id.port_name.clone(),
            queue: id.queue_name.clone(),
            dropped_packets: total.dropped_packets.bounds(),
            dropped_bytes: total.dropped_bytes.bounds(),
            trimmed_packets: total.trimmed_packets.map(Range::bounds),
            queue_peak_bytes: (is_known && interval.has_peak[queue])
                .then_some(interval.queue_peak_bytes[queue]),
            pool_peak_share: (is_known && interval.has_pool_peak)
                .then_some(pool_peak as f64 / buffer),
            least_threshold_bytes: self
                .scope
                .alpha_of(queue)
                .filter(|_| is_known && interval.has_pool_peak)
                .map(|alpha| (alpha * (buffer - pool_peak as f64)) as u64),
            is_of_other_cause,
        });
        if self.drops.len() >= 2 * MOST_DROPS {
            self.keep_the_largest();
        }
    }

    /// Keeps the [`MOST_DROPS`] with the most bytes, in order of time.
    fn keep_the_largest(&mut self) {
        let left_out = self.drops.len().saturating_sub(MOST_DROPS);
        if left_out == 0 {
            return;
        }
        self.drops_left_out += left_out as u64;
        let mut places: Vec<usize> = (0..self.drops.len()).collect();
        places.sort_by_key(|&place| {
            let bytes = self.drops[place].dropped_bytes;
            Reverse(bytes.at_most.unwrap_or(bytes.at_least))
        });
        let mut keep = vec![false; self.drops.len()];
        places.iter().take(MOST_DROPS).for_each(|&place| keep[place] = true);
        let mut kept = keep.iter();
        self.drops.retain(|_| kept.next() == Some(&true));
    }

    /// The losses with the most bytes, and how many others there are.
    pub(super) fn drops(mut self) -> (Vec<DroppingQueue>, u64) {
        self.keep_the_largest();
        (self.drops, self.drops_left_out)
    }

    /// Of the pool's queues.
    pub(super) fn of_pool(&self) -> Total {
        let mut all = Total::default();
        self.scope.shared().for_each(|queue| all.add(&self.of_queue[queue]));
        all
    }

    /// No port sends more than it has time for, or than was lost there.
    pub(super) fn most_saved(&self) -> u64 {
        let buffer = u64::from(self.scope.spec.buffer_bytes);
        let of_port = |port: usize| {
            let at_port =
                self.scope.shared().filter(|&queue| self.scope.queues[queue].port == port);
            let lost = total(at_port.map(|queue| self.of_queue[queue].lost_bytes.at_most));
            // Larger packets take less beside their bytes.
            lost.min(total([buffer, self.idle_bytes[port], self.overhead_bytes[port]]))
        };
        total((0..self.scope.spec.ports()).map(of_port))
    }

    /// The ports.
    pub(super) fn ports(&self, intervals: u64) -> Vec<PortCounters> {
        let of_port = |port: usize| {
            let at_port = |&queue: &usize| self.scope.queues[queue].port == port;
            let queues: Vec<usize> = (0..self.scope.queues.len()).filter(at_port).collect();
            let mut all = Total::default();
            queues.iter().for_each(|&queue| all.add(&self.of_queue[queue]));
            let sent = all.sent_bytes.at_least;
            let is_covered = self.covered[port] == intervals && is_timed(self.scope.polls);
            let could = sent.saturating_add(self.idle_bytes[port]);
            let name = queues.first().map(|&queue: &usize| name_of(&self.scope.queues[queue]));
            PortCounters {
                port: name.unwrap_or_else(|| port.to_string()),
                intervals_covered: self.covered[port],
                sent_bytes: all.sent_bytes.bounds(),
                utilisation: (is_covered && could > 0).then(|| sent as f64 / could as f64),
                dropped_packets: all.dropped_packets.bounds(),
                dropped_bytes: all.dropped_bytes.bounds(),
                trimmed_packets: all.trimmed_packets.map(Range::bounds),
                queue_peak_bytes: self.peak_bytes[port],
            }
        };
        (0..self.scope.spec.ports()).map(of_port).collect()
    }
}

fn name_of(queue: &QueueId) -> String {
    queue.port_name.clone()
}

/// Whether it is known how long the intervals are.
fn is_timed(polls: &Polls) -> bool {
    polls.polls.len() > 1 && polls.polls.iter().all(|poll| poll.time_ns.is_some())
}
