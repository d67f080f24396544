//! How many flows use a queue: PRED's flow counter and flow estimator (section 4.1).

/// Bits of the bitmap; 120, and 8 for the count, make the paper's 128 bits of a port (section 4.3).
const BITS: u64 = 120;

/// Counts flows in intervals of equal length, with one bit for each hash value: a packet whose bit is
/// not yet set begins a flow. The estimate is the larger of the count of the last interval and that of
/// this one so far, `N = max(n_last, n)`.
///
/// Flows that share a bit count as one, so the estimate is low for many flows, and at most 120.
#[derive(Clone, Debug)]
pub struct FlowCounter {
    interval_ns: u64,
    /// Number of the present interval.
    interval: u64,
    seen: u128,
    last: u32,
}

impl FlowCounter {
    /// No flows yet.
    pub fn new(interval_ns: u64) -> Self {
        FlowCounter { interval_ns, interval: 0, seen: 0, last: 0 }
    }

    /// A packet of a flow arrives.
    pub fn arrives(&mut self, flow_hash: u64, now_ns: u64) {
        let interval = now_ns / self.interval_ns;
        if interval != self.interval {
            self.last = if interval == self.interval + 1 { self.seen.count_ones() } else { 0 };
            self.seen = 0;
            self.interval = interval;
        }
        self.seen |= 1 << (flow_hash % BITS);
    }

    /// The number of flows, as of the last packet that arrived.
    pub fn estimate(&self) -> u32 {
        self.last.max(self.seen.count_ones())
    }
}
