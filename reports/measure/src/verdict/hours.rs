//! Drops of all traces together, by the hour.

use super::drop_counts::{Counted, DropCounts, Tally};
use dropcast_pipeline::wall_clock::known_utc;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const HOUR_NS: u64 = 3_600_000_000_000;
/// Rows of a verdict, at most: ten days of hours.
const MOST_ROWS: usize = 240;

/// An hour in which packets arrive, over all traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourSection {
    /// When it begins, nanoseconds: a whole hour of UTC where times are since 1970.
    #[serde(with = "dropcast_pipeline::exact_times")]
    pub begin_ns: u64,
    /// The same in UTC (RFC 3339); null where times are not since 1970.
    pub begin_utc: Option<String>,
    /// How long it is, hours: 1, or 2, 4 .. where there are too many.
    pub hours: u64,
    /// Its packets.
    pub counts: DropCounts,
}

/// Hours in which packets arrive, in any order; twice as long whenever there are too many.
pub(super) struct Hours {
    width: u64,
    /// By number: how many widths after the beginning of time.
    rows: BTreeMap<u64, Tally>,
}

impl Default for Hours {
    fn default() -> Self {
        Hours { width: 1, rows: BTreeMap::new() }
    }
}

impl Hours {
    pub(super) fn add(&mut self, time_ns: u64, packet: &Counted) {
        self.rows.entry(time_ns / HOUR_NS / self.width).or_default().add(packet);
        while self.rows.len() > MOST_ROWS {
            self.width *= 2;
            for (number, tally) in std::mem::take(&mut self.rows) {
                self.rows.entry(number / 2).or_default().merge(&tally);
            }
        }
    }

    /// With the counts of the best alpha, by its number.
    pub(super) fn sections(&self, best_alpha: Option<usize>) -> Vec<HourSection> {
        let section = |(number, tally): (&u64, &Tally)| {
            let begin_ns = number * self.width * HOUR_NS;
            HourSection {
                begin_ns,
                begin_utc: known_utc(begin_ns),
                hours: self.width,
                counts: tally.counts(best_alpha),
            }
        };
        self.rows.iter().map(section).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However many hours are merged, each packet is in the row of its time.
        #[test]
        fn each_packet_is_in_the_row_of_its_time(
            packets in prop::collection::vec((0..5_000 * HOUR_NS, 1u32..9, any::<bool>()), 1..600),
        ) {
            let mut hours = Hours::default();
            for &(time_ns, size_bytes, by_own) in &packets {
                let packet = Counted {
                    size_bytes,
                    by_own,
                    by_lqd: false,
                    by_alphas: 0,
                    by_real: None,
                    marked: None,
                    predicted: None,
                };
                hours.add(time_ns, &packet);
            }
            let sections = hours.sections(Some(0));
            prop_assert!(sections.len() <= MOST_ROWS);
            prop_assert!(sections.is_sorted_by(|one, next| one.begin_ns < next.begin_ns));
            for row in &sections {
                let span = row.begin_ns..row.begin_ns + row.hours * HOUR_NS;
                let inside = || packets.iter().filter(|packet| span.contains(&packet.0));
                prop_assert_eq!(inside().count() as u64, row.counts.arrived.packets);
                prop_assert!(row.counts.arrived.packets > 0);
                let own: u64 = inside().filter(|packet| packet.2).map(|packet| u64::from(packet.1)).sum();
                prop_assert_eq!(own, row.counts.own.bytes);
            }
            let arrived: u64 = sections.iter().map(|row| row.counts.arrived.packets).sum();
            prop_assert_eq!(arrived, packets.len() as u64);
        }
    }
}
