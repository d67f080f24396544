//! Smartbuf (Rezaei, Almasi and Vamanan, "Smartbuf: An Agile Memory Management for Shared-Memory
//! Switches in Datacenters", IWQoS 2021).

mod bursts;

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use bursts::Bursts;
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use serde::{Deserialize, Serialize};

/// Learns how much buffer bursts need as a function of how steeply their queues grow, and limits a
/// queue in a burst to the need of similar bursts; Dynamic Thresholds otherwise (section III,
/// Algorithm 1).
///
/// On each departure from a queue,
///
/// ```text
/// gradient = 1/4 * (length - length before) / (time - time before) + 3/4 * gradient    lines 9, 11
/// if length > peak:        peak = length, remembered with the gradient               lines 13-15
/// if length < beta * peak: the burst is over                                            line 16
///     if peak > B / sigma: (gradient, peak) becomes known to all queues             lines 17, 18
///     peak and gradient start anew                                                  lines 20, 21
/// ```
///
/// and a queue whose peak exceeds `B / sigma` is in a burst: its limit is then the mean peak of the
/// `k` known bursts with the next gradients at least as large (lines 26 to 30). The oldest bursts
/// are forgotten first.
///
/// Where the pseudocode and the paper's text differ, this follows the text. The pseudocode computes
/// the limit when the burst is over (line 25), the text when it is detected; and the pseudocode
/// resets only after bursts too small to record, so one large burst would hide all later ones. If
/// no known burst is steeper, Dynamic Thresholds apply.
///
/// The paper has one queue per port; here each queue is treated as its port.
#[derive(Clone, Debug)]
pub struct Smartbuf {
    parameters: SmartbufParameters,
    queues: Vec<Queue>,
    known: Bursts,
    /// Bursts that were learned, also those with the gradient of another.
    learned: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Length after the last departure, and its time.
    length_bytes: u32,
    time_ns: u64,
    /// Smoothed gradient, now and at the peak; bytes per millisecond.
    gradient: i64,
    peak_gradient: i64,
    peak_bytes: u32,
    /// The queue's limit, if it is in a burst similar to known ones.
    limit_bytes: Option<u32>,
    is_in_burst: bool,
}

/// Parameters of [`Smartbuf`], with the paper's values (sections III-B and IV-C).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmartbufParameters {
    /// By queue within a port, outside bursts. The paper says "according to" DT; DT's authors
    /// suggest 1.
    pub alpha: Alphas,
    /// A burst is over when the queue falls below this share of its peak.
    pub beta: f64,
    /// A queue that has held more than 1/sigma of the buffer is in a burst.
    pub sigma: f64,
    /// Number of known bursts that a limit averages.
    pub neighbours: usize,
    /// What the paper leaves open.
    pub reading: SmartbufReading,
    /// Maximum number of known bursts: twice the number at the paper's switches (figure 7).
    pub known_bursts: usize,
}

/// Readings of the paper's text (sections III-A and III-B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmartbufReading {
    /// A queue in a burst has its limit from the first known burst on; peaks are learned under limits, too (line 31).
    #[default]
    Literal,
    /// A learning phase comes first: limits hold once as many bursts were seen as are remembered.
    LearnFirst,
    /// A limit never is below what Dynamic Thresholds allow.
    AtLeastDt,
}

impl Default for SmartbufParameters {
    fn default() -> Self {
        SmartbufParameters {
            alpha: Alphas::try_from(1.0).expect("1 is positive"),
            beta: 0.5,
            sigma: 5.0,
            neighbours: 3,
            reading: SmartbufReading::default(),
            known_bursts: 70,
        }
    }
}

impl PolicyParameters for SmartbufParameters {
    fn about(&self) -> About<'_> {
        About { title: "Smartbuf", pushes_out: false, sees: Sees::Queues, model: None, base: None }
    }
}

