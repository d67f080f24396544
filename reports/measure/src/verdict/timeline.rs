//! Drops and occupancy over time, in a bounded number of bins.

use super::drop_counts::{Counted, DropCounts, Tally};
use dropcast_pipeline::wall_clock::known_utc;
use dropcast_replay::Sent;
use serde::{Deserialize, Serialize};

/// Bins of a timeline, at most.
const MOST_BINS: usize = 240;

/// Occupancy and drops by time of arrival, one value for each bin in every column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineSection {
    /// Time at which the first bin begins, nanoseconds.
    #[serde(with = "dropcast_pipeline::exact_times")]
    pub begin_ns: u64,
    /// The same in UTC (RFC 3339); null where times are not since 1970.
    #[serde(default)]
    pub begin_utc: Option<String>,
    /// How long a bin is, nanoseconds.
    pub bin_ns: u64,
    /// Arrivals, packets.
    pub arrived_packets: Vec<u64>,
    /// Highest occupancy of LQD's buffer that an arrival met, as a share of the buffer, of the fullest
    /// switch; null in bins without arrivals.
    pub peak_occupancy: Vec<Option<f64>>,
    /// What LQD drops, packets.
    pub lqd_packets: Vec<u64>,
    /// What LQD drops, bytes.
    pub lqd_bytes: Vec<u64>,
    /// What the switch's own policy drops, packets.
    pub own_packets: Vec<u64>,
    /// The same, bytes.
    pub own_bytes: Vec<u64>,
    /// What the best alpha drops, packets; null if none was replayed.
    pub best_alpha_packets: Option<Vec<u64>>,
    /// The same, bytes.
    pub best_alpha_bytes: Option<Vec<u64>>,
    /// What the real switch dropped; null if the trace has no real drops.
    pub real: Option<RealTimeline>,
    /// Packets that the model predicts wrongly; null without a model.
    pub errors: Option<ErrorTimeline>,
}

/// Real drops by time of arrival.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RealTimeline {
    /// What the real switch dropped, packets.
    pub packets: Vec<u64>,
    /// The same, bytes.
    pub bytes: Vec<u64>,
    /// Of which LQD would have transmitted, packets.
    pub only_real_packets: Vec<u64>,
    /// The same, bytes.
    pub only_real_bytes: Vec<u64>,
    /// What LQD drops and the real switch did not, packets.
    pub only_lqd_packets: Vec<u64>,
    /// The same, bytes.
    pub only_lqd_bytes: Vec<u64>,
}

/// Wrong predictions by time of arrival, packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorTimeline {
    /// Predicted as drops, but LQD transmits them.
    pub false_positives: Vec<u64>,
    /// Not predicted, but LQD drops them.
    pub false_negatives: Vec<u64>,
}

/// One bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    tally: Tally,
    /// Per mille of the buffer.
    peak_permille: u32,
}

/// Bins that grow: twice as long whenever there would be too many.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    begin_ns: u64,
    bin_ns: u64,
    bins: Vec<Bin>,
}

impl Bin {
    pub(super) fn add(&mut self, packet: &Counted, permille: u32) {
        self.tally.add(packet);
        self.peak_permille = self.peak_permille.max(permille);
    }

    fn merge(&mut self, other: &Bin) {
        self.tally.merge(&other.tally);
        self.peak_permille = self.peak_permille.max(other.peak_permille);
    }
}

impl Timeline {
    pub(super) fn new(begin_ns: u64, bin_ns: u64) -> Self {
        Timeline { begin_ns, bin_ns: bin_ns.max(1), bins: Vec::new() }
    }

    /// The bin of a time, which is not before the beginning.
    pub(super) fn at(&mut self, time_ns: u64) -> &mut Bin {
        let since_ns = time_ns.saturating_sub(self.begin_ns);
        while since_ns / self.bin_ns >= MOST_BINS as u64 {
            self.bin_ns = self.bin_ns.saturating_mul(2);
            let pairs = self.bins.chunks(2).map(|pair| {
                let mut first = pair[0];
                pair[1..].iter().for_each(|second| first.merge(second));
                first
            });
            self.bins = pairs.collect();
        }
        let at = usize::try_from(since_ns / self.bin_ns).expect("fewer than the most bins");
        if self.bins.len() <= at {
            self.bins.resize(at + 1, Bin::default());
        }
        &mut self.bins[at]
    }

    /// Adds a bin that another timeline had at this time.
    pub(super) fn merge_at(&mut self, time_ns: u64, bin: &Bin) {
        self.at(time_ns).merge(bin);
    }

