//! Active Buffer Management (Addanki et al., "ABM: Active Buffer Management in Datacenters",
//! SIGCOMM 2022).

mod artifact;
mod statistics;

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::alphas::is_alpha;
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use artifact::ArtifactStatistics;
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};
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
    measured: Measured,
}

/// `n_p` and `mu`, by [`Counting`].
#[derive(Clone, Debug)]
enum Measured {
    Paper(Statistics),
    Artifact(ArtifactStatistics),
}

/// How ABM counts congested queues, measures how fast queues drain, and compares with the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// A queue is congested if it holds at least 0.9 of its current threshold (section 3.1), that
    /// is, with the previous `n_p`. `mu` is the queue's share of the bytes that its port sent while
    /// it held packets. Measured for each packet, `mu` is the share of the port that the scheduler
    /// gives the queue among the queues that hold packets now (section 3.4). Under strict priority
    /// it would be 0, and so would the threshold, whenever a queue of higher priority holds a
    /// packet; there the queue counts as sharing equally with those. A packet is accepted while its
    /// queue, without it, is below the threshold.
    #[default]
    Paper,
    /// As the authors' ns-3 code does. `n_p` is the sum of `min(1, length / 28,000 bytes)` over the queues of
    /// the priority, with the length that the latest packet for the queue found there. `mu` is the rate of the
    /// queue since the last measurement. If that is less than an equal share among the port's queues, or more
    /// than the port's rate, `mu` is the port's rate. A queue that the scheduler finds empty counts as having
    /// sent 1,472 bytes. `b` is the rate of the queue's own port. Each port measures at a fixed period from its
    /// first packet on. A packet is accepted if its queue with it is at most the threshold. Cannot be measured
    /// for each packet.
    Artifact,
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

impl PolicyParameters for AbmParameters {
    fn about(&self) -> About<'_> {
        About { title: "ABM", pushes_out: false, sees: Sees::FirstRtt, model: None, base: None }
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
            measured: match self.counting {
                Counting::Paper => Measured::Paper(Statistics::new(spec, update_ns)),
                Counting::Artifact => Measured::Artifact(ArtifactStatistics::new(spec, update_ns)),
            },
        })
    }
}

impl Measured {
    fn priority(&self, queue: usize) -> usize {
        match self {
            Measured::Paper(statistics) => statistics.priority(queue),
            Measured::Artifact(statistics) => statistics.priority(queue),
        }
    }

    fn drain(&self, queue: usize) -> f64 {
        match self {
            Measured::Paper(statistics) => statistics.drain(queue),
            Measured::Artifact(statistics) => statistics.drain(queue),
        }
    }

    fn congested(&self, queue: usize) -> f64 {
        match self {
            Measured::Paper(statistics) => statistics.congested(statistics.priority(queue)),
            Measured::Artifact(statistics) => statistics.congested(queue),
        }
    }
}

impl Abm {
    /// The factor of a queue on the free buffer as last measured, `alpha_p * 1/n_p * mu/b`
    /// (appendix A, definition 1).
    pub fn omega(&self, queue: usize) -> f64 {
        let measured = &self.measured;
        let alpha = self.alpha.at(measured.priority(queue));
        alpha * measured.drain(queue) / measured.congested(queue)
    }

    /// `n_p` of a queue's priority as last counted.
    pub fn congested(&self, queue: usize) -> f64 {
        self.measured.congested(queue)
    }

    /// The threshold of a packet's queue now, bytes: equation 9.
    fn threshold(&self, buffer: &Buffer, packet: &Packet) -> f64 {
        let alpha = if packet.is_first_rtt() {
            self.first_rtt_alpha
        } else {
            self.alpha.at(self.measured.priority(packet.queue))
        };
        let drain = self.measured.drain(packet.queue);
        alpha * free_bytes(buffer) * drain / self.measured.congested(packet.queue)
    }
}

impl Policy for Abm {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        match &mut self.measured {
            Measured::Paper(statistics) => {
                statistics.update(buffer, &self.alpha, now);
                if statistics.measures_each_packet() {
                    statistics.measure_for(buffer, &self.alpha, packet.queue);
                }
                decide_below(buffer, packet, self.threshold(buffer, packet))
            }
            Measured::Artifact(statistics) => {
                statistics.asked(buffer, packet.queue, now);
                decide_within(buffer, packet, self.threshold(buffer, packet))
            }
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        match &mut self.measured {
            Measured::Paper(statistics) => {
                statistics.removed(buffer, queue, size_bytes);
                statistics.update(buffer, &self.alpha, time);
            }
            Measured::Artifact(statistics) => statistics.removed(buffer, queue, size_bytes, time),
        }
    }
}

/// The artifact's rule: accept if the packet fits and its queue, with the packet, is at most the threshold.
fn decide_within(buffer: &Buffer, packet: &Packet, threshold_bytes: f64) -> Decision {
    let length = u64::from(buffer.shared_lengths()[packet.queue]) + u64::from(packet.size_bytes);
    let is_within = length as f64 <= threshold_bytes;
    if is_within && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
}
