//! PowerTCP (Addanki, Michel, Schmid, NSDI 2022), Algorithm 1, as the Credence artifact's
//! `TcpAdvanced` does it.

use super::congestion_control::{CongestionControl, Feedback, Hop, LEAST_BPS, Window};
use super::tuning::Tuning;

/// Weight of a new window, the paper's gamma (section 3.3): 0.9.
const GAMMA: f64 = 0.9;
/// Target share of the line rate.
const TARGET: f64 = 0.95;
/// Additive increase, the paper's beta, as a rate: a hundredth of 10 Gbps.
const INCREASE_BPS: f64 = 100e6;
/// The current (sum of transmission rate and queue growth) counts as at least this share of the
/// line rate.
const LEAST_CURRENT: f64 = 0.5;

/// Window and rate from power: voltage (bandwidth-delay product and queue) times current (rate of
/// transmission and queue growth) at the most powerful hop.
#[derive(Clone, Debug)]
pub(crate) struct PowerTcp {
    base_rtt_ns: f64,
    most_bps: f64,
    /// Normalised power, smoothed over a base round-trip time.
    power: f64,
    /// Rate at the latest reference update, once per round trip.
    rate_bps: f64,
    last: Vec<Hop>,
    /// The next reference update is for acknowledgements beyond it.
    updated: Option<u32>,
}

impl PowerTcp {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        PowerTcp {
            base_rtt_ns: tuning.packet_rtt_ns(),
            most_bps: tuning.line_rate_bps as f64,
            power: 1.0,
            rate_bps: tuning.line_rate_bps as f64,
            last: Vec::new(),
            updated: None,
        }
    }

    /// Normalised power of a hop between two reports of it (Algorithm 1, NORMPOWER), and the time
    /// between them.
    fn hop_power(&self, before: &Hop, now: &Hop) -> Option<(f64, f64)> {
        let elapsed_ns = now.time_ns.checked_sub(before.time_ns).filter(|&ns| ns > 0)? as f64;
        let sent = now.sent_bytes as f64 - before.sent_bytes as f64;
        let growth = f64::from(now.queue_bytes) - f64::from(before.queue_bytes);
        let rate = now.rate_bps as f64;
        let current = ((sent + growth) * 8e9 / elapsed_ns).max(LEAST_CURRENT * rate);
        let product_bits = rate * self.base_rtt_ns / 1e9;
        let voltage_bits = product_bits + f64::from(now.queue_bytes) * 8.0;
        Some((current * voltage_bits / (rate * product_bits), elapsed_ns))
    }

    /// Smooths the power of the most powerful hop (Algorithm 1, line 22).
    fn measure(&mut self, hops: &[Hop]) {
        let mut most = None;
        for (before, now) in self.last.iter().zip(hops) {
            if let Some((power, elapsed_ns)) = self.hop_power(before, now)
                && most.is_none_or(|(other, _)| power > other)
            {
                most = Some((power, elapsed_ns));
            }
        }
        if let Some((power, elapsed_ns)) = most {
            let weight = elapsed_ns.min(self.base_rtt_ns) / self.base_rtt_ns;
            self.power = self.power * (1.0 - weight) + power * weight;
        }
    }
}

impl CongestionControl for PowerTcp {
    /// A bandwidth-delay product at line rate.
    fn begin(&self, window: &mut Window) {
        window.follow_rate(self.most_bps, self.base_rtt_ns);
    }

    /// Algorithm 1, UPDATEWINDOW: `w = gamma (w_old / power + beta) + (1 - gamma) w`; `w_old` is
    /// updated once per round trip.
    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        let hops = ack.hops;
        if hops.is_empty() {
            return;
        }
        let Some(updated) = self.updated else {
            self.updated = Some(window.next);
            self.last.extend_from_slice(hops);
            return;
        };
        self.measure(hops);
        self.last.clear();
        self.last.extend_from_slice(hops);
        let aimed = self.rate_bps / (self.power / TARGET) + INCREASE_BPS;
        let rate_bps = GAMMA * aimed + (1.0 - GAMMA) * self.rate_bps;
        let rate_bps = rate_bps.clamp(LEAST_BPS.min(self.most_bps), self.most_bps);
        window.follow_rate(rate_bps, self.base_rtt_ns);
        if ack.acknowledged > updated {
            self.rate_bps = rate_bps;
            self.updated = Some(window.next.max(updated));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion_control::tests::{tuning, window};

    const RATE_BPS: u64 = 10_000_000_000;

    /// PowerTCP's fixed point (the paper's Theorem 1 and 2): `n` flows on one link settle at equal
    /// rates whose sum fills the link, with a queue of the sum of their additive increases. Here
    /// the link is a fluid: rates in, queue out.
    #[test]
    fn flows_settle_where_power_is_the_target() {
        let mut flows = [PowerTcp::new(&tuning(30_000)), PowerTcp::new(&tuning(30_000))];
        let mut windows = [window(), window()];
        flows[0].begin(&mut windows[0]);
        flows[1].rate_bps = 2e9;
        let base_rtt_ns = flows[1].base_rtt_ns;
        windows[1].follow_rate(2e9, base_rtt_ns);
        let (mut queue, mut sent, step_ns) = (0.0f64, 0.0f64, 1_000u64);
        for step in 1..40_000u64 {
            // The flight is in queue and pipe: windows limit, not pacing.
            let in_flight: f64 = windows.iter().map(|w| w.cwnd_bytes as f64).sum();
            let pipe = RATE_BPS as f64 * flows[0].base_rtt_ns / 8e9;
            queue = (in_flight - pipe).max(0.0);
            sent += (in_flight / pipe).min(1.0) * RATE_BPS as f64 / 8e9 * step_ns as f64;
            let hop = Hop {
                queue_bytes: queue as u32,
                time_ns: step * step_ns,
                sent_bytes: sent as u64,
                rate_bps: RATE_BPS,
                link: 0,
            };
            for (flow, window) in flows.iter_mut().zip(&mut windows) {
                window.next = (step + 30) as u32;
                let (acknowledged, now_ns) = (step as u32, hop.time_ns);
                let (round_trip_ns, is_marked, hops) = (0, false, &[hop][..]);
                let ack = Feedback { acknowledged, round_trip_ns, now_ns, is_marked, hops };
                flow.ack_received(window, &ack);
            }
        }
        let total = flows[0].rate_bps + flows[1].rate_bps;
        assert!((flows[0].rate_bps / flows[1].rate_bps - 1.0).abs() < 0.05, "fair: {flows:?}");
        // At the fixed point r = r / (P / 0.95) + 100 Mbps for each: P = 0.95 / (1 - 0.1/5) = 0.97.
        assert!((flows[0].power - 0.97).abs() < 0.03, "{}", flows[0].power);
        assert!((total / RATE_BPS as f64 - 0.985).abs() < 0.04, "{total}");
        assert!(queue < 0.05 * 37_500.0, "{queue} bytes of queue");
    }
}
