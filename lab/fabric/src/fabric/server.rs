//! A server's network interface: one unlimited FIFO.

use std::collections::VecDeque;

/// A server's packets to send.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    pub(crate) waiting: VecDeque<u32>,
    pub(crate) is_busy: bool,
}
