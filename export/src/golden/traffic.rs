//! Packets that bring a switch under Credence to every boundary of its decision.

use super::cases::Case;
use super::packets::{GoldenEvent, GoldenPackets};
use dropcast_data::SwitchSpec;
use dropcast_data::random::SplitMix64;
use dropcast_features::BufferView;
use dropcast_forest::Forest;
use dropcast_runtime::{PacketVerdict, Situation};
use dropcast_switch::policies::oracle::drain_time_ns;
use dropcast_switch::{
    Buffer, CredencePolicy, LineRate, Live, Observer, Packet, Removal, Switch, situation,
};
use std::collections::BTreeSet;

/// At least so many packets arrive, and as many as 16 buffers hold.
const LEAST_ARRIVALS: u64 = 20_000;

/// Where a case has not happened by then, up to so many times as many arrive.
const PATIENCE: u64 = 4;

type Deciding = Switch<CredencePolicy<LineRate, Live<Forest>>, LineRate>;

/// A switch, the packets that it has heard of, and what has not happened yet.
pub(super) struct Traffic<'a> {
    spec: &'a SwitchSpec,
    switch: Deciding,
    log: Log,
    missing: BTreeSet<Case>,
    random: SplitMix64,
    burst: Burst,
    now_ns: u64,
    largest_bytes: u32,
    /// Of packets that aim at a boundary.
    largest_aim_bytes: u32,
    /// The queue of the packet that arrives next, at once.
    again: Option<usize>,
}

/// Packets towards a few queues, faster than these can send.
#[derive(Default)]
struct Burst {
    left_bytes: u64,
    /// The first queue and that of the burst before.
    first: u32,
    before: u32,
    /// So many queues, each so far from the one before: at one port, or of one class.
    queues: u32,
    stride: u32,
    /// Arrives at so many times a port's rate.
    speed: u128,
}

impl<'a> Traffic<'a> {
    pub(super) fn new(spec: &'a SwitchSpec, switch: Deciding, cases: BTreeSet<Case>) -> Self {
        let buffer_bytes = spec.buffer_bytes;
        // Large buffers are filled by large packets, so that they overflow often enough.
        let largest_bytes = (buffer_bytes / 64).clamp(1_500, 9_000).min(buffer_bytes);
        Traffic {
            log: Log {
                events: Vec::new(),
                due_ns: vec![0; spec.ports()],
                left_ns: 0,
                spec: spec.clone(),
            },
            missing: cases,
            random: SplitMix64::new(1),
            burst: Burst::default(),
            // The lower half of the time soon wraps.
            now_ns: (1 << 32) - u64::from(drain_ns(spec)),
            largest_bytes,
            largest_aim_bytes: largest_bytes,
            again: None,
            spec,
            switch,
        }
    }

    /// All packets; how many did not suffice, and what never happened, if something does not.
    pub(super) fn run(mut self) -> Result<GoldenPackets, (u64, BTreeSet<Case>)> {
        let filling = u64::from(self.spec.buffer_bytes / self.largest_bytes);
        let arrivals = LEAST_ARRIVALS + 16 * filling;
        for id in 0..PATIENCE * arrivals {
            if id >= arrivals && self.missing.is_empty() {
                break;
            }
            if id == arrivals {
                // What packets of usual sizes do not reach.
                self.largest_aim_bytes = self.spec.buffer_bytes;
            }
            self.arrive(id);
        }
        match self.missing.is_empty() {
            true => Ok(GoldenPackets { events: self.log.events }),
            false => Err((PATIENCE * arrivals, self.missing)),
        }
    }

    fn arrive(&mut self, id: u64) {
        let smallest_bytes = self.largest_bytes.min(64);
        let again = self.again.take();
        let (queue, size_bytes) = match again {
            Some(queue) => (queue, self.random.between(smallest_bytes, 2 * smallest_bytes)),
            None => {
                let crowd = if id.is_multiple_of(2) { 3 } else { 15 };
                let queue = self.queue(crowd) as usize;
                let size_bytes = self.random.between(smallest_bytes, self.largest_bytes);
                self.pass_time(queue, size_bytes);
                (queue, size_bytes)
            }
        };
        self.switch.advance(self.now_ns, &mut self.log);
        let aimed = if again.is_none() { self.aimed(queue) } else { None };
        let packet = Packet::new(id, queue, aimed.unwrap_or(size_bytes));
        let verdict = self.decide(&packet);
        self.log.hear(self.now_ns, queue, packet.size_bytes, Some(verdict));
    }

