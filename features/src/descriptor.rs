//! The definition of a feature, and its inputs.

use crate::cost::FeatureWork;
use crate::history::{FeatureMemory, History};
use crate::view::BufferView;

/// The complete definition of a feature. To add one, write its descriptor and list it in `list.rs`.
pub(crate) struct Descriptor {
    /// Its number in exported tables. Never changes.
    pub(crate) code: u8,
    /// Its name, in trace columns and `model.json`.
    pub(crate) name: &'static str,
    /// Unit of its values.
    pub(crate) unit: &'static str,
    /// One sentence that defines it.
    pub(crate) definition: &'static str,
    /// Whether its values double when the buffer and all queues double.
    pub(crate) scales_with_buffer: bool,
    /// Whether LQD is more inclined to drop a packet the higher it is, all else equal.
    pub(crate) rises: bool,
    /// The memory of past packets that it needs.
    pub(crate) memory: FeatureMemory,
    /// What a chip does for it.
    pub(crate) parts: &'static [FeatureWork],
    /// Its value for an arriving packet.
    pub(crate) observe: fn(&Arrival<'_>) -> u32,
}

/// The state that an arriving packet finds, before it is added.
pub(crate) struct Arrival<'a> {
    /// Length of the packet's queue.
    pub(crate) queue_bytes: u32,
    /// Bytes in the shared buffer.
    pub(crate) occupancy_bytes: u32,
    /// The packet's queue.
    pub(crate) queue: usize,
    /// The other queues.
    pub(crate) buffer: &'a dyn BufferView,
    /// The memory that [`Descriptor::memory`] asks for.
    pub(crate) history: &'a History,
}

impl<'a> Arrival<'a> {
    #[inline]
    pub(crate) fn new<B: BufferView>(buffer: &'a B, history: &'a History, queue: usize) -> Self {
        Arrival {
            queue_bytes: buffer.queue_bytes(queue),
            occupancy_bytes: buffer.occupancy_bytes(),
            queue,
            buffer,
            history,
        }
    }
}
