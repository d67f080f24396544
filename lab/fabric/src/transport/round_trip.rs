//! Round-trip times and the retransmission timeout (RFC 6298; Linux's `tcp_set_rto`).

use super::tuning::{Recovery, Tuning};

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
    /// The minimum is of the deviations' part alone.
    is_linux: bool,
    timestamp_ns: u64,
    rto_ns: u64,
}

impl RoundTrip {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        let is_linux = tuning.recovery == Recovery::RackTlp;
        let mut time = RoundTrip {
            // Linux has measured the handshake.
            smoothed_ns: if is_linux { tuning.own_rtt_ns } else { INITIAL_NS },
            deviation_ns: 0,
            has_sample: is_linux,
            min_rto_ns: tuning.min_rto_ns,
            is_linux,
            timestamp_ns: tuning.timestamp_ns,
            rto_ns: 0,
        };
        time.reset();
        time
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
        let wait_ns = 4 * self.deviation_ns;
        self.rto_ns = match self.is_linux {
            true => self.smoothed_ns + wait_ns.max(self.min_rto_ns),
            false => (self.smoothed_ns + wait_ns).max(self.min_rto_ns),
        };
    }

    /// RFC 6298, section 5.5.
    pub(crate) fn back_off(&mut self) {
        self.rto_ns = (2 * self.rto_ns).min(MAX_RTO_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion_control::tests::tuning;

    #[test]
    fn the_timeout_is_rfc_6298s_within_its_bounds() {
        let mut time = RoundTrip::new(&Tuning { min_rto_ns: 1_000, ..tuning(1) });
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

    #[test]
    fn linux_adds_its_minimum_to_the_smoothed_round_trip() {
        let of = Tuning { min_rto_ns: 1_000, recovery: Recovery::RackTlp, ..tuning(8_000) };
        let mut time = RoundTrip::new(&of);
        assert_eq!(time.rto_ns(), 9_000, "of the handshake");
        time.sample(0, 16_000);
        assert_eq!(time.rto_ns(), 9_000 + 4 * 2_000);
    }
}
