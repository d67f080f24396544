//! Reverie's filter (Addanki, Bai, Schmid and Apostolaki, "Reverie: Low Pass Filter-Based Switch Buffer Sharing for Datacenters
//! with RDMA and TCP Traffic", NSDI 2024), of lossy traffic, by the authors' ns-3 code.

use super::dynamic_thresholds::free_bytes;
use crate::about::{About, PolicyParameters, Sees};
use crate::alphas::is_alpha;
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use serde::{Deserialize, Serialize};

/// A queue is limited by its length as a low-pass filter sees it: `filtered + packet <= alpha / n * (B - Q)`. Bursts pass
/// the filter, and long queues do not.
///
/// The filter moves by `1 - gamma` of the way at each departure, and is never above the length. `n` counts the congested
/// queues of the packet's class (its number within its port): each as much as its filtered length is of
/// `congested_bytes`, one at most; at least one in all.
#[derive(Clone, Debug)]
pub struct Reverie {
    parameters: ReverieParameters,
    /// By queue, bytes.
    filtered: Vec<f64>,
}

/// Parameters of [`Reverie`]. The defaults are those of the authors' ns-3 code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReverieParameters {
    /// By queue within a port.
    pub alpha: Alphas,
    /// For packets of the first round-trip time, by their flag.
    pub first_rtt_alpha: f64,
    /// What the filter keeps at a departure, 0 to 1.
    pub gamma: f64,
    /// A queue of this filtered length is congested.
    pub congested_bytes: u32,
}

impl Default for ReverieParameters {
    fn default() -> Self {
        ReverieParameters {
            alpha: Alphas::try_from(1.0).expect("1 is positive"),
            first_rtt_alpha: 1024.0,
            gamma: 0.99,
            congested_bytes: 20 * 1024,
        }
    }
}

impl PolicyParameters for ReverieParameters {
    fn about(&self) -> About<'_> {
        About { title: "Reverie", pushes_out: false, sees: Sees::FirstRtt, model: None, base: None }
    }
}

impl ReverieParameters {
    /// The policy of a switch with so many queues.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn policy(&self, queues: usize) -> Result<Reverie, BuildError> {
        if !is_alpha(self.first_rtt_alpha) {
            return Err(BuildError::parameter("first_rtt_alpha", "expected a positive number"));
        }
        if !(0.0..=1.0).contains(&self.gamma) {
            let problem = format!("is {}, expected 0 to 1", self.gamma);
            return Err(BuildError::parameter("gamma", problem));
        }
        if self.congested_bytes == 0 {
            return Err(BuildError::parameter("congested_bytes", "is 0, expected at least 1"));
        }
        Ok(Reverie { parameters: self.clone(), filtered: vec![0.0; queues] })
    }
}

impl Policy for Reverie {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let ReverieParameters { alpha, first_rtt_alpha, congested_bytes, .. } = &self.parameters;
        let per_port = buffer.queues_per_port();
        let class = packet.queue % per_port;
        let of_class = self.filtered.iter().skip(class).step_by(per_port);
        let congested: f64 =
            of_class.map(|filtered| (filtered / f64::from(*congested_bytes)).min(1.0)).sum();
        let alpha = if packet.is_first_rtt() { *first_rtt_alpha } else { alpha.at(class) };
        let threshold = alpha / congested.max(1.0) * free_bytes(buffer);
        let with_packet = self.filtered[packet.queue] + f64::from(packet.size_bytes);
        if with_packet <= threshold && buffer.fits(packet.size_bytes) {
            Decision::Accept
        } else {
            Decision::Reject
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, _: u32, _: u64) {
        let (gamma, length) = (self.parameters.gamma, f64::from(buffer.shared_lengths()[queue]));
        let filtered = &mut self.filtered[queue];
        *filtered = (gamma * *filtered + (1.0 - gamma) * length).min(length);
    }
}
