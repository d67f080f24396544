//! Complete Sharing: first come, first served.

use crate::about::{About, PolicyParameters, Sees};
use crate::{Buffer, Decision, Packet, Policy};
use serde::{Deserialize, Serialize};

/// Accepts every packet that fits. At most (N+1)-competitive (Credence, table 1).
#[derive(Clone, Copy, Debug, Default)]
pub struct CompleteSharing;

/// Parameters of [`CompleteSharing`]: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompleteSharingParameters {}

impl PolicyParameters for CompleteSharingParameters {
    fn about(&self) -> About<'_> {
        let title = "Complete Sharing";
        About { title, pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl Policy for CompleteSharing {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}
