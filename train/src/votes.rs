//! Votes: how the vote threshold of a forest is chosen. Validation rows are used, or training rows
//! if a split has no validation rows; never test rows.

mod choose;
mod interval;
mod replay;
mod rule;

pub use crate::vote_error::VoteError;
pub use choose::ForestScores;
pub use replay::{NoReplay, VoteReplay};
pub use rule::VoteRule;
