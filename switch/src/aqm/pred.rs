//! PRED (Du et al., "PRED: Performance-oriented Random Early Detection for Consistently Stable
//! Performance in Datacenters", NSDI 2025).

mod adjuster;
mod flow_counter;
mod parameters;

use super::red::{CERTAIN, happens};
use super::{Action, Aqm, Signal};
use crate::{Buffer, BuildError, Packet};
pub use adjuster::{Adjuster, Setting};
use dropcast_data::SwitchSpec;
pub use flow_counter::FlowCounter;
pub use parameters::{FlowsFunction, PredParameters};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// RED whose slope follows the number of flows and the queue's own performance:
///
/// ```text
/// p = f(N) * lambda * (q - minK)  if minK < q <= maxK      (sections 2.1 and 4.1, f(N) = N unless given)
/// p = 1                           if q > maxK                                (section 4.3)
/// ```
///
/// `q` is the length of the packet's queue on arrival, `N` an estimate of the flows that use the queue
/// ([`FlowCounter`], the paper's FCS), and `lambda` and `minK` are found by trial ([`Adjuster`], its
/// QLA). `lambda` is in units of 1/MB, 10^6 bytes. Each queue has its own.
#[derive(Clone, Debug)]
pub struct Pred {
    queues: Vec<Queue>,
    max_bytes: u32,
    flows_function: FlowsFunction,
    signal: Signal,
    random: ChaCha8Rng,
}

#[derive(Clone, Debug)]
struct Queue {
    flows: FlowCounter,
    adjuster: Adjuster,
}

impl PredParameters {
    /// PRED for a switch.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn aqm(&self, spec: &SwitchSpec, seed: u64) -> Result<Pred, BuildError> {
        self.check()?;
        let flows_ns = self.flows_ns.unwrap_or(spec.base_rtt_ns * 5 / 4).max(1);
        let trial_ns = self.trial_ns.unwrap_or(spec.base_rtt_ns.saturating_mul(5));
        let queues_per_port = usize::from(spec.queues_per_port);
        let queue = |index: usize| Queue {
            flows: FlowCounter::new(flows_ns),
            adjuster: Adjuster::new(self, spec.line_rate_bps[index / queues_per_port], trial_ns),
        };
        Ok(Pred {
            queues: (0..spec.queues()).map(queue).collect(),
            max_bytes: self.max_bytes,
            flows_function: self.flows_function,
            signal: self.signal,
            random: ChaCha8Rng::seed_from_u64(seed),
        })
    }
}

impl Pred {
    /// The current setting of a queue.
    pub fn setting(&self, queue: usize) -> Setting {
        self.queues[queue].adjuster.setting()
    }

    /// The estimated number of flows that use a queue.
    pub fn flows(&self, queue: usize) -> u32 {
        self.queues[queue].flows.estimate()
    }

    /// The signalling probability at this queue length, in units of 2^-32.
    fn probability(&self, queue: usize, length_bytes: u32) -> u64 {
        let Setting { min_bytes, lambda } = self.setting(queue);
        if length_bytes > self.max_bytes {
            return CERTAIN;
        }
        let above = f64::from(length_bytes.saturating_sub(min_bytes));
        let slope = lambda * 1e-6 * self.flows_function.of(self.flows(queue));
        ((slope * above).min(1.0) * CERTAIN as f64) as u64
    }
}

impl Aqm for Pred {
    fn arrives(&mut self, buffer: &Buffer, packet: &Packet, now_ns: u64) -> Action {
        let length_bytes = buffer.lengths()[packet.queue];
        let queue = &mut self.queues[packet.queue];
        queue.flows.arrives(packet.flow_hash, now_ns);
        queue.adjuster.arrives(length_bytes, now_ns);
        let probability = self.probability(packet.queue, length_bytes);
        if happens(&mut self.random, probability) {
            self.signal.action(packet)
        } else {
            Action::Pass
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time_ns: u64) {
        let length_bytes = buffer.lengths()[queue];
        self.queues[queue].adjuster.departed(length_bytes, size_bytes, time_ns);
    }
}
