//! The features' memory of past packets.

use crate::average::Averages;
use crate::classes::LengthClasses;
use crate::order::Order;
use crate::projection::{Horizon, Projection};
use crate::spread::Spread;
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
    /// Arrival rates, and the lengths expected in a quarter of a base RTT by class.
    LengthClasses,
    /// Arrival rates, and a cut through those lengths that follows them some events late.
    SpreadCut,
    /// Arrival rates, and the queues in the order of their lengths.
    LengthOrder,
}

/// The memory of a set of features ([`FeatureSet::history`](crate::FeatureSet::history)). It hears
/// of every packet that arrives or leaves; it keeps only what the features need.
#[derive(Clone, Debug)]
pub struct History {
    averages: Option<Averages>,
    projection: Option<Projection>,
    classes: Option<LengthClasses>,
    spread: Option<Spread>,
    order: Option<Order>,
}

impl History {
    pub(crate) fn new(
        memories: impl Iterator<Item = Memory> + Clone,
        line_rate_bps: impl ExactSizeIterator<Item = u64>,
        base_rtt_ns: u64,
    ) -> Self {
        let has = |memory| memories.clone().any(|of| of == memory);
        let queues = line_rate_bps.len();
        let rates = memories
            .clone()
            .any(|memory| !matches!(memory, Memory::Nothing | Memory::MovingAverages));
        History {
            averages: has(Memory::MovingAverages).then(|| Averages::new(queues, base_rtt_ns)),
            classes: has(Memory::LengthClasses).then(|| LengthClasses::new(queues)),
            spread: has(Memory::SpreadCut).then(|| Spread::new(queues)),
            order: has(Memory::LengthOrder).then(|| Order::new(queues)),
            projection: rates.then(|| Projection::new(line_rate_bps, base_rtt_ns)),
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
        let (soon, capacity) = (expected[Horizon::QuarterRtt as usize], buffer.capacity_bytes());
        if let Some(classes) = &mut self.classes {
            classes.changed(queue, soon, capacity);
        }
        if let Some(spread) = &mut self.spread {
            spread.changed(queue, soon, capacity);
        }
        if let Some(order) = &mut self.order {
            order.changed(queue, buffer.queue_bytes(queue), soon, capacity);
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
    /// If none of its features needs the cut.
    pub(crate) fn spread(&self) -> &Spread {
        self.spread.as_ref().expect("the cut is kept if a feature needs it")
    }

    /// # Panics
    /// If none of its features needs the order.
    pub(crate) fn order(&self) -> &Order {
        self.order.as_ref().expect("the order is kept if a feature needs it")
    }
}
