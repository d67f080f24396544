//! The fabric's packet events suffice for a tracer: beside switches that run LQD, virtual LQD drops
//! the same packets and sends the others at the same times, from arrivals alone.
#![allow(clippy::unwrap_used)]

use dropcast_data::{Event, EventKind, Outcome, Scheduler};
use dropcast_fabric::{
    DroppedPacket, Fabric, FabricConfig, FabricObserver, Incast, PoissonFlows, Simulation,
    TrafficConfig, Transport,
};
use dropcast_switch::{
    Buffer, Fit, LineRate, Lqd, Observer, Packet, PolicySpec, Removal, Switch, Victim,
};

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    drops: Vec<DroppedPacket>,
}

impl FabricObserver for Log {
    const WANTS_EVENTS: bool = true;

    fn packet_event(&mut self, event: &Event) {
        self.events.push(*event);
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.drops.push(*drop);
    }
}

/// Times and queues of the packets that left a switch.
#[derive(Default)]
struct Left {
    departed: Vec<(u64, usize, u32)>,
    pushed_out: Vec<(u64, usize, u32)>,
}

impl Observer for Left {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let row = (removal.time, removal.queue, removal.packet.size_bytes);
        match removal.outcome {
            Outcome::Departed => self.departed.push(row),
            _ => self.pushed_out.push(row),
        }
    }
}

fn check(change: impl FnOnce(&mut FabricConfig)) {
    let mut config = FabricConfig {
        spines: 2,
        servers: 8,
        leaf_buffer_bytes: 200_000,
        spine_buffer_bytes: 60_000,
        ..FabricConfig::artifact()
    };
    change(&mut config);
    let fabric = Fabric::try_from(config).unwrap();
    let flows =
        |queue, transport| PoissonFlows { load: 0.4, queue, transport, ..Default::default() };
    let last = fabric.config().queues_per_port - 1;
    let traffic = TrafficConfig {
        duration_ns: 8_000_000,
        flows: vec![flows(1, Transport::Dctcp), flows(last, Transport::Cubic)],
        incasts: vec![Incast { burst: 1.5, per_server_hz: 100.0, ..Incast::artifact() }],
        ..TrafficConfig::default()
    };
    let lqd: PolicySpec = "lqd".parse().unwrap();
    let mix = traffic.mix(&fabric).unwrap();
    let mut log = Log::default();
    let simulation = Simulation::new(&fabric, |_, site| lqd.build(site), mix).unwrap();
    simulation.run(&mut log).unwrap();
    assert!(log.drops.len() > 100, "{} drops", log.drops.len());
    for id in 0..fabric.switches() {
        let spec = fabric.switch_spec(id);
        let policy = Lqd::new(Victim::default());
        let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
        let mut left = Left::default();
        let of = |event: &&Event| event.switch_id == id;
        let row = |event: &Event| {
            (event.time_ns, spec.queue_index(event.port, event.queue), event.size_bytes)
        };
        let mut departed = Vec::new();
        for (number, event) in log.events.iter().filter(of).enumerate() {
            let (time_ns, queue, size_bytes) = row(event);
            if event.kind == EventKind::Departure {
                departed.push((time_ns, queue, size_bytes));
                continue;
            }
            switch.advance(time_ns, &mut left);
            switch.admit(&Packet::new(number as u64, queue, size_bytes), time_ns, &mut left);
        }
        switch.advance(u64::MAX, &mut left);
        let pushed_out: Vec<_> = log
            .drops
            .iter()
            .filter(|drop| drop.switch_id == id)
            .map(|drop| (drop.time_ns, spec.queue_index(drop.port, drop.queue), drop.size_bytes))
            .collect();
        assert_eq!(left.pushed_out, pushed_out, "switch {id}");
        // Ports that send at the same instant may be reported in either order.
        left.departed.sort_unstable();
        departed.sort_unstable();
        assert_eq!(left.departed, departed, "switch {id}");
    }
}

#[test]
fn with_round_robin_and_a_transmit_ring() {
    check(|_| {});
}

#[test]
fn with_strict_priority_and_three_queues() {
    check(|config| {
        config.queues_per_port = 3;
        config.scheduler = Scheduler::StrictPriority;
        config.transmit_ring_packets = 0;
    });
}

#[test]
fn with_weighted_queues_and_slower_uplinks() {
    check(|config| {
        config.queues_per_port = 3;
        config.scheduler = Scheduler::Dwrr;
        config.quantum_bytes = vec![500, 3_000, 1_500];
        config.uplink_rate_bps = 7_000_000_000;
        config.server_delay_ns = 1_234;
    });
}
