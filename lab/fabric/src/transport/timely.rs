//! TIMELY (Mittal et al., *TIMELY: RTT-based Congestion Control for the Datacenter*, SIGCOMM 2015), Algorithm 1, with the
//! parameters of the ABM artifact's `TcpAdvanced`.

use super::congestion_control::{CongestionControl, Feedback, LEAST_BPS, Window};
use super::tuning::Tuning;

/// Weight of a new difference of round-trip times, the paper's alpha.
const ALPHA: f64 = 0.875;
/// Multiplicative decrease, the paper's beta (section 4.3).
const BETA: f64 = 0.8;
/// The paper's T_low in base RTTs: its 50 us where the least RTT is 20 us, and the artifact's 200 us at 80.
const LOW_BASE_RTTS: f64 = 2.5;
/// The paper's T_high, nanoseconds (section 5), where it is above T_low.
const HIGH_NS: f64 = 500_000.0;
/// Additive increase, the paper's delta, bits per second; its 10 Mbps are 100 in the artifact.
const INCREASE_BPS: f64 = 100e6;
/// The increase after so many updates that increased: hyperactive increase (section 4.3). In the paper it is five deltas.
const HYPERACTIVE_BPS: f64 = 150e6;
const HYPERACTIVE_AFTER: u32 = 5;

/// A rate from round-trip times: up below T_low, down above T_high, between them by the gradient.
///
/// ```text
/// diff  = (1 - alpha) * diff + alpha * (RTT - previous RTT)
/// RTT < T_low      rate += delta
/// RTT > T_high     rate *= 1 - beta * (1 - T_high / RTT)
/// diff <= 0        rate += delta, after five increases the hyperactive one
/// otherwise        rate *= 1 - beta * diff / base RTT
/// ```
///
/// Updated once per round trip, the paper's completion event. It has no window: as in the artifact the pace alone limits
/// what is sent. The artifact keeps `diff` without its sign, so that an RTT that fell makes the next gradient huge and the
/// rate the least; here it has its sign.
#[derive(Clone, Debug)]
pub(crate) struct Timely {
    base_rtt_ns: f64,
    low_ns: f64,
    high_ns: f64,
    most_bps: f64,
    rate_bps: f64,
    /// Smoothed difference of successive round-trip times, nanoseconds.
    diff_ns: f64,
    last_rtt_ns: f64,
    /// Updates since the latest decrease.
    increases: u32,
    /// The next update is for acknowledgements beyond it.
    updated: Option<u32>,
}

impl Timely {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        let low_ns = LOW_BASE_RTTS * tuning.base_rtt_ns as f64;
        Timely {
            base_rtt_ns: tuning.packet_rtt_ns(),
            low_ns,
            high_ns: HIGH_NS.max(low_ns),
            most_bps: tuning.line_rate_bps as f64,
            rate_bps: tuning.line_rate_bps as f64,
            diff_ns: 0.0,
            last_rtt_ns: 0.0,
            increases: 0,
            updated: None,
        }
    }

    /// Algorithm 1.
    fn update(&mut self, rtt_ns: f64) {
        self.diff_ns = (1.0 - ALPHA) * self.diff_ns + ALPHA * (rtt_ns - self.last_rtt_ns);
        self.last_rtt_ns = rtt_ns;
        let rate_bps = if rtt_ns < self.low_ns || rtt_ns <= self.high_ns && self.diff_ns <= 0.0 {
            self.increases += 1;
            let is_hyperactive = self.increases > HYPERACTIVE_AFTER;
            self.rate_bps + if is_hyperactive { HYPERACTIVE_BPS } else { INCREASE_BPS }
        } else {
            self.increases = 0;
            let excess = match rtt_ns > self.high_ns {
                true => 1.0 - self.high_ns / rtt_ns,
                false => self.diff_ns / self.base_rtt_ns,
            };
            self.rate_bps * (1.0 - BETA * excess)
        };
        self.rate_bps = rate_bps.clamp(LEAST_BPS.min(self.most_bps), self.most_bps);
    }

    fn apply(&self, window: &mut Window) {
        window.pace_bps = self.rate_bps as u64;
        window.cwnd_bytes = u64::from(u32::MAX);
    }
}

