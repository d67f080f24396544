//! Switches, and packets that arrive at them.

use dropcast_data::{Event, EventKind, Scheduler, SwitchSpec};
use dropcast_runtime::Situation;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Arrivals at one rate, then at another.
pub(super) const PART: usize = 8000;

/// Mostly for one port: by turns 16 times as fast as it sends, and hardly faster.
pub(super) fn crowds_and_trickles() -> Vec<Event> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut time_ns = 0;
    let event = |number: usize| {
        time_ns += if (number / PART).is_multiple_of(2) { 50 } else { 700 };
        Event {
            time_ns,
            flow_hash: 0,
            size_bytes: random.random_range(900..=1100),
            switch_id: 0,
            port: if random.random_ratio(1, 20) { random.random_range(1..4) } else { 0 },
            queue: 0,
            kind: EventKind::Arrival,
            flags: 0,
        }
    };
    (0..6 * PART).map(event).collect()
}

/// A switch of this number, and arrivals at it.
pub(super) fn any_switch(seed: u64) -> (SwitchSpec, Vec<Event>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let ports: u16 = [1, 2, 5, 8][random.random_range(0..4)];
    let queues_per_port: u8 = 1 + (seed % 3) as u8;
    let scheduler = [Scheduler::RoundRobin, Scheduler::StrictPriority, Scheduler::Dwrr]
        [(seed / 3 % 3) as usize];
    let rates = [1_000_000_000, 10_000_000_000, 2_500_000_000, 999_999_937];
    let uniform = SwitchSpec::uniform(
        ports,
        10_000_000_000,
        40_000,
        [7, 900, 32_000][random.random_range(0..3)],
    );
    let spec = SwitchSpec {
        queues_per_port,
        scheduler,
        line_rate_bps: (0..ports)
            .map(|_| rates[if seed.is_multiple_of(2) { 1 } else { random.random_range(0..4) }])
            .collect(),
        wire_overhead_bytes: random.random_range(0..60),
        transmit_ring_packets: [0, 1, 3][random.random_range(0..3)],
        slack_bytes: [0, Situation::ONE_PACKET_BYTES, 5_000][(seed / 2 % 3) as usize],
        pushable: (0..queues_per_port).map(|queue| queue != 1 || seed < 9).collect(),
        shared: vec![true; usize::from(queues_per_port)],
        quantum_bytes: match scheduler {
            Scheduler::Dwrr => (0..queues_per_port).map(|_| random.random_range(1..3000)).collect(),
            _ => Vec::new(),
        },
        ..uniform
    };
    let mut time_ns = 0;
    let busiest = random.random_range(0..ports);
    let events = (0..6000).map(|_| {
        // Bursts, and pauses in which queues drain.
        time_ns += match random.random_range(0..300) {
            0 => random.random_range(0..60_000),
            1..200 => 0,
            _ => random.random_range(0..700),
        };
        let size_bytes = match random.random_range(0..400) {
            0 => 50_000,
            1..100 => random.random_range(1..100),
            _ => random.random_range(1..=1500),
        };
        let port = if random.random_ratio(1, 3) { busiest } else { random.random_range(0..ports) };
        Event {
            time_ns,
            flow_hash: 0,
            size_bytes,
            switch_id: 0,
            port,
            queue: random.random_range(0..queues_per_port),
            kind: EventKind::Arrival,
            flags: 0,
        }
    });
    let events = events.collect();
    (spec, events)
}
