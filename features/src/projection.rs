//! Projected queue lengths, if arrivals kept their present rate.

use crate::backlog::Backlog;
use crate::view::{BufferView, bytes_up_to, saturated};

/// Arrivals are remembered for this part of the base RTT.
const WINDOWS_PER_RTT: u64 = 8;

/// The projection looks this many base RTTs ahead: senders that learn of congestion now slow down
/// after one at the earliest, and their earlier packets still arrive.
const RTTS_AHEAD: u64 = 2;

/// How far ahead a projection looks.
///
/// Each is a whole number of windows, eighths of a base RTT in which arrivals are counted, so the
/// expected arrivals are a multiple of those in the last window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// A quarter of a base RTT.
    QuarterRtt,
    /// One base RTT.
    OneRtt,
    /// Two base RTTs.
    TwoRtts,
}

impl Horizon {
    /// Every horizon, nearest first.
    pub const ALL: [Horizon; 3] = [Horizon::QuarterRtt, Horizon::OneRtt, Horizon::TwoRtts];

    /// Its distance in windows of an eighth of a base RTT.
    pub fn windows(self) -> u64 {
        match self {
            Horizon::QuarterRtt => WINDOWS_PER_RTT / 4,
            Horizon::OneRtt => WINDOWS_PER_RTT,
            Horizon::TwoRtts => FARTHEST_WINDOWS,
        }
    }
}

/// Windows until the farthest horizon.
const FARTHEST_WINDOWS: u64 = RTTS_AHEAD * WINDOWS_PER_RTT;

/// The expected queue lengths some base RTTs ahead, if nothing were dropped.
///
/// For each queue that shares the buffer, `recent` is the bytes that arrived for it recently: on
/// each event of the queue (arrival, departure, push-out), `dt` after the one before,
///
/// ```text
/// recent -= floor(recent * min(dt, w) / w)         w = base RTT / 8
/// recent += size                                   on an arrival, accepted or not
/// expected(h) = max(0, length + k * recent - floor(drain * k / 16))   0 if the queue is empty
/// ```
///
/// where k = h / w, 16 for two base RTTs, and `drain` is the bytes its port sends in two base RTTs.
/// The projected occupancy is the sum of `expected` in two base RTTs. A dataplane needs two words
/// per queue and one sum, updated by one queue's difference per event, all integers. The levels sum
/// `min(expected(h), length of the packet's queue)` over the queues, for each packet.
///
/// The idea is that of Smartbuf's gradient and of ABM's drain rates: a buffer overflows because of
/// the packets to come, not the packets present.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    window_ns: u64,
    queues: Vec<Inflow>,
    /// Lengths at each [`Horizon`].
    expected_bytes: Backlog<{ Horizon::ALL.len() }>,
    /// Sum over the queues in two base RTTs, bytes.
    total_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Inflow {
    recent_bytes: u32,
    updated_ns: u64,
    /// Bytes that its port sends until each [`Horizon`].
    drain_bytes: [u64; Horizon::ALL.len()],
    projected_bytes: u64,
}

impl Projection {
    /// Empty queues; one port rate per queue.
    pub(crate) fn new(line_rate_bps: impl IntoIterator<Item = u64>, base_rtt_ns: u64) -> Self {
        let inflow = |rate_bps| Inflow {
            recent_bytes: 0,
            updated_ns: 0,
            drain_bytes: Horizon::ALL.map(|horizon| {
                drain_bytes(rate_bps, base_rtt_ns) / (FARTHEST_WINDOWS / horizon.windows())
            }),
            projected_bytes: 0,
        };
        let queues: Vec<Inflow> = line_rate_bps.into_iter().map(inflow).collect();
        Projection {
            // With at most 32 bits, products with `recent_bytes` fit in 64.
            window_ns: (base_rtt_ns / WINDOWS_PER_RTT).clamp(1, u64::from(u32::MAX)),
            expected_bytes: Backlog::new(queues.len()),
            queues,
            total_bytes: 0,
        }
    }

    /// The projected occupancy, bytes.
    #[inline]
    pub(crate) fn occupancy_bytes(&self) -> u32 {
        saturated(self.total_bytes)
    }

    /// Bytes expected in the shared buffer at the horizon if all queues were then cut down to
    /// `level_bytes`.
    #[inline]
    pub(crate) fn bytes_up_to(&self, horizon: Horizon, level_bytes: u32) -> u32 {
        saturated(bytes_up_to(self.expected_bytes.bytes(horizon as usize), level_bytes))
    }

    /// An event of `queue` at `now_ns`: `arrived_bytes` arrived (0 if packets left); `buffer` is
    /// the state after it. Returns the lengths expected at each [`Horizon`], unless the queue does not
    /// share the buffer.
    #[inline]
    pub(crate) fn changed(
        &mut self,
        buffer: &impl BufferView,
        queue: usize,
        arrived_bytes: u32,
        now_ns: u64,
    ) -> Option<[u64; Horizon::ALL.len()]> {
        if !buffer.shares(queue) {
            return None;
        }
        let length = buffer.queue_bytes(queue);
        let inflow = &mut self.queues[queue];
        let dt_ns = now_ns.saturating_sub(inflow.updated_ns).min(self.window_ns);
        if dt_ns > 0 {
            // No more than was there.
            inflow.recent_bytes -= match dt_ns == self.window_ns {
                true => inflow.recent_bytes,
                false => (u64::from(inflow.recent_bytes) * dt_ns / self.window_ns) as u32,
            };
        }
        inflow.recent_bytes = inflow.recent_bytes.saturating_add(arrived_bytes);
        inflow.updated_ns = now_ns;
        let expected = Horizon::ALL.map(|horizon| match length {
            0 => 0,
            length => {
                let coming = u64::from(length) + horizon.windows() * u64::from(inflow.recent_bytes);
                coming.saturating_sub(inflow.drain_bytes[horizon as usize])
            }
        });
        self.expected_bytes.set(queue, expected.map(saturated));
        let projected = expected[Horizon::TwoRtts as usize];
        self.total_bytes = self.total_bytes - inflow.projected_bytes + projected;
        inflow.projected_bytes = projected;
        Some(expected)
    }
}

