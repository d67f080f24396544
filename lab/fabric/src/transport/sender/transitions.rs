//! Transitions between congestion states, and the windows that they set.

use super::{Ack, Ecn, Segment, Sender, State, Step};
use crate::transport::tuning::Recovery;

/// Duplicate acknowledgements that begin a recovery (RFC 5681).
const DUPLICATE_THRESHOLD: u32 = 3;

impl Sender {
    /// ns-3: `ProcessAck`.
    pub(super) fn process(&mut self, next: u32, step: Step, now_ns: u64, send: &mut Vec<Segment>) {
        let duplicates_before = self.duplicates;
        self.window.acknowledged = self.before + next;
        if step.is_duplicate {
            self.count_duplicate(step, now_ns, send);
        }
        if next == step.first {
            if next < self.board.highest() {
                self.control.acknowledged(&mut self.window, 1, now_ns);
            }
            return;
        }
        let segments = u64::from(next - step.first);
        if !step.is_duplicate {
            self.duplicates = 0;
        }
        match self.state {
            State::Recovery if next < self.recover => {
                self.recover_part(next, step, now_ns, send);
            }
            State::Loss if next < self.recover => {
                self.control.acknowledged(&mut self.window, segments, now_ns);
                self.grow(segments, now_ns);
                self.new_acknowledgement(next, true, now_ns);
            }
            State::Reduction => {
                self.control.acknowledged(&mut self.window, segments, now_ns);
                self.reduce(step.delivered, step.acknowledges_repeated);
                self.new_acknowledgement(next, true, now_ns);
            }
            _ => self.close(next, segments, duplicates_before, step, now_ns),
        }
    }

    /// A partial acknowledgement (RFC 6675, section 5, B).
    fn recover_part(&mut self, next: u32, step: Step, now_ns: u64, send: &mut Vec<Segment>) {
        self.reduce(step.delivered, step.acknowledges_repeated);
        if self.rack.is_none() && !self.board.is_repeated(next) {
            self.repeat(now_ns, send);
        }
        self.control.acknowledged(&mut self.window, 1, now_ns);
        let resets_timer = self.expects_first_partial || self.rack.is_some();
        self.new_acknowledgement(next, resets_timer, now_ns);
        self.expects_first_partial = false;
    }

    /// New segments are acknowledged outside recovery, or ending it.
    fn close(&mut self, next: u32, segments: u64, duplicates: u32, step: Step, now_ns: u64) {
        let rule = &mut self.control;
        let mut grows_by = segments;
        match self.state {
            State::Disorder => {
                if let Some(others) = segments.checked_sub(u64::from(duplicates)) {
                    rule.acknowledged(&mut self.window, others, now_ns);
                }
                if !step.is_duplicate {
                    self.state = State::Open;
                }
            }
            State::Loss => {
                self.expects_first_partial = true;
                grows_by = u64::from(next.saturating_sub(self.recover));
                rule.acknowledged(&mut self.window, grows_by, now_ns);
                self.state = State::Open;
            }
            _ => rule.acknowledged(&mut self.window, segments, now_ns),
        }
        if self.state == State::Recovery {
            self.expects_first_partial = true;
            self.state = State::Open;
            self.duplicates = 0;
            self.window.cwnd_bytes = self.window.ssthresh_bytes;
        }
        self.is_recovering &= next < self.recover;
        if self.state == State::Open {
            self.grow(grows_by, now_ns);
            self.new_acknowledgement(next, true, now_ns);
        }
    }

    /// ns-3: `DupAck`.
    fn count_duplicate(&mut self, step: Step, now_ns: u64, send: &mut Vec<Segment>) {
        match self.state {
            State::Loss => return,
            State::Recovery => return self.reduce(step.delivered, step.acknowledges_repeated),
            State::Open => self.state = State::Disorder,
            State::Disorder | State::Reduction => {}
        }
        if self.rack.is_some() {
            return;
        }
        self.duplicates += 1;
        let acknowledged = self.board.first();
        let is_new_event = acknowledged >= self.recover || !self.is_recovering;
        let is_enough = self.duplicates == DUPLICATE_THRESHOLD && is_new_event;
        let may_recover = self.state == State::Disorder || self.recovery != Recovery::Ns3;
        if may_recover && (is_enough || self.board.is_lost(acknowledged + 1)) {
            self.recover(step, now_ns, send);
        }
    }

    /// ns-3: `NewAck`.
    fn new_acknowledgement(&mut self, next: u32, resets_timer: bool, now_ns: u64) {
        if resets_timer {
            self.round_trip.reset();
            self.deadline_ns = Some(self.timeout_ns(now_ns));
        }
        self.window.next = self.window.next.max(self.before + next);
        if self.is_done() {
            self.deadline_ns = None;
        }
    }

    /// ns-3: `EnterRecovery`.
    pub(super) fn recover(&mut self, step: Step, now_ns: u64, send: &mut Vec<Segment>) {
        if self.rack.is_none() && !self.board.is_lost(self.board.first()) {
            self.board.lose_first();
        }
        self.recover = self.board.highest();
        self.is_recovering = true;
        self.state = State::Recovery;
        self.window.ssthresh_bytes =
            self.control.reduced_by_loss_bytes(&self.window, self.board.in_flight_bytes());
        self.reduction.begin(self.board.unacknowledged_bytes(), self.rack.is_none());
        self.reduce(step.delivered, step.acknowledges_repeated);
        self.repeat(now_ns, send);
    }

    /// Reacts to a reported mark, once per window (ns-3: `EnterCwr`).
    pub(super) fn note_mark(&mut self, ack: &Ack<'_>, first: u32, delivered: u64) {
        if ack.next > first && ack.is_marked {
            if self.ecn_reported < ack.next {
                self.ecn_reported = ack.next;
                self.ecn = Ecn::Reported;
                let keeps_recovering = self.recovery != Recovery::Ns3
                    && matches!(self.state, State::Recovery | State::Loss);
                if self.state != State::Reduction && !keeps_recovering {
                    self.enter_reduction(delivered);
                }
            }
        } else if self.ecn == Ecn::Reported && !ack.is_marked {
            self.ecn = Ecn::Idle;
        }
        self.window.is_marked = self.ecn == Ecn::Reported;
    }

    /// ns-3: `EnterCwr`.
    pub(super) fn enter_reduction(&mut self, delivered: u64) {
        self.window.ssthresh_bytes =
            self.control.reduced_bytes(&self.window, self.board.in_flight_bytes());
        self.state = State::Reduction;
        self.recover = self.board.highest();
        self.reduction.begin(self.board.unacknowledged_bytes(), self.rack.is_none());
        self.reduce(delivered, false);
    }

    fn reduce(&mut self, delivered: u64, acknowledges_repeated: bool) {
        self.window.cwnd_bytes = self.reduction.window_bytes(
            delivered,
            self.board.in_flight_bytes(),
            self.window.ssthresh_bytes,
            self.window.segment_bytes,
            acknowledges_repeated,
        );
    }
}
