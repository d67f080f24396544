//! The sending end of a flow: transmission and loss recovery.
//!
//! The states and their transitions are those of ns-3.39's `TcpSocketBase` with selective
//! acknowledgements, limited transmit and proportional rate reduction; lab/notes/fabric.md lists where
//! they differ from the RFCs, because results depend on it. [`Recovery`] names the other rules.

use super::congestion_control::{CongestionControl, Feedback, Hop, Window};
use super::rack::Rack;
use super::rate_reduction::RateReduction;
use super::receiver::SackBlocks;
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use super::tuning::{Recovery, Ticks, Tuning};

/// The receiver's window until its first acknowledgement of data, bytes: that of a handshake, which
/// is not scaled (RFC 7323, section 2.2). Afterwards it is never the limit.
const HANDSHAKE_WINDOW_BYTES: u64 = 65_535;

/// An acknowledgement that has reached the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    /// Every segment below it has arrived.
    pub(crate) next: u32,
    /// Send time of the segment it answers.
    pub(crate) echo_ns: u64,
    /// The segment it answers was marked.
    pub(crate) is_marked: bool,
    pub(crate) sack: SackBlocks,
    pub(crate) sack_count: usize,
    /// Telemetry of the switches on the segment's path.
    pub(crate) hops: &'a [Hop],
}

/// A segment to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) number: u32,
    /// Payload, bytes.
    pub(crate) bytes: u32,
    pub(crate) is_repeated: bool,
}

/// Congestion states, as Linux and ns-3 name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Duplicate acknowledgements arrived, too few to act.
    Disorder,
    /// The window is being reduced because of a mark.
    Reduction,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// The marks that the sender has reacted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ecn {
    Idle,
    Reported,
    Answered,
}

/// A window-based sender.
pub(crate) struct Sender {
    board: Scoreboard,
    window: Window,
    control: Box<dyn CongestionControl + Send>,
    round_trip: RoundTrip,
    reduction: RateReduction,
    state: State,
    recovery: Recovery,
    rack: Option<Box<Rack>>,
    ticks: Ticks,
    min_rto_ns: u64,
    /// The latest congestion event is over when this segment is acknowledged.
    recover: u32,
    is_recovering: bool,
    /// The receiver's window, bytes.
    receiver_window_bytes: u64,
    /// The next partial acknowledgement is the first of this recovery.
    expects_first_partial: bool,
    duplicates: u32,
    ecn: Ecn,
    /// Marks up to here were reported, answered.
    ecn_reported: u32,
    ecn_answered: u32,
    /// When the retransmission timer goes off.
    deadline_ns: Option<u64>,
    /// When the next paced segment may be sent.
    paced_until_ns: u64,
    timeouts: u32,
    repeats: u32,
    /// Segments of earlier flows on this connection: the congestion control counts on.
    before: u32,
    /// When the last segment was sent.
    sent_ns: u64,
    /// Most bytes that were in flight at once.
    most_out_bytes: u64,
}

/// What a connection keeps for its next flow.
pub(crate) struct Kept {
    window: Window,
    control: Box<dyn CongestionControl + Send>,
    round_trip: RoundTrip,
    rack: Option<Box<Rack>>,
    sent_ns: u64,
}

impl Sender {
    /// A flow of `size_bytes`, above 0, that begins with a window of this many segments.
    pub(crate) fn new(
        control: Box<dyn CongestionControl + Send>,
        size_bytes: u64,
        initial_segments: u64,
        tuning: &Tuning,
    ) -> Self {
        let segment_bytes = u64::from(tuning.segment_bytes);
        let mut window = Window {
            segment_bytes,
            cwnd_bytes: initial_segments * segment_bytes,
            ssthresh_bytes: u64::from(u32::MAX),
            acknowledged: 0,
            next: 0,
            highest: 0,
            is_marked: false,
            round_trip_ns: 0,
            pace_bps: 0,
        };
        control.begin(&mut window);
        let kept = Kept {
            window,
            control,
            round_trip: RoundTrip::new(tuning),
            rack: (tuning.recovery == Recovery::RackTlp)
                .then(|| Box::new(Rack::new(tuning.own_rtt_ns))),
            sent_ns: 0,
        };
        Sender {
            receiver_window_bytes: HANDSHAKE_WINDOW_BYTES,
            ..Sender::on(kept, size_bytes, tuning)
        }
    }

    fn on(kept: Kept, size_bytes: u64, tuning: &Tuning) -> Self {
        let Kept { window, control, round_trip, rack, sent_ns } = kept;
        Sender {
            board: Scoreboard::new(size_bytes, tuning.segment_bytes),
            before: window.highest,
            window,
            control,
            round_trip,
            rack,
            sent_ns,
            most_out_bytes: 0,
            reduction: RateReduction::default(),
            state: State::Open,
            recovery: tuning.recovery,
            ticks: tuning.ticks,
            min_rto_ns: tuning.min_rto_ns,
            recover: 0,
            is_recovering: false,
            receiver_window_bytes: u64::MAX,
            expects_first_partial: true,
            duplicates: 0,
            ecn: Ecn::Idle,
            ecn_reported: 0,
            ecn_answered: 0,
            deadline_ns: None,
            paced_until_ns: 0,
            timeouts: 0,
            repeats: 0,
        }
    }

