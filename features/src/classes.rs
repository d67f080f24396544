//! Queue lengths summed by class: quarters of octaves, so that few counters describe every queue.

use crate::view::saturated;

/// Lengths below this many bytes, a power of two, are one class.
const SHORTEST_BITS: u32 = 10;

/// Classes of lengths of 32 bits: four for each octave from four times the shortest on.
const CLASSES: usize = 4 * (u32::BITS - SHORTEST_BITS - 1) as usize;

/// The cut is where this part of the buffer is left free: one of so many.
const FREE_PART: u32 = 32;

/// Counts and sums of queue lengths by class, and the class where Longest Queue Drop would cut.
///
/// Lengths are those expected in a quarter of a base RTT, at most the buffer. A queue of `x` bytes is in
/// class `class(x)`; `floor(c)` is the shortest length of class `c`:
///
/// ```text
/// u        = floor(x / 1024)
/// class(x) = u                                    if u < 4
///            4 * k + floor(u / 2^k)               else, with k = floor(log2(u)) - 2
/// ```
///
/// For each class there are the number of its queues and the sum of their lengths. One class, the cut,
/// is where the buffer would be full but for a 32nd part if every queue were cut down to the class's
/// floor. It is not searched for: each event of a queue moves it by at most one class.
#[derive(Clone, Debug)]
pub(crate) struct LengthClasses {
    /// By queue, its length.
    lengths: Vec<u32>,
    classes: [Class; CLASSES],
    /// The cut.
    cut: usize,
    /// Sum of the lengths in classes below the cut.
    below_bytes: u64,
    /// Number of queues in the other classes.
    above: u64,
}

/// Queues whose lengths are in one class.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    queues: u64,
    bytes: u64,
}

impl Class {
    /// Their bytes if each were cut down to `level_bytes`, a length of the same class. At most their
    /// sum, and too much by less than half if some are longer and some shorter.
    fn up_to(self, level_bytes: u64) -> u64 {
        self.bytes.min(self.queues * level_bytes)
    }
}

impl LengthClasses {
    /// This many empty queues.
    pub(crate) fn new(queues: usize) -> Self {
        LengthClasses {
            lengths: vec![0; queues],
            classes: [Class::default(); CLASSES],
            cut: CLASSES,
            below_bytes: 0,
            above: 0,
        }
    }

    /// An event of a queue that draws on the shared buffer: its length is now `bytes`.
    pub(crate) fn changed(&mut self, queue: usize, bytes: u64, capacity_bytes: u32) {
        let bytes = saturated(bytes).min(capacity_bytes);
        let top = class(capacity_bytes) + 1;
        self.cut = self.cut.min(top);
        let before = std::mem::replace(&mut self.lengths[queue], bytes);
        if before > 0 {
            let of = class(before);
            self.classes[of].queues -= 1;
            self.classes[of].bytes -= u64::from(before);
            if of < self.cut {
                self.below_bytes -= u64::from(before);
            } else {
                self.above -= 1;
            }
        }
        if bytes > 0 {
            let of = class(bytes);
            self.classes[of].queues += 1;
            self.classes[of].bytes += u64::from(bytes);
            if of < self.cut {
                self.below_bytes += u64::from(bytes);
            } else {
                self.above += 1;
            }
        }
        self.step(top, full_bytes(capacity_bytes));
    }

    /// Moves the cut by one class, if that brings it nearer to `full_bytes`.
    fn step(&mut self, top: usize, full_bytes: u64) {
        if self.cut > 0 && self.below_bytes + self.above * floor(self.cut) > full_bytes {
            self.cut -= 1;
            self.below_bytes -= self.classes[self.cut].bytes;
            self.above += self.classes[self.cut].queues;
        } else if self.cut < top {
            let Class { queues, bytes } = self.classes[self.cut];
            let (below_bytes, above) = (self.below_bytes + bytes, self.above - queues);
            if below_bytes + above * floor(self.cut + 1) <= full_bytes {
                (self.below_bytes, self.above) = (below_bytes, above);
                self.cut += 1;
            }
        }
    }

