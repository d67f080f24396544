//! What code may get wrong about a packet.

use dropcast_data::SwitchSpec;
use dropcast_forest::{Forest, Node};
use dropcast_runtime::{PacketVerdict, Situation};
use std::collections::BTreeSet;

/// A verdict, or a boundary from one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Case {
    Verdict(PacketVerdict),
    FillsBuffer,
    ByteTooManyForBuffer,
    ReachesThreshold,
    ByteAboveThreshold,
    ByteBelowSafeguard,
    ReachesSafeguard,
    FillsVirtualBuffer,
    ByteTooManyForVirtualBuffer,
    LongestQueuesTie,
    LeavesAsAnotherArrives,
}

impl Case {
    const BOUNDARIES: [Case; 10] = [
        Case::FillsBuffer,
        Case::ByteTooManyForBuffer,
        Case::ReachesThreshold,
        Case::ByteAboveThreshold,
        Case::ByteBelowSafeguard,
        Case::ReachesSafeguard,
        Case::FillsVirtualBuffer,
        Case::ByteTooManyForVirtualBuffer,
        Case::LongestQueuesTie,
        Case::LeavesAsAnotherArrives,
    ];

    /// What must happen in packets for this forest at this switch.
    pub(super) fn all(forest: &Forest, spec: &SwitchSpec) -> BTreeSet<Case> {
        let verdicts = PacketVerdict::ALL.into_iter().map(Case::Verdict);
        let mut cases: BTreeSet<Case> = verdicts.chain(Case::BOUNDARIES).collect();
        let highest = |nodes: &[Node]| {
            let weight = |node: &Node| match *node {
                Node::Leaf { weight } => u32::from(weight),
                Node::Split { .. } => 0,
            };
            nodes.iter().map(weight).max().unwrap_or(0)
        };
        let most: u32 = forest.trees.iter().map(|tree| highest(&tree.nodes)).sum();
        if most <= forest.vote_threshold {
            cases.remove(&Case::Verdict(PacketVerdict::PredictedDrop));
        }
        let pushable =
            spec.pushable.iter().zip(&spec.shared).filter(|&(&may, &shares)| may && shares);
        if pushable.count() * spec.ports() < 2 {
            cases.remove(&Case::LongestQueuesTie);
        }
        cases
    }

    /// In words, after "no packet".
    pub(super) fn words(self) -> &'static str {
        match self {
            Case::Verdict(PacketVerdict::Safeguarded) => "is accepted because every queue is short",
            Case::Verdict(PacketVerdict::Accepted) => "is accepted below its threshold",
            Case::Verdict(PacketVerdict::NoRoom) => "finds no room",
            Case::Verdict(PacketVerdict::AboveThreshold) => "is above its threshold",
            Case::Verdict(PacketVerdict::PredictedDrop) => "is predicted to be dropped",
            Case::FillsBuffer => "fills the buffer to the last byte",
            Case::ByteTooManyForBuffer => "is a byte too large for the buffer",
            Case::ReachesThreshold => "brings its queue to its threshold",
            Case::ByteAboveThreshold => "brings its queue a byte above its threshold",
            Case::ByteBelowSafeguard => "finds the longest queue a byte below B/N",
            Case::ReachesSafeguard => "finds the longest queue at B/N",
            Case::FillsVirtualBuffer => "fills virtual LQD's buffer to the last byte",
            Case::ByteTooManyForVirtualBuffer => "is a byte too large for virtual LQD's buffer",
            Case::LongestQueuesTie => "is pushed out of one of two equally long queues",
            Case::LeavesAsAnotherArrives => "leaves at the instant at which another arrives",
        }
    }

    /// What a packet shows that adds to the shared buffer: the switch before it, the bytes in it, and what was decided. A boundary
    /// counts where the other side is decided otherwise.
    pub(super) fn of(
        situation: &Situation,
        occupancy_bytes: u32,
        verdict: PacketVerdict,
    ) -> Vec<Case> {
        let &Situation { size_bytes, queue_bytes, buffer_bytes, .. } = situation;
        let mut cases = vec![Case::Verdict(verdict)];
        if (Situation { fits: true, ..*situation })
            .decide(|| verdict == PacketVerdict::PredictedDrop)
            .accepts()
        {
            let full = u64::from(occupancy_bytes) + u64::from(size_bytes);
            cases.extend(sides(
                full,
                buffer_bytes,
                [Case::FillsBuffer, Case::ByteTooManyForBuffer],
            ));
        }
        let longest = u64::from(situation.longest_queue_bytes) + 1;
        let short = buffer_bytes.div_ceil(situation.ports);
        if situation.fits {
            cases.extend(sides(longest, short, [Case::ByteBelowSafeguard, Case::ReachesSafeguard]));
        }
        if matches!(verdict, PacketVerdict::Accepted | PacketVerdict::AboveThreshold) {
            let threshold = situation.threshold_bytes.saturating_add(situation.slack_bytes);
            let after = u64::from(queue_bytes) + u64::from(size_bytes);
            cases.extend(sides(
                after,
                threshold,
                [Case::ReachesThreshold, Case::ByteAboveThreshold],
            ));
        }
        cases
    }

    /// What a packet shows that virtual LQD has room for or not.
    pub(super) fn of_virtual(after_bytes: u64, buffer_bytes: u32) -> Option<Case> {
        let cases = [Case::FillsVirtualBuffer, Case::ByteTooManyForVirtualBuffer];
        sides(after_bytes, buffer_bytes, cases)
    }
}

/// Which side of a boundary a number is at: on it, or one beyond.
fn sides(number: u64, boundary: u32, [on, beyond]: [Case; 2]) -> Option<Case> {
    match number.checked_sub(boundary.into()) {
        Some(0) => Some(on),
        Some(1) => Some(beyond),
        _ => None,
    }
}
