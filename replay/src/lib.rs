//! Replays: the same arrivals through every buffer-sharing policy.
//!
//! A [`Replay`] runs all policies on one trace with given predictions, and finds the exact error
//! `eta` of the predictions (Credence, Definition 1). A [`ForestReplay`] runs many forests and vote
//! thresholds in one pass.

mod forest_replay;
mod replay;

pub use forest_replay::{ForestReplay, ForestReplayError, LanesSent};
pub use replay::{Arrival, Replay, ReplayError, ReplayOptions, ReplayPolicy, Replayed};

// What replays transmit, as vote rules ask for it.
pub use dropcast_train::Sent;
