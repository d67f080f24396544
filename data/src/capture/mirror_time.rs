//! When a switch mirrored a packet, by the time stamp of ERSPAN III (draft-foschiano-erspan-03, section 4.3).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Nanoseconds of a count of [`MirrorStamp::Counter`].
const COUNT_NS: i128 = 100;
/// Nanoseconds in a second.
const SECOND_NS: i128 = 1_000_000_000;
/// How far clocks of switches may be from that of the capture where they count from 1970: PTP counts leap seconds.
const MOST_APART_NS: u64 = 86_400_000_000_000;
/// By how much the time between a mirrored packet and its capture may change.
const MOST_JUMP_NS: i128 = SECOND_NS;

/// A time stamp, on the clock of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MirrorStamp {
    /// Counts of 100 ns, from an origin of its own, modulo 2^32.
    Counter(u32),
    /// IEEE 1588, with what the subheader adds: seconds and nanoseconds, or the upper and lower half of nanoseconds.
    Whole {
        /// Of the subheader.
        upper: u32,
        /// Of the header.
        lower: u32,
    },
}

impl MirrorStamp {
    /// The stamp of a header of type III, with its subheader; none if it is of 100 us, which is too coarse to show which of
    /// two packets came first, or in units that are not known.
    pub(super) fn of(header: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            header.get(at..at + 4)?.first_chunk::<4>().map(|word| u32::from_be_bytes(*word))
        };
        let lower = word(4)?;
        let flags = header.get(11)?;
        match (flags >> 1 & 3, flags & 1 == 1) {
            (1, _) => Some(MirrorStamp::Counter(lower)),
            // Platforms whose subheader has no time: 1, 4, and those that are reserved.
            (2, true) if [0, 3, 5, 6, 7].contains(&(word(12)? >> 26)) => {
                Some(MirrorStamp::Whole { upper: word(16)?, lower })
            }
            _ => None,
        }
    }
}

/// A stamp, and who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MirrorTime {
    pub(crate) stamp: MirrorStamp,
    /// The switch, as the sender of the mirrored packets.
    pub(crate) switch: IpAddr,
}

/// The clocks of switches that mirror, as captures show them. Captures that are merged share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct MirrorClocks(Arc<Mutex<Clocks>>);

#[derive(Debug, Default)]
struct Clocks {
    counters: BTreeMap<IpAddr, Counter>,
    /// What clocks that count from 1970 differ from that of the capture, in whole seconds.
    ahead_ns: Option<i128>,
    /// By switch: how long the last packet was on its way.
    delays_ns: BTreeMap<IpAddr, i128>,
}

/// Of a switch, its last stamp.
#[derive(Debug)]
struct Counter {
    /// As many counts of 2^32 on as it wrapped.
    counts: i128,
    captured_ns: u64,
    /// What to add to its counts for the time since 1970: that of the capture of its first packet.
    origin_ns: i128,
}

/// A stamp without a usable time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongStamp {
    /// It is more than a day from the capture's time, as seconds and nanoseconds and as nanoseconds.
    FarOff,
    /// It jumped against the times of the capture.
    Jumped,
}

impl MirrorClocks {
    /// When a switch mirrored a packet, in nanoseconds since 1970 on the capture's clock, given when it was captured.
    ///
    /// Counters begin at the capture of their first packet. A stamp is taken for the one that is nearest to the capture's
    /// time; clocks may drift against each other. Clocks that count from 1970 are moved by whole seconds.
    pub(crate) fn time_ns(&self, time: &MirrorTime, captured_ns: u64) -> Result<u64, WrongStamp> {
        let mut clocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Clocks { counters, ahead_ns, delays_ns } = &mut *clocks;
        let captured = i128::from(captured_ns);
        let (at_ns, unwrapped) = match time.stamp {
            MirrorStamp::Counter(counts) => {
                let counter = counters.entry(time.switch).or_insert_with(|| Counter {
                    counts: counts.into(),
                    captured_ns,
                    origin_ns: captured - i128::from(counts) * COUNT_NS,
                });
                let since_ns = captured - i128::from(counter.captured_ns);
                let expected = counter.counts + since_ns / COUNT_NS;
                let counts = nearest(counts, expected);
                (counter.origin_ns + counts * COUNT_NS, Some(counts))
            }
            MirrorStamp::Whole { upper, lower } => {
                let stamp_ns = whole_ns(upper, lower, captured_ns).ok_or(WrongStamp::FarOff)?;
                let apart_ns = stamp_ns - captured;
                let seconds = || (apart_ns + SECOND_NS / 2).div_euclid(SECOND_NS) * SECOND_NS;
                (stamp_ns - *ahead_ns.get_or_insert_with(seconds), None)
            }
        };
        let delay_ns = delays_ns.entry(time.switch).or_insert(captured - at_ns);
        if (captured - at_ns - *delay_ns).abs() > MOST_JUMP_NS {
            return Err(WrongStamp::Jumped);
        }
        *delay_ns = captured - at_ns;
        if let (Some(counts), Some(counter)) = (unwrapped, counters.get_mut(&time.switch)) {
            (counter.counts, counter.captured_ns) = (counts, captured_ns);
        }
        u64::try_from(at_ns).map_err(|_| WrongStamp::Jumped)
    }
}

