//! A switch with complete sharing and an AQM, with a log of the AQM's inputs and answers.

use crate::traffic::{Arrivals, run};
use dropcast_data::SwitchSpec;
use dropcast_switch::aqm::{Action, Aqm};
use dropcast_switch::{Buffer, CompleteSharing, Decision, Packet, Policy};

/// An input of an AQM and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AqmCall {
    /// A packet found its queue this long.
    Arrived { packet: Packet, length: u32, time: u64, action: Action },
    /// A packet left its queue this long.
    Departed { queue: usize, size_bytes: u32, length: u32, time: u64 },
}

/// Calls an AQM for every packet.
pub(crate) struct Asking<A> {
    pub(crate) aqm: A,
    pub(crate) calls: Vec<AqmCall>,
}

impl<A: Aqm> Policy for Asking<A> {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let action = self.aqm.arrives(buffer, packet, now);
        let length = buffer.lengths()[packet.queue];
        self.calls.push(AqmCall::Arrived { packet: *packet, length, time: now, action });
        match action {
            Action::Drop => Decision::Reject,
            Action::Pass | Action::Mark => CompleteSharing.decide(buffer, packet, now),
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.aqm.departed(buffer, queue, size_bytes, time);
        let length = buffer.lengths()[queue];
        self.calls.push(AqmCall::Departed { queue, size_bytes, length, time });
    }
}

/// The AQM's inputs and answers for these arrivals.
pub(crate) fn ask<A: Aqm>(spec: &SwitchSpec, arrivals: &Arrivals, aqm: A) -> Vec<AqmCall> {
    let mut switch = run(spec, arrivals, Asking { aqm, calls: Vec::new() });
    std::mem::take(&mut switch.policy_mut().calls)
}
