//! What every congestion control is asked, and what it sees.

/// What a congestion control sees of its sender and may change. Sequence numbers count segments.
#[derive(Clone, Debug)]
pub struct Window {
    /// Most payload of a segment, bytes.
    pub segment_bytes: u64,
    /// Bytes that may be in flight (the congestion window).
    pub cwnd_bytes: u64,
    /// Slow start ends here, bytes.
    pub ssthresh_bytes: u64,
    /// Segments below it are acknowledged.
    pub acknowledged: u32,
    /// The segment after the one sent last, which may have been a repeated one (SND.NXT).
    pub next: u32,
    /// The first segment that was never sent.
    pub highest: u32,
    /// The latest acknowledgement reported a mark.
    pub is_marked: bool,
    /// Smoothed round-trip time, nanoseconds; 0 before the first sample.
    pub round_trip_ns: u64,
    /// Pace of new packets, bits per second; 0: none.
    pub pace_bps: u64,
}

impl Window {
    /// The window in whole segments.
    pub fn segments(&self) -> u64 {
        self.cwnd_bytes / self.segment_bytes
    }

    /// Paces at a rate, with what it carries in `round_trip_ns` as the window, at least a segment.
    pub fn follow_rate(&mut self, rate_bps: f64, round_trip_ns: f64) {
        self.pace_bps = rate_bps as u64;
        let bytes = (rate_bps * round_trip_ns / 8e9) as u64;
        self.cwnd_bytes = bytes.max(self.segment_bytes);
    }
}

/// Least rate of the rules that set one, bits per second. The papers of HPCC and DCQCN have none: it is `MinRate` of their authors'
/// ns-3.
pub(crate) const LEAST_BPS: f64 = 100e6;

/// A rule for the window. Times are nanoseconds. Without `reduced_bytes` and `grow`, losses and marks do not change it: all is done
/// in `ack_received`.
pub trait CongestionControl {
    /// The window and pace that a flow begins with, where they are not its sender's.
    fn begin(&self, window: &mut Window) {
        let _ = window;
    }

    /// The slow-start threshold after a loss or a mark, bytes.
    fn reduced_bytes(&mut self, window: &Window, in_flight_bytes: u64) -> u64 {
        let _ = (window, in_flight_bytes);
        u64::from(u32::MAX)
    }

    /// The same after a loss, where that is another than after a mark.
    fn reduced_by_loss_bytes(&mut self, window: &Window, in_flight_bytes: u64) -> u64 {
        self.reduced_bytes(window, in_flight_bytes)
    }

    /// Segments were acknowledged, in whatever state.
    fn acknowledged(&mut self, window: &mut Window, segments: u64, now_ns: u64) {
        let _ = (window, segments, now_ns);
    }

    /// Segments were acknowledged and nothing is being recovered: the window grows.
    fn grow(&mut self, window: &mut Window, segments: u64, now_ns: u64) {
        let _ = (window, segments, now_ns);
    }

    /// The retransmission timer went off.
    fn timed_out(&mut self, window: &Window, now_ns: u64) {
        let _ = (window, now_ns);
    }

    /// Whether marks begin a reduction of the window, once per round trip; otherwise they are only in [`Feedback::is_marked`].
    fn is_reduced_by_marks(&self) -> bool {
        true
    }

    /// A segment is sent; its pace is the one that is set here.
    fn sent(&mut self, window: &mut Window, bytes: u64, now_ns: u64) {
        let _ = (window, bytes, now_ns);
    }

    /// The next flow on the same connection begins, after a pause in which nothing was sent. Segments are counted on.
    fn resumed(&mut self, pause_ns: u64) {
        let _ = pause_ns;
    }

    /// An acknowledgement arrived, whatever its sender's state. Called last: a window set here overrides recovery's.
    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        let _ = (window, ack);
    }
}

/// The feedback that an acknowledgement brings.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Segments below it are acknowledged.
    pub acknowledged: u32,
    /// Since the segment was sent that it answers, exactly, nanoseconds.
    pub round_trip_ns: u64,
    /// When it arrived, nanoseconds.
    pub now_ns: u64,
    /// It reports a mark; of DCQCN it is a notification.
    pub is_marked: bool,
    /// Telemetry of the switches on the segment's path, from the data of PowerTCP and HPCC.
    pub hops: &'a [Hop],
}

/// What a switch reports of the output queue that a packet left (in-band telemetry).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hop {
    /// Length of the queue without the packet, bytes.
    pub queue_bytes: u32,
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Bytes the port has sent, this packet not included.
    pub sent_bytes: u64,
    /// Rate of the port's link, bits per second.
    pub rate_bps: u64,
    /// The port's link: whether two reports are of one path.
    pub link: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::transport::tuning::{Recovery, Ticks, Tuning};

    /// A line of 10 Gbps, segments of 1250 bytes, which take 1 us.
    pub(crate) fn tuning(base_rtt_ns: u64) -> Tuning {
        Tuning {
            line_rate_bps: 10_000_000_000,
            base_rtt_ns,
            own_rtt_ns: base_rtt_ns,
            path_rtt_ns: base_rtt_ns + 2_000,
            min_rto_ns: 10_000_000,
            dctcp_slow_start: false,
            recovery: Recovery::Ns3,
            ticks: Ticks::default(),
            timestamp_ns: 1,
            segment_bytes: 1250,
        }
    }

    pub(crate) fn window() -> Window {
        Window {
            segment_bytes: 1250,
            cwnd_bytes: 0,
            ssthresh_bytes: 0,
            acknowledged: 0,
            next: 0,
            highest: 0,
            is_marked: false,
            round_trip_ns: 0,
            pace_bps: 0,
        }
    }

    /// The pace after each of these round-trip times, acknowledged once per round trip; each begins as the one before ends.
    pub(crate) fn after(
        rule: &mut dyn CongestionControl,
        window: &mut Window,
        round_trips_ns: &[u64],
    ) -> Vec<u64> {
        rule.begin(window);
        let mut now_ns = 0;
        let mut pace_after = |(nth, &round_trip_ns): (usize, &u64)| {
            now_ns += round_trip_ns;
            let acknowledged = 10 * nth as u32 + 1;
            window.next = acknowledged + 9;
            let ack = |acknowledged| Feedback {
                acknowledged,
                round_trip_ns,
                now_ns,
                is_marked: false,
                hops: &[],
            };
            rule.ack_received(window, &ack(acknowledged));
            // What follows within the round trip changes nothing.
            let pace_bps = window.pace_bps;
            let late = Feedback { round_trip_ns: 3 * round_trip_ns, ..ack(acknowledged + 5) };
            rule.ack_received(window, &late);
            assert_eq!(window.pace_bps, pace_bps);
            pace_bps
        };
        round_trips_ns.iter().enumerate().map(&mut pace_after).collect()
    }
}
