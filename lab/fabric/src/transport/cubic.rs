//! Cubic's window (Ha, Rhee, Xu 2008; RFC 9438), as ns-3's `TcpCubic` does it, or Linux's `tcp_cubic.c`.

use super::congestion_control::{CongestionControl, Window};
use super::tuning::{Recovery, Tuning};

/// RFC 9438 section 4.6: the window is multiplied by it after a loss.
const BETA: f64 = 0.7;
/// RFC 9438 section 5: scale of the cubic, segments per cubed second.
const SCALE: f64 = 0.4;
/// Round-trip samples are ignored this long after an epoch began.
const SETTLING_NS: u64 = 10_000_000;
/// The same in Linux.
const LINUX_SETTLING_NS: u64 = 1_000_000_000;
/// Linux's window of Reno (RFC 9438, section 4.3) grows by a segment for this many acknowledged windows: `(1 + beta) / (3 (1 - beta))`,
/// in eighths.
const RENO_EIGHTHS: u64 = 15;
/// What Linux lets a train of acknowledgements last beyond a round trip: four of the largest packets that it hands to the interface,
/// bytes, and at most this long.
const TRAIN_SLACK_BYTES: u64 = 4 * 65_536;
const MOST_TRAIN_SLACK_NS: u64 = 1_000_000;
/// Fewest segments of a window that hybrid slow start looks at.
const HYSTART_SEGMENTS: u64 = 16;
/// Longest gap between acknowledgements of one train.
const HYSTART_GAP_NS: u64 = 2_000_000;
/// Delay samples of a round before its delay is compared.
const HYSTART_SAMPLES: u32 = 8;
/// Bounds of the increase in delay that ends slow start.
const HYSTART_DELAY_NS: (u64, u64) = (4_000_000, 1_000_000_000);
/// Before the first loss the window grows by one segment for at most this many acknowledged ones.
const MOST_SEGMENTS_PER_STEP: u64 = 20;

/// The window follows a cubic of the time since the last loss, whose plateau is the window at that
/// loss.
///
/// In whole segments, with hybrid slow start. ns-3 has no Reno-friendly region, and ends slow start earlier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    is_linux: bool,
    /// Segments acknowledged since the window grew last.
    since_growth: u64,
    /// `W_max`, segments; 0 before the first loss.
    last_max: u64,
    epoch: Option<Epoch>,
    min_delay_ns: Option<u64>,
    hystart: Hystart,
}

/// A time without loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began_ns: u64,
    /// Window at the plateau, segments.
    origin: u64,
    /// `K`, seconds: when the plateau is reached.
    plateau_s: f64,
    /// Linux's: what Reno's window would be, segments, and those acknowledged since it grew.
    reno: (u64, u64),
}

/// Hybrid slow start (Ha and Rhee 2011).
#[derive(Clone, Copy, Debug, Default)]
struct Hystart {
    is_over: bool,
    round_began_ns: Option<u64>,
    last_ack_ns: u64,
    /// The round ends when this segment is acknowledged.
    round_ends: u32,
    delay_ns: Option<u64>,
    samples: u32,
}

impl Hystart {
    fn begin_round(&mut self, window: &Window, now_ns: u64) {
        let is_over = self.is_over;
        *self = Hystart {
            is_over,
            round_began_ns: Some(now_ns),
            last_ack_ns: now_ns,
            round_ends: window.highest,
            ..Hystart::default()
        };
    }

    /// Whether slow start ends with this acknowledgement: its train is longer than `train_ns`, or the delay has grown.
    fn ends(&mut self, delay_ns: u64, min_delay_ns: u64, train_ns: u64, now_ns: u64) -> bool {
        let Some(began_ns) = self.round_began_ns else { return false };
        if now_ns - self.last_ack_ns <= HYSTART_GAP_NS {
            self.last_ack_ns = now_ns;
            self.is_over |= now_ns - began_ns > train_ns;
        }
        if self.samples < HYSTART_SAMPLES {
            self.delay_ns = Some(self.delay_ns.map_or(delay_ns, |least| least.min(delay_ns)));
            self.samples += 1;
        } else {
            let (least, most) = HYSTART_DELAY_NS;
            let bound_ns = min_delay_ns + min_delay_ns.clamp(least, most);
            self.is_over |= self.delay_ns.is_some_and(|delay_ns| delay_ns > bound_ns);
        }
        self.is_over
    }
}

