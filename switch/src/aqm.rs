//! Active queue management: signals congestion to senders before the buffer is full.

pub mod ecn_threshold;
pub mod pred;
pub mod red;
pub mod sojourn;

use crate::{Buffer, Packet};
use serde::{Deserialize, Serialize};

/// What an [`Aqm`] does with an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Pass,
    /// Mark it "congestion experienced" (ECN).
    Mark,
    /// Drop it.
    Drop,
}

/// Active queue management of all queues of a switch.
///
/// For each packet a switch asks its AQM first, then its [`crate::Policy`], unless the AQM dropped the
/// packet. A mark counts only if the packet is then accepted. It asks again as the packet leaves. Times are nanoseconds and come in order.
pub trait Aqm {
    /// The action on a packet that arrives at `now_ns`, given the buffer before it is added.
    fn arrives(&mut self, buffer: &Buffer, packet: &Packet, now_ns: u64) -> Action {
        let _ = (buffer, packet, now_ns);
        Action::Pass
    }

    /// A packet of `size_bytes` left `queue` at `time_ns`; `buffer` is what remains.
    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time_ns: u64) {
        let _ = (buffer, queue, size_bytes, time_ns);
    }

    /// Whether a packet that leaves `queue`, in which it was for `sojourn_ns`, is marked if it is capable of ECN;
    /// `buffer` is what remains. Asked of each packet that is sent, after [`Aqm::departed`].
    fn marks_leaving(
        &mut self,
        buffer: &Buffer,
        queue: usize,
        sojourn_ns: u64,
        now_ns: u64,
    ) -> bool {
        let _ = (buffer, queue, sojourn_ns, now_ns);
        false
    }
}

impl<A: Aqm + ?Sized> Aqm for Box<A> {
    fn arrives(&mut self, buffer: &Buffer, packet: &Packet, now_ns: u64) -> Action {
        (**self).arrives(buffer, packet, now_ns)
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time_ns: u64) {
        (**self).departed(buffer, queue, size_bytes, time_ns);
    }

    fn marks_leaving(
        &mut self,
        buffer: &Buffer,
        queue: usize,
        sojourn_ns: u64,
        now_ns: u64,
    ) -> bool {
        (**self).marks_leaving(buffer, queue, sojourn_ns, now_ns)
    }
}

/// No active queue management.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoAqm {}

impl Aqm for NoAqm {}

/// How senders learn of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// Packets that are capable of ECN are marked, others pass.
    #[default]
    Mark,
    /// Packets that are capable of ECN are marked, others are dropped (RFC 3168, section 5).
    MarkOrDrop,
    /// All are dropped.
    Drop,
}

impl Signal {
    /// The signal to the sender of a packet.
    pub fn action(self, packet: &Packet) -> Action {
        match (self, packet.is_ecn_capable()) {
            (Signal::Mark | Signal::MarkOrDrop, true) => Action::Mark,
            (Signal::Mark, false) => Action::Pass,
            (Signal::MarkOrDrop, false) | (Signal::Drop, _) => Action::Drop,
        }
    }
}
