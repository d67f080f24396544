//! DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257), as ns-3's `TcpDctcp` does it.

use super::congestion_control::{CongestionControl, Window};

/// Weight of a new estimate of the marked share, RFC 8257 section 4.2: 1/16.
const GAIN: f64 = 0.0625;

/// Reduces the window by half the marked share of a round trip; grows by one segment per window.
///
/// Without slow start, as the Credence artifact configures it: flows begin with a whole
/// bandwidth-delay product.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    /// Estimate of the marked share of segments.
    alpha: f64,
    acknowledged: u64,
    marked: u64,
    /// The round trip that is counted ends when this segment is acknowledged.
    round_ends: Option<u32>,
    /// Segments acknowledged since the window grew last.
    since_growth: u64,
}

impl Default for Dctcp {
    /// RFC 8257 section 4.2: alpha begins at 1.
    fn default() -> Self {
        Dctcp { alpha: 1.0, acknowledged: 0, marked: 0, round_ends: None, since_growth: 0 }
    }
}

impl CongestionControl for Dctcp {
    /// RFC 8257 section 3.3, step 9: `cwnd * (1 - alpha / 2)`. No floor, as in ns-3.
    fn reduced_bytes(&mut self, window: &Window, _: u64) -> u64 {
        ((1.0 - self.alpha / 2.0) * window.cwnd_bytes as f64) as u64
    }

    /// RFC 8257 section 3.3, steps 4 to 8: once per round trip, `alpha = (1 - g) alpha + g M`.
    fn acknowledged(&mut self, window: &mut Window, segments: u64, _: u64) {
        self.acknowledged += segments;
        if window.is_marked {
            self.marked += segments;
        }
        let ends = *self.round_ends.get_or_insert(window.next);
        if window.acknowledged >= ends {
            let share = match self.acknowledged {
                0 => 0.0,
                acknowledged => self.marked as f64 / acknowledged as f64,
            };
            self.alpha = (1.0 - GAIN) * self.alpha + GAIN * share;
            (self.acknowledged, self.marked) = (0, 0);
            self.round_ends = Some(window.next);
        }
    }

    /// Congestion avoidance that counts segments, as Linux does.
    fn grow(&mut self, window: &mut Window, segments: u64, _: u64) {
        let size = window.segments().max(1);
        if self.since_growth >= size {
            self.since_growth = 0;
            window.cwnd_bytes += window.segment_bytes;
        }
        self.since_growth += segments;
        let steps = self.since_growth / size;
        self.since_growth -= steps * size;
        window.cwnd_bytes += steps * window.segment_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(segments: u64) -> Window {
        Window {
            segment_bytes: 1400,
            cwnd_bytes: segments * 1400,
            ssthresh_bytes: u64::MAX,
            acknowledged: 0,
            next: 0,
            highest: 0,
            is_marked: false,
            round_trip_ns: 0,
            pace_bps: 0,
        }
    }

    /// Acknowledges a window of `marked` marked and `plain` other segments.
    fn round(rule: &mut Dctcp, window: &mut Window, marked: u64, plain: u64) {
        for segment in 0..marked + plain {
            window.is_marked = segment < marked;
            window.acknowledged += 1;
            window.next = window.acknowledged + (marked + plain) as u32;
            rule.acknowledged(window, 1, 0);
        }
    }

    #[test]
    fn alpha_follows_the_marked_share_of_a_round_trip() {
        let (mut rule, mut window) = (Dctcp::default(), window(20));
        for _ in 0..2 {
            round(&mut rule, &mut window, 0, 20);
        }
        let after_one = rule.alpha;
        for _ in 0..200 {
            round(&mut rule, &mut window, 5, 15);
        }
        assert_eq!(after_one, 0.9375, "one step towards 0");
        assert!((rule.alpha - 0.25).abs() < 0.02, "a quarter is marked: {}", rule.alpha);
    }

    #[test]
    fn the_window_loses_half_of_alpha_and_gains_a_segment_per_round_trip() {
        let (mut rule, mut window) = (Dctcp { alpha: 0.5, ..Dctcp::default() }, window(20));
        assert_eq!(rule.reduced_bytes(&window, 0), 15 * 1400);
        for _ in 0..20 {
            rule.grow(&mut window, 1, 0);
        }
        assert_eq!(window.cwnd_bytes, 21 * 1400);
        for _ in 0..21 {
            rule.grow(&mut window, 1, 0);
        }
        assert_eq!(window.cwnd_bytes, 22 * 1400);
    }
}