impl SmartbufParameters {
    /// The policy of a switch.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn policy(&self, spec: &SwitchSpec) -> Result<Smartbuf, BuildError> {
        if !(self.beta > 0.0 && self.beta < 1.0) {
            return Err(BuildError::parameter("beta", "expected a number between 0 and 1"));
        }
        if !(self.sigma.is_finite() && self.sigma > 1.0) {
            return Err(BuildError::parameter("sigma", "expected a number above 1"));
        }
        if self.neighbours == 0 || self.known_bursts < self.neighbours {
            let problem = "expected at least 1, and no more than known_bursts";
            return Err(BuildError::parameter("neighbours", problem));
        }
        Ok(Smartbuf {
            parameters: self.clone(),
            queues: vec![Queue::default(); spec.queues()],
            known: Bursts::new(self.known_bursts),
            learned: 0,
        })
    }
}

impl Smartbuf {
    /// A queue's current limit, bytes, if it is in a burst similar to known ones.
    pub fn limit_bytes(&self, queue: usize) -> Option<u32> {
        self.queues[queue].limit_bytes
    }

    /// What a queue may hold where Dynamic Thresholds would allow `dynamic_bytes`.
    pub fn threshold_bytes(&self, queue: usize, dynamic_bytes: f64) -> f64 {
        match (self.queues[queue].limit_bytes, self.parameters.reading) {
            (Some(limit_bytes), SmartbufReading::AtLeastDt) => {
                f64::from(limit_bytes).max(dynamic_bytes)
            }
            (Some(limit_bytes), _) => f64::from(limit_bytes),
            (None, _) => dynamic_bytes,
        }
    }

    /// The known bursts: gradient (bytes per millisecond) and peak (bytes), by gradient.
    pub fn known_bursts(&self) -> impl Iterator<Item = (i64, u32)> {
        self.known.all()
    }
}

impl Queue {
    /// Updates the state with the length after a departure.
    fn departed(&mut self, length_bytes: u32, time_ns: u64) {
        let elapsed_ns = time_ns.saturating_sub(self.time_ns);
        if elapsed_ns > 0 {
            let change = i128::from(length_bytes) - i128::from(self.length_bytes);
            let gradient = change * 1_000_000 / i128::from(elapsed_ns);
            // At most 2^32 bytes in a nanosecond, which fits.
            self.gradient = (gradient as i64 + 3 * self.gradient) / 4;
        }
        self.length_bytes = length_bytes;
        self.time_ns = time_ns;
        if length_bytes > self.peak_bytes {
            self.peak_bytes = length_bytes;
            self.peak_gradient = self.gradient;
        }
    }

    fn start_anew(&mut self) {
        let Queue { length_bytes, time_ns, .. } = *self;
        *self = Queue { length_bytes, time_ns, ..Queue::default() };
    }
}

impl Policy for Smartbuf {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let alpha = self.parameters.alpha.at(packet.queue % buffer.queues_per_port());
        let threshold = self.threshold_bytes(packet.queue, alpha * free_bytes(buffer));
        decide_below(buffer, packet, threshold)
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, _: u32, time: u64) {
        if !buffer.shares(queue) {
            return;
        }
        let SmartbufParameters { beta, sigma, neighbours, known_bursts, reading, .. } =
            self.parameters;
        let length = buffer.lengths()[queue];
        let state = &mut self.queues[queue];
        state.departed(length, time);
        let is_burst = f64::from(state.peak_bytes) * sigma > f64::from(buffer.capacity_bytes());
        if f64::from(length) < beta * f64::from(state.peak_bytes) {
            if is_burst {
                self.known.learn(state.peak_gradient, state.peak_bytes);
                self.learned += 1;
            }
            state.start_anew();
        } else if is_burst && !state.is_in_burst {
            state.is_in_burst = true;
            let learns_only = reading == SmartbufReading::LearnFirst && self.learned < known_bursts;
            if !learns_only {
                state.limit_bytes = self.known.mean_peak_from(state.gradient, neighbours);
            }
        }
    }
}