    /// Whether everything is acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.board.first() == self.board.segments()
    }

    /// When the next timer goes off, nanoseconds.
    pub(crate) fn deadline_ns(&self) -> Option<u64> {
        let rack = self.rack.as_ref();
        let of_rack = [rack.and_then(|rack| rack.reorder_ns), rack.and_then(|rack| rack.probe_ns)];
        of_rack.into_iter().chain([self.deadline_ns]).flatten().min()
    }

    /// When a paced sender with pending data may continue, nanoseconds.
    pub(crate) fn paced_until_ns(&self, now_ns: u64) -> Option<u64> {
        let waits = self.window.pace_bps > 0 && self.paced_until_ns > now_ns;
        (waits && self.may_send().is_some()).then_some(self.paced_until_ns)
    }

    /// Times that the retransmission timer went off.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Segments sent again.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Window, slow-start threshold and bytes in flight.
    #[cfg(test)]
    pub(crate) fn window_bytes(&self) -> (u64, u64, u64) {
        (self.window.cwnd_bytes, self.window.ssthresh_bytes, self.board.in_flight_bytes())
    }

    /// An acknowledgement arrives; `send` gets the segments to send (ns-3: `ReceivedAck`).
    pub(crate) fn acknowledge(&mut self, ack: &Ack<'_>, now_ns: u64, send: &mut Vec<Segment>) {
        self.receiver_window_bytes = u64::MAX;
        let first = self.board.first();
        if ack.next < first {
            return;
        }
        if ack.next > first {
            self.round_trip.sample(ack.echo_ns, now_ns);
            self.window.round_trip_ns = self.round_trip.smoothed_ns();
        }
        let blocks = &ack.sack[..ack.sack_count];
        self.update_rack(ack, blocks, now_ns);
        let sacked: u64 = blocks.iter().map(|&(from, to)| self.board.sack(from, to)).sum();
        if sacked > 0 && self.rack.is_none() {
            self.board.mark_lost();
        }
        let acknowledges_repeated = self.state == State::Recovery
            && ack.next < self.recover
            && (first..ack.next).any(|segment| self.board.is_repeated(segment));
        let delivered = sacked + self.board.acknowledge(ack.next);
        let has_lost = self.detect(now_ns);
        if self.state == State::Reduction && ack.next > self.recover {
            self.state = State::Open;
            self.window.cwnd_bytes = self.window.ssthresh_bytes;
        }
        if self.control.is_reduced_by_marks() {
            self.note_mark(ack, first, delivered);
        }
        let step = Step { first, delivered, is_duplicate: sacked > 0, acknowledges_repeated };
        self.process(ack.next, step, now_ns, send);
        if has_lost {
            self.recover_from_loss(step, now_ns, send);
        }
        if self.rack.as_mut().is_some_and(|rack| rack.ends_probe(ack.next, now_ns))
            && self.state == State::Open
        {
            self.enter_reduction(0);
        }
        let feedback = Feedback {
            acknowledged: self.before + ack.next,
            round_trip_ns: now_ns - ack.echo_ns,
            now_ns,
            is_marked: ack.is_marked,
            hops: ack.hops,
        };
        self.control.ack_received(&mut self.window, &feedback);
        self.fill_window(now_ns, send);
        if ack.next > first {
            self.schedule_probe(now_ns);
        }
    }

    /// Sends the data that window and pace allow (ns-3: `SendPendingData`).
    pub(crate) fn fill_window(&mut self, now_ns: u64, send: &mut Vec<Segment>) {
        let sent_before = send.len();
        if self.defers(now_ns) {
            return;
        }
        while self.window.pace_bps == 0 || self.paced_until_ns <= now_ns {
            let Some(segment) = self.may_send() else { break };
            self.send(segment, now_ns, send);
        }
        if send.len() > sent_before {
            self.schedule_probe(now_ns);
        }
    }

    /// A timer goes off.
    pub(crate) fn time_out(&mut self, now_ns: u64, send: &mut Vec<Segment>) {
        let is_due = |at_ns: Option<u64>| at_ns.is_some_and(|at_ns| at_ns <= now_ns);
        match &self.rack {
            Some(rack) if is_due(rack.probe_ns) => self.probe(now_ns, send),
            Some(rack) if is_due(rack.reorder_ns) => {
                if self.detect(now_ns) {
                    let first = self.board.first();
                    let step = Step { first, ..Step::default() };
                    self.recover_from_loss(step, now_ns, send);
                    self.fill_window(now_ns, send);
                }
            }
            _ => self.begin_anew(now_ns, send),
        }
    }

    /// When the retransmission timer goes off that is set now.
    fn timeout_ns(&self, now_ns: u64) -> u64 {
        self.ticks.timer_ns(now_ns, self.round_trip.rto_ns())
    }

    /// The retransmission timer goes off (ns-3: `ReTxTimeout`).
    fn begin_anew(&mut self, now_ns: u64, send: &mut Vec<Segment>) {
        self.deadline_ns = None;
        if let Some(rack) = &mut self.rack {
            rack.timed_out();
        }
        if self.is_done() {
            return;
        }
        self.timeouts += 1;
        let in_flight_bytes = self.board.in_flight_bytes();
        let was_repeated = self.board.is_repeated(self.board.first());
        self.duplicates = 0;
        self.board.lose_all();
        self.recover = self.board.highest();
        self.is_recovering = true;
        self.round_trip.back_off();
        if self.state != State::Loss || !was_repeated {
            let rule = &mut self.control;
            self.window.ssthresh_bytes = rule.reduced_by_loss_bytes(&self.window, in_flight_bytes);
        }
        self.control.timed_out(&self.window, now_ns);
        self.state = State::Loss;
        self.window.cwnd_bytes = self.window.segment_bytes;
        self.paced_until_ns = now_ns;
        self.fill_window(now_ns, send);
    }

    /// The next segment, if the window has room. A segment waits for room for all of it (silly
    /// window avoidance), unless it is the last.
    fn may_send(&self) -> Option<u32> {
        let window_bytes = self.window.cwnd_bytes.min(self.receiver_window_bytes);
        let room = window_bytes.saturating_sub(self.board.in_flight_bytes());
        // Once the last segment is out (with the flow's end), ns-3 sends nothing while open.
        let is_waiting = self.rack.is_none()
            && self.state == State::Open
            && self.board.highest() == self.board.segments();
        if room == 0 || is_waiting {
            return None;
        }
        let segment = self.board.next(self.state == State::Recovery && self.rack.is_none())?;
        let is_silly = room < self.window.segment_bytes && self.board.bytes_from(segment) > room;
        (!is_silly).then_some(segment)
    }

    fn send(&mut self, number: u32, now_ns: u64, send: &mut Vec<Segment>) {
        let bytes = self.board.bytes(number);
        let is_repeated = self.board.send(number);
        if let Some(rack) = &mut self.rack {
            rack.sent(number, now_ns);
        }
        if self.ecn == Ecn::Reported && self.ecn_reported > self.ecn_answered && !is_repeated {
            self.ecn = Ecn::Answered;
            self.ecn_answered = number;
        }
        self.deadline_ns = self.deadline_ns.or_else(|| Some(self.timeout_ns(now_ns)));
        self.sent_ns = now_ns;
        self.most_out_bytes = self.most_out_bytes.max(self.board.in_flight_bytes());
        if matches!(self.state, State::Recovery | State::Reduction) {
            self.reduction.sent(u64::from(bytes));
        }
        self.control.sent(&mut self.window, bytes.into(), now_ns);
        if let Some(gap_ns) = (u64::from(bytes) * 8_000_000_000).checked_div(self.window.pace_bps) {
            self.paced_until_ns = self.paced_until_ns.max(now_ns) + gap_ns;
        }
        self.window.next = self.before + number + 1;
        self.window.highest = self.before + self.board.highest();
        self.repeats += u32::from(is_repeated);
        send.push(Segment { number, bytes, is_repeated });
    }

    /// The receiver got nothing but the header of a segment: it is sent again at once, whatever the window, and
    /// the loss counts as a mark does.
    pub(crate) fn trimmed(&mut self, segment: u32, now_ns: u64, send: &mut Vec<Segment>) {
        if !self.board.lose_again(segment) {
            return;
        }
        if self.state == State::Open {
            self.enter_reduction(0);
        }
        self.send(segment, now_ns, send);
        self.deadline_ns = Some(self.timeout_ns(now_ns));
    }

    /// The window grows; in Linux only while it is what limits the sender (`tcp_is_cwnd_limited`).
    fn grow(&mut self, segments: u64, now_ns: u64) {
        let window = &self.window;
        let is_limit = self.rack.is_none()
            || self.board.highest() < self.board.segments()
            || window.cwnd_bytes < window.ssthresh_bytes.min(2 * self.most_out_bytes);
        if is_limit {
            self.control.grow(&mut self.window, segments, now_ns);
        }
    }

    /// Sends a segment regardless of the window (ns-3: `DoRetransmit`).
    fn repeat(&mut self, now_ns: u64, send: &mut Vec<Segment>) {
        let segment = self.board.next(false).unwrap_or(self.board.first());
        self.send(segment, now_ns, send);
    }
}

/// The news in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// The first segment that was not acknowledged before.
    first: u32,
    /// Bytes.
    delivered: u64,
    /// It reports segments beyond the first that is missing.
    is_duplicate: bool,
    acknowledges_repeated: bool,
}

mod by_time;
mod kept;
mod transitions;

#[cfg(test)]
mod tests;
