//! Marking above a single threshold (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
//! section 3.1).

use super::{Action, Aqm, Signal};
use crate::{Buffer, Packet};
use serde::{Deserialize, Serialize};

/// Marks a packet when its queue is longer than `K` on its arrival. It is RED with `minK = maxK`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EcnThreshold {
    /// `K`, bytes. The DCTCP paper's 65 packets of 1,500 bytes for 10 Gbps (section 3.5).
    pub threshold_bytes: u32,
    /// How senders learn of congestion.
    pub signal: Signal,
}

impl Default for EcnThreshold {
    fn default() -> Self {
        EcnThreshold { threshold_bytes: 65 * 1500, signal: Signal::default() }
    }
}

impl Aqm for EcnThreshold {
    fn arrives(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Action {
        if buffer.lengths()[packet.queue] > self.threshold_bytes {
            self.signal.action(packet)
        } else {
            Action::Pass
        }
    }
}
