//! Replays: the same arrivals through every buffer-sharing policy.
//!
//! A [`Replay`] runs all policies on one trace with given predictions, and finds the exact error
//! `eta` of the predictions (Credence, Definition 1). A [`ForestReplay`] runs many forests and vote
//! thresholds in one pass.

mod forest_replay;
mod replay;
mod vote_choice;

pub use forest_replay::{ForestReplay, ForestReplayError, LanesSent, VoteLane, VotePolicy};
pub use replay::{Arrival, Replay, ReplayError, ReplayOptions, ReplayPolicy, Replayed, Sent};
pub use vote_choice::VoteChoice;
