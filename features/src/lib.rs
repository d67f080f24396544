//! The definition of every feature, computed one event at a time.
//!
//! Nothing else in the workspace computes a feature: the tracer, the replays and the simulator
//! call [`FeatureSet::observe`] on their buffer's state and feed a [`History`], so what a model is
//! trained on is what it is later given. The definitions are listed in `docs/features.md`.

mod average;
mod feature;
mod history;
mod projection;

pub use average::{Averages, MovingAverage};
pub use feature::{BufferView, Feature, FeatureSet, UnknownFeature};
pub use history::History;
pub use projection::Horizon;

/// Bytes that are left if queues of these lengths are cut down to `level_bytes`.
pub fn bytes_up_to(lengths_bytes: &[u32], level_bytes: u32) -> u64 {
    let cut = lengths_bytes.iter().map(|&length| length.min(level_bytes));
    // Without 64-bit sums, where none is needed, twice as many queues fit into a vector.
    match u64::from(level_bytes) * lengths_bytes.len() as u64 <= u64::from(u32::MAX) {
        true => u64::from(cut.sum::<u32>()),
        false => cut.map(u64::from).sum(),
    }
}

/// The nearest value that a feature can have.
fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
