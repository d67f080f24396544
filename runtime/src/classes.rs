//! Queue lengths summed by class: quarters of octaves, so that few counters describe every queue.
//!
//! Lengths are those expected in a quarter of a base RTT, at most the buffer. A queue of `x` bytes is in
//! class `class(x)`; `floor(c)` is the shortest length of class `c`:
//!
//! ```text
//! u        = floor(x / 1024)
//! class(x) = u                                    if u < 4
//!            4 * k + floor(u / 2^k)               else, with k = floor(log2(u)) - 2
//! ```
//!
//! For each class there are the number of its queues and the sum of their lengths. One class, the cut,
//! is where the buffer would be full but for a 32nd part if every queue were cut down to the class's
//! floor. It is not searched for: each event of a queue moves it by at most one class.

/// Lengths below this many bytes, a power of two, are one class.
const SHORTEST_BITS: u32 = 10;

/// Classes of lengths of 32 bits: four for each octave from four times the shortest on.
pub const CLASSES: usize = 4 * (u32::BITS - SHORTEST_BITS - 1) as usize;

/// The cut is where this part of the buffer is left free: one of so many.
const FREE_PART: u32 = 32;

/// The queues whose lengths are in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassState {
    bytes: u64,
    queues: u32,
}

impl ClassState {
    /// No queue.
    pub const EMPTY: Self = ClassState { bytes: 0, queues: 0 };

    /// Their bytes if each were cut down to `level_bytes`, a length of the same class. At most their
    /// sum, and too much by less than half if some are longer and some shorter.
    fn up_to(self, level_bytes: u64) -> u64 {
        self.bytes.min(u64::from(self.queues) * level_bytes)
    }
}

/// The class where Longest Queue Drop would cut, and what is on either side of it.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    class: usize,
    /// Sum of the lengths in classes below the cut.
    below_bytes: u64,
    /// Number of queues in the other classes.
    above: u32,
}

impl Cut {
    /// That of an empty buffer.
    pub const NONE: Self = Cut { class: CLASSES, below_bytes: 0, above: 0 };

    /// An event of a queue that draws on the shared buffer: its length changes from `before` to `after` bytes.
    #[inline]
    pub fn changed(
        &mut self,
        classes: &mut [ClassState],
        [before, after]: [u64; 2],
        buffer_bytes: u32,
    ) {
        let cut_down = |bytes: u64| bytes.min(u64::from(buffer_bytes)) as u32;
        let (before, after) = (cut_down(before), cut_down(after));
        let top = class(buffer_bytes) + 1;
        self.class = self.class.min(top);
        if before > 0 {
            let of = class(before);
            classes[of].queues -= 1;
            classes[of].bytes -= u64::from(before);
            if of < self.class {
                self.below_bytes -= u64::from(before);
            } else {
                self.above -= 1;
            }
        }
        if after > 0 {
            let of = class(after);
            classes[of].queues += 1;
            classes[of].bytes += u64::from(after);
            if of < self.class {
                self.below_bytes += u64::from(after);
            } else {
                self.above += 1;
            }
        }
        self.step(classes, top, full_bytes(buffer_bytes));
    }

    /// Moves the cut by one class, if that brings it nearer to `full_bytes`.
    fn step(&mut self, classes: &[ClassState], top: usize, full_bytes: u64) {
        if self.class > 0
            && self.below_bytes + u64::from(self.above) * floor(self.class) > full_bytes
        {
            self.class -= 1;
            self.below_bytes -= classes[self.class].bytes;
            self.above += classes[self.class].queues;
        } else if self.class < top {
            let below_bytes = self.below_bytes + classes[self.class].bytes;
            let above = self.above - classes[self.class].queues;
            if below_bytes + u64::from(above) * floor(self.class + 1) <= full_bytes {
                *self = Cut { class: self.class + 1, below_bytes, above };
            }
        }
    }

    /// What [`bytes_up_to`] is near the cut, without a sum over classes. Elsewhere too much: queues below
    /// the cut count as they are, those above it as `level_bytes`.
    #[inline]
    pub fn bytes_up_to(&self, classes: &[ClassState], level_bytes: u32) -> u64 {
        let (of, level) = (class(level_bytes), u64::from(level_bytes));
        let own = classes[of];
        if of == self.class {
            self.below_bytes + own.up_to(level) + u64::from(self.above - own.queues) * level
        } else if of + 1 == self.class {
            self.below_bytes - own.bytes + own.up_to(level) + u64::from(self.above) * level
        } else {
            self.below_bytes + u64::from(self.above) * level
        }
    }
}

/// Bytes if every queue were cut down to `level_bytes`, by classes: exact but for queues in the class of
/// `level_bytes`.
#[inline]
pub fn bytes_up_to(classes: &[ClassState], level_bytes: u32) -> u64 {
    let (of, level) = (class(level_bytes), u64::from(level_bytes));
    let shorter: u64 = classes[..of].iter().map(|class| class.bytes).sum();
    let longer: u64 = classes[of + 1..].iter().map(|class| u64::from(class.queues)).sum();
    shorter + classes[of].up_to(level) + longer * level
}

/// Bytes in a buffer of this size at which it counts as full.
#[inline]
pub fn full_bytes(buffer_bytes: u32) -> u64 {
    u64::from(buffer_bytes - buffer_bytes / FREE_PART)
}

/// How many classes lengths up to this have.
#[inline]
pub fn count(longest_bytes: u32) -> usize {
    class(longest_bytes) + 1
}

/// The class of a length.
fn class(bytes: u32) -> usize {
    let units = bytes >> SHORTEST_BITS;
    let halvings = if units < 4 { 0 } else { units.ilog2() - 2 };
    (4 * halvings + (units >> halvings)) as usize
}

/// The shortest length of a class; 2^32 for the one after the last.
fn floor(class: usize) -> u64 {
    let units = if class < 4 { class as u64 } else { (4 + class as u64 % 4) << (class / 4 - 1) };
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
            let (mut classes, mut cut) = ([ClassState::EMPTY; CLASSES], Cut::NONE);
            let mut lengths = [0_u64; 8];
            for &(queue, bytes) in &events {
                cut.changed(&mut classes, [lengths[queue], bytes], CAPACITY);
                lengths[queue] = bytes.min(u64::from(CAPACITY));
            }
            let at = |cut: usize| -> u64 { lengths.iter().map(|&of| of.min(floor(cut))).sum() };
            for &level in &levels {
                let exact: u64 = lengths.iter().map(|&of| of.min(u64::from(level))).sum();
                let (by_class, near) = (bytes_up_to(&classes, level), cut.bytes_up_to(&classes, level));
                // The shortest class is wider than half an octave.
                let most = 3 * exact / 2 + 8 * floor(1);
                prop_assert!(by_class >= exact && by_class <= most, "{by_class} {exact}");
                prop_assert!(near >= by_class);
                if [class(level), class(level) + 1].contains(&cut.class) {
                    prop_assert_eq!(near, by_class);
                }
            }
            for _ in 0..2 * CLASSES {
                cut.changed(&mut classes, [lengths[0]; 2], CAPACITY);
            }
            let cut = cut.class;
            prop_assert!(cut == 0 || at(cut) <= full, "{cut}: {}", at(cut));
            prop_assert!(cut > class(CAPACITY) || at(cut + 1) > full, "{cut}: {}", at(cut + 1));
        }
    }
}
