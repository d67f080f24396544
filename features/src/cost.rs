//! What features cost a chip: state, memory accesses, arithmetic and dependent stages.

/// A switch whose features a chip keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Queues of the switch.
    pub queues: u32,
    /// Size of the shared buffer.
    pub buffer_bytes: u32,
}

/// What some features cost in addition to virtual LQD, whose queue lengths and occupancy are there anyway.
///
/// Operations are those of one packet: it arrives, its features are read, and it leaves. So the state of its
/// queue changes twice. A division by a constant counts as a multiplication, a shift or a choice as nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureCost {
    /// State for each queue.
    pub queue_bytes: u32,
    /// State of the whole switch.
    pub switch_bytes: u32,
    /// Words that are read, written, or read and written.
    pub accesses: u32,
    /// Additions and subtractions.
    pub adders: u32,
    /// Comparisons, minima, maxima, and searches for the highest bit.
    pub comparators: u32,
    /// Multiplications.
    pub multipliers: u32,
    /// Steps that wait for each other, from the packet's queue to the values.
    pub stages: u32,
}

impl FeatureCost {
    /// Additions, comparisons and multiplications.
    pub fn operations(self) -> u32 {
        self.adders + self.comparators + self.multipliers
    }

    fn and(self, other: FeatureCost) -> FeatureCost {
        FeatureCost {
            queue_bytes: self.queue_bytes + other.queue_bytes,
            switch_bytes: self.switch_bytes + other.switch_bytes,
            accesses: self.accesses + other.accesses,
            adders: self.adders + other.adders,
            comparators: self.comparators + other.comparators,
            multipliers: self.multipliers + other.multipliers,
            stages: self.stages.max(other.stages),
        }
    }
}

/// Work that features need; what several need is done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureWork {
    /// The length of the packet's queue.
    OwnLength,
    /// The occupancy.
    Occupancy,
    /// The moving average of each queue's length.
    QueueAverages,
    /// The moving average of the occupancy.
    OccupancyAverage,
    /// The longest queue, found by comparing all.
    Longest,
    /// Its distance to the packet's queue.
    Gap,
    /// How many queues are longer, found by comparing all.
    Rank,
    /// The sum of all queues' lengths, each at most that of the packet's.
    Level,
    /// The recent arrivals of each queue.
    Arrivals,
    /// The length expected of each queue at a horizon.
    Expected(u8),
    /// The same sum over the lengths expected at a horizon.
    LevelAhead(u8),
    /// The sum of the lengths expected at a horizon.
    TotalAhead(u8),
    /// Counts and sums of queues by length class.
    Classes,
    /// The level from all classes.
    AllClasses,
    /// The class at which LQD would cut, and the sums on either side.
    Cut,
    /// The level near it.
    NearCut,
    /// What is remembered of the packet's flow.
    Flow,
}

/// The cost of these parts, each counted once.
pub(crate) fn cost(parts: impl Iterator<Item = FeatureWork>, chip: Chip) -> FeatureCost {
    let mut known: Vec<FeatureWork> = Vec::new();
    for part in parts {
        if !known.contains(&part) {
            known.push(part);
        }
    }
    known.into_iter().map(|part| part.cost(chip)).fold(FeatureCost::default(), FeatureCost::and)
}

/// A queue changes when the packet arrives and when it leaves.
const EVENTS: u32 = 2;

