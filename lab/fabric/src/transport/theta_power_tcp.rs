//! Theta-PowerTCP (Addanki, Michel, Schmid, NSDI 2022, section 3.5, Algorithm 2): PowerTCP without telemetry, as the ABM
//! artifact's `TcpAdvanced` does it.

use super::congestion_control::{CongestionControl, Feedback, LEAST_BPS, Window};
use super::tuning::Tuning;

/// Weight of a new rate, the paper's gamma: 0.7 in the artifact, where PowerTCP has 0.9.
const GAMMA: f64 = 0.7;
/// Additive increase, the paper's beta, as a rate: a hundredth of 10 Gbps.
const INCREASE_BPS: f64 = 100e6;
/// The current (one and the gradient of round-trip times) counts as at least this.
const LEAST_CURRENT: f64 = 0.5;

/// Window and rate from a power that round-trip times alone give:
///
/// ```text
/// power = (1 + dRTT/dt) * RTT / base RTT
/// rate  = gamma * (rate / power + beta) + (1 - gamma) * rate
/// ```
///
/// Measured and updated once per round trip. `n` flows on a line of rate `b` settle at a round-trip time of
/// `1 / (1 - n beta / b)` base RTTs, with the line full. Of the base RTT only two packets' transmission is part: where a
/// packet needs longer without any queue, few flows leave the line idle (between leaves with links of one rate and 80 us
/// a flow alone stays at a third of it).
#[derive(Clone, Debug)]
pub(crate) struct ThetaPowerTcp {
    base_rtt_ns: f64,
    most_bps: f64,
    /// Normalised power, smoothed over a base round-trip time.
    power: f64,
    rate_bps: f64,
    /// The round-trip time at the latest update, and when that was, nanoseconds.
    last: (f64, u64),
    /// The next update is for acknowledgements beyond it.
    updated: Option<u32>,
}

impl ThetaPowerTcp {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        ThetaPowerTcp {
            base_rtt_ns: tuning.packet_rtt_ns(),
            most_bps: tuning.line_rate_bps as f64,
            power: 1.0,
            rate_bps: tuning.line_rate_bps as f64,
            last: (0.0, 0),
            updated: None,
        }
    }

    /// Algorithm 2, NORMPOWER, and its smoothing over a base round-trip time.
    fn measure(&mut self, round_trip_ns: f64, now_ns: u64) {
        let (last_ns, at_ns) = self.last;
        let elapsed_ns = (now_ns - at_ns) as f64;
        if elapsed_ns > 0.0 {
            let current = (1.0 + (round_trip_ns - last_ns) / elapsed_ns).max(LEAST_CURRENT);
            let power = current * round_trip_ns / self.base_rtt_ns;
            let weight = elapsed_ns.min(self.base_rtt_ns) / self.base_rtt_ns;
            self.power = self.power * (1.0 - weight) + power * weight;
        }
        self.last = (round_trip_ns, now_ns);
    }
}

impl CongestionControl for ThetaPowerTcp {
    /// A bandwidth-delay product at line rate.
    fn begin(&self, window: &mut Window) {
        window.follow_rate(self.most_bps, self.base_rtt_ns);
    }

    /// Algorithm 2, UPDATEWINDOW, once per round trip.
    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        let round_trip_ns = ack.round_trip_ns as f64;
        match self.updated {
            None => {
                self.last = (round_trip_ns, ack.now_ns);
                self.updated = Some(window.next);
            }
            Some(updated) if ack.acknowledged > updated => {
                self.measure(round_trip_ns, ack.now_ns);
                let aimed = self.rate_bps / self.power + INCREASE_BPS;
                let rate_bps = GAMMA * aimed + (1.0 - GAMMA) * self.rate_bps;
                self.rate_bps = rate_bps.clamp(LEAST_BPS.min(self.most_bps), self.most_bps);
                self.updated = Some(window.next.max(updated));
            }
            Some(_) => {}
        }
        window.follow_rate(self.rate_bps, self.base_rtt_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion_control::tests::{after, tuning, window};
    use proptest::prelude::*;

    const RATE_BPS: f64 = 10e9;
    /// 98 us, and two packets of 1250 bytes at 10 Gbps.
    const BASE_NS: f64 = 100_000.0;

    /// A round-trip time of twice the base RTT that does not change is a power of 2; one that grew by as much as the time
    /// since is a current of 2.
    #[test]
    fn rates_are_those_computed_by_hand() {
        let mut flow = ThetaPowerTcp::new(&tuning(98_000));
        let mut window = window();
        let rates = after(&mut flow, &mut window, &[200_000, 200_000, 400_000, 100_000]);
        // 0.7 (10 / 2 + 0.1) + 0.3 * 10 Gbit/s.
        let second: f64 = 6.57e9;
        // A current of 1 + 200 us / 400 us, a voltage of 4.
        let third = 0.7 * (second / (1.5 * 4.0) + 1e8) + 0.3 * second;
        // The current counts as a half, the voltage is 1: a power of 0.5.
        let fourth = (0.7 * (third / 0.5 + 1e8) + 0.3 * third).min(RATE_BPS);
        let expected = [RATE_BPS, second, third, fourth];
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((*rate as f64 - expected).abs() < 2.0, "{rates:?}, {expected}");
        }
        let bytes = (fourth * BASE_NS / 8e9) as u64;
        assert!(window.cwnd_bytes.abs_diff(bytes) <= 1, "{} {bytes}", window.cwnd_bytes);
    }

    proptest! {
        /// Algorithm 2 written down again, from the whole list each time.
        #[test]
        fn rates_are_those_of_the_algorithm(rtts in prop::collection::vec(50_000_u64..2_000_000, 1..30)) {
            let mut flow = ThetaPowerTcp::new(&tuning(98_000));
            let rates = after(&mut flow, &mut window(), &rtts);
            for (nth, rate) in rates.iter().enumerate() {
                let expected = by_the_book(&rtts[..=nth]);
                prop_assert!((*rate as f64 - expected).abs() <= 1e-9 * expected + 1.0, "{nth}: {rate} {expected}");
            }
        }
    }

    /// The rate after these round-trip times, each measured one such time after the one before.
    fn by_the_book(rtts: &[u64]) -> f64 {
        let [earlier @ .., _] = rtts else { return RATE_BPS };
        if earlier.is_empty() {
            return RATE_BPS;
        }
        let smoothed = |rtts: &[u64]| {
            let mut power = 1.0;
            for pair in rtts.windows(2) {
                let (before, now) = (pair[0] as f64, pair[1] as f64);
                let gradient = (now - before) / now;
                let weight = (now / BASE_NS).min(1.0);
                let new = (gradient + 1.0).max(0.5) * now / BASE_NS;
                power += weight * (new - power);
            }
            power
        };
        let before = by_the_book(earlier);
        let aimed = before / smoothed(rtts) + 1e8;
        (0.7 * aimed + 0.3 * before).clamp(1e8, RATE_BPS)
    }
}
