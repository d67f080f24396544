//! Loss detection by time: RACK-TLP (RFC 8985), as senders of Linux do it.
//!
//! A segment is lost if one that was sent later, by a reordering window, has arrived. So the loss of a repeated segment is
//! seen, too, and a tail that nothing follows is probed after two round trips instead of waiting for the retransmission
//! timer. Waits are those of Linux (`net/ipv4/tcp_recovery.c`, `tcp_output.c` of 6.12). Not built: the window's growth by DSACK
//! (section 6.2, step 4).

use super::scoreboard::Scoreboard;
use super::tuning::Ticks;
use std::collections::VecDeque;

/// What Linux adds to the wait of its timers (`TCP_TIMEOUT_MIN_US`), nanoseconds.
pub(crate) const TIMEOUT_MIN_NS: u64 = 2_000_000;

/// The last time that a segment was sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// Of all that this sender sent; times can be equal.
    order: u64,
    at_ns: u64,
    is_repeated: bool,
}

/// A tail loss probe that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// All below it being acknowledged ends its episode.
    end: u32,
    at_ns: u64,
    is_repeated: bool,
}

/// What RACK-TLP remembers of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Of the segments from `first` on.
    sent: VecDeque<Sending>,
    first: u32,
    sendings: u64,
    /// The order of the last segment sent of those that arrived, and its round trip.
    newest: Option<u64>,
    rtt_ns: u64,
    least_rtt_ns: u64,
    smoothed_ns: u64,
    /// Segments below it were overtaken.
    past: u32,
    has_reordering: bool,
    /// When segments that may only be late count as lost.
    pub(crate) reorder_ns: Option<u64>,
    /// When a tail loss probe is sent.
    pub(crate) probe_ns: Option<u64>,
    probe: Option<Probe>,
}

impl Rack {
    /// Of a connection whose handshake took this long.
    pub(crate) fn new(round_trip_ns: u64) -> Self {
        Rack {
            sent: VecDeque::new(),
            first: 0,
            sendings: 0,
            newest: None,
            rtt_ns: 0,
            least_rtt_ns: round_trip_ns,
            smoothed_ns: round_trip_ns,
            past: 0,
            has_reordering: false,
            reorder_ns: None,
            probe_ns: None,
            probe: None,
        }
    }

    /// A segment is sent.
    pub(crate) fn sent(&mut self, segment: u32, now_ns: u64) {
        let place = (segment - self.first) as usize;
        let is_repeated = place < self.sent.len();
        let sending = Sending { order: self.sendings, at_ns: now_ns, is_repeated };
        self.sendings += 1;
        match self.sent.get_mut(place) {
            Some(sent) => *sent = sending,
            None => self.sent.push_back(sending),
        }
    }

    /// A segment has arrived that had not before: section 6.2, steps 1 to 3.
    pub(crate) fn arrived(&mut self, segment: u32, now_ns: u64) {
        let Some(&sending) = self.sent.get((segment - self.first) as usize) else { return };
        if segment < self.past {
            self.has_reordering |= !sending.is_repeated;
        } else {
            self.past = segment + 1;
        }
        let rtt_ns = now_ns - sending.at_ns;
        if sending.is_repeated && rtt_ns < self.least_rtt_ns {
            // An earlier sending arrived.
            return;
        }
        self.least_rtt_ns = self.least_rtt_ns.min(rtt_ns);
        self.smoothed_ns = (7 * self.smoothed_ns + rtt_ns) / 8;
        if self.newest.is_none_or(|newest| sending.order > newest) {
            (self.newest, self.rtt_ns) = (Some(sending.order), rtt_ns);
        }
    }

    /// When the first segment was sent last that is not acknowledged, nanoseconds.
    pub(crate) fn oldest_ns(&self) -> Option<u64> {
        self.sent.front().map(|sending| sending.at_ns)
    }

    /// All below this segment are acknowledged.
    pub(crate) fn acknowledged(&mut self, next: u32) {
        let known = self.sent.len().min((next - self.first) as usize);
        self.sent.drain(..known);
        self.first = next;
    }

    /// Marks what is lost (section 6.2, step 5), and sets the timer of what may be late, in place of a probe's. Returns whether
    /// any is newly lost.
    pub(crate) fn detect(
        &mut self,
        board: &mut Scoreboard,
        is_recovering: bool,
        ticks: Ticks,
        now_ns: u64,
    ) -> bool {
        self.reorder_ns = None;
        let Some(newest) = self.newest else { return false };
        let has_enough = is_recovering || board.sacked_segments() >= 3;
        let waits = self.has_reordering || !has_enough;
        let wait_ns = if waits { self.least_rtt_ns / 4 } else { 0 };
        let mut has_lost = false;
        let mut last_ns = None;
        for (segment, sending) in (self.first..).zip(&self.sent) {
            if sending.order >= newest || !board.is_in_flight(segment) {
                continue;
            }
            let lost_ns = sending.at_ns + self.rtt_ns + wait_ns;
            if lost_ns <= now_ns {
                has_lost |= board.lose_again(segment);
            } else {
                last_ns = last_ns.max(Some(lost_ns));
            }
        }
        if let Some(last_ns) = last_ns {
            self.reorder_ns = Some(ticks.timer_ns(now_ns, last_ns - now_ns + TIMEOUT_MIN_NS));
            self.probe_ns = None;
        }
        has_lost
    }

