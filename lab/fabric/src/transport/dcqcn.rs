//! DCQCN's reaction point (Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM 2015, section 3.1).
//! Its congestion point is an AQM such as `red`, its notification point is in `receiver.rs`.

use super::congestion_control::{CongestionControl, Feedback, LEAST_BPS, Window};
use super::tuning::Tuning;

/// Weight of a notification in alpha, the paper's g (section 5.2).
const GAIN: f64 = 1.0 / 256.0;
/// Time without a notification after which alpha decays, the paper's K, and the period of the increase timer (figure 14).
const ALPHA_NS: u64 = 55_000;
const INCREASE_NS: u64 = 55_000;
/// Bytes sent from one increase to the next, the paper's byte counter (figure 14).
const INCREASE_BYTES: u64 = 10_000_000;
/// Increases of fast recovery, the paper's F.
const FAST_STEPS: u32 = 5;
/// Additive increase, the paper's R_AI, bits per second.
const ADDITIVE_BPS: f64 = 40e6;
/// Hyper increase, R_HAI, for each increase beyond `FAST_STEPS`: the authors' ns-3; the paper gives none.
const HYPER_BPS: f64 = 200e6;

/// A rate that notifications cut and that time and bytes raise:
///
/// ```text
/// at a notification      R_T = R_C,  R_C = R_C (1 - alpha / 2),  alpha = (1 - g) alpha + g;  both counters begin anew
/// 55 us without one      alpha = (1 - g) alpha
/// each 55 us, T += 1, and each 10 MB, BC += 1:
///   max(T, BC) < F       R_C = (R_T + R_C) / 2                                                   fast recovery
///   min(T, BC) > F       R_T = R_T + (min(T, BC) - F) R_HAI,  R_C = (R_T + R_C) / 2              hyper increase
///   otherwise            R_T = R_T + R_AI,  R_C = (R_T + R_C) / 2                                additive increase
/// ```
///
/// A flow begins at line rate, with an alpha of 1. It has no window, and losses do not change its rate: where the paper's
/// network pauses senders (PFC) packets are dropped here, and repeated by the fabric's recovery.
#[derive(Clone, Debug)]
pub(crate) struct Dcqcn {
    most_bps: f64,
    /// R_C.
    rate_bps: f64,
    /// R_T.
    target_bps: f64,
    alpha: f64,
    /// From the first notification on.
    counters: Option<Counters>,
}

/// What has happened since the latest notification.
#[derive(Clone, Debug)]
struct Counters {
    /// When alpha decays next, and the timer goes off next, nanoseconds.
    alpha_ns: u64,
    timer_ns: u64,
    /// Bytes to the next increase by bytes.
    left_bytes: u64,
    /// T and BC.
    by_time: u32,
    by_bytes: u32,
}

impl Dcqcn {
    pub(crate) fn new(tuning: &Tuning) -> Self {
        let most_bps = tuning.line_rate_bps as f64;
        Dcqcn { most_bps, rate_bps: most_bps, target_bps: most_bps, alpha: 1.0, counters: None }
    }

    fn apply(&self, window: &mut Window) {
        window.pace_bps = self.rate_bps as u64;
        window.cwnd_bytes = u64::from(u32::MAX);
    }

    /// Timers that have gone off by now, in order: nothing asks for the rate between.
    fn advance(&mut self, now_ns: u64) {
        while let Some(counters) = &mut self.counters
            && counters.alpha_ns.min(counters.timer_ns) <= now_ns
        {
            if counters.alpha_ns <= counters.timer_ns {
                counters.alpha_ns += ALPHA_NS;
                self.alpha *= 1.0 - GAIN;
            } else {
                counters.timer_ns += INCREASE_NS;
                counters.by_time += 1;
                self.increase();
            }
        }
    }

    fn increase(&mut self) {
        let Some(&Counters { by_time, by_bytes, .. }) = self.counters.as_ref() else { return };
        let step_bps = match by_time.min(by_bytes).checked_sub(FAST_STEPS) {
            Some(beyond @ 1..) => f64::from(beyond) * HYPER_BPS,
            _ if by_time.max(by_bytes) < FAST_STEPS => 0.0,
            _ => ADDITIVE_BPS,
        };
        self.target_bps = (self.target_bps + step_bps).min(self.most_bps);
        self.rate_bps = (self.target_bps + self.rate_bps) / 2.0;
    }

    /// A notification arrives (equation 1).
    fn notified(&mut self, now_ns: u64) {
        self.target_bps = self.rate_bps;
        let least_bps = LEAST_BPS.min(self.most_bps);
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(least_bps);
        self.alpha = (1.0 - GAIN) * self.alpha + GAIN;
        self.counters = Some(Counters {
            alpha_ns: now_ns + ALPHA_NS,
            timer_ns: now_ns + INCREASE_NS,
            left_bytes: INCREASE_BYTES,
            by_time: 0,
            by_bytes: 0,
        });
    }
}

impl CongestionControl for Dcqcn {
    fn begin(&self, window: &mut Window) {
        self.apply(window);
    }

    fn is_reduced_by_marks(&self) -> bool {
        false
    }

    fn sent(&mut self, window: &mut Window, bytes: u64, now_ns: u64) {
        self.advance(now_ns);
        if let Some(counters) = &mut self.counters {
            let is_over = counters.left_bytes <= bytes;
            let refilled = if is_over { INCREASE_BYTES } else { 0 };
            counters.left_bytes = counters.left_bytes + refilled - bytes;
            if is_over {
                counters.by_bytes += 1;
                self.increase();
            }
        }
        window.pace_bps = self.rate_bps as u64;
    }

    fn ack_received(&mut self, window: &mut Window, ack: &Feedback<'_>) {
        self.advance(ack.now_ns);
        if ack.is_marked {
            self.notified(ack.now_ns);
        }
        self.apply(window);
    }
}

#[cfg(test)]
mod tests;