    /// The next packet's queue, of the burst three times in four or more.
    fn queue(&mut self, others: u32) -> u32 {
        let queues = u32::try_from(self.spec.queues()).unwrap_or(u32::MAX);
        let (random, burst, buffer_bytes) =
            (&mut self.random, &mut self.burst, self.spec.buffer_bytes);
        if burst.left_bytes == 0 {
            burst.left_bytes = 2 * u64::from(random.between(buffer_bytes / 8, buffer_bytes));
            burst.before = burst.first;
            burst.first = random.between(0, queues - 1);
            burst.queues = match random.between(0, 7) {
                7 => queues,
                more => 1 + more,
            };
            burst.stride = [1, self.spec.queues_per_port.into()][random.between(0, 1) as usize];
            burst.speed = 1 << random.between(0, 6);
            if random.between(0, 1) == 0 {
                // Up to eight queues overflow: predictions come true, and are followed.
                burst.speed = 64;
                burst.left_bytes = 2 * u64::from(buffer_bytes);
            }
            // A port alone takes longer to send a full buffer than all together.
            self.now_ns +=
                u64::from(random.between(0, drain_ns(self.spec))) << random.between(0, 4);
        }
        match random.between(0, others) {
            0 => random.between(0, queues - 1),
            1 => burst.before,
            _ => (burst.first + burst.stride * random.between(0, burst.queues - 1)) % queues,
        }
    }

    /// A gap by the speed of the burst, or until the queue's port is due, and now and then a nanosecond less or more.
    fn pass_time(&mut self, queue: usize, size_bytes: u32) {
        self.burst.left_bytes = self.burst.left_bytes.saturating_sub(size_bytes.into());
        let port = queue / usize::from(self.spec.queues_per_port);
        let sent_bits_ns = u128::from(size_bytes) * 8_000_000_000;
        let gap_ns =
            sent_bits_ns / (self.burst.speed * u128::from(self.spec.line_rate_bps[port])).max(1);
        let due_ns = self.log.due_ns[port] + u64::from(self.random.between(0, 2));
        self.now_ns = if self.random.between(0, 7) == 0 && due_ns > self.now_ns {
            due_ns - 1
        } else {
            self.now_ns.saturating_add(u64::try_from(gap_ns).unwrap_or(u64::MAX))
        };
    }

    /// A size that reaches a boundary or misses it by a byte: one that is missing, if some packet can, or now and then any.
    fn aimed(&mut self, queue: usize) -> Option<u32> {
        let (real, lqd) = (self.switch.buffer(), self.switch.policy().virtual_buffer());
        let room_bytes =
            i64::from(self.largest_bytes - real.shared_part(queue, self.largest_bytes));
        let [most, own, threshold] =
            [self.spec.buffer_bytes, real.shared_lengths()[queue], lqd.shared_lengths()[queue]]
                .map(i64::from);
        let short = i64::from(self.spec.buffer_bytes.div_ceil(real.ports() as u32));
        let are_short = i64::from(real.longest_queue_bytes()) < short;
        let aims = [
            (
                most - i64::from(real.occupancy_bytes()),
                [Case::FillsBuffer, Case::ByteTooManyForBuffer],
            ),
            (
                most - i64::from(lqd.occupancy_bytes()),
                [Case::FillsVirtualBuffer, Case::ByteTooManyForVirtualBuffer],
            ),
            // Virtual LQD's queue becomes as long as the switch's: what arrives next is at the threshold.
            (
                own - threshold - i64::from(self.spec.slack_bytes),
                [Case::ReachesThreshold, Case::ByteAboveThreshold],
            ),
            (i64::from(longest(lqd).0) - threshold, [Case::LongestQueuesTie; 2]),
            (
                if are_short { short - own } else { 0 },
                [Case::ByteBelowSafeguard, Case::ReachesSafeguard],
            ),
            // Reserved bytes alone.
            (0, [Case::Verdict(PacketVerdict::Accepted); 2]),
        ];
        let missed_by = i64::from(self.random.between(0, 2)) - 1;
        let bytes = |aim: i64| u32::try_from(aim + room_bytes + missed_by).unwrap_or(0);
        let mut reached: Vec<_> = aims
            .into_iter()
            .filter(|&(aim, _)| aim > 0 || aim == 0 && room_bytes > 0)
            .filter(|&(aim, _)| (1..=self.largest_aim_bytes).contains(&bytes(aim)))
            .collect();
        let is_missing = |cases: &[Case; 2]| cases.iter().any(|case| self.missing.contains(case));
        let is_wanted = reached.iter().any(|(_, cases)| is_missing(cases));
        // Whether it is or not, most traffic is not aimed.
        if self.random.between(0, 2) > u32::from(is_wanted) {
            return None;
        }
        reached.retain(|(_, cases)| !is_wanted || is_missing(cases));
        let last = u32::try_from(reached.len()).ok()?.checked_sub(1)?;
        let (aim, cases) = reached[self.random.between(0, last) as usize];
        self.again = cases.contains(&Case::ReachesThreshold).then_some(queue);
        Some(bytes(aim))
    }

