//! What forests transmit in replays, by vote threshold.

use serde::{Deserialize, Serialize};

/// Packets and bytes: transmitted ones, unless a field says others.
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
    pub fn is_no_less_than(self, other: Sent) -> bool {
        self.packets >= other.packets && self.bytes >= other.bytes
    }
}

/// What is transmitted more than by Credence that always accepts; negative if less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteGain {
    /// Packets.
    pub packets: i64,
    /// Bytes, counted as in the buffer.
    pub bytes: i64,
}

/// A stretch of time at a switch, as long as its buffer takes to drain through its slowest port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GainWindow {
    /// The run.
    pub run: u64,
    /// The switch.
    pub switch: u16,
    /// The number of the window from time 0 on.
    pub window: u64,
}

/// A window and the gain in it.
pub type WindowGain = (GainWindow, VoteGain);

impl VoteGain {
    /// The gain, or the loss, of one packet.
    pub fn of_packet(size_bytes: u32, is_gained: bool) -> Self {
        let sign = if is_gained { 1 } else { -1 };
        VoteGain { packets: sign, bytes: sign * i64::from(size_bytes) }
    }

    /// Adds another.
    pub fn add(&mut self, more: VoteGain) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }
}

/// Adds gains; both are in the order of windows.
pub fn add_gains(sum: &mut Vec<WindowGain>, more: &[WindowGain]) {
    if sum.last().is_none_or(|last| more.first().is_none_or(|first| last.0 < first.0)) {
        sum.extend(more);
        return;
    }
    sum.extend(more);
    sum.sort_by_key(|&(window, _)| window);
    sum.dedup_by(|more, sum| {
        let is_same = more.0 == sum.0;
        if is_same {
            sum.1.add(more.1);
        }
        is_same
    });
}

/// What a lane transmits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSent {
    /// In all.
    pub sent: Sent,
    /// More than by Credence that always accepts, in the windows where it differs; only of Credence.
    pub gains: Vec<WindowGain>,
}

impl LaneSent {
    /// Adds what it transmits elsewhere.
    pub fn add(&mut self, more: &LaneSent) {
        self.sent.add(more.sent);
        add_gains(&mut self.gains, &more.gains);
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
