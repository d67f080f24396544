//! What a sender does of RACK-TLP (`transport/rack.rs`), and when it waits.

use super::{Ack, Segment, Sender, State, Step};
use crate::transport::rack::TIMEOUT_MIN_NS;

impl Sender {
    /// Counts the segments that an acknowledgement reports as arrived.
    pub(super) fn update_rack(&mut self, ack: &Ack<'_>, blocks: &[(u32, u32)], now_ns: u64) {
        let Some(rack) = &mut self.rack else { return };
        let first = self.board.first();
        let highest = self.board.highest();
        let sacked = blocks.iter().flat_map(|&(from, to)| from.max(ack.next)..to.min(highest));
        for segment in (first..ack.next.min(highest)).chain(sacked) {
            if !self.board.is_sacked(segment) {
                rack.arrived(segment, now_ns);
            }
        }
        rack.acknowledged(ack.next);
    }

    /// Marks what RACK finds lost; returns whether anything is.
    pub(super) fn detect(&mut self, now_ns: u64) -> bool {
        let is_recovering = matches!(self.state, State::Recovery | State::Loss);
        let (board, ticks) = (&mut self.board, self.ticks);
        self.rack.as_mut().is_some_and(|rack| rack.detect(board, is_recovering, ticks, now_ns))
    }

    /// Losses were found: a recovery begins, unless one is on.
    pub(super) fn recover_from_loss(&mut self, step: Step, now_ns: u64, send: &mut Vec<Segment>) {
        if !matches!(self.state, State::Recovery | State::Loss) {
            self.recover(step, now_ns, send);
        }
    }

    /// A tail loss probe, if nothing is heard of what is out (RFC 8985, section 7.2); in place of a timeout that would come first
    /// (Linux's `tcp_schedule_loss_probe`).
    pub(super) fn schedule_probe(&mut self, now_ns: u64) {
        let Some(rack) = &mut self.rack else { return };
        rack.probe_ns = None;
        let is_calm = matches!(self.state, State::Open | State::Reduction);
        let out = self.board.highest() - self.board.first();
        if !is_calm || out == 0 || self.board.sacked_segments() > 0 || rack.is_probing() {
            return;
        }
        let wait_ns = if out == 1 { self.min_rto_ns } else { TIMEOUT_MIN_NS };
        let at_ns = self.ticks.timer_ns(now_ns, rack.probe_after_ns(wait_ns));
        rack.probe_ns = Some(self.deadline_ns.map_or(at_ns, |deadline_ns| at_ns.min(deadline_ns)));
    }

    /// Sends a new segment, or the last one again, whatever the window (RFC 8985, section 7.3).
    pub(super) fn probe(&mut self, now_ns: u64, send: &mut Vec<Segment>) {
        let highest = self.board.highest();
        let is_new = highest < self.board.segments();
        self.deadline_ns = None;
        self.send(if is_new { highest } else { highest - 1 }, now_ns, send);
        if let Some(rack) = &mut self.rack {
            rack.probes(self.board.highest(), !is_new, now_ns);
            rack.probe_ns = None;
        }
    }

    /// Whether Linux waits for room for a larger packet (`tcp_tso_should_defer`): for a third of the window, or 64 KiB, unless nothing
    /// was sent for a millisecond or the next acknowledgement is not expected soon.
    pub(super) fn defers(&self, now_ns: u64) -> bool {
        let Some(oldest_ns) = self.rack.as_ref().and_then(|rack| rack.oldest_ns()) else {
            return false;
        };
        let room = self.window.cwnd_bytes.saturating_sub(self.board.in_flight_bytes());
        matches!(self.state, State::Open | State::Disorder | State::Reduction)
            && self.window.pace_bps == 0
            && now_ns <= self.sent_ns + 1_000_000
            && now_ns >= oldest_ns + self.round_trip.smoothed_ns() / 2
            && room < (self.window.cwnd_bytes / 3).min(65_536)
            && self.board.bytes_from(self.board.highest()) > room
    }
}
