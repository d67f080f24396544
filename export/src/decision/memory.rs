//! Lengths of the arrays that the decision keeps.

use dropcast_data::SwitchSpec;

/// Scans take this many queues at a time, at least where a vector has 128 bits.
const LANES: usize = 8;

/// The length of arrays that are scanned.
pub(super) fn scanned(switch: &SwitchSpec) -> usize {
    switch.queues().next_multiple_of(LANES)
}

/// Length classes up to that of the buffer.
pub(crate) fn class_count(switch: &SwitchSpec) -> usize {
    dropcast_runtime::classes::count(switch.buffer_bytes)
}

/// Words that hold a bit for each queue.
pub(super) fn words(switch: &SwitchSpec) -> usize {
    switch.queues().div_ceil(64)
}
