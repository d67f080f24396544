//! A level from two sums, in which each event counts a few queues anew: a scan spread over packets.

use crate::view::saturated;
use dropcast_runtime::classes::full_bytes;

/// Queues that each event counts anew, besides its own.
pub(crate) const QUEUES_AN_EVENT: u32 = 4;

/// The cut is never below this.
const LOWEST_BYTES: u64 = 1024;

/// The level at which Longest Queue Drop would cut, and the queues on either side of it.
///
/// Lengths are those expected in a quarter of a base RTT, at most the buffer. A queue is counted as above
/// the cut or below it. It is counted anew at each of its own events, and in round robin with the events
/// of others, so the sums follow the cut some events late.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    queues: Vec<Counted>,
    /// The queue whose turn it is.
    next: usize,
    /// The cut.
    cut_bytes: u64,
    /// Sum of the lengths of queues that are counted as below the cut.
    below_bytes: u64,
    /// Number of the other queues.
    above: u64,
}

/// A queue as it is counted.
#[derive(Clone, Copy, Debug)]
struct Counted {
    bytes: u64,
    is_above: bool,
}

impl Spread {
    /// This many empty queues.
    pub(crate) fn new(queues: usize) -> Self {
        Spread {
            queues: vec![Counted { bytes: 0, is_above: false }; queues],
            next: 0,
            cut_bytes: u64::MAX,
            below_bytes: 0,
            above: 0,
        }
    }

    /// An event of a queue that draws on the shared buffer: its length is now `bytes`.
    pub(crate) fn changed(&mut self, queue: usize, bytes: u64, capacity_bytes: u32) {
        let capacity = u64::from(capacity_bytes);
        self.cut_bytes = self.cut_bytes.min(capacity);
        self.count(queue, bytes.min(capacity));
        for _ in 0..QUEUES_AN_EVENT {
            self.count(self.next, self.queues[self.next].bytes);
            self.next = (self.next + 1) % self.queues.len();
        }
        let room = full_bytes(capacity_bytes).saturating_sub(self.below_bytes);
        let fair = match self.above {
            0 if room > 0 => capacity,
            0 => 0,
            above => room / above,
        };
        self.cut_bytes = fair.max(self.cut_bytes / 2).max(LOWEST_BYTES).min(capacity);
    }

    /// Counts a queue, which now has `bytes`, on its side of the cut.
    fn count(&mut self, queue: usize, bytes: u64) {
        let is_above = bytes > 0 && bytes >= self.cut_bytes;
        let before = std::mem::replace(&mut self.queues[queue], Counted { bytes, is_above });
        match before.is_above {
            true => self.above -= 1,
            false => self.below_bytes -= before.bytes,
        }
        match is_above {
            true => self.above += 1,
            false => self.below_bytes += bytes,
        }
    }

    /// Bytes if every queue above the cut were cut down to `level_bytes`.
    pub(crate) fn bytes_up_to(&self, level_bytes: u32) -> u32 {
        saturated(self.below_bytes + self.above * u64::from(level_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sums are those over the sides on which queues were last counted, and values are never below the
        /// level.
        #[test]
        fn sums_are_those_of_the_sides(
            events in prop::collection::vec((0_usize..8, 0_u64..60_000), 1..300),
            levels in prop::collection::vec(0_u32..60_000, 1..20),
        ) {
            const CAPACITY: u32 = 50_000;
            let mut spread = Spread::new(8);
            let mut lengths = [0_u64; 8];
            for &(queue, bytes) in &events {
                spread.changed(queue, bytes, CAPACITY);
                lengths[queue] = bytes.min(u64::from(CAPACITY));
                let above = || spread.queues.iter().map(|of| of.is_above);
                let below = lengths.iter().zip(above()).filter(|of| !of.1).map(|of| of.0);
                prop_assert_eq!(spread.below_bytes, below.sum::<u64>());
                prop_assert_eq!(spread.above, above().filter(|&is| is).count() as u64);
            }
            let at = |level: u64| -> u64 { lengths.iter().map(|&of| of.min(level)).sum() };
            for &level in &levels {
                let late = lengths.iter().zip(&spread.queues).map(|(&of, counted)| {
                    if counted.is_above { u64::from(level) } else { of }
                });
                prop_assert_eq!(u64::from(spread.bytes_up_to(level)), late.sum::<u64>());
                prop_assert!(u64::from(spread.bytes_up_to(level)) >= at(level.into()));
            }
        }

        /// A cut that events no longer move is where the buffer would be full.
        #[test]
        fn the_cut_is_where_the_buffer_would_be_full(
            lengths in prop::collection::vec(0_u64..60_000, 1..12),
        ) {
            const CAPACITY: u32 = 50_000;
            let mut spread = Spread::new(lengths.len());
            for _ in 0..100 {
                for (queue, &bytes) in lengths.iter().enumerate() {
                    spread.changed(queue, bytes, CAPACITY);
                }
            }
            let full = full_bytes(CAPACITY);
            let at = |level: u64| -> u64 {
                lengths.iter().map(|&of| of.min(CAPACITY.into()).min(level)).sum()
            };
            let cut = spread.cut_bytes;
            if at(CAPACITY.into()) <= full {
                prop_assert_eq!((cut, spread.above), (CAPACITY.into(), 0));
            } else {
                let value = |level: u64| u64::from(spread.bytes_up_to(level as u32));
                prop_assert_eq!(value(cut), at(cut));
                prop_assert!(value(cut) <= full && value(cut + 1) > full, "{cut}: {}", at(cut));
            }
        }
    }
}
