//! A server's network interface: one queue without limit, first come first served.

use std::collections::VecDeque;

/// What a server has to send.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    pub(crate) waiting: VecDeque<u32>,
    pub(crate) is_busy: bool,
}
