//! HPCC (Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019), Algorithm 1.

use super::congestion_control::{CongestionControl, Feedback, Hop, LEAST_BPS, Window};
use super::tuning::Tuning;

/// Target utilisation of each link (section 5.1).
const ETA: f64 = 0.95;
/// Round trips of additive increase before a multiplicative one (section 5.1).
const MOST_STAGES: u32 = 5;
/// Flows on a link that the additive increase is made for: `W_AI = W_init (1 - eta) / N` (section 3.3). With 100 it is the
/// paper's 80 bytes in its fabric of 100 Gbps and 13 us.
const EXPECTED_FLOWS: f64 = 100.0;

/// A window from the bytes in flight on the most loaded link of the path, from telemetry:
///
/// ```text
/// u = min(qlen, previous qlen) / (B T) + txRate / B      of the link where it is most; tau is the time between its reports
/// U = (1 - tau / T) U + tau / T u                        tau at most T
/// W = Wc / (U / eta) + W_AI                              if U >= eta, or after maxStage increases
/// W = Wc + W_AI                                          otherwise
/// R = W / T
/// ```
///
/// At each acknowledgement; `Wc` becomes `W` once per round trip. As in the authors' ns-3 the first acknowledgement is only
/// remembered, `U` begins at 1, and rates are at least 100 Mbps and at most the line's. If the path is another one, what is
/// remembered is thrown away (section 4.1).
#[derive(Clone, Debug)]
pub(crate) struct Hpcc {
    /// T: the longest round trip of the fabric without queues, nanoseconds.
    base_rtt_ns: f64,
    most_bytes: f64,
    least_bytes: f64,
    increase_bytes: f64,
    /// U: bytes in flight on the most loaded link over its bandwidth-delay product, smoothed over T.
    utilisation: f64,
    /// Wc.
    reference_bytes: f64,
    /// incStage.
    stage: u32,
    last: Vec<Hop>,
    /// The next update of Wc is for acknowledgements beyond it.
    updated: Option<u32>,
}

impl Hpcc {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        let base_rtt_ns = tuning.path_rtt_ns as f64;
        let bytes = |rate_bps: f64| rate_bps * base_rtt_ns / 8e9;
        let most_bytes = bytes(tuning.line_rate_bps as f64);
        Hpcc {
            base_rtt_ns,
            most_bytes,
            least_bytes: bytes(LEAST_BPS).min(most_bytes),
            increase_bytes: most_bytes * (1.0 - ETA) / EXPECTED_FLOWS,
            utilisation: 1.0,
            reference_bytes: most_bytes,
            stage: 0,
            last: Vec::new(),
            updated: None,
        }
    }

    fn apply(&self, window: &mut Window, bytes: f64) {
        window.follow_rate(bytes * 8e9 / self.base_rtt_ns, self.base_rtt_ns);
    }

    /// MEASUREINFLIGHT.
    fn measure(&mut self, hops: &[Hop]) {
        let (mut most, mut tau_ns) = (0.0, 0.0);
        for (before, now) in self.last.iter().zip(hops) {
            let Some(elapsed_ns) = now.time_ns.checked_sub(before.time_ns).filter(|&ns| ns > 0)
            else {
                continue;
            };
            let elapsed_ns = elapsed_ns as f64;
            let link_bytes_per_ns = now.rate_bps as f64 / 8e9;
            let sent = now.sent_bytes as f64 - before.sent_bytes as f64;
            let queue = f64::from(now.queue_bytes.min(before.queue_bytes));
            let used = queue / (link_bytes_per_ns * self.base_rtt_ns)
                + sent / (link_bytes_per_ns * elapsed_ns);
            if used > most {
                (most, tau_ns) = (used, elapsed_ns);
            }
        }
        let weight = tau_ns.min(self.base_rtt_ns) / self.base_rtt_ns;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * most;
    }

    /// COMPUTEWIND: the window, bytes.
    fn window_bytes(&mut self, updates_reference: bool) -> f64 {
        let is_multiplied = self.utilisation >= ETA || self.stage >= MOST_STAGES;
        let from = match is_multiplied {
            true => self.reference_bytes / (self.utilisation / ETA),
            false => self.reference_bytes,
        };
        let bytes = (from + self.increase_bytes).clamp(self.least_bytes, self.most_bytes);
        if updates_reference {
            self.stage = if is_multiplied { 0 } else { self.stage + 1 };
            self.reference_bytes = bytes;
        }
        bytes
    }
}

impl CongestionControl for Hpcc {
    /// A bandwidth-delay product at line rate.
    fn begin(&self, window: &mut Window) {
        self.apply(window, self.most_bytes);
    }

    /// NEWACK.
    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        let hops = ack.hops;
        if hops.is_empty() {
            return;
        }
        let is_known_path =
            self.last.iter().map(|hop| hop.link).eq(hops.iter().map(|hop| hop.link));
        let updated = *self.updated.get_or_insert(window.next);
        if is_known_path {
            self.measure(hops);
            let is_next_round = ack.acknowledged > updated;
            let bytes = self.window_bytes(is_next_round);
            self.apply(window, bytes);
            if is_next_round {
                self.updated = Some(window.next.max(updated));
            }
        }
        self.last.clear();
        self.last.extend_from_slice(hops);
    }
}

#[cfg(test)]
mod tests;
