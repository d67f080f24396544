//! Times in which queues may not send.

use dropcast_data::Pause;
use serde::{Deserialize, Serialize};

/// Pauses of all traces together (PFC, IEEE 802.1Qbb).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseSection {
    /// How many.
    pub pauses: u64,
    /// The sum of their lengths, nanoseconds.
    pub total_ns: u64,
    /// The length of the longest, nanoseconds.
    pub longest_ns: u64,
}

impl PauseSection {
    /// The pauses of another trace.
    pub(super) fn add(&mut self, pauses: &[Pause]) {
        for pause in pauses {
            let length_ns = pause.until_ns.saturating_sub(pause.from_ns);
            self.pauses += 1;
            self.total_ns = self.total_ns.saturating_add(length_ns);
            self.longest_ns = self.longest_ns.max(length_ns);
        }
    }
}