impl FeatureWork {
    /// `stages` counts from the lookup of the packet's queue.
    fn cost(self, chip: Chip) -> FeatureCost {
        let Chip { queues, buffer_bytes } = chip;
        let classes = dropcast_runtime::classes::count(buffer_bytes) as u32;
        let none = FeatureCost::default();
        match self {
            FeatureWork::OwnLength | FeatureWork::Occupancy => {
                FeatureCost { accesses: 1, stages: 1, ..none }
            }
            // A value and a time. When a packet leaves: elapsed time and its minimum with tau, g * x and
            // (1 - g) * avg, their sum, a division by tau.
            FeatureWork::QueueAverages => {
                FeatureCost { queue_bytes: 4 + 8, accesses: 2, ..averaging() }
            }
            FeatureWork::OccupancyAverage => {
                FeatureCost { switch_bytes: 4 + 8, accesses: 2, ..averaging() }
            }
            FeatureWork::Longest => FeatureCost {
                accesses: queues,
                comparators: queues - 1,
                stages: 1 + tree(queues),
                ..none
            },
            FeatureWork::Gap => FeatureCost { adders: 1, stages: 1 + tree(queues) + 1, ..none },
            FeatureWork::Rank | FeatureWork::Level | FeatureWork::LevelAhead(_) => over_all(queues),
            FeatureWork::Arrivals => arrivals(),
            // At each event: arrivals (shifted) and length are added, the drain is taken off, at least 0.
            FeatureWork::Expected(_) => FeatureCost {
                queue_bytes: 4,
                accesses: EVENTS,
                adders: 2 * EVENTS,
                comparators: EVENTS,
                ..none
            },
            // At each event: the old length is taken off, the new one added.
            FeatureWork::TotalAhead(_) => FeatureCost {
                switch_bytes: 8,
                accesses: EVENTS + 1,
                adders: 2 * EVENTS,
                stages: 1,
                ..none
            },
            FeatureWork::Classes => length_classes(classes),
            FeatureWork::AllClasses => all_classes(classes),
            FeatureWork::Cut => cut(),
            FeatureWork::NearCut => near_cut(),
            FeatureWork::Flow => flow(),
        }
    }
}

/// Lookup of the own length, minima, an adder tree.
fn over_all(queues: u32) -> FeatureCost {
    FeatureCost {
        accesses: queues,
        comparators: queues,
        adders: queues - 1,
        stages: 1 + 1 + tree(queues),
        ..FeatureCost::default()
    }
}

/// Bytes and a time. At each event: elapsed time and its minimum with the window, the share
/// that is forgotten, two sums.
fn arrivals() -> FeatureCost {
    FeatureCost {
        queue_bytes: 4 + 8,
        accesses: EVENTS,
        adders: 3 * EVENTS,
        comparators: EVENTS,
        multipliers: 2 * EVENTS,
        ..FeatureCost::default()
    }
}

/// A count and a sum for each. At each event: two classes found, and both changed.
fn length_classes(classes: u32) -> FeatureCost {
    FeatureCost {
        switch_bytes: classes * (4 + 8),
        accesses: 2 * EVENTS,
        adders: 4 * EVENTS,
        comparators: 2 * EVENTS,
        ..FeatureCost::default()
    }
}

/// The own length, its class, which side each class is on, two adder trees, n * q and a
/// minimum for the own class, the count above times q, two sums.
fn all_classes(classes: u32) -> FeatureCost {
    FeatureCost {
        accesses: classes,
        adders: 2 * (classes - 1) + 2,
        comparators: 1 + classes + 1,
        multipliers: 2,
        stages: 1 + 1 + 1 + tree(classes) + 1 + 2,
        ..FeatureCost::default()
    }
}

/// At each event: the sides of two classes, and the sums there; both neighbours of the cut,
/// a product, a sum and a comparison for each, and the sums of the side that grows.
fn cut() -> FeatureCost {
    FeatureCost {
        switch_bytes: 8 + 4 + 4,
        accesses: 3 * EVENTS,
        adders: (2 + 2 * 2 + 2) * EVENTS,
        comparators: (2 + 2) * EVENTS,
        multipliers: 2 * EVENTS,
        ..FeatureCost::default()
    }
}

/// The own length, its class, the class's sums and its place beside the cut, two products,
/// a minimum, three sums of which two wait for each other.
fn near_cut() -> FeatureCost {
    FeatureCost {
        accesses: 2,
        adders: 4,
        comparators: 1 + 2 + 1,
        multipliers: 2,
        stages: 1 + 1 + 1 + 1 + 1 + 2,
        ..FeatureCost::default()
    }
}

/// A slot of the table, read and written: the time since and two comparisons, four counts, and the least and the most of four
/// bursts and messages. The table itself is as large as its switch has flows.
fn flow() -> FeatureCost {
    FeatureCost {
        accesses: 2,
        adders: 1 + 4,
        comparators: 2 + 2 * 2 * 3,
        stages: 1 + 2 + 2,
        ..FeatureCost::default()
    }
}

/// An average's update when a packet leaves, and its lookup.
fn averaging() -> FeatureCost {
    FeatureCost { adders: 3, comparators: 1, multipliers: 3, stages: 1, ..FeatureCost::default() }
}

/// Levels of a tree that joins this many values.
fn tree(values: u32) -> u32 {
    values.next_power_of_two().trailing_zeros()
}
