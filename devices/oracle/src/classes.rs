//! Queue lengths summed by class; `features/src/classes.rs` defines them.

/// Lengths below this many bytes, a power of two, are one class.
const SHORTEST_BITS: u32 = 10;

/// Classes of lengths of 32 bits, four for each octave.
pub(crate) const CLASSES: usize = 4 * (u32::BITS - SHORTEST_BITS - 1) as usize;

/// At the cut this part of the buffer is left free: one of so many.
const FREE_PART: u32 = 32;

/// The queues whose lengths, expected in a quarter of a base RTT, are in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassState {
    bytes: u64,
    queues: u32,
}

impl ClassState {
    /// No queue.
    pub const EMPTY: Self = ClassState { bytes: 0, queues: 0 };

    /// Their bytes if each were cut down to `level_bytes`.
    fn up_to(self, level_bytes: u64) -> u64 {
        self.bytes.min(u64::from(self.queues) * level_bytes)
    }
}

/// The class where LQD would cut, and what is on either side of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    class: usize,
    below_bytes: u64,
    above: u32,
}

impl Cut {
    /// That of an empty buffer.
    pub(crate) const NONE: Self = Cut { class: CLASSES, below_bytes: 0, above: 0 };

    /// A queue's length changes from `before` to `after` bytes.
    pub(crate) fn changed(
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
        self.step(classes, top, u64::from(buffer_bytes - buffer_bytes / FREE_PART));
    }

    /// Moves by one class, if that brings it nearer to `full_bytes`.
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

    /// Bytes if every queue were cut down to `level_bytes`, right near the cut.
    pub(crate) fn bytes_up_to(&self, classes: &[ClassState], level_bytes: u32) -> u64 {
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

/// Bytes if every queue were cut down to `level_bytes`, from all classes.
pub(crate) fn bytes_up_to(classes: &[ClassState], level_bytes: u32) -> u64 {
    let (of, level) = (class(level_bytes), u64::from(level_bytes));
    let shorter: u64 = classes[..of].iter().map(|class| class.bytes).sum();
    let longer: u64 = classes[of + 1..].iter().map(|class| u64::from(class.queues)).sum();
    shorter + classes[of].up_to(level) + longer * level
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
