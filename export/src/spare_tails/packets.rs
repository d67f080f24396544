//! Packets on which the code must decide as the fabric's policy does.

use crate::policy_code::PacketArrival;
use dropcast_data::SwitchSpec;
use dropcast_data::random::SplitMix64;
use dropcast_switch::policies::oracle::drain_time_ns;

/// So many packets arrive: every line of the code decides about some.
const ARRIVALS: usize = 40_000;
/// Bursts of one kind, one after the other, so that something is learned of them.
const ALIKE: usize = 10;
/// Large bursts alike.
const LARGE_ALIKE: usize = 3;

/// Bursts of a half to two buffers towards a queue, of flows with 5 to 30 packets each, one in twelve of twice as many: ten bursts
/// alike after one another, so that their flows give packets. Of some bursts flows go on after a pause; some are of the flows of the
/// burst before; between them are short packets, packets of unknown flows, and packets of others. One kind in nine lasts for more than
/// eight windows, in one the flows go to all queues with so large packets that the buffer is full to the last, and in one flows
/// send most of their packets before the burst is on.
pub(crate) fn golden(silence_ns: u64, spec: &SwitchSpec) -> Vec<PacketArrival> {
    let mut random = SplitMix64::new(1);
    let mut arrivals = Vec::new();
    let (mut begins_ns, mut flows, mut is_after_silence) = (0, Vec::new(), false);
    for shape in SHAPES.into_iter().cycle() {
        if arrivals.len() >= ARRIVALS {
            break;
        }
        let kind = Kind::random(shape, spec, &mut random);
        let alike = if matches!(kind.shape, Shape::Usual) { ALIKE } else { LARGE_ALIKE };
        for _ in 0..alike {
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
                begins_ns = begins_ns.saturating_add(silence_ns).saturating_add(1);
            }
        }
    }
    arrivals.sort_by_key(|arrival| arrival.time_ns);
    arrivals.truncate(ARRIVALS);
    arrivals
}

/// How bursts differ from the usual ones.
#[derive(Clone, Copy)]
enum Shape {
    Usual,
    /// Flows begin over ten windows.
    Long,
    /// Each flow has another queue.
    Everywhere,
    /// Flows do not wait for each other.
    Steep,
}

/// Those of one kind after the other.
const SHAPES: [Shape; 9] = {
    use Shape::{Everywhere, Long, Steep, Usual};
    [Usual, Usual, Long, Usual, Usual, Everywhere, Usual, Usual, Steep]
};

/// What bursts have in common.
struct Kind {
    shape: Shape,
    /// Of the switch.
    queues: usize,
    queue: usize,
    flows: u32,
    /// Of each flow.
    packets: u32,
    size_bytes: u32,
    /// In times between packets of the flow.
    pause: u32,
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
    fn random(shape: Shape, spec: &SwitchSpec, random: &mut SplitMix64) -> Self {
        let buffer_bytes = spec.buffer_bytes;
        let queue = random.between(0, spec.queues() as u32 - 1) as usize;
        // The next one that draws on the buffer.
        let mut queues = (queue..spec.queues()).chain(0..queue);
        let shares = |&queue: &usize| spec.shared[queue % usize::from(spec.queues_per_port)];
        let queue = queues.find(shares).unwrap_or(queue);
        let part = if matches!(shape, Shape::Everywhere) { 16 } else { 64 };
        let size_bytes = (buffer_bytes / part).clamp(600, 9_000).min(buffer_bytes);
        let packets = random.between(5, 30);
        let all_bytes = u64::from(random.between(buffer_bytes / 4, buffer_bytes)) * 2;
        let of_a_flow = u64::from(packets * size_bytes);
        let flows = (all_bytes / of_a_flow).clamp(4, 64) as u32;
        let (packets, flows) = match shape {
            Shape::Long => (packets, 64),
            Shape::Everywhere => (8, 64),
            Shape::Steep => (packets + 60, 8),
            Shape::Usual => (packets, flows),
        };
        let rate_bps = u128::from(spec.line_rate_bps[queue / usize::from(spec.queues_per_port)]);
        let speed = 2_u128 << random.between(0, 4);
        let gap_ns = u128::from(size_bytes) * 8_000_000_000 / (speed * rate_bps).max(1);
        let gap_ns = u64::try_from(gap_ns).unwrap_or(u64::MAX).clamp(1, 1 << 32);
        let go_on = if random.between(0, 1) == 0 { random.between(2, 4) } else { 0 };
        let (later, pause) = (random.between(12, 40), random.between(4, 36));
        // A window is four times the time in which the ports send a full buffer.
        let drains = if matches!(shape, Shape::Long) { 40 } else { random.between(0, 2) };
        let spread_ns = drain_time_ns(spec).saturating_mul(drains.into());
        let queues = spec.queues();
        let gap_ns = match shape {
            Shape::Everywhere => (gap_ns / queues as u64).max(1),
            _ => gap_ns,
        };
        Kind {
            shape,
            queues,
            queue,
            flows,
            packets,
            size_bytes,
            pause,
            gap_ns,
            go_on,
            later,
            spread_ns,
        }
    }

    /// Adds a burst, and returns when it ends.
    fn burst(
        &self,
        begins_ns: u64,
        queue: usize,
        flows: &[u64],
        arrivals: &mut Vec<PacketArrival>,
        random: &mut SplitMix64,
    ) -> u64 {
        let (in_turn, apart) = match self.shape {
            // Four flows make a burst: by then the first has sent twice as many packets as are counted.
            Shape::Steep => (1, 20),
            _ => (flows.len() as u64, 1),
        };
        let round_ns = self.gap_ns.saturating_mul(in_turn);
        let apart_ns = self.gap_ns.saturating_mul(apart);
        let apart_ns = apart_ns.saturating_add(self.spread_ns / flows.len().max(1) as u64);
        let mut ends_ns = begins_ns;
        for (number, &flow_hash) in flows.iter().enumerate() {
            let queue = match self.shape {
                Shape::Everywhere => (queue + number) % self.queues,
                _ => queue,
            };
            let goes_on = random.between(0, 3) < self.go_on;
            let later = if goes_on { self.later } else { 0 };
            let starts_ns = begins_ns.saturating_add(apart_ns.saturating_mul(number as u64));
            let is_long = random.between(0, 11) == 0;
            let packets = if is_long { 2 * self.packets } else { self.packets };
            for packet in 0..packets + later {
                let pause = if packet < packets { 0 } else { self.pause };
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