impl Cubic {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        Cubic { is_linux: tuning.recovery == Recovery::RackTlp, ..Cubic::default() }
    }

    /// How long a train of acknowledgements may last in slow start: a round trip; in Linux half of it and of the time that some
    /// large packets take at twice the window's rate (`hystart_ack_delay`).
    fn train_ns(&self, window: &Window, min_delay_ns: u64) -> u64 {
        if !self.is_linux {
            return min_delay_ns;
        }
        let slack_ns = TRAIN_SLACK_BYTES * window.round_trip_ns / (2 * window.cwnd_bytes).max(1);
        (min_delay_ns + slack_ns.min(MOST_TRAIN_SLACK_NS)) / 2
    }

    /// Acknowledged segments for one more in the window, RFC 9438 section 4.2: the window is to
    /// follow `C (t - K)^3 + W_max`.
    fn segments_per_step(&mut self, window: &Window, acknowledged: u64, now_ns: u64) -> u64 {
        let size = window.segments().max(1);
        let last_max = self.last_max;
        let reno = (size, 0);
        let epoch = self.epoch.get_or_insert_with(|| match last_max > size {
            true => Epoch {
                began_ns: now_ns,
                origin: last_max,
                plateau_s: ((last_max - size) as f64 / SCALE).cbrt(),
                reno,
            },
            false => Epoch { began_ns: now_ns, origin: size, plateau_s: 0.0, reno },
        });
        let since_ns = now_ns + self.min_delay_ns.unwrap_or(0) - epoch.began_ns;
        let target = epoch.target(since_ns as f64 / 1e9);
        let mut segments = if target > size { size / (target - size) } else { 100 * size };
        if self.last_max == 0 {
            segments = segments.min(MOST_SEGMENTS_PER_STEP);
        }
        if self.is_linux
            && let Some(above) = epoch.reno_above(size, acknowledged)
        {
            segments = segments.min(size / above);
        }
        segments.max(2)
    }
}

impl Epoch {
    /// By how much Reno's window is above this one, segments, once so many more are acknowledged.
    fn reno_above(&mut self, size: u64, acknowledged: u64) -> Option<u64> {
        let per_segment = (size * RENO_EIGHTHS / 8).max(1);
        let counted = self.reno.1 + acknowledged;
        self.reno = (self.reno.0 + counted / per_segment, counted % per_segment);
        self.reno.0.checked_sub(size).filter(|above| *above > 0)
    }

    /// The cubic, whole segments.
    fn target(&self, since_s: f64) -> u64 {
        let distance = (SCALE * (since_s - self.plateau_s).abs().powi(3)) as u64;
        if since_s < self.plateau_s {
            self.origin.saturating_sub(distance)
        } else {
            self.origin + distance
        }
    }
}

impl CongestionControl for Cubic {
    /// RFC 9438 sections 4.6 and 4.7 (fast convergence).
    fn reduced_bytes(&mut self, window: &Window, _: u64) -> u64 {
        let size = window.segments();
        self.last_max = match size < self.last_max {
            true => (size as f64 * (1.0 + BETA) / 2.0) as u64,
            false => size,
        };
        self.epoch = None;
        ((size as f64 * BETA) as u64).max(2) * window.segment_bytes
    }

    fn acknowledged(&mut self, window: &mut Window, _: u64, now_ns: u64) {
        let settling_ns = if self.is_linux { LINUX_SETTLING_NS } else { SETTLING_NS };
        if self.epoch.is_some_and(|epoch| now_ns - epoch.began_ns < settling_ns) {
            return;
        }
        let delay_ns = window.round_trip_ns;
        let least = self.min_delay_ns.map_or(delay_ns, |least| least.min(delay_ns));
        self.min_delay_ns = Some(least);
        let train_ns = self.train_ns(window, least);
        let slow = window.cwnd_bytes <= window.ssthresh_bytes;
        if slow
            && window.segments() >= HYSTART_SEGMENTS
            && !self.hystart.is_over
            && self.hystart.ends(delay_ns, least, train_ns, now_ns)
        {
            window.ssthresh_bytes = window.cwnd_bytes;
        }
    }

    fn grow(&mut self, window: &mut Window, segments: u64, now_ns: u64) {
        if window.cwnd_bytes < window.ssthresh_bytes {
            if window.acknowledged > self.hystart.round_ends
                || self.hystart.round_began_ns.is_none()
            {
                self.hystart.begin_round(window, now_ns);
            }
            window.cwnd_bytes += segments * window.segment_bytes;
        } else if segments > 0 {
            self.since_growth += segments;
            let step = self.segments_per_step(window, segments, now_ns);
            if self.since_growth >= step {
                window.cwnd_bytes += window.segment_bytes;
                self.since_growth -= step;
            }
        }
    }