/// Of all counts that agree modulo 2^32, the one nearest to another.
fn nearest(counts: u32, expected: i128) -> i128 {
    let wrap = 1_i128 << 32;
    let ahead = (i128::from(counts) - expected).rem_euclid(wrap);
    expected + if ahead > wrap / 2 { ahead - wrap } else { ahead }
}

/// The time since 1970 that is within a day of the capture's: as seconds and nanoseconds, or as nanoseconds.
fn whole_ns(upper: u32, lower: u32, captured_ns: u64) -> Option<i128> {
    let of_seconds =
        (lower < 1_000_000_000).then(|| u64::from(upper) * 1_000_000_000 + u64::from(lower));
    let readings = [of_seconds, Some(u64::from(upper) << 32 | u64::from(lower))];
    let is_near = |at_ns: &u64| at_ns.abs_diff(captured_ns) < MOST_APART_NS;
    readings.into_iter().flatten().find(is_near).map(i128::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START_NS: u64 = 1_700_000_000_123_456_700;

    fn of(stamp: MirrorStamp) -> MirrorTime {
        MirrorTime { stamp, switch: IpAddr::from([10, 0, 0, 1]) }
    }

    proptest! {
        /// A clock that drifts, packets that are late by up to a millisecond and hours apart: the times between packets
        /// are those of the switch.
        #[test]
        fn counters_are_unwrapped(
            first in any::<u32>(),
            drift_ppm in -100_i128..100,
            steps in prop::collection::vec((1_u64..4_000_000_000_000, 0_u64..1_000_000), 1..60),
        ) {
            let clocks = MirrorClocks::default();
            let mut counts = u64::from(first);
            let mut captured_ns = START_NS;
            let begun = clocks.time_ns(&of(MirrorStamp::Counter(first)), START_NS).unwrap();
            prop_assert_eq!(begun, START_NS);
            for (step_ns, late_ns) in steps {
                // A thousandth of a second apart at least, so that none overtakes.
                let step_ns = step_ns.max(2_000_000) / 100 * 100;
                counts += step_ns / 100;
                let by_its_clock = i128::from(step_ns) * (1_000_000 + drift_ppm) / 1_000_000;
                captured_ns += by_its_clock as u64;
                let stamp = MirrorStamp::Counter(counts as u32);
                let found = clocks.time_ns(&of(stamp), captured_ns + late_ns).unwrap();
                prop_assert_eq!(found - begun, (counts - u64::from(first)) * 100);
            }
        }
    }

    #[test]
    fn clocks_of_1588_are_moved_by_whole_seconds() {
        // Leap seconds, and 20 ms on the way.
        let stamp_ns = START_NS + 37_000_000_000;
        let captured_ns = START_NS + 20_000_000;
        let whole = |upper, lower| of(MirrorStamp::Whole { upper, lower });
        let seconds = whole((stamp_ns / 1_000_000_000) as u32, (stamp_ns % 1_000_000_000) as u32);
        let halves = whole((stamp_ns >> 32) as u32, stamp_ns as u32);
        for time in [seconds, halves] {
            let clocks = MirrorClocks::default();
            assert_eq!(clocks.time_ns(&time, captured_ns), Ok(START_NS));
            // Another switch is moved by as much.
            let other = MirrorTime { switch: IpAddr::from([10, 0, 0, 2]), ..time };
            assert_eq!(clocks.time_ns(&other, captured_ns + 900_000_000), Ok(START_NS));
            assert_eq!(clocks.time_ns(&time, captured_ns + 1_100_000_000), Err(WrongStamp::Jumped));
        }
        let far = MirrorClocks::default().time_ns(&whole(7, 7), captured_ns);
        assert_eq!(far, Err(WrongStamp::FarOff));
    }

    #[test]
    fn a_counter_that_begins_again_jumped() {
        let clocks = MirrorClocks::default();
        let at = |counts, ms: u64| {
            clocks.time_ns(&of(MirrorStamp::Counter(counts)), START_NS + ms * 1_000_000)
        };
        assert_eq!(at(500_000_000, 0), Ok(START_NS));
        assert_eq!(at(5, 1), Err(WrongStamp::Jumped));
        // Those that go on are used.
        assert_eq!(at(500_010_000, 1), Ok(START_NS + 1_000_000));
    }

    #[test]
    fn headers_have_units() {
        let header = |granularity: u8, platform: Option<u8>| {
            let mut header = vec![0x20, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, granularity << 1];
            if let Some(platform) = platform {
                header[11] |= 1;
                header.extend([platform << 2, 0, 0, 0, 0, 0, 0, 9]);
            }
            header
        };
        let stamp = |granularity, platform| MirrorStamp::of(&header(granularity, platform));
        let whole = Some(MirrorStamp::Whole { upper: 9, lower: 258 });
        assert_eq!(stamp(1, None), Some(MirrorStamp::Counter(258)));
        assert_eq!(stamp(1, Some(3)), Some(MirrorStamp::Counter(258)));
        for platform in [0, 3, 5, 6, 7] {
            assert_eq!(stamp(2, Some(platform)), whole);
        }
        for (granularity, platform) in
            [(0, Some(3)), (2, None), (2, Some(1)), (2, Some(4)), (3, Some(3))]
        {
            assert_eq!(stamp(granularity, platform), None);
        }
        for length in 0..20 {
            assert_eq!(MirrorStamp::of(&header(2, Some(3))[..length]), None);
        }
    }
}
