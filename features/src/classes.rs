//! Queue lengths summed by class, as `dropcast-runtime` defines them for devices and hosts alike.

use crate::view::saturated;
use dropcast_runtime::ClassState;
use dropcast_runtime::classes::{CLASSES, Cut, bytes_up_to};

/// Counts and sums of queue lengths by class, and the class where Longest Queue Drop would cut.
#[derive(Clone, Debug)]
pub(crate) struct LengthClasses {
    /// By queue, its length.
    lengths: Vec<u32>,
    classes: [ClassState; CLASSES],
    cut: Cut,
}

impl LengthClasses {
    /// This many empty queues.
    pub(crate) fn new(queues: usize) -> Self {
        LengthClasses {
            lengths: vec![0; queues],
            classes: [ClassState::EMPTY; CLASSES],
            cut: Cut::NONE,
        }
    }

    /// An event of a queue that draws on the shared buffer: its length is now `bytes`.
    pub(crate) fn changed(&mut self, queue: usize, bytes: u64, capacity_bytes: u32) {
        let bytes = saturated(bytes);
        let before = std::mem::replace(&mut self.lengths[queue], bytes);
        self.cut.changed(&mut self.classes, [before, bytes].map(u64::from), capacity_bytes);
    }

    /// Bytes if every queue were cut down to `level_bytes`, by classes.
    pub(crate) fn bytes_up_to(&self, level_bytes: u32) -> u32 {
        saturated(bytes_up_to(&self.classes, level_bytes))
    }

    /// The same near the cut, without a sum over classes.
    pub(crate) fn bytes_up_to_near_cut(&self, level_bytes: u32) -> u32 {
        saturated(self.cut.bytes_up_to(&self.classes, level_bytes))
    }
}