/// Bytes that a port of this rate sends in [`RTTS_AHEAD`] base RTTs.
fn drain_bytes(rate_bps: u64, base_rtt_ns: u64) -> u64 {
    let bit_ns_per_byte = 8_000_000_000 / u128::from(RTTS_AHEAD);
    let bytes = u128::from(rate_bps) * u128::from(base_rtt_ns) / bit_ns_per_byte;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues of these lengths; the last does not share the buffer.
    struct Lengths<const N: usize>([u32; N]);

    impl<const N: usize> BufferView for Lengths<N> {
        fn queues(&self) -> usize {
            N
        }
        fn queue_bytes(&self, queue: usize) -> u32 {
            self.0[queue]
        }
        fn capacity_bytes(&self) -> u32 {
            u32::MAX
        }
        fn occupancy_bytes(&self) -> u32 {
            self.0[..N - 1].iter().sum()
        }
        fn longest_queue_bytes(&self) -> u32 {
            self.0[..N - 1].iter().copied().max().unwrap_or(0)
        }
        fn queues_longer_than(&self, bytes: u32) -> u32 {
            self.0[..N - 1].iter().filter(|&&length| length > bytes).count() as u32
        }
        fn bytes_up_to(&self, level_bytes: u32) -> u64 {
            self.0[..N - 1].iter().map(|&length| u64::from(length.min(level_bytes))).sum()
        }
        fn shares(&self, queue: usize) -> bool {
            queue + 1 < N
        }
    }

    /// 8 Gbps send a byte per ns: 1,600 in two RTTs of 800 ns. The window is 100 ns.
    fn projection() -> Projection {
        Projection::new([8_000_000_000; 3], 800)
    }

    #[test]
    fn arrivals_faster_than_the_line_grow_the_projection() {
        let mut projection = projection();
        projection.changed(&Lengths([300, 0, 0]), 0, 300, 1000);
        assert_eq!(projection.occupancy_bytes(), 300 + 16 * 300 - 1600);
        // Half a window later half has decayed, and nothing new arrived.
        projection.changed(&Lengths([250, 0, 0]), 0, 0, 1050);
        assert_eq!(projection.occupancy_bytes(), 250 + 16 * 150 - 1600);
        projection.changed(&Lengths([200, 0, 0]), 0, 0, 2000);
        assert_eq!(projection.occupancy_bytes(), 0, "it drains in time");
    }

    #[test]
    fn queues_add_up_and_an_empty_one_counts_for_nothing() {
        let mut projection = projection();
        projection.changed(&Lengths([5000, 0, 0]), 0, 10, 1000);
        projection.changed(&Lengths([5000, 2000, 0]), 1, 10, 1001);
        assert_eq!(projection.occupancy_bytes(), 5000 + 160 - 1600 + 2000 + 160 - 1600);
        projection.changed(&Lengths([0, 2000, 0]), 0, 0, 1002);
        assert_eq!(projection.occupancy_bytes(), 2000 + 160 - 1600);
        projection.changed(&Lengths([0, 2000, 9000]), 2, 9000, 1003);
        assert_eq!(projection.occupancy_bytes(), 560, "the last is outside the shared buffer");
    }

    #[test]
    fn levels_cut_what_is_expected_of_every_queue() {
        let mut projection = projection();
        projection.changed(&Lengths([5000, 0, 0]), 0, 100, 1000);
        projection.changed(&Lengths([5000, 2000, 0]), 1, 0, 1001);
        let level = |horizon, bytes| projection.bytes_up_to(horizon, bytes);
        // A quarter of an RTT is two windows of arrivals, and 200 bytes are sent in it.
        assert_eq!(level(Horizon::QuarterRtt, u32::MAX), 5000 + 2 * 100 - 200 + 2000 - 200);
        assert_eq!(level(Horizon::OneRtt, u32::MAX), 5000 + 8 * 100 - 800 + 2000 - 800);
        assert_eq!(level(Horizon::TwoRtts, u32::MAX), projection.occupancy_bytes());
        assert_eq!(level(Horizon::OneRtt, 3000), 3000 + 1200);
        assert_eq!(level(Horizon::TwoRtts, 100), 200);
        assert_eq!(level(Horizon::TwoRtts, 0), 0);
    }

    #[test]
    fn extremes_saturate() {
        let mut projection = Projection::new([u64::MAX, 1, 1], u64::MAX);
        for now in [0, 1, u64::MAX - 1, u64::MAX] {
            projection.changed(&Lengths([u32::MAX, 0, 0]), 0, u32::MAX, now);
        }
        assert_eq!(projection.occupancy_bytes(), 0, "the line is faster than anything");
        projection.changed(&Lengths([0, u32::MAX, 0]), 1, u32::MAX, 0);
        let mut slow = Projection::new([1; 3], 8);
        slow.changed(&Lengths([u32::MAX, 0, 0]), 0, u32::MAX, 0);
        assert_eq!(slow.occupancy_bytes(), u32::MAX);
    }
}
