//! Times of a Poisson process.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

/// A Poisson process that ends.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalTimes {
    gap_ns: Exp<f64>,
    next_ns: f64,
    end_ns: u64,
}

impl ArrivalTimes {
    /// This many events per second on average, from 0 up to `end_ns`; `None` if not above 0.
    pub(crate) fn new(per_second: f64, end_ns: u64, rng: &mut ChaCha8Rng) -> Option<Self> {
        let gap_ns = Exp::new(per_second / 1e9).ok().filter(|_| per_second > 0.0)?;
        Some(ArrivalTimes { next_ns: gap_ns.sample(rng), gap_ns, end_ns })
    }

    /// The next event.
    /// The next time, nanoseconds, which stays the next.
    pub(crate) fn peek(&self) -> Option<u64> {
        let now_ns = self.next_ns as u64;
        (now_ns < self.end_ns).then_some(now_ns)
    }

    pub(crate) fn next(&mut self, rng: &mut ChaCha8Rng) -> Option<u64> {
        let now_ns = self.peek()?;
        self.next_ns += self.gap_ns.sample(rng);
        Some(now_ns)
    }
}
