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

/// The nearest value that a feature can have.
fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
