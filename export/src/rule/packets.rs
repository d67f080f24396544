//! Packets on which the rule's code must decide as the fabric's policy does.

use super::parameters::Rule;
use crate::policy_code::PacketArrival;
use dropcast_data::SwitchSpec;
use dropcast_data::random::SplitMix64;
use dropcast_switch::policies::oracle::drain_time_ns;

/// So many packets arrive: every line of the rule's code decides about some.
const ARRIVALS: usize = 20_000;

impl Rule {
    /// Bursts of up to one and a half buffers towards one to seven queues, or all, at rates from that of a port to 32 times as
    /// much, with packets for a queue of the burst before and for others between them. One burst in three is of two buffers.
    pub(crate) fn golden(spec: &SwitchSpec) -> Vec<PacketArrival> {
        let random = &mut SplitMix64::new(1);
        let buffer_bytes = spec.buffer_bytes;
        let last_queue = u32::try_from(spec.queues() - 1).unwrap_or(u32::MAX);
        // Large buffers are filled by large packets, so that they overflow often enough.
        let largest = (buffer_bytes / 64).clamp(1_500, 9_000).min(buffer_bytes);
        let drain_ns = u32::try_from(drain_time_ns(spec)).unwrap_or(u32::MAX);
        let (mut now, mut left_bytes, mut before, mut speed) = (0_u64, 0, 0, 1);
        let mut hot = [0, 0];
        let arrival = |nth| {
            let others = if nth < ARRIVALS / 2 { 3 } else { 15 };
            if left_bytes == 0 {
                left_bytes = u64::from(random.between(buffer_bytes / 8, buffer_bytes)) * 3 / 2;
                before = hot[0];
                hot = [random.between(0, last_queue); 2];
                hot = match random.between(0, 7) {
                    7 => [0, last_queue],
                    more => [hot[0], hot[1].saturating_add(more).min(last_queue)],
                };
                speed = 1_u128 << random.between(0, 5);
                if random.between(0, 2) == 0 {
                    // Eight queues overflow: predictions come true, and are followed.
                    (hot[1], speed) = (hot[0].saturating_add(7).min(last_queue), 32);
                    left_bytes = 2 * u64::from(buffer_bytes);
                }
                // A port alone takes longer to send a full buffer than all together.
                now += u64::from(random.between(0, drain_ns)) << (2 * random.between(0, 3));
            }
            let size_bytes = random.between(64.min(largest), largest);
            left_bytes = left_bytes.saturating_sub(size_bytes.into());
            let port = hot[0] as usize / usize::from(spec.queues_per_port);
            let sent_bits_ns = u128::from(size_bytes) * 8_000_000_000;
            let gap_ns = sent_bits_ns / (speed * u128::from(spec.line_rate_bps[port])).max(1);
            now = now.saturating_add(u64::try_from(gap_ns).unwrap_or(u64::MAX));
            let queue = match random.between(0, others) {
                0 => random.between(0, last_queue),
                1 => before,
                _ => random.between(hot[0], hot[1]),
            };
            PacketArrival { time_ns: now, queue: queue as usize, size_bytes, flow_hash: 0 }
        };
        (0..ARRIVALS).map(arrival).collect()
    }
}
