//! Judges counters.

use super::bounds::OtherPolicies;
use super::bytes_range::{Bounds, Range, total};
use super::coverage::{CounterCoverage, Doubts, Gaps, unknown};
use super::intervals::{Interval, Intervals, Scope};
use super::polls::{Poll, Polls};
use super::report::{
    COUNTERS_SCHEMA_VERSION, CounterConclusion, CounterPeak, CounterReport, PortCounters,
};
use super::totals::Totals;
use crate::wall_clock::known_utc;
use dropcast_data::SwitchSpec;

/// What is counted of the intervals as they pass.
struct IntervalCounts {
    intervals: u64,
    coverage: CounterCoverage,
    gaps: Gaps,
    with_drops: u64,
    of_larger_alpha: u64,
    /// The least alpha that is enough in all intervals, if there is one; `None` if in some nothing is certain.
    larger_alpha: Option<Option<f64>>,
}

impl IntervalCounts {
    fn new(scope: Scope<'_>) -> Self {
        let mut is_counted = vec![false; scope.queues.len()];
        for polled in scope.polls.polls.iter().flat_map(|poll| &poll.queues) {
            is_counted[polled.queue] |= polled.counters.is_some();
        }
        let own = (0..scope.queues.len()).filter_map(|queue| scope.alpha_of(queue));
        IntervalCounts {
            intervals: 0,
            coverage: CounterCoverage {
                queues: scope.queues.len() as u64,
                queues_never_counted: is_counted.iter().filter(|is| !**is).count() as u64,
                ..CounterCoverage::default()
            },
            gaps: Gaps { is_missing: vec![false; is_counted.len()], is_counted, intervals: 0 },
            with_drops: 0,
            of_larger_alpha: 0,
            larger_alpha: Some(Some(own.fold(0.0, f64::max))),
        }
    }

    fn add(&mut self, interval: &Interval, doubts: &Doubts, has_losses: bool) {
        self.intervals += 1;
        let coverage = &mut self.coverage;
        coverage.intervals_covered += u64::from(!interval.is_known.contains(&false));
        coverage.intervals_with_missing_queues += u64::from(interval.is_missing.contains(&true));
        let mut has_gap = false;
        for (queue, &is_missing) in interval.is_missing.iter().enumerate() {
            self.gaps.is_missing[queue] |= is_missing;
            has_gap |= is_missing && self.gaps.is_counted[queue];
        }
        self.gaps.intervals += u64::from(has_gap);
        let has_reset =
            interval.number > 0 && doubts.has_reset(interval.number - 1, interval.number);
        coverage.intervals_with_resets += u64::from(has_reset);
        let missing = doubts.missing_polls(interval.number);
        coverage.intervals_with_missing_polls += u64::from(missing > 0);
        coverage.missing_polls = coverage.missing_polls.saturating_add(missing);
        self.with_drops += u64::from(has_losses);
        self.of_larger_alpha += u64::from(has_losses && interval.nothing_lost_at.is_some());
        self.larger_alpha = self
            .larger_alpha
            .zip(interval.nothing_lost_at)
            .map(|(least, alpha)| least.zip(alpha).map(|(least, alpha)| f64::max(least, alpha)));
    }

    fn conclusion(&self, lost_packets: Range, totals: &Totals<'_>) -> CounterConclusion {
        let is_covered = self.coverage.intervals_covered == self.intervals;
        match self.larger_alpha {
            _ if lost_packets.at_least == 0 && is_covered => CounterConclusion::NothingDropped,
            _ if lost_packets.at_least == 0 => CounterConclusion::NothingCounted,
            _ if !is_covered => CounterConclusion::Undecided,
            _ if totals.losses == totals.losses_of_other_cause => CounterConclusion::OtherCause,
            Some(alpha) => CounterConclusion::LargerAlpha { alpha },
            None => CounterConclusion::Undecided,
        }
    }
}

