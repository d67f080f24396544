//! How vote rules ask for replays.

use crate::splits::Part;
use crate::vote_error::VoteError;
use dropcast_forest::{LaneSent, VoteLane};

/// Replays the rows that votes are chosen on.
pub trait VoteReplay {
    /// The error of a failed replay or choice.
    type Error: From<VoteError>;

    /// What each lane transmits of the rows of `part`, in the order of `lanes`. Lanes name forests by
    /// their index among those that votes are chosen for.
    ///
    /// # Errors
    /// If the rows cannot be replayed.
    fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, Self::Error>;
}

/// For rows that cannot be replayed: rules that replay fail with [`VoteError::NeedsReplay`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReplay;

impl VoteReplay for NoReplay {
    type Error = VoteError;

    fn sent(&self, _: Part, _: &[VoteLane]) -> Result<Vec<LaneSent>, VoteError> {
        Err(VoteError::NeedsReplay)
    }
}
