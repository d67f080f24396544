//! What features remember of the past.

use crate::projection::Projection;
use crate::{Averages, BufferView, Feature, FeatureSet};

/// The state behind features that the present buffer does not show: moving averages, arrival
/// rates. Told of every packet that comes or leaves; only what the features need is kept.
#[derive(Clone, Debug)]
pub struct History {
    averages: Option<Averages>,
    projection: Option<Projection>,
}

impl History {
    /// The history of an empty buffer: `line_rate_bps` has for each queue the rate of its port;
    /// `base_rtt_ns` is the time constant.
    pub fn new(
        features: &FeatureSet,
        line_rate_bps: impl ExactSizeIterator<Item = u64>,
        base_rtt_ns: u64,
    ) -> Self {
        let needs = |of: &[Feature]| features.features().iter().any(|feature| of.contains(feature));
        let averages = needs(&[Feature::AvgQueueLength, Feature::AvgOccupancy]);
        let projection = features.features().iter().any(|feature| feature.needs_projection());
        History {
            averages: averages.then(|| Averages::new(line_rate_bps.len(), base_rtt_ns)),
            projection: projection.then(|| Projection::new(line_rate_bps, base_rtt_ns)),
        }
    }

    /// A packet of `size_bytes` arrived for `queue` and was accepted or rejected; `buffer` is how
    /// it is after that.
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

    /// A packet departed or was pushed out from `queue`; `buffer` is what remains.
    pub fn removed(&mut self, buffer: &impl BufferView, queue: usize, now_ns: u64) {
        if let Some(averages) = &mut self.averages {
            averages.removed(queue, buffer.queue_bytes(queue), buffer.occupancy_bytes(), now_ns);
        }
        if let Some(projection) = &mut self.projection {
            projection.changed(buffer, queue, 0, now_ns);
        }
    }

    /// # Panics
    /// If no feature it was made for is an average.
    pub(crate) fn averages(&self) -> &Averages {
        self.averages.as_ref().expect("averages are kept where a feature needs them")
    }

    /// # Panics
    /// If no feature it was made for is a projection.
    pub(crate) fn projection(&self) -> &Projection {
        self.projection.as_ref().expect("projections are kept where a feature needs them")
    }
}
