//! Connections that are used again.

use super::{Kept, Sender, State};
use crate::transport::tuning::Tuning;

impl Sender {
    /// The next flow of `size_bytes`, above 0, on a connection. After a pause of a timeout or more it begins with a window of at
    /// most so many segments, if it begins slowly then (Linux's `tcp_cwnd_restart`).
    pub(crate) fn resume(
        mut kept: Kept,
        size_bytes: u64,
        initial_segments: Option<u64>,
        tuning: &Tuning,
        now_ns: u64,
    ) -> Self {
        let pause_ns = now_ns - kept.sent_ns;
        kept.round_trip.reset();
        let rto_ns = kept.round_trip.rto_ns();
        let window = &mut kept.window;
        if let Some(segments) = initial_segments
            && pause_ns > rto_ns
        {
            let least = (segments * window.segment_bytes).min(window.cwnd_bytes);
            window.ssthresh_bytes = window.ssthresh_bytes.max(window.cwnd_bytes / 4 * 3);
            let halvings = (pause_ns / rto_ns).min(63) as u32;
            window.cwnd_bytes = (window.cwnd_bytes >> halvings).max(least);
        }
        kept.control.resumed(pause_ns);
        Sender::on(kept, size_bytes, tuning)
    }

    /// What its connection keeps, once everything is acknowledged: that ends a reduction, and leaves room for a segment.
    pub(crate) fn keep(self) -> Kept {
        let mut window = self.window;
        if matches!(self.state, State::Recovery | State::Reduction) {
            window.cwnd_bytes = window.ssthresh_bytes;
        }
        window.cwnd_bytes = window.cwnd_bytes.max(window.segment_bytes);
        Kept {
            window,
            control: self.control,
            round_trip: self.round_trip,
            rack: self.rack.map(|rack| Box::new(rack.resumed())),
            sent_ns: self.sent_ns,
        }
    }
}
