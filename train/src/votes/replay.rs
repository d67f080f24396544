//! Replays for vote rules.

use super::error::VoteError;
use crate::splits::Part;
use serde::{Deserialize, Serialize};

/// Transmitted packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes, counted as in the buffer.
    pub bytes: u64,
}

impl Sent {
    /// Adds more packets.
    pub fn add(&mut self, more: Sent) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }

    /// Without packets that are among these.
    ///
    /// # Panics
    /// If there are more of those.
    #[must_use]
    pub fn without(self, less: Sent) -> Sent {
        Sent { packets: self.packets - less.packets, bytes: self.bytes - less.bytes }
    }

    /// Whether both packets and bytes are at least those of `other`.
    pub(super) fn is_no_less_than(self, other: Sent) -> bool {
        self.packets >= other.packets && self.bytes >= other.bytes
    }
}

/// The policy that a forest's predictions are replayed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VotePolicy {
    /// FollowLQD on the arrivals without the predicted drops: the denominator of `eta`
    /// (Credence, Definition 1).
    Followed,
    /// Credence (Algorithm 1) with the predictions.
    Credence,
}

/// One replay: a forest at a vote threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteLane {
    /// Index of the forest.
    pub forest: usize,
    /// `score > threshold` predicts a drop.
    pub threshold: u32,
    /// The policy that uses the predictions.
    pub policy: VotePolicy,
}

/// Replays the rows that votes are chosen on.
pub trait VoteReplay {
    /// The error of a failed replay or choice.
    type Error: From<VoteError>;

    /// What each lane transmits of the rows of `part`, in the order of `lanes`. Lanes name forests by
    /// their index among those that votes are chosen for.
    ///
    /// # Errors
    /// If the rows cannot be replayed.
    fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<Sent>, Self::Error>;
}

/// For rows that cannot be replayed: rules that replay fail with [`VoteError::NeedsReplay`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReplay;

impl VoteReplay for NoReplay {
    type Error = VoteError;

    fn sent(&self, _: Part, _: &[VoteLane]) -> Result<Vec<Sent>, VoteError> {
        Err(VoteError::NeedsReplay)
    }
}
