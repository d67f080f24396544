//! Votes: how the vote threshold of a forest is chosen. Validation rows are used, or training rows
//! if a split has no validation rows; never test rows.

mod choose;
mod error;
mod interval;
mod replay;
mod rule;

pub use choose::ForestScores;
pub use error::VoteError;
pub use replay::{
    GainWindow, LaneSent, NoReplay, Sent, VoteGain, VoteLane, VotePolicy, VoteReplay, WindowGain,
    add_gains,
};
pub use rule::VoteRule;
