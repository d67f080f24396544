//! Transports: a sender's reaction to acknowledgements, marks and losses (`docs/fabric.md`).
//!
//! Window-based transports share one [`Sender`], loss recovery like ns-3's `TcpSocketBase`, and
//! differ in their [`CongestionControl`], one file each. An unresponsive sender has none.

mod cubic;
mod dctcp;
mod new_reno;
mod power_tcp;
mod rate_reduction;
mod receiver;
mod round_trip;
mod scoreboard;
mod sender;

pub(crate) use power_tcp::Hop;
pub(crate) use receiver::{Receiver, SackBlocks};
pub(crate) use sender::{Ack, Segment, Sender};

use serde::{Deserialize, Serialize};

/// How a flow's sender controls its rate.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// DCTCP (RFC 8257), with ECN.
    #[default]
    Dctcp,
    /// TCP NewReno (RFC 6582), without ECN.
    NewReno,
    /// Cubic (RFC 9438), without ECN.
    Cubic,
    /// PowerTCP with in-band telemetry (Addanki et al., NSDI 2022, Algorithm 1).
    PowerTcp,
    /// Sends at a fixed rate and retransmits nothing.
    Unresponsive,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Transport; 5] = [
        Transport::Dctcp,
        Transport::NewReno,
        Transport::Cubic,
        Transport::PowerTcp,
        Transport::Unresponsive,
    ];

    /// Its name, as in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Dctcp => "dctcp",
            Transport::NewReno => "new-reno",
            Transport::Cubic => "cubic",
            Transport::PowerTcp => "power-tcp",
            Transport::Unresponsive => "unresponsive",
        }
    }

    /// Whether its packets can be marked instead of dropped.
    pub fn is_ecn_capable(self) -> bool {
        self == Transport::Dctcp
    }
}

/// The sender's state that a congestion control reads and may change. Sequence numbers count
/// segments.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Most payload of a segment, bytes.
    pub(crate) segment_bytes: u64,
    pub(crate) cwnd_bytes: u64,
    /// Slow start ends here, bytes.
    pub(crate) ssthresh_bytes: u64,
    /// Segments below it are acknowledged.
    pub(crate) acknowledged: u32,
    /// The segment after the one sent last, which may have been a retransmission (SND.NXT).
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

    /// Segments were acknowledged, in any state.
    fn acknowledged(&mut self, window: &mut Window, segments: u64, now_ns: u64) {
        let _ = (window, segments, now_ns);
    }

    /// Segments were acknowledged outside recovery: the window grows.
    fn grow(&mut self, window: &mut Window, segments: u64, now_ns: u64);

    /// The retransmission timer went off.
    fn timed_out(&mut self, window: &Window, now_ns: u64) {
        let _ = (window, now_ns);
    }

    /// An acknowledgement of `acknowledged` carried telemetry of the switches on its path.
    fn told(&mut self, window: &mut Window, acknowledged: u32, hops: &[Hop]) {
        let _ = (window, acknowledged, hops);
    }
}

/// Settings of transports shared by all flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuning {
    /// Rate of a server's link, bits per second.
    pub(crate) line_rate_bps: u64,
    pub(crate) base_rtt_ns: u64,
    pub(crate) min_rto_ns: u64,
    /// Round-trip times are measured in steps of this.
    pub(crate) timestamp_ns: u64,
    pub(crate) segment_bytes: u32,
}

/// The congestion control of a transport that has one.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    Dctcp(dctcp::Dctcp),
    NewReno(new_reno::NewReno),
    Cubic(cubic::Cubic),
    PowerTcp(Box<power_tcp::PowerTcp>),
}

impl Control {
    /// An unresponsive sender gets NewReno's but never uses it.
    fn new(transport: Transport, tuning: &Tuning) -> Self {
        match transport {
            Transport::Dctcp => Control::Dctcp(dctcp::Dctcp::default()),
            Transport::NewReno | Transport::Unresponsive => Control::NewReno(new_reno::NewReno),
            Transport::Cubic => Control::Cubic(cubic::Cubic::default()),
            Transport::PowerTcp => Control::PowerTcp(Box::new(power_tcp::PowerTcp::new(tuning))),
        }
    }

    fn rule(&mut self) -> &mut dyn CongestionControl {
        match self {
            Control::Dctcp(rule) => rule,
            Control::NewReno(rule) => rule,
            Control::Cubic(rule) => rule,
            Control::PowerTcp(rule) => rule.as_mut(),
        }
    }
}
