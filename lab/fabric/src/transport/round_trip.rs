//! Round-trip times and the retransmission timeout (RFC 6298).

use super::tuning::Tuning;

/// Longest timeout, nanoseconds.
const MAX_RTO_NS: u64 = 60_000_000_000;
/// The estimate before the first sample, nanoseconds, as the Credence artifact configures it.
const INITIAL_NS: u64 = 200_000;

/// Smoothed round-trip time and its deviation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    smoothed_ns: u64,
    deviation_ns: u64,
    has_sample: bool,
    min_rto_ns: u64,
    timestamp_ns: u64,
    rto_ns: u64,
}

impl RoundTrip {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        RoundTrip {
            smoothed_ns: INITIAL_NS,
            deviation_ns: 0,
            has_sample: false,
            min_rto_ns: tuning.min_rto_ns,
            timestamp_ns: tuning.timestamp_ns,
            rto_ns: tuning.min_rto_ns,
        }
    }

    /// A segment sent at `sent_ns` was acknowledged (RFC 6298, section 2).
    pub(crate) fn sample(&mut self, sent_ns: u64, now_ns: u64) {
        let steps = now_ns / self.timestamp_ns - sent_ns / self.timestamp_ns;
        // A measured time of 0 counts as a microsecond, as in ns-3.
        let sample_ns = if steps == 0 { 1_000 } else { steps * self.timestamp_ns };
        if self.has_sample {
            let error_ns = self.smoothed_ns.abs_diff(sample_ns);
            self.deviation_ns = (3 * self.deviation_ns + error_ns) / 4;
            self.smoothed_ns = (7 * self.smoothed_ns + sample_ns) / 8;
        } else {
            (self.smoothed_ns, self.deviation_ns) = (sample_ns, sample_ns / 2);
            self.has_sample = true;
        }
        self.reset();
    }

    pub(crate) fn smoothed_ns(&self) -> u64 {
        self.smoothed_ns
    }

    pub(crate) fn rto_ns(&self) -> u64 {
        self.rto_ns
    }

    /// The timeout from the estimate, without backoff.
    pub(crate) fn reset(&mut self) {
        self.rto_ns = (self.smoothed_ns + 4 * self.deviation_ns).max(self.min_rto_ns);
    }

    /// RFC 6298, section 5.5.
    pub(crate) fn back_off(&mut self) {
        self.rto_ns = (2 * self.rto_ns).min(MAX_RTO_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tuning::Recovery;

    #[test]
    fn the_timeout_is_rfc_6298s_within_its_bounds() {
        let tuning = Tuning {
            line_rate_bps: 1,
            base_rtt_ns: 1,
            path_rtt_ns: 1,
            min_rto_ns: 1_000,
            dctcp_slow_start: false,
            recovery: Recovery::Ns3,
            probe_wait_ns: 0,
            timestamp_ns: 1,
            segment_bytes: 1,
        };
        let mut time = RoundTrip::new(&tuning);
        time.sample(0, 8_000);
        assert_eq!((time.smoothed_ns(), time.rto_ns()), (8_000, 8_000 + 4 * 4_000));
        time.sample(0, 16_000);
        assert_eq!((time.smoothed_ns(), time.rto_ns()), (9_000, 9_000 + 4 * 5_000));
        time.back_off();
        assert_eq!(time.rto_ns(), 58_000);
        for _ in 0..200 {
            time.sample(0, 100);
        }
        assert_eq!(time.rto_ns(), 1_000, "the floor");
    }
}
