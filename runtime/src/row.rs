//! The features of an arriving packet, from virtual LQD or the switch's own queues. `docs/features.md` defines them; tests compare
//! them with those of `dropcast-features`.

use crate::NotReady;
use crate::classes;
use crate::memory::Needs;
use crate::virtual_lqd::VirtualLqd;

/// The queues that features describe.
pub(crate) trait Queues {
    /// Bytes of a queue in the shared buffer.
    fn queue_bytes(&self, queue: usize) -> u32;
    /// Those of all queues.
    fn lengths(&self) -> impl Iterator<Item = u32>;
    /// The expected bytes in each queue, after this many eighths of a base RTT.
    fn expected(&self, eighths: u32) -> impl Iterator<Item = u64>;
    /// Bytes of all queues.
    fn occupancy_bytes(&self) -> u32;
    /// The moving average of a queue, and of the buffer.
    fn averages(&self, _queue: usize) -> [u32; 2] {
        [0; 2]
    }
    /// The level from the sums by length class, and from those on either side of the cut.
    fn classed(&self, _own: u32) -> [u64; 2] {
        [0; 2]
    }
}

/// A row has at most this many values: more features are not known.
pub(crate) const MOST_FEATURES: usize = 14;

/// Features by the codes of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    QueueLength,
    AvgQueueLength,
    Occupancy,
    AvgOccupancy,
    LongestQueue,
    Rank,
    LongestGap,
    ProjectedOccupancy,
    LevelOccupancy,
    /// The level after this many eighths of a base RTT.
    LevelAhead(u32),
    ClassedInQuarterRtt,
    CutInQuarterRtt,
}

impl Feature {
    fn with_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Feature::QueueLength,
            1 => Feature::AvgQueueLength,
            2 => Feature::Occupancy,
            3 => Feature::AvgOccupancy,
            4 => Feature::LongestQueue,
            5 => Feature::Rank,
            6 => Feature::LongestGap,
            7 => Feature::ProjectedOccupancy,
            8 => Feature::LevelOccupancy,
            9 => Feature::LevelAhead(2),
            10 => Feature::LevelAhead(8),
            11 => Feature::LevelAhead(16),
            12 => Feature::ClassedInQuarterRtt,
            13 => Feature::CutInQuarterRtt,
            _ => return None,
        })
    }
}

/// The features of a model, in the order of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    features: [Feature; MOST_FEATURES],
    length: usize,
}

impl Columns {
    /// The features with these codes.
    pub(crate) fn new(codes: &[u8]) -> Result<Self, NotReady> {
        let mut features = [Feature::QueueLength; MOST_FEATURES];
        for (at, &code) in codes.iter().enumerate() {
            let place = features.get_mut(at).ok_or(NotReady::UnknownFeature(code))?;
            *place = Feature::with_code(code).ok_or(NotReady::UnknownFeature(code))?;
        }
        Ok(Columns { features, length: codes.len() })
    }

    fn features(&self) -> &[Feature] {
        &self.features[..self.length]
    }

    /// The memory that they need.
    pub(crate) fn needs(&self) -> Needs {
        let any = |of: fn(&Feature) -> bool| self.features().iter().any(of);
        let classes =
            any(|of| matches!(of, Feature::ClassedInQuarterRtt | Feature::CutInQuarterRtt));
        let projected =
            any(|of| matches!(of, Feature::LevelAhead(_) | Feature::ProjectedOccupancy));
        Needs {
            arrivals: projected || classes,
            classes,
            averages: any(|of| matches!(of, Feature::AvgQueueLength | Feature::AvgOccupancy)),
            dwrr: false,
        }
    }

    /// The row of a packet that arrives for `queue`, before it is added.
    pub(crate) fn observe(&self, of: &impl Queues, queue: usize) -> [u32; MOST_FEATURES] {
        let mut row = [0; MOST_FEATURES];
        for (value, &feature) in row.iter_mut().zip(self.features()) {
            *value = observed(feature, of, queue);
        }
        row
    }

    /// How many values a row has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

fn observed(feature: Feature, of: &impl Queues, queue: usize) -> u32 {
    let own = of.queue_bytes(queue);
    let longest = || of.lengths().max().unwrap_or(0);
    match feature {
        Feature::QueueLength => own,
        Feature::AvgQueueLength => of.averages(queue)[0],
        Feature::Occupancy => of.occupancy_bytes(),
        Feature::AvgOccupancy => of.averages(queue)[1],
        Feature::LongestQueue => longest(),
        Feature::Rank => of.lengths().filter(|&bytes| bytes > own).count() as u32,
        Feature::LongestGap => longest().saturating_sub(own),
        Feature::ProjectedOccupancy => saturated(of.expected(16).sum()),
        Feature::LevelOccupancy => {
            saturated(of.lengths().map(|bytes| u64::from(bytes.min(own))).sum())
        }
        Feature::LevelAhead(eighths) => {
            saturated(of.expected(eighths).map(|bytes| bytes.min(own.into())).sum())
        }
        Feature::ClassedInQuarterRtt => saturated(of.classed(own)[0]),
        Feature::CutInQuarterRtt => saturated(of.classed(own)[1]),
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Queues for VirtualLqd<'_> {
    fn queue_bytes(&self, queue: usize) -> u32 {
        self.memory.queues[queue].bytes
    }

    fn lengths(&self) -> impl Iterator<Item = u32> {
        self.queues().iter().map(|queue| queue.bytes)
    }

    fn expected(&self, eighths: u32) -> impl Iterator<Item = u64> {
        let per_port = self.switch.queues_per_port as usize;
        let ports = self.queues().chunks_exact(per_port).enumerate();
        ports.flat_map(move |(port, queues)| {
            let drain_bytes = self.drain_bytes(port);
            queues.iter().map(move |queue| queue.expected_bytes(drain_bytes, eighths))
        })
    }

    fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }

    fn averages(&self, queue: usize) -> [u32; 2] {
        [queue, self.queues().len()].map(|of| self.memory.averages[of].value())
    }

    fn classed(&self, own: u32) -> [u64; 2] {
        let classes = &*self.memory.classes;
        [classes::bytes_up_to(classes, own), self.cut.bytes_up_to(classes, own)]
    }
}
