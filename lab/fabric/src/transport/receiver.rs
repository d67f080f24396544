//! The receiving end of a flow: cumulative and selective acknowledgements.

use std::collections::VecDeque;

/// Maximum blocks that a receiver remembers, and that fit into an acknowledgement with a timestamp.
const REMEMBERED: usize = 4;
const REPORTED: usize = 3;

/// Least time between DCQCN's notifications of a flow, its paper's N (Zhu et al., SIGCOMM 2015, section 3.1), nanoseconds.
const NOTIFICATION_NS: u64 = 50_000;

/// Selectively acknowledged ranges of segments, `from..to`.
pub(crate) type SackBlocks = [(u32, u32); REPORTED];

/// The received part of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// Everything below it has arrived.
    next: u32,
    /// Whether segments after `next` have arrived, from `next + 1` on.
    beyond: VecDeque<bool>,
    /// Ranges beyond `next`, the most recent first (RFC 2018, section 4).
    blocks: [(u32, u32); REMEMBERED],
    block_count: usize,
    /// Send time of the last segment in order (RFC 7323, section 4.3).
    echo_ns: u64,
    /// Payload that arrived for the first time, bytes.
    received_bytes: u64,
    /// Marks below it are ignored.
    marks_from: u32,
    /// When DCQCN's sender was last notified.
    notified_ns: Option<u64>,
}

impl Receiver {
    /// Whether to report a segment's mark: as in ns-3, only if its number is higher than those of
    /// all earlier marked segments. So marks on retransmissions are mostly ignored, unlike in RFC
    /// 8257 (section 3.2).
    pub(crate) fn reports_mark(&mut self, segment: u32, is_marked: bool) -> bool {
        let reports = is_marked && segment >= self.marks_from;
        if reports {
            self.marks_from = segment + 1;
        }
        reports
    }

    /// Whether the acknowledgement of a segment is DCQCN's notification (CNP): the segment is marked, and none was sent in
    /// the last 50 us.
    pub(crate) fn notifies(&mut self, is_marked: bool, now_ns: u64) -> bool {
        let is_due = |at_ns| now_ns >= at_ns + NOTIFICATION_NS;
        let notifies = is_marked && self.notified_ns.is_none_or(is_due);
        if notifies {
            self.notified_ns = Some(now_ns);
        }
        notifies
    }

    /// Segments below it have arrived.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Send time to report to the sender.
    pub(crate) fn echo_ns(&self) -> u64 {
        self.echo_ns
    }

    /// Payload that arrived for the first time, bytes.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Blocks for an acknowledgement, and their number.
    pub(crate) fn sack(&self) -> (SackBlocks, usize) {
        let mut blocks = SackBlocks::default();
        blocks.copy_from_slice(&self.blocks[..REPORTED]);
        (blocks, self.block_count.min(REPORTED))
    }

    /// A segment of `bytes`, sent at `sent_ns`, arrives.
    pub(crate) fn receive(&mut self, segment: u32, bytes: u32, sent_ns: u64) {
        if segment < self.next {
            return;
        }
        if segment > self.next {
            self.keep(segment, bytes);
            return;
        }
        self.echo_ns = sent_ns;
        self.received_bytes += u64::from(bytes);
        self.next += 1;
        while self.beyond.pop_front() == Some(true) {
            self.next += 1;
        }
        self.forget_below_next();
    }

    fn keep(&mut self, segment: u32, bytes: u32) {
        let place = (segment - self.next - 1) as usize;
        if self.beyond.len() <= place {
            self.beyond.resize(place + 1, false);
        }
        if !std::mem::replace(&mut self.beyond[place], true) {
            self.received_bytes += u64::from(bytes);
            self.add_block(segment);
        }
    }

    /// A block for a new segment, merged with the blocks it touches, goes first.
    fn add_block(&mut self, segment: u32) {
        let mut block = (segment, segment + 1);
        let mut others = [(0, 0); REMEMBERED];
        let mut count = 0;
        for &other in &self.blocks[..self.block_count] {
            if other.1 == block.0 {
                block.0 = other.0;
            } else if other.0 == block.1 {
                block.1 = other.1;
            } else {
                others[count] = other;
                count += 1;
            }
        }
        let kept = count.min(REMEMBERED - 1);
        self.blocks[0] = block;
        self.blocks[1..=kept].copy_from_slice(&others[..kept]);
        self.block_count = kept + 1;
    }

    fn forget_below_next(&mut self) {
        let mut kept = 0;
        for place in 0..self.block_count {
            if self.blocks[place].1 > self.next {
                self.blocks[kept] = self.blocks[place];
                kept += 1;
            }
        }
        self.block_count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_block_that_changed_goes_first() {
        let mut receiver = Receiver::default();
        for segment in [0, 2, 5, 3] {
            receiver.receive(segment, 10, 0);
        }
        assert_eq!(receiver.next(), 1);
        let (blocks, count) = receiver.sack();
        assert_eq!(&blocks[..count], [(2, 4), (5, 6)]);
        receiver.receive(4, 10, 0);
        let (blocks, count) = receiver.sack();
        assert_eq!(&blocks[..count], [(2, 6)]);
        receiver.receive(1, 10, 7);
        assert_eq!((receiver.next(), receiver.sack().1, receiver.echo_ns()), (6, 0, 7));
    }

    #[test]
    fn a_flow_is_notified_once_in_50_us() {
        let mut receiver = Receiver::default();
        let times = [(0, false), (1_000, true), (50_999, true), (51_000, true), (60_000, true)];
        let notified = times.map(|(now_ns, is_marked)| receiver.notifies(is_marked, now_ns));
        assert_eq!(notified, [false, true, false, true, false]);
    }

    proptest! {
        #[test]
        fn every_block_has_arrived_and_nothing_below_next_is_missing(
            segments in prop::collection::vec(0u32..30, 1..80),
        ) {
            let mut receiver = Receiver::default();
            let mut arrived = [false; 31];
            for segment in segments {
                receiver.receive(segment, 1, 0);
                arrived[segment as usize] = true;
                let next = arrived.iter().position(|&is| !is).expect("30 never arrives");
                prop_assert_eq!(receiver.next() as usize, next);
                let (blocks, count) = receiver.sack();
                for &(from, to) in &blocks[..count] {
                    prop_assert!(from > receiver.next() && from < to);
                    prop_assert!((from..to).all(|segment| arrived[segment as usize]));
                }
                let all = arrived.iter().filter(|&&is| is).count();
                prop_assert_eq!(receiver.received_bytes() as usize, all);
                // More than four blocks are not remembered.
                prop_assert!(count == 0 || all > next);
            }
        }
    }
}
