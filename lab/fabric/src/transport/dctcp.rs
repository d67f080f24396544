//! DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257), as ns-3's `TcpDctcp` does it, or Linux's `tcp_dctcp.c`.

use super::congestion_control::{CongestionControl, Window};
use super::tuning::{Recovery, Tuning};

/// Weight of a new estimate of the marked share, RFC 8257 section 4.2: 1/16.
const GAIN: f64 = 0.0625;

/// Reduces the window by half the marked share of a round trip; grows by one segment per window.
///
/// Without slow start unless it is asked for, as the Credence artifact configures it: flows begin with
/// a whole bandwidth-delay product.
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
    has_slow_start: bool,
    is_linux: bool,
}

impl Dctcp {
    /// RFC 8257 section 4.2: alpha begins at 1.
    pub(crate) fn new(tuning: &Tuning) -> Self {
        Dctcp {
            alpha: 1.0,
            acknowledged: 0,
            marked: 0,
            round_ends: None,
            since_growth: 0,
            has_slow_start: tuning.dctcp_slow_start,
            is_linux: tuning.recovery == Recovery::RackTlp,
        }
    }

    /// The window grows by what is acknowledged, up to its threshold, as in Linux (RFC 5681, equation 2). Returns the
    /// segments that are left.
    fn slow_start(window: &mut Window, segments: u64) -> u64 {
        let room_bytes = window.ssthresh_bytes.saturating_sub(window.cwnd_bytes);
        let used = segments.min(room_bytes.div_ceil(window.segment_bytes));
        window.cwnd_bytes += (used * window.segment_bytes).min(room_bytes);
        segments - used
    }
}

impl CongestionControl for Dctcp {
    /// RFC 8257 section 3.3, step 9: `cwnd * (1 - alpha / 2)`. ns-3 has no floor, Linux two segments.
    fn reduced_bytes(&mut self, window: &Window, _: u64) -> u64 {
        let bytes = ((1.0 - self.alpha / 2.0) * window.cwnd_bytes as f64) as u64;
        if self.is_linux { bytes.max(2 * window.segment_bytes) } else { bytes }
    }

    /// RFC 8257 section 3.5: as TCP without marks, in Linux by half.
    fn reduced_by_loss_bytes(&mut self, window: &Window, in_flight_bytes: u64) -> u64 {
        match self.is_linux {
            true => (window.cwnd_bytes / 2).max(2 * window.segment_bytes),
            false => self.reduced_bytes(window, in_flight_bytes),
        }
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
        let segments = match self.has_slow_start {
            true => match Self::slow_start(window, segments) {
                0 => return,
                left => left,
            },
            false => segments,
        };
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
    use crate::transport::congestion_control::tests::tuning;
    use proptest::prelude::*;

    const SEGMENT_BYTES: u64 = 1400;

    fn rule(dctcp_slow_start: bool) -> Dctcp {
        Dctcp::new(&Tuning { dctcp_slow_start, ..tuning(80_000) })
    }

    fn window(segments: u64) -> Window {
        Window {
            segment_bytes: SEGMENT_BYTES,
            cwnd_bytes: segments * SEGMENT_BYTES,
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
        let (mut rule, mut window) = (rule(false), window(20));
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
        let (mut rule, mut window) = (Dctcp { alpha: 0.5, ..rule(false) }, window(20));
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
    /// Linux's `dctcp_ssthresh` with alpha 1, and `tcp_reno_cong_avoid`.
    #[test]
    fn slow_start_doubles_the_window_until_a_mark_halves_it() {
        let (mut rule, mut window) = (rule(true), window(10));
        for segments in [10, 20, 40] {
            assert_eq!(window.segments(), segments);
            (0..segments).for_each(|_| rule.grow(&mut window, 1, 0));
        }
        window.ssthresh_bytes = rule.reduced_bytes(&window, 0);
        window.cwnd_bytes = window.ssthresh_bytes;
        assert_eq!(window.segments(), 40);
        (0..40).for_each(|_| rule.grow(&mut window, 1, 0));
        assert_eq!(window.segments(), 41, "then a segment per round trip");
        // A timeout: from one segment to half of what it was.
        window.ssthresh_bytes = rule.reduced_bytes(&window, 0);
        window.cwnd_bytes = SEGMENT_BYTES;
        rule.grow(&mut window, 1, 0);
        assert_eq!(window.segments(), 2);
        rule.grow(&mut window, 30, 0);
        assert_eq!(window.cwnd_bytes, 41 * SEGMENT_BYTES / 2, "no further than the threshold");
    }

    /// What happens to a window.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Acknowledged(u64),
        Marked,
        TimedOut,
    }

    /// The window after all of this, one segment at a time; alpha is 1.
    fn by_the_book(events: &[Event]) -> u64 {
        let (mut cwnd, mut threshold, mut counted) = (10 * SEGMENT_BYTES, u64::MAX, 0);
        for event in events {
            match *event {
                Event::Marked => {
                    threshold = cwnd / 2;
                    cwnd = threshold;
                }
                Event::TimedOut => {
                    threshold = cwnd / 2;
                    cwnd = SEGMENT_BYTES;
                }
                Event::Acknowledged(segments) => {
                    let mut left = segments;
                    while left > 0 && cwnd < threshold {
                        cwnd = (cwnd + SEGMENT_BYTES).min(threshold);
                        left -= 1;
                    }
                    let whole = (cwnd / SEGMENT_BYTES).max(1);
                    if left > 0 && counted >= whole {
                        (counted, cwnd) = (0, cwnd + SEGMENT_BYTES);
                    }
                    for _ in 0..left {
                        counted += 1;
                        if counted % whole == 0 {
                            cwnd += SEGMENT_BYTES;
                        }
                    }
                    if left > 0 {
                        counted %= whole;
                    }
                }
            }
        }
        cwnd
    }

    proptest! {
        #[test]
        fn windows_with_slow_start_are_those_by_the_book(
            draws in prop::collection::vec((0..12_u8, 1..40_u64), 1..60),
        ) {
            let event = |(kind, segments)| match kind {
                0 => Event::Marked,
                1 => Event::TimedOut,
                _ => Event::Acknowledged(segments),
            };
            let events: Vec<Event> = draws.into_iter().map(event).collect();
            let (mut rule, mut window) = (rule(true), window(10));
            for (nth, event) in events.iter().enumerate() {
                match *event {
                    Event::Acknowledged(segments) => rule.grow(&mut window, segments, 0),
                    Event::Marked | Event::TimedOut => {
                        window.ssthresh_bytes = rule.reduced_bytes(&window, 0);
                        window.cwnd_bytes = match event {
                            Event::TimedOut => SEGMENT_BYTES,
                            _ => window.ssthresh_bytes,
                        };
                    }
                }
                prop_assert_eq!(window.cwnd_bytes, by_the_book(&events[..=nth]));
            }
        }
    }
}
