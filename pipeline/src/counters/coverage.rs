//! For which queues and times counters show anything: those that have both ends, without a reset and without a poll missing.

use super::polls::{Polls, QueueId, Reading, missing_polls};
use serde::Serialize;
use std::collections::BTreeMap;

/// Ports that a sentence names.
const NAMED: usize = 8;

/// For how many of the times between polls the counters of all queues are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CounterCoverage {
    /// Queues of the switch description, and others that the file has.
    pub queues: u64,
    /// Queues of these that no poll has.
    pub queues_never_counted: u64,
    /// Intervals in which every queue has counters at both ends, none went back and no poll is missing.
    pub intervals_covered: u64,
    /// Intervals in which a queue has no counters at one end or both.
    pub intervals_with_missing_queues: u64,
    /// Intervals in which a counter went back: all counters may have begun again.
    pub intervals_with_resets: u64,
    /// Intervals more than one and a half times as long as usual.
    pub intervals_with_missing_polls: u64,
    /// Polls that are missing there, by the usual time from one poll to the next.
    pub missing_polls: u64,
}

/// What is wrong with each interval as a whole.
pub(super) struct Doubts {
    /// Of each poll: whether a counter may have gone back in the time before it.
    has_reset: Vec<bool>,
    /// Of each poll: how many polls are missing before it.
    missing_polls: Vec<u64>,
}

impl Doubts {
    /// Looks for resets and missing polls.
    pub(super) fn of(polls: &Polls) -> Self {
        let count = polls.polls.len();
        // By how many queues each interval is in doubt, as differences.
        let mut resets = vec![0_i64; count + 1];
        let mut before: Vec<Option<(usize, Reading)>> = vec![None; polls.queues.len()];
        for (number, poll) in polls.polls.iter().enumerate() {
            for polled in &poll.queues {
                let Some(now) = polled.counters else { continue };
                if let Some((from, old)) = before[polled.queue].replace((number, now))
                    && grown(old, now).is_none()
                {
                    resets[from + 1] += 1;
                    resets[number + 1] -= 1;
                }
            }
        }
        let mut open = 0;
        let has_reset = resets[..count].iter().map(|change| {
            open += change;
            open > 0
        });
        let has_reset = has_reset.collect();
        let usual_ns = polls.usual_ns();
        let missing_before = |number: usize| {
            let from_ns = number.checked_sub(1).and_then(|before| polls.polls[before].time_ns);
            let between_ns = from_ns.zip(polls.polls[number].time_ns);
            between_ns.map_or(0, |(from, to)| missing_polls(to.saturating_sub(from), usual_ns))
        };
        Doubts { has_reset, missing_polls: (0..count).map(missing_before).collect() }
    }

    /// Whether a counter may have gone back in one of the times between these polls.
    pub(super) fn has_reset(&self, from: usize, to: usize) -> bool {
        self.has_reset[from + 1..=to].contains(&true)
    }

    /// Polls that are missing before this one.
    pub(super) fn missing_polls(&self, number: usize) -> u64 {
        self.missing_polls[number]
    }

    /// Whether the time before a poll is like others.
    pub(super) fn is_sound(&self, number: usize) -> bool {
        !self.has_reset[number] && self.missing_polls[number] == 0
    }
}

/// How counters have grown; `None` if one of them went back.
pub(super) fn grown(old: Reading, new: Reading) -> Option<Reading> {
    let optional = |old: Option<u64>, new: Option<u64>| match (old, new) {
        (Some(old), Some(new)) => new.checked_sub(old).map(Some),
        _ => Some(None),
    };
    Some(Reading {
        sent_bytes: new.sent_bytes.checked_sub(old.sent_bytes)?,
        sent_packets: optional(old.sent_packets, new.sent_packets)?,
        dropped_packets: new.dropped_packets.checked_sub(old.dropped_packets)?,
        dropped_bytes: optional(old.dropped_bytes, new.dropped_bytes)?,
        trimmed_packets: optional(old.trimmed_packets, new.trimmed_packets)?,
    })
}

/// Where counters of queues are missing.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// Of each queue: whether any poll has it.
    pub(super) is_counted: Vec<bool>,
    /// Of each queue: whether it has no counters at an end of an interval.
    pub(super) is_missing: Vec<bool>,
    /// Intervals in which a queue is missing that other polls have.
    pub(super) intervals: u64,
}

/// What is not known, why, and how to get it: sentences.
pub(super) fn unknown(
    coverage: &CounterCoverage,
    (queues, gaps): (&[QueueId], &Gaps),
    intervals: u64,
) -> Vec<String> {
    let mut sentences = Vec::new();
    if coverage.queues_never_counted > 0 {
        sentences.push(format!(
            "{} of {} queues have no counters in any poll, at {}: save those of every queue of the switch description, also \
             where they are 0, or describe only the queues in use.",
            coverage.queues_never_counted,
            coverage.queues,
            ports_with(queues, &|queue| !gaps.is_counted[queue])
        ));
    }
    if gaps.intervals > 0 {
        sentences.push(format!(
            "In {} of {intervals} intervals counters are missing at one end or both, at {}: read all queues in each poll.",
            gaps.intervals,
            ports_with(queues, &|queue| gaps.is_counted[queue] && gaps.is_missing[queue])
        ));
    }
    if coverage.intervals_with_resets > 0 {
        sentences.push(format!(
            "In {} of {intervals} intervals a counter went back, as after a reboot: what was counted there before is lost; \
             poll once more before counters are cleared.",
            coverage.intervals_with_resets
        ));
    }
    if coverage.intervals_with_missing_polls > 0 {
        sentences.push(format!(
            "{} of {intervals} intervals are more than 1.5 times as long as usual, polls are missing there (about {}): a reset \
             or a peak between them does not show; poll at even times.",
            coverage.intervals_with_missing_polls, coverage.missing_polls
        ));
    }
    sentences
}

/// The ports of some queues, in words.
fn ports_with(queues: &[QueueId], is_meant: &dyn Fn(usize) -> bool) -> String {
    let ports: BTreeMap<usize, &str> = (0..queues.len())
        .filter(|&queue| is_meant(queue))
        .map(|queue| (queues[queue].port, &*queues[queue].port_name))
        .collect();
    let named: Vec<&str> = ports.values().copied().take(NAMED).collect();
    let word = if ports.len() == 1 { "port" } else { "ports" };
    let more = match ports.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", named.join(", "))
}
