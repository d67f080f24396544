//! The features' view of a buffer.

/// The state of a buffer that features use. All lengths are in bytes.
pub trait BufferView {
    /// Number of queues.
    fn queues(&self) -> usize;
    /// Length of one queue.
    fn queue_bytes(&self, queue: usize) -> u32;
    /// Whether a queue draws on the shared buffer.
    fn shares(&self, queue: usize) -> bool;
    /// Size of the shared buffer, the papers' `B`.
    fn capacity_bytes(&self) -> u32;
    /// Bytes in the shared buffer, the papers' `Q`.
    fn occupancy_bytes(&self) -> u32;
    /// Length of the longest queue that draws on the shared buffer.
    fn longest_queue_bytes(&self) -> u32;
    /// Number of queues that draw on the shared buffer and hold more than `bytes`.
    fn queues_longer_than(&self, bytes: u32) -> u32;
    /// Bytes that the shared buffer would hold if every queue that draws on it were cut down to
    /// `level_bytes`.
    fn bytes_up_to(&self, level_bytes: u32) -> u64;
}

/// Bytes that remain if queues of these lengths are cut down to `level_bytes`.
pub fn bytes_up_to(lengths_bytes: &[u32], level_bytes: u32) -> u64 {
    let cut = lengths_bytes.iter().map(|&length| length.min(level_bytes));
    // Neither sum can wrap. Overflow checks in each step would prevent vectorization, and 32-bit
    // sums fit twice as many queues into a vector register.
    match u64::from(level_bytes) * lengths_bytes.len() as u64 <= u64::from(u32::MAX) {
        true => u64::from(cut.fold(0, u32::wrapping_add)),
        false => cut.map(u64::from).fold(0, u64::wrapping_add),
    }
}

/// Saturates at the largest value of a feature.
pub(crate) fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
