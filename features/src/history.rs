//! The features' memory of past packets.

use crate::average::Averages;
use crate::classes::LengthClasses;
use crate::flow_table::FlowTable;
use crate::projection::{Horizon, Projection};
use crate::view::BufferView;
use dropcast_runtime::{FLOW_FEATURES, FlowMemory};

/// The memory of past packets that a feature needs. The base RTT is the time constant of each
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureMemory {
    /// Nothing: it is computed from the present buffer alone.
    Nothing,
    /// Moving averages of queue lengths and occupancy.
    MovingAverages,
    /// Arrival rates, and the queue lengths they project.
    ArrivalRates(Horizon),
    /// Arrival rates, and the lengths expected in a quarter of a base RTT by class.
    LengthClasses,
    /// Bursts and messages of flows.
    Flows,
}

/// The memory of a set of features ([`FeatureSet::history`](crate::FeatureSet::history)). It hears
/// of every packet that arrives or leaves; it keeps only what the features need.
#[derive(Clone, Debug)]
pub struct History {
    averages: Option<Averages>,
    projection: Option<Projection>,
    classes: Option<LengthClasses>,
    flows: Option<Flows>,
}

/// A table of flows, and the features of the packet that arrives.
#[derive(Clone, Debug)]
struct Flows {
    table: FlowTable<FlowMemory>,
    base_rtt_ns: u64,
    features: [u32; FLOW_FEATURES],
}

impl History {
    pub(crate) fn new(
        memories: impl Iterator<Item = FeatureMemory> + Clone,
        line_rate_bps: impl ExactSizeIterator<Item = u64>,
        base_rtt_ns: u64,
    ) -> Self {
        let has = |memory| memories.clone().any(|of| of == memory);
        let queues = line_rate_bps.len();
        let rates = memories.clone().any(|memory| {
            !matches!(
                memory,
                FeatureMemory::Nothing | FeatureMemory::MovingAverages | FeatureMemory::Flows
            )
        });
        History {
            averages: has(FeatureMemory::MovingAverages)
                .then(|| Averages::new(queues, base_rtt_ns)),
            classes: has(FeatureMemory::LengthClasses).then(|| LengthClasses::new(queues)),
            flows: has(FeatureMemory::Flows).then(|| Flows::new(base_rtt_ns)),
            projection: rates.then(|| Projection::new(line_rate_bps, base_rtt_ns)),
        }
    }

    /// A packet of the flow with this hash, 0 if it is not known, arrives: comes before [`FeatureSet::observe`](crate::FeatureSet::observe).
    #[inline(always)]
    pub fn flow_arrives(&mut self, flow_hash: u64, now_ns: u64) {
        if let Some(flows) = &mut self.flows {
            flows.arrives(flow_hash, now_ns);
        }
    }

    /// A packet of `size_bytes` arrived for `queue` and was accepted or rejected; `buffer` is the
    /// buffer after that.
    #[inline(always)]
    pub fn arrived(
        &mut self,
        buffer: &impl BufferView,
        queue: usize,
        size_bytes: u32,
        now_ns: u64,
    ) {
        self.changed(buffer, queue, size_bytes, now_ns);
    }

    /// A packet departed or was pushed out from `queue`; `buffer` is the buffer after that.
    #[inline(always)]
    pub fn removed(&mut self, buffer: &impl BufferView, queue: usize, now_ns: u64) {
        if let Some(averages) = &mut self.averages {
            averages.removed(queue, buffer.queue_bytes(queue), buffer.occupancy_bytes(), now_ns);
        }
        self.changed(buffer, queue, 0, now_ns);
    }

    #[inline(always)]
    fn changed(&mut self, buffer: &impl BufferView, queue: usize, arrived_bytes: u32, now_ns: u64) {
        let Some(projection) = &mut self.projection else { return };
        let Some(expected) = projection.changed(buffer, queue, arrived_bytes, now_ns) else {
            return;
        };
        if let Some(classes) = &mut self.classes {
            let soon = expected[Horizon::QuarterRtt as usize];
            classes.changed(queue, soon, buffer.capacity_bytes());
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

    /// # Panics
    /// If none of its features needs sums by class.
    pub(crate) fn classes(&self) -> &LengthClasses {
        self.classes.as_ref().expect("classes are kept if a feature needs them")
    }

    /// # Panics
    /// If none of its features is of flows.
    pub(crate) fn flow(&self) -> &[u32; FLOW_FEATURES] {
        &self.flows.as_ref().expect("flows are kept if a feature needs them").features
    }
}

impl Flows {
    /// Slots of the table, as many as 3 MB hold.
    const SLOTS: usize = 1 << 16;

    fn new(base_rtt_ns: u64) -> Self {
        let table = FlowTable::new(Self::SLOTS).expect("a power of two");
        Flows { table, base_rtt_ns, features: [0; FLOW_FEATURES] }
    }

    /// A packet of no known flow is as the first of a flow.
    fn arrives(&mut self, flow_hash: u64, now_ns: u64) {
        self.features = if flow_hash == 0 {
            FlowMemory::default().arrives(now_ns, self.base_rtt_ns)
        } else {
            self.table.flow(flow_hash).arrives(now_ns, self.base_rtt_ns)
        };
    }
}
