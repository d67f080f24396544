//! What every congestion control is asked, and what it sees.

/// What a congestion control sees of its sender and may change. Sequence numbers count segments.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Most payload of a segment, bytes.
    pub(crate) segment_bytes: u64,
    pub(crate) cwnd_bytes: u64,
    /// Slow start ends here, bytes.
    pub(crate) ssthresh_bytes: u64,
    /// Segments below it are acknowledged.
    pub(crate) acknowledged: u32,
    /// The segment after the one sent last, which may have been a repeated one (SND.NXT).
    pub(crate) next: u32,
    /// The first segment that was never sent.
    pub(crate) highest: u32,
    /// The latest acknowledgement reported a mark.
    pub(crate) is_marked: bool,
    /// Smoothed round-trip time, nanoseconds; 0 before the first sample.
    pub(crate) round_trip_ns: u64,
    /// Pace of new packets, bits per second; 0: none.
    pub(crate) pace_bps: u64,
}

impl Window {
    /// The window in whole segments.
    pub(crate) fn segments(&self) -> u64 {
        self.cwnd_bytes / self.segment_bytes
    }
}

/// A rule for the window. Times are nanoseconds.
pub(crate) trait CongestionControl {
    /// The slow-start threshold after a loss or a mark, bytes.
    fn reduced_bytes(&mut self, window: &Window, in_flight_bytes: u64) -> u64;

    /// Segments were acknowledged, in whatever state.
    fn acknowledged(&mut self, window: &mut Window, segments: u64, now_ns: u64) {
        let _ = (window, segments, now_ns);
    }

    /// Segments were acknowledged and nothing is being recovered: the window grows.
    fn grow(&mut self, window: &mut Window, segments: u64, now_ns: u64);

    /// The retransmission timer went off.
    fn timed_out(&mut self, window: &Window, now_ns: u64) {
        let _ = (window, now_ns);
    }

    /// An acknowledgement of `acknowledged` brought the telemetry of the switches it went through.
    fn told(&mut self, window: &mut Window, acknowledged: u32, hops: &[Hop]) {
        let _ = (window, acknowledged, hops);
    }
}

/// What a switch tells of the output queue that a packet left (in-band telemetry).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hop {
    pub(crate) queue_bytes: u32,
    pub(crate) time_ns: u64,
    /// Bytes the port has sent, this packet not included.
    pub(crate) sent_bytes: u64,
    pub(crate) rate_bps: u64,
}
