//! The state of each sent and unacknowledged segment (RFC 6675), like ns-3's `TcpTxBuffer`.

use std::collections::VecDeque;

const LOST: u8 = 1;
const SACKED: u8 = 2;
const REPEATED: u8 = 4;

/// Number of SACKed segments above a segment that make it count as lost (RFC 6675: DupThresh).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The segments of a flow, with the state of those sent and unacknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// Segments of the flow.
    segments: u32,
    segment_bytes: u32,
    last_bytes: u32,
    /// The first segment that is not acknowledged.
    first: u32,
    /// From `first` on.
    sent: VecDeque<u8>,
    sent_bytes: u64,
    lost_bytes: u64,
    sacked_bytes: u64,
    repeated_bytes: u64,
    /// The highest segment that is selectively acknowledged.
    highest_sacked: Option<u32>,
    /// All below it that are not selectively acknowledged are marked lost.
    lost_below: u32,
    /// Segments marked lost and not sent again since.
    missing: u32,
}

impl Scoreboard {
    /// A flow of `size_bytes`, above 0.
    pub(crate) fn new(size_bytes: u64, segment_bytes: u32) -> Self {
        let segments = size_bytes.div_ceil(u64::from(segment_bytes)) as u32;
        let last_bytes = size_bytes - u64::from(segments - 1) * u64::from(segment_bytes);
        Scoreboard {
            segments,
            segment_bytes,
            last_bytes: last_bytes as u32,
            first: 0,
            sent: VecDeque::new(),
            sent_bytes: 0,
            lost_bytes: 0,
            sacked_bytes: 0,
            repeated_bytes: 0,
            highest_sacked: None,
            lost_below: 0,
            missing: 0,
        }
    }

    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    /// The first segment that is not acknowledged.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// The first segment that was never sent.
    pub(crate) fn highest(&self) -> u32 {
        self.first + self.sent.len() as u32
    }

    /// Payload of a segment.
    pub(crate) fn bytes(&self, segment: u32) -> u32 {
        if segment + 1 == self.segments { self.last_bytes } else { self.segment_bytes }
    }

    /// Payload from a segment to the end of the flow.
    pub(crate) fn bytes_from(&self, segment: u32) -> u64 {
        match self.segments.checked_sub(segment + 1) {
            Some(whole) => {
                u64::from(whole) * u64::from(self.segment_bytes) + u64::from(self.last_bytes)
            }
            None => 0,
        }
    }

    /// Sent and not acknowledged, nor selectively, nor lost.
    pub(crate) fn in_flight_bytes(&self) -> u64 {
        self.sent_bytes + self.repeated_bytes - self.lost_bytes - self.sacked_bytes
    }

    /// Sent and not acknowledged.
    pub(crate) fn unacknowledged_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn flags(&self, segment: u32) -> u8 {
        segment
            .checked_sub(self.first)
            .and_then(|place| self.sent.get(place as usize))
            .copied()
            .unwrap_or(0)
    }

    /// Whether the segment was retransmitted and is not acknowledged, selectively or cumulatively.
    pub(crate) fn is_repeated(&self, segment: u32) -> bool {
        self.flags(segment) & (REPEATED | SACKED) == REPEATED
    }

    /// Whether the segment's last sending may still arrive.
    pub(crate) fn is_in_flight(&self, segment: u32) -> bool {
        let flags = self.flags(segment);
        flags & SACKED == 0 && flags & (LOST | REPEATED) != LOST
    }

    pub(crate) fn is_sacked(&self, segment: u32) -> bool {
        self.flags(segment) & SACKED != 0
    }

