//! A server's network interface: one unlimited FIFO.

use std::collections::VecDeque;

/// A server's packets to send.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    pub(crate) waiting: VecDeque<u32>,
    pub(crate) is_busy: bool,
    /// Packets sent.
    pub(crate) sent: u64,
    /// When the last one reaches the leaf, nanoseconds.
    pub(crate) arrives_ns: u64,
}
