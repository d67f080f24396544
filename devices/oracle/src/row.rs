//! The features of an arriving packet, from virtual LQD. `docs/features.md` defines them; tests compare
//! them with those of `dropcast-features`.

use crate::NotReady;
use crate::classes;
use crate::memory::Needs;
use crate::virtual_lqd::VirtualLqd;

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
    pub(crate) fn observe(&self, lqd: &VirtualLqd<'_>, queue: usize) -> [u32; MOST_FEATURES] {
        let mut row = [0; MOST_FEATURES];
        for (value, &feature) in row.iter_mut().zip(self.features()) {
            *value = observed(feature, lqd, queue);
        }
        row
    }

    /// How many values a row has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

fn observed(feature: Feature, lqd: &VirtualLqd<'_>, queue: usize) -> u32 {
    let own = lqd.memory.queues[queue].bytes;
    let lengths = || lqd.queues().iter().map(|queue| queue.bytes);
    let longest = || lengths().max().unwrap_or(0);
    match feature {
        Feature::QueueLength => own,
        Feature::AvgQueueLength => lqd.memory.averages[queue].value(),
        Feature::Occupancy => lqd.occupancy_bytes,
        Feature::AvgOccupancy => lqd.memory.averages[lqd.queues().len()].value(),
        Feature::LongestQueue => longest(),
        Feature::Rank => lengths().filter(|&bytes| bytes > own).count() as u32,
        Feature::LongestGap => longest().saturating_sub(own),
        Feature::ProjectedOccupancy => saturated(expected(lqd, 16).sum()),
        Feature::LevelOccupancy => {
            saturated(lengths().map(|bytes| u64::from(bytes.min(own))).sum())
        }
        Feature::LevelAhead(eighths) => {
            saturated(expected(lqd, eighths).map(|bytes| bytes.min(own.into())).sum())
        }
        Feature::ClassedInQuarterRtt => saturated(classes::bytes_up_to(lqd.memory.classes, own)),
        Feature::CutInQuarterRtt => saturated(lqd.cut.bytes_up_to(lqd.memory.classes, own)),
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The expected bytes in each queue, after this many eighths of a base RTT.
fn expected<'a>(lqd: &'a VirtualLqd<'_>, eighths: u32) -> impl Iterator<Item = u64> + 'a {
    let per_port = lqd.switch.queues_per_port as usize;
    let ports = lqd.queues().chunks_exact(per_port).enumerate();
    ports.flat_map(move |(port, queues)| {
        let drain_bytes = lqd.drain_bytes(port);
        queues.iter().map(move |queue| queue.expected_bytes(drain_bytes, eighths))
    })
}
