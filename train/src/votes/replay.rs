//! Replays that vote rules choose by.

use super::error::VoteError;
use serde::{Deserialize, Serialize};

/// What was transmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes, as the packets take them in the buffer.
    pub bytes: u64,
}

impl Sent {
    /// Adds more packets.
    pub fn add(&mut self, more: Sent) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }

    /// Whether neither packets nor bytes are fewer than those of `other`.
    pub(super) fn is_no_less_than(self, other: Sent) -> bool {
        self.packets >= other.packets && self.bytes >= other.bytes
    }
}

/// What a forest's predictions are replayed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VotePolicy {
    /// FollowLQD on the arrivals without the predicted drops: the denominator of `eta`
    /// (Credence, Definition 1).
    Followed,
    /// Credence (Algorithm 1) with the predictions.
    Credence,
}

/// One replay: a forest at a vote threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteLane {
    /// Index of the forest.
    pub forest: usize,
    /// `score > threshold` predicts a drop.
    pub threshold: u32,
    /// What the predictions go through.
    pub policy: VotePolicy,
}

/// Replays the rows that votes are chosen on.
pub trait VoteReplay {
    /// Why a replay fails, or a vote cannot be chosen.
    type Error: From<VoteError>;

    /// What each lane transmits, in the order of `lanes`. Lanes name forests by their place among
    /// those that votes are chosen for.
    ///
    /// # Errors
    /// If the rows cannot be replayed.
    fn sent(&self, lanes: &[VoteLane]) -> Result<Vec<Sent>, Self::Error>;
}

/// Where nothing can be replayed: rules that replay fail with [`VoteError::NeedsReplay`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReplay;

impl VoteReplay for NoReplay {
    type Error = VoteError;

    fn sent(&self, _: &[VoteLane]) -> Result<Vec<Sent>, VoteError> {
        Err(VoteError::NeedsReplay)
    }
}