    /// Segments that are selectively acknowledged; the last may be short.
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_bytes.div_ceil(u64::from(self.segment_bytes))
    }

    /// RFC 6675, IsLost, as in ns-3: the first segment from this one on that is either lost or
    /// selectively acknowledged is lost.
    pub(crate) fn is_lost(&self, segment: u32) -> bool {
        let Some(highest) = self.highest_sacked else { return false };
        (segment.max(self.first)..highest)
            .map(|segment| self.flags(segment))
            .find(|flags| flags & (LOST | SACKED) != 0)
            .is_some_and(|flags| flags & LOST != 0)
    }

    /// RFC 6675, NextSeg, rules 1 to 3 (3 only if asked for).
    pub(crate) fn next(&self, with_rule_3: bool) -> Option<u32> {
        let to_send = |wanted: u8| {
            move |flags: &u8| flags & (REPEATED | SACKED) == 0 && flags & wanted == wanted
        };
        let found = |wanted| self.sent.iter().position(to_send(wanted));
        if self.missing > 0
            && let Some(place) = found(LOST)
        {
            return Some(self.first + place as u32);
        }
        if self.highest() < self.segments {
            return Some(self.highest());
        }
        if !with_rule_3 {
            return None;
        }
        found(0).map(|place| self.first + place as u32)
    }

    /// The segment is sent; returns whether it is a retransmission.
    pub(crate) fn send(&mut self, segment: u32) -> bool {
        if segment >= self.highest() {
            self.sent.push_back(0);
            self.sent_bytes += u64::from(self.bytes(segment));
            return false;
        }
        let flags = self.flags(segment);
        if flags & REPEATED == 0 {
            self.repeated_bytes += u64::from(self.bytes(segment));
            self.missing -= u32::from(flags & LOST != 0);
            self.set(segment, flags | REPEATED);
        }
        true
    }

    /// Everything below `segment` is acknowledged. Returns the newly delivered bytes.
    pub(crate) fn acknowledge(&mut self, segment: u32) -> u64 {
        let mut delivered = 0;
        while self.first < segment
            && let Some(flags) = self.sent.pop_front()
        {
            let bytes = u64::from(self.bytes(self.first));
            self.sent_bytes -= bytes;
            if flags & LOST != 0 {
                self.lost_bytes -= bytes;
                self.missing -= u32::from(flags & REPEATED == 0);
            }
            if flags & REPEATED != 0 {
                self.repeated_bytes -= bytes;
            }
            if flags & SACKED != 0 {
                self.sacked_bytes -= bytes;
            } else {
                delivered += bytes;
            }
            self.first += 1;
        }
        if self.highest_sacked.is_some_and(|highest| highest < self.first) {
            self.highest_sacked = None;
        }
        delivered
    }

    /// The segments `from..to` are selectively acknowledged. Returns the newly delivered bytes.
    pub(crate) fn sack(&mut self, from: u32, to: u32) -> u64 {
        let mut delivered = 0;
        for segment in from.max(self.first)..to.min(self.highest()) {
            let flags = self.flags(segment);
            if flags & SACKED != 0 {
                continue;
            }
            let bytes = u64::from(self.bytes(segment));
            if flags & LOST != 0 {
                self.lost_bytes -= bytes;
                self.missing -= u32::from(flags & REPEATED == 0);
            }
            self.set(segment, (flags & !LOST) | SACKED);
            self.sacked_bytes += bytes;
            delivered += bytes;
            self.highest_sacked = self.highest_sacked.max(Some(segment));
        }
        delivered
    }

    /// Marks segments with three SACKed segments above them as lost.
    pub(crate) fn mark_lost(&mut self) {
        let Some(highest) = self.highest_sacked else { return };
        let mut above = 0;
        for segment in (self.first.max(self.lost_below)..=highest).rev() {
            if self.flags(segment) & SACKED != 0 {
                above += 1;
                if above == DUPLICATE_THRESHOLD {
                    for lost in self.first.max(self.lost_below)..segment {
                        self.lose(lost);
                    }
                    self.lost_below = segment;
                    return;
                }
            }
        }
    }

    fn lose(&mut self, segment: u32) {
        let flags = self.flags(segment);
        if flags & (SACKED | LOST) == 0 {
            self.lost_bytes += u64::from(self.bytes(segment));
            self.missing += u32::from(flags & REPEATED == 0);
            self.set(segment, flags | LOST);
        }
    }

    /// The first segment is lost, even if it was sent again.
    pub(crate) fn lose_first(&mut self) {
        self.lose_again(self.first);
    }

    /// A segment is lost, even if it was sent again; returns whether it was sent and has not arrived.
    pub(crate) fn lose_again(&mut self, segment: u32) -> bool {
        let flags = self.flags(segment);
        if !(self.first..self.highest()).contains(&segment) || flags & SACKED != 0 {
            return false;
        }
        let bytes = u64::from(self.bytes(segment));
        if flags & REPEATED != 0 {
            self.repeated_bytes -= bytes;
            self.missing += u32::from(flags & LOST != 0);
            self.set(segment, flags & !REPEATED);
        }
        self.lose(segment);
        true
    }

    /// After a timeout: everything not selectively acknowledged is lost and not sent again since.
    pub(crate) fn lose_all(&mut self) {
        (self.lost_bytes, self.repeated_bytes, self.missing) = (0, 0, 0);
        let (first, segments) = (self.first, self.segments);
        for (place, flags) in self.sent.iter_mut().enumerate() {
            let is_last = first + place as u32 + 1 == segments;
            let bytes = u64::from(if is_last { self.last_bytes } else { self.segment_bytes });
            if *flags & SACKED == 0 {
                self.lost_bytes += bytes;
                self.missing += 1;
                *flags = LOST;
            } else {
                *flags = SACKED;
            }
        }
        self.lost_below = self.highest();
    }

    fn set(&mut self, segment: u32, flags: u8) {
        let place = (segment - self.first) as usize;
        self.sent[place] = flags;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::new(u64::from(segments) * 10 - 3, 10);
        for segment in 0..segments {
            assert!(!board.send(segment));
        }
        board
    }

    #[test]
    fn a_segment_can_be_lost_again_and_again() {
        let mut board = sent(4);
        for _ in 0..3 {
            assert!(board.lose_again(2));
            assert_eq!((board.in_flight_bytes(), board.next(false)), (27, Some(2)));
            assert!(board.send(2));
            assert_eq!((board.in_flight_bytes(), board.next(false)), (37, None));
        }
        assert_eq!(board.sack(2, 3), 10);
        assert!(!board.lose_again(2), "it has arrived");
        assert_eq!(board.acknowledge(3), 20);
        assert!(!board.lose_again(1) && !board.lose_again(4), "acknowledged, and never sent");
        assert_eq!(board.in_flight_bytes(), 7);
    }

    #[test]
    fn three_segments_above_make_a_loss() {
        let mut board = sent(10);
        assert_eq!(board.in_flight_bytes(), 97);
        assert_eq!(board.sack(2, 4), 20);
        board.mark_lost();
        assert_eq!(board.next(false), None, "two are not enough");
        assert_eq!(board.sack(2, 6), 20);
        board.mark_lost();
        assert!(board.is_lost(0) && board.is_lost(1) && !board.is_lost(2));
        assert_eq!(board.in_flight_bytes(), 97 - 40 - 20);
        assert_eq!(board.next(false), Some(0));
        assert!(board.send(0));
        assert_eq!(board.next(false), Some(1));
        assert!(board.send(1));
        assert_eq!(board.next(false), None);
        assert_eq!(board.next(true), Some(6), "rule 3");
        assert_eq!(board.acknowledge(6), 20);
        assert_eq!(board.in_flight_bytes(), 37);
    }

    #[test]
    fn a_timeout_loses_all_but_what_arrived() {
        let mut board = sent(5);
        board.sack(2, 3);
        board.lose_all();
        assert_eq!(board.in_flight_bytes(), 0);
        let mut order = Vec::new();
        while let Some(next) = board.next(false) {
            board.send(next);
            order.push(next);
        }
        assert_eq!(order, [0, 1, 3, 4]);
        board.lose_first();
        assert_eq!(board.next(false), Some(0), "again");
    }

    proptest! {
        /// The counts equal those of a scan of all segments.
        #[test]
        fn counts_are_those_of_the_segments(
            steps in prop::collection::vec((0u8..7, 0u32..40, 1u32..8), 1..120),
        ) {
            let mut board = Scoreboard::new(397, 10);
            for (step, at, length) in steps {
                match step {
                    0 | 1 => {
                        if let Some(next) = board.next(step == 1) {
                            board.send(next);
                        }
                    }
                    2 if board.highest() < 40 => {
                        board.send(board.highest());
                    }
                    3 => {
                        let to = board.first() + at % 3;
                        let first_hole = (board.first()..board.highest())
                            .find(|&s| board.flags(s) & SACKED == 0);
                        board.acknowledge(to.min(first_hole.map_or(to, |hole| hole + 1)));
                    }
                    4 => {
                        let from = (board.first() + 1).max(at);
                        board.sack(from, from + length);
                        board.mark_lost();
                    }
                    5 => board.lose_first(),
                    6 if at == 0 => board.lose_all(),
                    _ => {}
                }
                let sum = |wanted: u8| -> u64 {
                    (board.first()..board.highest())
                        .filter(|&s| wanted == 0 || board.flags(s) & wanted != 0)
                        .map(|s| u64::from(board.bytes(s)))
                        .sum()
                };
                prop_assert_eq!(board.sent_bytes, sum(0));
                prop_assert_eq!(board.lost_bytes, sum(LOST));
                prop_assert_eq!(board.sacked_bytes, sum(SACKED));
                prop_assert_eq!(board.repeated_bytes, sum(REPEATED));
                let missing = (board.first()..board.highest())
                    .filter(|&s| board.flags(s) & (LOST | REPEATED) == LOST)
                    .count();
                prop_assert_eq!(board.missing as usize, missing);
            }
        }
    }
}
