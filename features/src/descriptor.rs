//! What defines a feature, and what it is computed from.

use crate::history::{History, Memory};
use crate::view::BufferView;

/// Everything there is to know about a feature. To add one, write its descriptor and list it in
/// `list.rs`.
pub(crate) struct Descriptor {
    /// Its number in exported tables, and its place in the list. Never changes.
    pub(crate) code: u8,
    /// Its name: the column of a trace, and what `model.json` says.
    pub(crate) name: &'static str,
    /// Unit of its values.
    pub(crate) unit: &'static str,
    /// One sentence that defines it.
    pub(crate) definition: &'static str,
    /// Whether its values double when the buffer and all queues double.
    pub(crate) scales_with_buffer: bool,
    /// What has to be remembered of past packets to compute it.
    pub(crate) memory: Memory,
    /// Its value for a packet that arrives.
    pub(crate) observe: fn(&Arrival<'_>) -> u32,
}

/// A packet that arrives, before it is added: what it finds in the buffer.
pub(crate) struct Arrival<'a> {
    /// Length of the packet's queue.
    pub(crate) queue_bytes: u32,
    /// Bytes in the shared buffer.
    pub(crate) occupancy_bytes: u32,
    /// The packet's queue.
    pub(crate) queue: usize,
    /// The other queues.
    pub(crate) buffer: &'a dyn BufferView,
    /// What is remembered, as far as [`Descriptor::memory`] asks for it.
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
