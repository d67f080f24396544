//! Active Buffer Management (Addanki et al., "ABM: Active Buffer Management in Datacenters",
//! SIGCOMM 2022).

mod statistics;

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::alphas::is_alpha;
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};
pub use statistics::Counting;
use statistics::Statistics;

/// Keeps the queue of priority `p` at port `i` below
///
/// ```text
/// T = alpha_p * 1/n_p * (B - Q) * mu/b              (ABM, section 3.1, equation 9)
/// ```
///
/// The priority is the number of the queue within its port; `n_p` is the number of congested
/// queues of that priority, at least 1; `mu` is the rate at which the queue drains, `b` that of
/// the fastest port. Packets of the first round-trip time have their own `alpha` (section 3.3).
/// With `n_p = 1` and `mu = b` it is Dynamic Thresholds.
#[derive(Clone, Debug)]
pub struct Abm {
    alpha: Alphas,
    first_rtt_alpha: f64,
    statistics: Statistics,
}

/// Parameters of [`Abm`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AbmParameters {
    /// By priority; 0.5 in the ABM and the Credence paper.
    pub alpha: Alphas,
    /// For packets of the first round-trip time, of any priority; 64 in both papers, 1024 in the
    /// artifact's run.
    pub first_rtt_alpha: f64,
    /// Measurement interval of `n_p` and `mu`, nanoseconds: they are measured at the first event at
    /// least this long after the last measurement. The base RTT if not given (section 4.1). 0: for
    /// each packet.
    pub update_ns: Option<u64>,
    /// How `n_p` and `mu` are measured.
    pub counting: Counting,
}

impl Default for AbmParameters {
    fn default() -> Self {
        AbmParameters {
            alpha: Alphas::try_from(0.5).expect("0.5 is positive"),
            first_rtt_alpha: 64.0,
            update_ns: None,
            counting: Counting::default(),
        }
    }
}

impl AbmParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn policy(&self, spec: &SwitchSpec) -> Result<Abm, BuildError> {
        if !is_alpha(self.first_rtt_alpha) {
            return Err(BuildError::parameter("first_rtt_alpha", "expected a positive number"));
        }
        let update_ns = self.update_ns.unwrap_or(spec.base_rtt_ns);
        if update_ns == 0 && self.counting == Counting::Artifact {
            let problem = "is 0, but the artifact's way of counting needs an interval";
            return Err(BuildError::parameter("update_ns", problem));
        }
        Ok(Abm {
            alpha: self.alpha.clone(),
            first_rtt_alpha: self.first_rtt_alpha,
            statistics: Statistics::new(spec, self.counting, update_ns),
        })
    }
}

impl Abm {
    /// The factor of a queue on the free buffer as last measured, `alpha_p * 1/n_p * mu/b`
    /// (appendix A, definition 1).
    pub fn omega(&self, queue: usize) -> f64 {
        let statistics = &self.statistics;
        let priority = statistics.priority(queue);
        self.alpha.at(priority) * statistics.drain(queue) / statistics.congested(priority)
    }

    /// `n_p` of a priority as last counted.
    pub fn congested(&self, priority: usize) -> f64 {
        self.statistics.congested(priority)
    }

    /// The threshold of a queue now for packets with this `alpha`, bytes: equation 9.
    fn threshold(&self, buffer: &Buffer, queue: usize, alpha: f64) -> f64 {
        let statistics = &self.statistics;
        let congested = statistics.congested(statistics.priority(queue));
        alpha * free_bytes(buffer) * statistics.drain(queue) / congested
    }
}

impl Policy for Abm {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        self.statistics.update(buffer, &self.alpha, now);
        if self.statistics.measures_each_packet() {
            self.statistics.measure_for(buffer, &self.alpha, packet.queue);
        }
        let alpha = if packet.is_first_rtt() {
            self.first_rtt_alpha
        } else {
            self.alpha.at(self.statistics.priority(packet.queue))
        };
        decide_below(buffer, packet, self.threshold(buffer, packet.queue, alpha))
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.statistics.removed(buffer, queue, size_bytes);
        self.statistics.update(buffer, &self.alpha, time);
    }
}