    /// When a tail is probed, if nothing comes (section 7.2), nanoseconds from now: two round trips, and `wait_ns`.
    pub(crate) fn probe_after_ns(&self, wait_ns: u64) -> u64 {
        2 * self.smoothed_ns + wait_ns
    }

    /// A next flow on the same connection: segments are counted anew.
    pub(crate) fn resumed(self) -> Self {
        let has_reordering = self.has_reordering;
        Rack { has_reordering, smoothed_ns: self.smoothed_ns, ..Rack::new(self.least_rtt_ns) }
    }

    /// A probe is out.
    pub(crate) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// A probe is sent: the last segment again, or a new one.
    pub(crate) fn probes(&mut self, end: u32, is_repeated: bool, now_ns: u64) {
        self.probe = Some(Probe { end, at_ns: now_ns, is_repeated });
    }

    /// All below `next` are acknowledged. Returns whether a probe repaired a loss (section 7.4): the answer came so late that it
    /// is the probe's.
    pub(crate) fn ends_probe(&mut self, next: u32, now_ns: u64) -> bool {
        match self.probe {
            Some(probe) if next >= probe.end => {
                self.probe = None;
                probe.is_repeated && now_ns >= probe.at_ns + self.least_rtt_ns
            }
            _ => false,
        }
    }

    /// The retransmission timer went off.
    pub(crate) fn timed_out(&mut self) {
        (self.probe, self.probe_ns, self.reorder_ns) = (None, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Ticks = Ticks { every_ns: 0, phase_ns: 0 };

    /// A board of 10 segments of 10 bytes, all sent at 0, and what RACK knows of them.
    fn sent() -> (Scoreboard, Rack) {
        let (mut board, mut rack) = (Scoreboard::new(100, 10), Rack::new(40));
        for segment in 0..10 {
            board.send(segment);
            rack.sent(segment, 0);
        }
        (board, rack)
    }

    #[test]
    fn a_segment_is_lost_a_quarter_of_a_round_trip_after_a_later_one_arrived_or_when_three_did() {
        let (mut board, mut rack) = sent();
        rack.arrived(1, 40);
        board.sack(1, 2);
        assert!(!rack.detect(&mut board, false, EXACT, 40));
        assert_eq!(rack.reorder_ns, Some(50 + TIMEOUT_MIN_NS));
        assert!(rack.detect(&mut board, false, EXACT, 50));
        assert_eq!(board.next(false), Some(0));

        let (mut board, mut rack) = sent();
        for segment in 1..4 {
            rack.arrived(segment, 40);
            board.sack(segment, segment + 1);
        }
        assert!(rack.detect(&mut board, false, EXACT, 40));
        assert!(!rack.detect(&mut board, true, EXACT, 40), "once");
    }

    #[test]
    fn the_loss_of_a_repeated_segment_is_seen() {
        let (mut board, mut rack) = sent();
        for segment in 1..4 {
            rack.arrived(segment, 40);
            board.sack(segment, segment + 1);
        }
        assert!(rack.detect(&mut board, false, EXACT, 40));
        board.send(0);
        rack.sent(0, 40);
        // Segments of the first flight say nothing of it.
        rack.arrived(4, 60);
        board.sack(4, 5);
        assert!(!rack.detect(&mut board, true, EXACT, 60));
        // One that was sent after it does.
        board.lose_again(5);
        board.send(5);
        rack.sent(5, 41);
        rack.arrived(5, 90);
        board.sack(5, 6);
        assert!(rack.detect(&mut board, true, EXACT, 90));
        assert_eq!(board.next(false), Some(0));
    }

    #[test]
    fn once_segments_were_reordered_three_are_not_enough() {
        let (mut board, mut rack) = sent();
        for segment in [1, 0, 4, 5, 6] {
            rack.arrived(segment, 40);
            board.sack(segment, segment + 1);
        }
        assert!(!rack.detect(&mut board, false, EXACT, 40));
        assert_eq!(rack.reorder_ns, Some(50 + TIMEOUT_MIN_NS));
    }

    #[test]
    fn a_probe_repaired_a_loss_if_nothing_was_heard_for_a_round_trip() {
        let (_, mut rack) = sent();
        rack.arrived(0, 40);
        rack.probes(10, true, 100);
        assert!(!rack.ends_probe(9, 139) && rack.is_probing());
        assert!(!rack.ends_probe(10, 139), "the segment itself arrived");
        rack.probes(10, true, 100);
        assert!(rack.ends_probe(10, 140) && !rack.is_probing());
    }
}
