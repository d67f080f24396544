//! What configures transports, beside a flow's own.

/// What configures transports, beside a flow's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuning {
    /// Rate of a server's link, bits per second.
    pub(crate) line_rate_bps: u64,
    pub(crate) base_rtt_ns: u64,
    pub(crate) min_rto_ns: u64,
    /// Losses are recovered from while a mark reduces the window, too.
    pub(crate) recovers_after_marks: bool,
    /// Round-trip times are measured in steps of this.
    pub(crate) timestamp_ns: u64,
    pub(crate) segment_bytes: u32,
}
