//! What configures transports, beside a flow's own.

use serde::{Deserialize, Serialize};

/// How senders find out what was lost, and repeat it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// ns-3's: selective acknowledgements, three duplicates, limited transmit, proportional rate reduction. A sender that
    /// reduces its window after a mark begins no recovery, and a mark ends one: it repeats what acknowledgements show to be
    /// lost, and waits for a timeout for the rest.
    #[default]
    Ns3,
    /// The same, but marks leave recovery alone (RFC 6675).
    Rfc6675,
    /// Linux's since 2018: what was sent before something that has arrived is lost, also what was repeated, and a tail is
    /// probed after two round trips and `probe_wait_ns` (RACK-TLP, RFC 8985).
    RackTlp,
}

/// What configures transports, beside a flow's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Rate of a server's link, bits per second.
    pub line_rate_bps: u64,
    /// Propagation of the longest round trip, nanoseconds.
    pub base_rtt_ns: u64,
    /// The longest round trip without queues: `base_rtt_ns`, and the transmission of a segment and its acknowledgement on
    /// each link, nanoseconds.
    pub path_rtt_ns: u64,
    /// Least time until the retransmission timer goes off, nanoseconds.
    pub min_rto_ns: u64,
    /// Whether DCTCP has slow start.
    pub dctcp_slow_start: bool,
    /// How losses are found and repeated.
    pub recovery: Recovery,
    /// What a tail loss probe waits beyond two round trips, nanoseconds.
    pub probe_wait_ns: u64,
    /// Round-trip times are measured in steps of this, nanoseconds.
    pub timestamp_ns: u64,
    /// Most payload of a segment, bytes.
    pub segment_bytes: u32,
}

impl Tuning {
    /// The base round-trip time of PowerTCP, theta-PowerTCP and TIMELY, nanoseconds: propagation, and two segments' transmission, as the
    /// Credence and ABM artifacts configure it.
    pub fn packet_rtt_ns(&self) -> f64 {
        let packets_ns = f64::from(self.segment_bytes) * 16e9 / self.line_rate_bps as f64;
        self.base_rtt_ns as f64 + packets_ns
    }
}
