//! Complete Sharing: first come, first served.

use crate::{Buffer, Decision, Packet, Policy};

/// Accepts every packet that fits. At most (N+1)-competitive (Credence, table 1).
#[derive(Clone, Copy, Debug, Default)]
pub struct CompleteSharing;

impl Policy for CompleteSharing {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}