impl CongestionControl for Timely {
    fn begin(&self, window: &mut Window) {
        self.apply(window);
    }

    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        let rtt_ns = ack.round_trip_ns as f64;
        match self.updated {
            None => {
                self.last_rtt_ns = rtt_ns;
                self.updated = Some(window.next);
            }
            Some(updated) if ack.acknowledged > updated => {
                self.update(rtt_ns);
                self.updated = Some(window.next.max(updated));
            }
            Some(_) => {}
        }
        self.apply(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion_control::tests::{after, tuning, window};
    use proptest::prelude::*;

    const RATE_BPS: f64 = 10e9;

    /// A base RTT of 100 us with its packets, T_low 245 us, T_high 500 us.
    #[test]
    fn rates_are_those_computed_by_hand() {
        let rtts = [400_000, 420_000, 420_000, 400_000, 1_000_000, 200_000];
        let rates = after(&mut Timely::new(&tuning(98_000)), &mut window(), &rtts);
        // Grew by 20 us: a smoothed difference of 17.5 us, a gradient of 0.175, a decrease by 0.14.
        let second = 8.6e9;
        // 0.125 * 17.5 us: still a gradient of 0.021875.
        let third = second * (1.0 - 0.8 * 0.021_875);
        // 0.125 * 2.1875 - 0.875 * 20 us is below 0.
        let fourth = third + 1e8;
        // Above T_high: 1 - 0.8 * (1 - 500 / 1000).
        let fifth = fourth * 0.6;
        let expected = [RATE_BPS, second, third, fourth, fifth, fifth + 1e8];
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((*rate as f64 - expected).abs() < 2.0, "{rates:?}, {expected}");
        }
    }

    /// After five increases they are half as large again.
    #[test]
    fn increases_become_hyperactive() {
        let rtts: Vec<u64> = [100_000, 5_000_000].into_iter().chain([100_000; 7]).collect();
        let rates = after(&mut Timely::new(&tuning(98_000)), &mut window(), &rtts);
        let steps: Vec<u64> = rates[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (plain, hyperactive) = (100_000_000, 150_000_000);
        assert_eq!(steps, [plain, plain, plain, plain, plain, hyperactive, hyperactive]);
    }

    proptest! {
        /// Algorithm 1 written down again, from the whole list each time.
        #[test]
        fn rates_are_those_of_the_algorithm(rtts in prop::collection::vec(50_000_u64..900_000, 1..30)) {
            let rates = after(&mut Timely::new(&tuning(98_000)), &mut window(), &rtts);
            for (nth, rate) in rates.iter().enumerate() {
                let (expected, _) = by_the_book(&rtts[..=nth]);
                prop_assert!((*rate as f64 - expected).abs() <= 1e-9 * expected + 1.0, "{nth}: {rate} {expected}");
            }
        }
    }

    /// The rate after these round-trip times, and how many of the latest updates increased it.
    fn by_the_book(rtts: &[u64]) -> (f64, u32) {
        let [earlier @ .., rtt] = rtts else { return (RATE_BPS, 0) };
        if earlier.is_empty() {
            return (RATE_BPS, 0);
        }
        let (before, increases) = by_the_book(earlier);
        let mut diff = 0.0;
        for (age, pair) in rtts.windows(2).rev().enumerate() {
            diff += 0.875 * 0.125_f64.powi(age as i32) * (pair[1] as f64 - pair[0] as f64);
        }
        let rtt = *rtt as f64;
        let step = if increases >= 5 { 150e6 } else { 100e6 };
        let (rate, increases) = if rtt < 245_000.0 {
            (before + step, increases + 1)
        } else if rtt > 500_000.0 {
            (before * (1.0 - 0.8 * (1.0 - 500_000.0 / rtt)), 0)
        } else if diff <= 0.0 {
            (before + step, increases + 1)
        } else {
            (before * (1.0 - 0.8 * diff / 100_000.0), 0)
        };
        (rate.clamp(1e8, RATE_BPS), increases)
    }
}
