//! What the real switch dropped, by reason.

use dropcast_data::DropReason;
use dropcast_replay::Sent;
use serde::{Deserialize, Serialize};

/// What the real switch dropped for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonSection {
    /// The reason.
    pub reason: DropReason,
    /// What it dropped.
    pub dropped: Sent,
    /// Of which LQD would have transmitted.
    pub only_real: Sent,
}

/// Sums by reason.
#[derive(Clone, Copy, Default)]
pub(super) struct Reasons([(Sent, Sent); DropReason::ALL.len()]);

impl Reasons {
    pub(super) fn add(&mut self, reason: DropReason, by_lqd: bool, size_bytes: u32) {
        let one = Sent { packets: 1, bytes: u64::from(size_bytes) };
        let (dropped, only_real) = &mut self.0[reason as usize - 1];
        dropped.add(one);
        if !by_lqd {
            only_real.add(one);
        }
    }

    /// The reasons for which something was dropped.
    pub(super) fn sections(&self) -> Vec<ReasonSection> {
        let all = DropReason::ALL.into_iter().zip(self.0);
        all.filter(|(_, (dropped, _))| dropped.packets > 0)
            .map(|(reason, (dropped, only_real))| ReasonSection { reason, dropped, only_real })
            .collect()
    }
}