    /// Bytes if every queue were cut down to `level_bytes`, by classes: exact but for queues in the
    /// class of `level_bytes`.
    pub(crate) fn bytes_up_to(&self, level_bytes: u32) -> u32 {
        let (of, level) = (class(level_bytes), u64::from(level_bytes));
        let shorter: u64 = self.classes[..of].iter().map(|class| class.bytes).sum();
        let longer: u64 = self.classes[of + 1..].iter().map(|class| class.queues).sum();
        saturated(shorter + self.classes[of].up_to(level) + longer * level)
    }

    /// The same near the cut, without a sum over classes. Elsewhere too much: queues below the cut
    /// count as they are, those above it as `level_bytes`.
    pub(crate) fn bytes_up_to_near_cut(&self, level_bytes: u32) -> u32 {
        let (of, level) = (class(level_bytes), u64::from(level_bytes));
        let own = self.classes[of];
        saturated(if of == self.cut {
            self.below_bytes + own.up_to(level) + (self.above - own.queues) * level
        } else if of + 1 == self.cut {
            self.below_bytes - own.bytes + own.up_to(level) + self.above * level
        } else {
            self.below_bytes + self.above * level
        })
    }
}

/// Bytes in a buffer of this size at which it counts as full.
pub(crate) fn full_bytes(capacity_bytes: u32) -> u64 {
    u64::from(capacity_bytes - capacity_bytes / FREE_PART)
}

/// How many classes lengths up to this have.
pub(crate) fn count(longest_bytes: u32) -> u32 {
    class(longest_bytes) as u32 + 1
}

/// The class of a length.
fn class(bytes: u32) -> usize {
    let units = bytes >> SHORTEST_BITS;
    let halvings = units.checked_ilog2().unwrap_or(0).saturating_sub(2);
    (4 * halvings + (units >> halvings)) as usize
}

/// The shortest length of a class; 2^32 for the one after the last.
fn floor(class: usize) -> u64 {
    let units = match class {
        0..4 => class as u64,
        _ => (4 + class as u64 % 4) << (class / 4 - 1),
    };
    units << SHORTEST_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn classes_are_quarters_of_octaves() {
        let of = [0, 1023, 1024, 2048, 3072, 4095, 4096, 5120, 8192, 10_239, 10_240, u32::MAX];
        assert_eq!(of.map(class), [0, 0, 1, 2, 3, 3, 4, 5, 8, 8, 9, CLASSES - 1]);
        for at in 0..CLASSES {
            let (first, next) = (floor(at) as u32, floor(at + 1));
            assert_eq!((class(first), class((next - 1) as u32)), (at, at));
        }
    }

    proptest! {
        /// Sums equal those over all queues; the value near the cut is never below the one by classes,
        /// which is between the exact one and half as much again, and is equal to it at the cut. A cut
        /// that events no longer move is where the buffer would be full.
        #[test]
        fn agrees_with_sums_over_queues(
            events in prop::collection::vec((0_usize..8, 0_u64..60_000), 1..300),
            levels in prop::collection::vec(0_u32..60_000, 1..20),
        ) {
            const CAPACITY: u32 = 50_000;
            let full = full_bytes(CAPACITY);
            let mut classes = LengthClasses::new(8);
            let mut lengths = [0_u64; 8];
            for &(queue, bytes) in &events {
                classes.changed(queue, bytes, CAPACITY);
                lengths[queue] = bytes.min(u64::from(CAPACITY));
            }
            let at = |cut: usize| -> u64 { lengths.iter().map(|&of| of.min(floor(cut))).sum() };
            for &level in &levels {
                let exact: u64 = lengths.iter().map(|&of| of.min(u64::from(level))).sum();
                let (by_class, near) =
                    (u64::from(classes.bytes_up_to(level)), u64::from(classes.bytes_up_to_near_cut(level)));
                // The shortest class is wider than half an octave.
                let most = 3 * exact / 2 + 8 * floor(1);
                prop_assert!(by_class >= exact && by_class <= most, "{by_class} {exact}");
                prop_assert!(near >= by_class);
                if [class(level), class(level) + 1].contains(&classes.cut) {
                    prop_assert_eq!(near, by_class);
                }
            }
            for _ in 0..2 * CLASSES {
                classes.changed(0, lengths[0], CAPACITY);
            }
            let cut = classes.cut;
            prop_assert!(cut == 0 || at(cut) <= full, "{cut}: {}", at(cut));
            prop_assert!(cut > class(CAPACITY) || at(cut + 1) > full, "{cut}: {}", at(cut + 1));
        }
    }
}
