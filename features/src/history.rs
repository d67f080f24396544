//! The features' memory of past packets.

use crate::average::Averages;
use crate::projection::{Horizon, Projection};
use crate::view::BufferView;

/// The memory of past packets that a feature needs. The base RTT is the time constant of each
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Nothing: it is computed from the present buffer alone.
    Nothing,
    /// Moving averages of queue lengths and occupancy.
    MovingAverages,
    /// Arrival rates, and the queue lengths they project.
    ArrivalRates(Horizon),
}

/// The memory of a set of features ([`FeatureSet::history`](crate::FeatureSet::history)). It hears
/// of every packet that arrives or leaves; it keeps only what the features need.
#[derive(Clone, Debug)]
pub struct History {
    averages: Option<Averages>,
    projection: Option<Projection>,
}

impl History {
    pub(crate) fn new(
        memories: impl Iterator<Item = Memory> + Clone,
        line_rate_bps: impl ExactSizeIterator<Item = u64>,
        base_rtt_ns: u64,
    ) -> Self {
        let averages = memories.clone().any(|memory| memory == Memory::MovingAverages);
        let projection = memories.clone().any(|memory| matches!(memory, Memory::ArrivalRates(_)));
        History {
            averages: averages.then(|| Averages::new(line_rate_bps.len(), base_rtt_ns)),
            projection: projection.then(|| Projection::new(line_rate_bps, base_rtt_ns)),
        }
    }

    /// A packet of `size_bytes` arrived for `queue` and was accepted or rejected; `buffer` is the
    /// buffer after that.
    #[inline]
    pub fn arrived(
        &mut self,
        buffer: &impl BufferView,
        queue: usize,
        size_bytes: u32,
        now_ns: u64,
    ) {
        if let Some(projection) = &mut self.projection {
            projection.changed(buffer, queue, size_bytes, now_ns);
        }
    }

    /// A packet departed or was pushed out from `queue`; `buffer` is the buffer after that.
    #[inline]
    pub fn removed(&mut self, buffer: &impl BufferView, queue: usize, now_ns: u64) {
        if let Some(averages) = &mut self.averages {
            averages.removed(queue, buffer.queue_bytes(queue), buffer.occupancy_bytes(), now_ns);
        }
        if let Some(projection) = &mut self.projection {
            projection.changed(buffer, queue, 0, now_ns);
        }
    }

    /// # Panics
    /// If none of its features is an average.
    #[inline]
    pub(crate) fn averages(&self) -> &Averages {
        self.averages.as_ref().expect("averages are kept if a feature needs them")
    }

    /// # Panics
    /// If none of its features is a projection.
    #[inline]
    pub(crate) fn projection(&self) -> &Projection {
        self.projection.as_ref().expect("projections are kept if a feature needs them")
    }
}