    /// Linux's `CA_EVENT_TX_START`: the window does not grow while nothing is sent.
    fn resumed(&mut self, pause_ns: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.began_ns += pause_ns;
        }
    }

    fn timed_out(&mut self, window: &Window, now_ns: u64) {
        let since_growth = self.since_growth;
        let Cubic { is_linux, epoch, .. } = *self;
        *self = Cubic { is_linux, since_growth, epoch, ..Cubic::default() };
        self.hystart.begin_round(window, now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(segments: u64) -> Window {
        Window {
            segment_bytes: 1400,
            cwnd_bytes: segments * 1400,
            ssthresh_bytes: 0,
            acknowledged: 0,
            next: 0,
            highest: 0,
            is_marked: false,
            round_trip_ns: 100_000,
            pace_bps: 0,
        }
    }

    /// RFC 9438, equation 1 with `K` of equation 2 for a window of `0.7 W_max` after the loss.
    fn published(last_max: f64, since_s: f64) -> f64 {
        let plateau_s = (last_max * (1.0 - 0.7) / 0.4).cbrt();
        0.4 * (since_s - plateau_s).powi(3) + last_max
    }

    #[test]
    fn the_window_follows_the_published_cubic() {
        let (mut rule, mut window) = (Cubic::default(), window(1000));
        window.cwnd_bytes = rule.reduced_bytes(&window, 0);
        window.ssthresh_bytes = window.cwnd_bytes;
        assert_eq!(window.segments(), 700);
        let round_ns = 2_000_000;
        for round in 0..9000u64 {
            let now_ns = round * round_ns;
            let size = window.segments();
            let gap_ns = round_ns / size;
            for ack in 0..size {
                rule.grow(&mut window, 1, now_ns + ack * gap_ns);
            }
            let expected = published(1000.0, now_ns as f64 / 1e9);
            let off = (window.segments() as f64 - expected).abs();
            assert!(off <= 0.02 * expected, "round {round}: {} or {expected}", window.segments());
        }
        assert!(window.segments() > 1250, "beyond the plateau at 9.1 s: {}", window.segments());
    }

    /// RFC 9438, section 4.3: with short round trips Reno's window is above the cubic's, and grows by `3 (1 - beta) / (1 + beta)`
    /// segments a round trip.
    #[test]
    fn the_window_of_linux_is_at_least_renos() {
        let (mut rule, mut window) = (Cubic { is_linux: true, ..Cubic::default() }, window(100));
        window.cwnd_bytes = rule.reduced_bytes(&window, 0);
        window.ssthresh_bytes = window.cwnd_bytes;
        for round in 0..60u64 {
            for ack in 0..window.segments() {
                rule.grow(&mut window, 1, round * 100_000 + ack);
            }
            let reno = 70.0 + 3.0 * 0.3 / 1.7 * (round + 1) as f64;
            let off = (window.segments() as f64 - reno).abs();
            assert!(off <= 2.0, "round {round}: {} or {reno}", window.segments());
        }
    }

    #[test]
    fn a_loss_below_the_last_one_lowers_the_plateau() {
        let mut rule = Cubic::default();
        assert_eq!(rule.reduced_bytes(&window(100), 0), 70 * 1400);
        assert_eq!(rule.last_max, 100);
        assert_eq!(rule.reduced_bytes(&window(80), 0), 56 * 1400);
        assert_eq!(rule.last_max, 68);
        assert_eq!(rule.reduced_bytes(&window(2), 0), 2 * 1400);
    }

    #[test]
    fn slow_start_ends_when_a_train_of_acknowledgements_is_as_long_as_a_round_trip() {
        let (mut rule, mut window) = (Cubic::default(), window(20));
        window.ssthresh_bytes = u64::MAX;
        window.highest = 1000;
        window.acknowledged = 1;
        for nth in 0..200u64 {
            let now_ns = nth * 1_000;
            rule.acknowledged(&mut window, 1, now_ns);
            rule.grow(&mut window, 1, now_ns);
        }
        // Round trip 100 us: acknowledgements 1 us apart, the 102nd ends it.
        assert_eq!(window.ssthresh_bytes, (20 + 101) * 1400);
    }
}