    /// With the counts of the best alpha, by its number.
    pub(super) fn section(&self, best_alpha: Option<usize>) -> TimelineSection {
        let all: Vec<DropCounts> =
            self.bins.iter().map(|bin| bin.tally.counts(best_alpha)).collect();
        let mut sum = DropCounts::default();
        all.iter().for_each(|counts| sum.merge(counts));
        let counts = || all.iter();
        let sent = |of: fn(&DropCounts) -> Option<Sent>, unit: fn(Sent) -> u64| -> Vec<u64> {
            counts().map(|counts| of(counts).map_or(0, unit)).collect()
        };
        let (packets, bytes) = (|sent: Sent| sent.packets, |sent: Sent| sent.bytes);
        let wrong = |of: fn(&dropcast_forest::Confusion) -> u64| -> Vec<u64> {
            counts().map(|counts| counts.confusion.as_ref().map_or(0, of)).collect()
        };
        let share = |(bin, counts): (&Bin, &DropCounts)| {
            let has_arrivals = counts.arrived.packets > 0;
            has_arrivals.then(|| f64::from(bin.peak_permille) / 1_000.0)
        };
        TimelineSection {
            begin_ns: self.begin_ns,
            begin_utc: known_utc(self.begin_ns),
            bin_ns: self.bin_ns,
            arrived_packets: counts().map(|counts| counts.arrived.packets).collect(),
            peak_occupancy: self.bins.iter().zip(&all).map(share).collect(),
            lqd_packets: counts().map(|counts| counts.lqd.packets).collect(),
            lqd_bytes: counts().map(|counts| counts.lqd.bytes).collect(),
            own_packets: counts().map(|counts| counts.own.packets).collect(),
            own_bytes: counts().map(|counts| counts.own.bytes).collect(),
            best_alpha_packets: best_alpha.map(|_| sent(|counts| counts.best_alpha, packets)),
            best_alpha_bytes: best_alpha.map(|_| sent(|counts| counts.best_alpha, bytes)),
            real: sum.real.map(|_| RealTimeline {
                packets: sent(|counts| counts.real, packets),
                bytes: sent(|counts| counts.real, bytes),
                only_real_packets: sent(|counts| counts.only_real, packets),
                only_real_bytes: sent(|counts| counts.only_real, bytes),
                only_lqd_packets: sent(|counts| counts.only_lqd, packets),
                only_lqd_bytes: sent(|counts| counts.only_lqd, bytes),
            }),
            errors: sum.confusion.map(|_| ErrorTimeline {
                false_positives: wrong(|confusion| confusion.fp),
                false_negatives: wrong(|confusion| confusion.fn_),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However many bins are merged, each packet is in the bin of its time.
        #[test]
        fn each_packet_is_in_the_bin_of_its_time(
            steps in prop::collection::vec((0u64..900, 1u32..9, any::<bool>(), 0u32..1_001), 1..200),
            begin_ns in 0u64..50,
        ) {
            let mut timeline = Timeline::new(begin_ns, 3);
            let mut time_ns = begin_ns;
            let mut arrivals = Vec::new();
            for (step, size_bytes, by_lqd, permille) in steps {
                time_ns += step;
                let packet = Counted {
                    size_bytes,
                    by_lqd,
                    by_own: !by_lqd,
                    by_alphas: if by_lqd { 0b101 } else { 0b100 },
                    by_real: None,
                    marked: None,
                    predicted: Some(true),
                };
                timeline.at(time_ns).add(&packet, permille);
                arrivals.push((time_ns, size_bytes, by_lqd, permille));
            }
            let section = timeline.section(Some(2));
            prop_assert!(section.arrived_packets.len() <= MOST_BINS);
            for (at, &arrived) in section.arrived_packets.iter().enumerate() {
                let from = section.begin_ns + at as u64 * section.bin_ns;
                let inside = || arrivals.iter().filter(|a| (from..from + section.bin_ns).contains(&a.0));
                prop_assert_eq!(inside().count() as u64, arrived);
                let lqd = || inside().filter(|arrival| arrival.2);
                prop_assert_eq!(lqd().count() as u64, section.lqd_packets[at]);
                prop_assert_eq!(lqd().map(|a| u64::from(a.1)).sum::<u64>(), section.lqd_bytes[at]);
                let peak = inside().map(|arrival| f64::from(arrival.3) / 1_000.0).reduce(f64::max);
                prop_assert_eq!(peak, section.peak_occupancy[at]);
                let errors = section.errors.as_ref().expect("a model predicts");
                prop_assert_eq!(errors.false_positives[at], arrived - section.lqd_packets[at]);
                prop_assert_eq!(section.own_packets[at], arrived - section.lqd_packets[at]);
                let best = section.best_alpha_packets.as_ref().expect("there is one");
                prop_assert_eq!(best[at], arrived);
            }
            prop_assert_eq!(section.arrived_packets.iter().sum::<u64>(), arrivals.len() as u64);
            prop_assert!(section.real.is_none());
            let of_first = timeline.section(Some(0));
            prop_assert_eq!(of_first.best_alpha_packets, Some(section.lqd_packets));
            prop_assert_eq!(of_first.best_alpha_bytes, Some(section.lqd_bytes));
            prop_assert_eq!(timeline.section(None).best_alpha_packets, None);
        }
    }
}