/// Says what the counters of a switch show of other policies (`docs/counters.md`). Its largest packet takes `mtu_bytes`.
pub fn judge_counters(polls: &Polls, spec: &SwitchSpec, mtu_bytes: u32) -> CounterReport {
    let (queues, doubts) = (polls.all_queues(spec), Doubts::of(polls));
    let scope = Scope { polls, queues: &queues, spec, mtu_bytes, doubts: &doubts };
    let (mut counts, mut totals) = (IntervalCounts::new(scope), Totals::new(scope));
    let mut others = OtherPolicies::new(scope);
    let mut intervals = Intervals::new(scope).peekable();
    while let Some(mut interval) = intervals.next() {
        others.bound(&mut interval, intervals.peek());
        let has_losses = totals.add(&interval);
        counts.add(&interval, &doubts, has_losses);
    }
    let pool = totals.of_pool();
    let ports = totals.ports(counts.intervals);
    let conclusion = counts.conclusion(pool.lost_packets, &totals);
    let is_certain = matches!(conclusion, CounterConclusion::LargerAlpha { .. });
    let saved = Range {
        at_least: if is_certain { pool.lost_bytes.at_least } else { others.saved_at_least() },
        at_most: totals.most_saved(),
    };
    let time = |poll: Option<&Poll>| known_utc(poll?.time_ns?);
    let dropped_of_other_cause = totals.lost_of_other_cause;
    let (drops, drops_left_out) = totals.drops();
    CounterReport {
        schema_version: COUNTERS_SCHEMA_VERSION,
        buffer_bytes: spec.buffer_bytes,
        pool: polls.pool.clone(),
        from_utc: time(polls.polls.first()),
        to_utc: time(polls.polls.last()),
        intervals: counts.intervals,
        unknown: unknown(&counts.coverage, (&queues, &counts.gaps), counts.intervals),
        coverage: counts.coverage,
        intervals_with_drops: counts.with_drops,
        peak: peak(scope),
        sent_bytes: Bounds {
            at_least: total(ports.iter().map(|port| port.sent_bytes.at_least)),
            at_most: ports
                .iter()
                .map(|port| port.sent_bytes.at_most)
                .try_fold(0, |sum, port| port.and_then(|bytes| u64::checked_add(sum, bytes))),
        },
        dropped_packets: pool.dropped_packets.bounds(),
        dropped_bytes: pool.dropped_bytes.bounds(),
        trimmed_packets: pool.trimmed_packets.map(Range::bounds),
        dropped_of_other_cause,
        saved_by_the_best: saved.bounds(),
        intervals_of_larger_alpha: counts.of_larger_alpha,
        conclusion,
        cautions: cautions(scope, &ports),
        ports,
        drops,
        drops_left_out,
    }
}

/// The fullest that the pool was by its watermark, or else the sum of all its queues'.
fn peak(scope: Scope<'_>) -> Option<CounterPeak> {
    let Scope { polls, spec, doubts, .. } = scope;
    let mut fullest: Option<(u64, bool, Option<u64>)> = None;
    let mut intervals_known = 0;
    // The first poll's is of a time before it.
    for (number, poll) in polls.polls.iter().enumerate().skip(scope.first()) {
        let mut of_queue = vec![None; scope.queues.len()];
        poll.queues.iter().for_each(|polled| of_queue[polled.queue] = polled.watermark_bytes);
        let sum: Option<Vec<u64>> = scope.shared().map(|queue| of_queue[queue]).collect();
        let is_upper_bound = poll.pool_watermark_bytes.is_none();
        let Some(bytes) = poll.pool_watermark_bytes.or(sum.map(total)) else { continue };
        intervals_known += u64::from(doubts.is_sound(number));
        if fullest.is_none_or(|(most, ..)| bytes > most) {
            fullest = Some((bytes, is_upper_bound, poll.time_ns));
        }
    }
    fullest.map(|(bytes, is_upper_bound, time_ns)| CounterPeak {
        bytes,
        share: bytes as f64 / f64::from(spec.buffer_bytes),
        intervals_known,
        is_upper_bound,
        at_ns: time_ns.map(|ns| ns.to_string()),
        at_utc: time_ns.and_then(known_utc),
    })
}

fn cautions(scope: Scope<'_>, ports: &[PortCounters]) -> Vec<String> {
    let Scope { polls, spec, queues, .. } = scope;
    let mut cautions = Vec::new();
    if polls.polls.len() == 1 {
        cautions.push(
            "There is one poll: counters and watermarks are taken to be cleared at the same time."
                .to_owned(),
        );
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
    let polled = || polls.polls.iter().flat_map(|poll| &poll.queues);
    if !has_pool && polled().all(|polled| polled.watermark_bytes.is_none()) {
        cautions.push("There are no watermarks: the pool may have been full.".to_owned());
    }
    for (number, port) in ports.iter().enumerate() {
        // Up to the wire's overhead, and what polls are late.
        if port.utilisation.is_some_and(|share| share >= 1.0) && port.sent_bytes.at_least > 0 {
            cautions.push(format!(
                "Port {} sent as much as it can at {} bps, or more: check its line_rate_bps.",
                port.port, spec.line_rate_bps[number]
            ));
        }
    }
    if let Some(queue) = (0..queues.len()).find(|&queue| !scope.is_shared(queue)) {
        cautions.push(format!(
            "Queues such as {} of port {} are of another pool, by the switch description; their drops are not judged.",
            queues[queue].queue_name, queues[queue].port_name
        ));
    }
    cautions
}
