//! Packets on which the code must decide as the fabric's policy does.

use crate::policy_code::PacketArrival;
use crate::splitmix::SplitMix;
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::oracle::drain_time_ns;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;

/// So many packets arrive: every line of the code decides about some.
const ARRIVALS: usize = 20_000;
/// Bursts of one kind, one after the other, so that something is learned of them.
const ALIKE: usize = 10;

/// Bursts of a half to two buffers towards a queue, of flows with 5 to 30 packets each, one in twelve of twice as many: ten bursts
/// alike after one another, so that their flows give packets. Of some bursts flows go on after a pause; some are of the flows of the
/// burst before; between them are short packets, packets of unknown flows, and packets of others.
pub(crate) fn golden(parameters: &SpareTailsParameters, spec: &SwitchSpec) -> Vec<PacketArrival> {
    let mut random = SplitMix::new(1);
    let mut arrivals = Vec::new();
    let (mut begins_ns, mut flows, mut is_after_silence) = (0, Vec::new(), false);
    while arrivals.len() < ARRIVALS {
        let kind = Kind::random(spec, &mut random);
        for _ in 0..ALIKE {
            // After a silence the same flows return, as new ones.
            let returns = is_after_silence || random.between(0, 7) == 0;
            if flows.is_empty() || !returns {
                flows = (0..kind.flows).map(|_| random.next_u64()).collect();
            }
            let queue = random.between(0, spec.queues() as u32 - 1) as usize;
            let queue = if random.between(0, 3) == 0 { queue } else { kind.queue };
            let ends_ns = kind.burst(begins_ns, queue, &flows, &mut arrivals, &mut random);
            let drains = u64::from(random.between(0, 3));
            let port_ns = drain_time_ns(spec).saturating_mul(spec.ports() as u64);
            begins_ns = ends_ns.saturating_add(drains.saturating_mul(port_ns) / 2);
            is_after_silence = random.between(0, 12) == 0;
            if is_after_silence {
                begins_ns = begins_ns.saturating_add(u64::from(parameters.silence_ns) + 1);
            }
        }
    }
    arrivals.sort_by_key(|arrival| arrival.time_ns);
    arrivals.truncate(ARRIVALS);
    arrivals
}

/// What bursts have in common.
struct Kind {
    queue: usize,
    flows: u32,
    /// Of each flow.
    packets: u32,
    size_bytes: u32,
    /// From one packet of the burst to the next.
    gap_ns: u64,
    /// Of four flows, so many go on after a pause.
    go_on: u32,
    /// So many packets of them come then.
    later: u32,
    /// From the first beginning of a flow to the last.
    spread_ns: u64,
}

impl Kind {
    fn random(spec: &SwitchSpec, random: &mut SplitMix) -> Self {
        let buffer_bytes = spec.buffer_bytes;
        let queue = random.between(0, spec.queues() as u32 - 1) as usize;
        // The next one that draws on the buffer.
        let mut queues = (queue..spec.queues()).chain(0..queue);
        let shares = |&queue: &usize| spec.shared[queue % usize::from(spec.queues_per_port)];
        let queue = queues.find(shares).unwrap_or(queue);
        let size_bytes = (buffer_bytes / 64).clamp(600, 9_000).min(buffer_bytes);
        let packets = random.between(5, 30);
        let all_bytes = u64::from(random.between(buffer_bytes / 4, buffer_bytes)) * 2;
        let of_a_flow = u64::from(packets * size_bytes);
        let flows = (all_bytes / of_a_flow).clamp(4, 64) as u32;
        let rate_bps = u128::from(spec.line_rate_bps[queue / usize::from(spec.queues_per_port)]);
        let speed = 2_u128 << random.between(0, 4);
        let gap_ns = u128::from(size_bytes) * 8_000_000_000 / (speed * rate_bps).max(1);
        let gap_ns = u64::try_from(gap_ns).unwrap_or(u64::MAX).clamp(1, 1 << 32);
        let go_on = if random.between(0, 1) == 0 { random.between(1, 4) } else { 0 };
        let later = random.between(12, 32);
        // A window is four times the time in which the ports send a full buffer.
        let spread_ns = drain_time_ns(spec).saturating_mul(random.between(0, 2).into());
        Kind { queue, flows, packets, size_bytes, gap_ns, go_on, later, spread_ns }
    }

    /// Adds a burst, and returns when it ends.
    fn burst(
        &self,
        begins_ns: u64,
        queue: usize,
        flows: &[u64],
        arrivals: &mut Vec<PacketArrival>,
        random: &mut SplitMix,
    ) -> u64 {
        let round_ns = self.gap_ns.saturating_mul(flows.len() as u64);
        let apart_ns = self.gap_ns.saturating_add(self.spread_ns / flows.len().max(1) as u64);
        let mut ends_ns = begins_ns;
        for (number, &flow_hash) in flows.iter().enumerate() {
            let goes_on = random.between(0, 3) < self.go_on;
            let later = if goes_on { self.later } else { 0 };
            let starts_ns = begins_ns.saturating_add(apart_ns.saturating_mul(number as u64));
            let is_long = random.between(0, 11) == 0;
            let packets = if is_long { 2 * self.packets } else { self.packets };
            for packet in 0..packets + later {
                let pause = if packet < packets { 0 } else { 20 };
                let rounds = round_ns.saturating_mul(u64::from(packet + pause));
                let jitter_ns = random.next_u64() % round_ns.max(1);
                let time_ns = starts_ns.saturating_add(rounds).saturating_add(jitter_ns);
                ends_ns = ends_ns.max(time_ns);
                let (size_bytes, flow_hash) = match random.between(0, 63) {
                    0 => (random.between(64, 511).min(self.size_bytes), flow_hash),
                    1 => (self.size_bytes, 0),
                    2 => (self.size_bytes, random.next_u64()),
                    _ => (self.size_bytes, flow_hash),
                };
                arrivals.push(PacketArrival { time_ns, queue, size_bytes, flow_hash });
            }
        }
        ends_ns
    }
}
