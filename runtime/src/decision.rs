//! What Credence does with an arriving packet (Algorithm 1, lines 6 to 16).

/// The inputs of the decision, after the packet has arrived and the thresholds have moved, but
/// before anything is added to the switch's own queues. All lengths are bytes (packets, in the
/// paper's model of unit packets).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Whether the switch's buffer has room for the packet: `Q + s <= B`.
    pub fits: bool,
    /// Length of the switch's longest queue.
    pub longest_queue_bytes: u32,
    /// Size of the buffer, `B`.
    pub buffer_bytes: u32,
    /// Number of ports, `N`.
    pub ports: u32,
    /// Length of the packet's queue, `q_i`, without the packet.
    pub queue_bytes: u32,
    /// Size of the packet.
    pub size_bytes: u32,
    /// Threshold of the packet's queue, `T_i`: the length of LQD's queue, with the packet.
    pub threshold_bytes: u32,
    /// How much longer than its threshold a queue may become. 0 is Algorithm 1. A switch whose ports
    /// transmit a packet a little later than virtual LQD's needs the size of its largest packet
    /// ([`ONE_PACKET_BYTES`](Self::ONE_PACKET_BYTES)), or it drops packets that LQD transmits.
    pub slack_bytes: u32,
}

/// The decision about a packet, and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketVerdict {
    /// Accepted: every queue is shorter than `B/N`. The oracle is not asked.
    Safeguarded,
    /// Accepted: below its threshold, and no drop is predicted.
    Accepted,
    /// Dropped: the buffer has no room for it.
    NoRoom,
    /// Dropped: its queue would exceed its threshold.
    AboveThreshold,
    /// Dropped: LQD is predicted to drop it.
    PredictedDrop,
}

impl PacketVerdict {
    /// All of them.
    pub const ALL: [PacketVerdict; 5] = [
        PacketVerdict::Safeguarded,
        PacketVerdict::Accepted,
        PacketVerdict::NoRoom,
        PacketVerdict::AboveThreshold,
        PacketVerdict::PredictedDrop,
    ];

    /// Its name in the exported C, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            PacketVerdict::Safeguarded => "safeguarded",
            PacketVerdict::Accepted => "accepted",
            PacketVerdict::NoRoom => "no_room",
            PacketVerdict::AboveThreshold => "above_threshold",
            PacketVerdict::PredictedDrop => "predicted_drop",
        }
    }

    /// Whether the packet is added to its queue.
    pub fn accepts(self) -> bool {
        matches!(self, PacketVerdict::Safeguarded | PacketVerdict::Accepted)
    }
}

impl Situation {
    /// A slack for ports that transmit a packet later than virtual LQD: a full-sized Ethernet packet.
    pub const ONE_PACKET_BYTES: u32 = 1_500;

    /// Algorithm 1. The oracle is called only if the decision depends on it.
    ///
    /// Whether the packet fits is checked first: in the paper's model a longest queue below `B/N`
    /// implies it, but not with packets of any size or several queues at a port.
    pub fn decide(self, predicts_drop: impl FnOnce() -> bool) -> PacketVerdict {
        if !self.fits {
            PacketVerdict::NoRoom
        } else if self.is_safeguarded() {
            PacketVerdict::Safeguarded
        } else if !self.is_below_threshold() {
            PacketVerdict::AboveThreshold
        } else if predicts_drop() {
            PacketVerdict::PredictedDrop
        } else {
            PacketVerdict::Accepted
        }
    }

    /// Line 7: `q_j < B/N` for the longest queue `j`.
    pub fn is_safeguarded(self) -> bool {
        u64::from(self.longest_queue_bytes) * u64::from(self.ports) < u64::from(self.buffer_bytes)
    }

    /// Line 11, and line 5 of Algorithm 2 (FollowLQD), for packets of any size: with unit packets and no
    /// slack, `q + 1 <= T` is `q < T`.
    pub fn is_below_threshold(self) -> bool {
        let after = u64::from(self.queue_bytes) + u64::from(self.size_bytes);
        after <= u64::from(self.threshold_bytes) + u64::from(self.slack_bytes)
    }
}
