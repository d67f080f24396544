//! Poisson processes.

use crate::flow_sizes::FlowSizes;
use crate::rng::{StreamPurpose, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

/// A Poisson process, with its own stream of randomness.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    pub(crate) rng: ChaCha8Rng,
    gap_ns: Exp<f64>,
    /// Next event. Whole nanoseconds below 2^53 are exact in it, 104 days.
    next_ns: f64,
}

impl Poisson {
    /// A process of `per_ns` events per nanosecond; `None` if that is not above 0.
    pub(crate) fn new(per_ns: f64, seed: u64, of: StreamPurpose) -> Option<Self> {
        let gap_ns = Exp::new(per_ns).ok().filter(|_| per_ns > 0.0)?;
        let mut rng = stream(seed, of);
        let next_ns = gap_ns.sample(&mut rng);
        Some(Poisson { rng, gap_ns, next_ns })
    }

    /// Time of the next event, nanoseconds.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns as u64
    }

    /// Advances past the event: draws the time of the next one.
    pub(crate) fn happened(&mut self) {
        self.next_ns += self.gap_ns.sample(&mut self.rng);
    }

    /// A flow's size, bytes, and hash.
    pub(crate) fn size_and_hash(&mut self, sizes: &FlowSizes) -> (u64, u64) {
        let bytes = sizes.sample(&mut self.rng);
        (bytes, self.hash())
    }

    /// Any number except 0, which means "no hash" in an event.
    pub(crate) fn hash(&mut self) -> u64 {
        self.rng.random::<u64>().max(1)
    }
}
