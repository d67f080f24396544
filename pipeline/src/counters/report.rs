//! The verdict on counters: what another alpha or an oracle could have saved of what was dropped.

use super::bytes_range::Bounds;
use super::coverage::CounterCoverage;
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
    /// Of how many intervals the peak is known; in the others the pool may have been fuller.
    pub intervals_known: u64,
    /// Whether it is the sum of the queues' watermarks: the pool held no more, perhaps less.
    pub is_upper_bound: bool,
    /// The poll that shows it, since 1970 or another origin.
    pub at_ns: Option<String>,
    /// The same in UTC.
    pub at_utc: Option<String>,
}

/// What follows from the counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CounterConclusion {
    /// Nothing was dropped: no policy could have transmitted more. Every queue has counters at both ends of every interval.
    NothingDropped,
    /// No drop was counted, but counters are not known of all queues and intervals: nothing follows.
    NothingCounted,
    /// All packets were lost while their queues were below their thresholds and the pool had room.
    OtherCause,
    /// Dynamic Thresholds with this alpha would have lost none of these packets, so no oracle could have gained more;
    /// Complete Sharing where `alpha` is null.
    LargerAlpha {
        /// The least power of two of which it is certain.
        alpha: Option<f64>,
    },
    /// How much of what was dropped another alpha or an oracle saves depends on when packets arrived.
    Undecided,
}

/// Losses of a queue between two of its readings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DroppingQueue {
    /// When it was read before, in UTC.
    pub from_utc: Option<String>,
    /// When the reading that shows it was made, in UTC.
    pub to_utc: Option<String>,
    /// The same, nanoseconds.
    pub to_ns: Option<String>,
    /// The port as the file names it.
    pub port: String,
    /// The queue as the file names it.
    pub queue: String,
    /// Packets dropped; at least so many where counters may have been reset or polls are missing.
    pub dropped_packets: Bounds,
    /// Bytes dropped.
    pub dropped_bytes: Bounds,
    /// Packets cut to their headers; null if the file does not count them.
    pub trimmed_packets: Option<Bounds>,
    /// The most bytes that the queue can have held; null if watermarks do not tell.
    pub queue_peak_bytes: Option<u64>,
    /// The most that the pool can have held, of the buffer; null if watermarks do not tell.
    pub pool_peak_share: Option<f64>,
    /// The lowest that its threshold can have been, bytes; null if the description has no alpha, or the pool's peak is not
    /// known.
    pub least_threshold_bytes: Option<u64>,
    /// Whether neither threshold nor pool can have been the cause.
    pub is_of_other_cause: bool,
}

/// All counters of a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortCounters {
    /// The port as the file names it.
    pub port: String,
    /// Intervals in which the counters of all its queues are known.
    pub intervals_covered: u64,
    /// Bytes sent.
    pub sent_bytes: Bounds,
    /// Of what it could have sent in this time; null if that, or what it sent, is not known.
    pub utilisation: Option<f64>,
    /// Packets dropped.
    pub dropped_packets: Bounds,
    /// Bytes dropped.
    pub dropped_bytes: Bounds,
    /// Packets cut to their headers; null if the file does not count them.
    pub trimmed_packets: Option<Bounds>,
    /// The most bytes that one of its queues can have held; null if watermarks do not tell of all times.
    pub queue_peak_bytes: Option<u64>,
}

/// What counters tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterReport {
    /// 2.
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
    /// Of how many of these, and of which queues, counters are known.
    pub coverage: CounterCoverage,
    /// What is not known, why, and how to get it: sentences.
    pub unknown: Vec<String>,
    /// Intervals in which something was dropped or trimmed; a loss since an earlier poll than the last counts at its end.
    pub intervals_with_drops: u64,
    /// The fullest that the pool was; null without watermarks.
    pub peak: Option<CounterPeak>,
    /// Bytes sent.
    pub sent_bytes: Bounds,
    /// Packets dropped from the pool's queues.
    pub dropped_packets: Bounds,
    /// The same in bytes.
    pub dropped_bytes: Bounds,
    /// Packets of the pool's queues that were cut to their headers; null if the file does not count them. Some switches count
    /// them as dropped, too.
    pub trimmed_packets: Option<Bounds>,
    /// Packets dropped or trimmed, at least, that neither threshold nor pool can have dropped.
    pub dropped_of_other_cause: u64,
    /// Bytes of what was dropped or trimmed that the best policy transmits.
    pub saved_by_the_best: Bounds,
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
