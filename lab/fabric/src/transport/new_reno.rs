//! NewReno's window (RFC 5681, RFC 6582), as ns-3's `TcpNewReno` does it.

use super::congestion_control::{CongestionControl, Window};

/// Slow start by one segment per acknowledgement, then one segment per round trip; half the flight
/// size after a loss.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno;

impl CongestionControl for NewReno {
    /// RFC 5681, equation 4: half the flight size, at least two segments.
    fn reduced_bytes(&mut self, window: &Window, in_flight_bytes: u64) -> u64 {
        (in_flight_bytes / 2).max(2 * window.segment_bytes)
    }

    /// RFC 5681, equations 2 and 3.
    fn grow(&mut self, window: &mut Window, segments: u64, _: u64) {
        let mut left = segments;
        if window.cwnd_bytes < window.ssthresh_bytes && left > 0 {
            window.cwnd_bytes += window.segment_bytes;
            left -= 1;
        }
        if window.cwnd_bytes >= window.ssthresh_bytes && left > 0 {
            let step = window.segment_bytes * window.segment_bytes / window.cwnd_bytes;
            window.cwnd_bytes += step.max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_then_a_round_trip_adds_a_segment_and_a_loss_halves() {
        let mut rule = NewReno;
        let mut window = Window {
            segment_bytes: 1000,
            cwnd_bytes: 4000,
            ssthresh_bytes: 16_000,
            acknowledged: 0,
            next: 0,
            highest: 0,
            is_marked: false,
            round_trip_ns: 0,
            pace_bps: 0,
        };
        let round = |rule: &mut NewReno, window: &mut Window| {
            for _ in 0..window.segments() {
                rule.grow(window, 1, 0);
            }
            window.cwnd_bytes
        };
        assert_eq!(round(&mut rule, &mut window), 8000);
        assert_eq!(round(&mut rule, &mut window), 16_000);
        let grown = round(&mut rule, &mut window);
        assert!((16_950..=17_000).contains(&grown), "{grown}");
        assert_eq!(rule.reduced_bytes(&window, 16_000), 8000);
        assert_eq!(rule.reduced_bytes(&window, 1000), 2000);
    }
}