    fn decide(&mut self, packet: &Packet) -> PacketVerdict {
        let buffer_bytes = self.spec.buffer_bytes;
        let (real, lqd) = (self.switch.buffer(), self.switch.policy().virtual_buffer());
        let occupancy_bytes = real.occupancy_bytes();
        let size_bytes = real.shared_part(packet.queue, packet.size_bytes);
        let before = situation(real, 0, &Packet { size_bytes, ..*packet });
        let virtual_part_bytes = lqd.shared_part(packet.queue, packet.size_bytes);
        let virtual_bytes = u64::from(lqd.occupancy_bytes()) + u64::from(virtual_part_bytes);
        let (_, is_tie) = longest(lqd);

        let accepted = self.switch.admit(packet, self.now_ns, &mut self.log);
        let threshold_bytes = self.switch.policy().thresholds()[packet.queue];
        let after = Situation { threshold_bytes, slack_bytes: self.spec.slack_bytes, ..before };
        let verdict =
            if size_bytes == 0 { PacketVerdict::Accepted } else { after.decide(|| !accepted) };

        if self.missing.is_empty() {
            return verdict;
        }
        let mut cases = Vec::new();
        if size_bytes > 0 {
            cases = Case::of(&after, occupancy_bytes, verdict);
        }
        if virtual_part_bytes > 0 {
            cases.extend(Case::of_virtual(virtual_bytes, buffer_bytes));
            cases.extend(
                (is_tie && virtual_bytes > buffer_bytes.into()).then_some(Case::LongestQueuesTie),
            );
        }
        cases.extend((self.log.left_ns == self.now_ns).then_some(Case::LeavesAsAnotherArrives));
        cases.iter().for_each(|case| {
            self.missing.remove(case);
        });
        verdict
    }
}

/// The length of the longest pushable queue, and whether another is as long.
fn longest(buffer: &Buffer) -> (u32, bool) {
    let lengths = buffer.shared_lengths().iter().enumerate();
    let pushable = lengths.filter(|&(queue, _)| buffer.is_pushable(queue));
    pushable.map(|(_, &bytes)| bytes).fold((0, false), |(most, is_tie), bytes| match bytes {
        more if more > most => (more, false),
        same if same == most && most > 0 => (most, true),
        _ => (most, is_tie),
    })
}

fn drain_ns(spec: &SwitchSpec) -> u32 {
    u32::try_from(drain_time_ns(spec)).unwrap_or(u32::MAX)
}

/// Hears of every packet.
struct Log {
    spec: SwitchSpec,
    events: Vec<GoldenEvent>,
    /// When each port has sent what it began last.
    due_ns: Vec<u64>,
    /// When a packet left last.
    left_ns: u64,
}

impl Log {
    fn hear(
        &mut self,
        time_ns: u64,
        queue: usize,
        size_bytes: u32,
        verdict: Option<PacketVerdict>,
    ) {
        let queues_per_port = usize::from(self.spec.queues_per_port);
        let (port, queue) = (queue / queues_per_port, queue % queues_per_port);
        self.events.push(GoldenEvent { time_ns, port, queue, size_bytes, verdict });
    }
}

impl Observer for Log {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let (time_ns, size_bytes) = (removal.time, removal.packet.size_bytes);
        let port = removal.queue / usize::from(self.spec.queues_per_port);
        self.due_ns[port] = time_ns.saturating_add(self.spec.wire_time_ns(port, size_bytes));
        self.left_ns = time_ns;
        self.hear(time_ns, removal.queue, size_bytes, None);
    }
}
