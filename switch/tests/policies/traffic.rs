//! Switches and arrivals to try policies on.

use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_switch::{Fit, LineRate, NoObserver, Packet, Policy, Switch};
use proptest::prelude::*;

/// A byte a nanosecond.
pub(crate) const LINE_RATE_BPS: u64 = 8_000_000_000;

/// Time and packet, in order of arrival.
pub(crate) type Arrivals = Vec<(u64, Packet)>;

/// A switch of a few ports and queues, and bursts towards few of them.
pub(crate) fn switch_and_arrivals() -> impl Strategy<Value = (SwitchSpec, Arrivals)> {
    let schedulers = prop_oneof![
        Just(Scheduler::RoundRobin),
        Just(Scheduler::StrictPriority),
        Just(Scheduler::Dwrr)
    ];
    let rates =
        prop::collection::vec(prop_oneof![Just(LINE_RATE_BPS), Just(LINE_RATE_BPS / 4)], 1..5);
    let arrivals =
        prop::collection::vec((0_usize..5, 64_u32..1500, 0_u64..600, 0_u64..12, 0_u8..4), 1..250);
    (rates, 1_u8..4, schedulers, 4_000_u32..30_000, 500_u64..4_000, arrivals).prop_map(
        |(rates, queues_per_port, scheduler, buffer_bytes, base_rtt_ns, arrivals)| {
            let mut spec = SwitchSpec::uniform(1, LINE_RATE_BPS, buffer_bytes, base_rtt_ns);
            spec.line_rate_bps = rates;
            spec.queues_per_port = queues_per_port;
            spec.scheduler = scheduler;
            spec.pushable = vec![true; usize::from(queues_per_port)];
            spec.shared = spec.pushable.clone();
            spec.wire_overhead_bytes = 20;
            if scheduler == Scheduler::Dwrr {
                spec.quantum_bytes = (1..=u32::from(queues_per_port)).map(|n| n * 700).collect();
            }
            let queues = spec.queues();
            let mut now = 0;
            let packet = |(id, (queue, size_bytes, gap, flow_hash, flags))| {
                // Pauses now and then, in which queues drain.
                now += if gap > 580 { gap * 20 } else { gap };
                let packet = Packet::new(id, queue % queues, size_bytes);
                (now, Packet { flow_hash, flags, ..packet })
            };
            let arrivals = (0..).zip(arrivals).map(packet).collect();
            (spec, arrivals)
        },
    )
}

/// Runs a policy on arrivals; the switch as it is then.
pub(crate) fn run<P: Policy>(
    spec: &SwitchSpec,
    arrivals: &Arrivals,
    policy: P,
) -> Switch<P, LineRate> {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    for (now, packet) in arrivals {
        switch.advance(*now, &mut NoObserver);
        switch.admit(packet, *now, &mut NoObserver);
    }
    switch
}

/// Which packets a policy accepts.
pub(crate) fn accepted(spec: &SwitchSpec, arrivals: &Arrivals, policy: impl Policy) -> Vec<bool> {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let admit = |(now, packet): &(u64, Packet)| switch.arrive(packet, *now);
    arrivals.iter().map(admit).collect()
}

/// Packets of 1,000 bytes that arrive for each of `queues` in turn, `overload` times as fast as a port
/// of [`LINE_RATE_BPS`] sends.
pub(crate) fn overload(queues: &[usize], overload: u64, packets_each: u64) -> Arrivals {
    let at = |number: u64| {
        let in_turn = queues.iter().zip(0..);
        in_turn.map(move |(&queue, place)| {
            let id = number * queues.len() as u64 + place;
            (number * 1_000 / overload, Packet::new(id, queue, 1_000))
        })
    };
    (0..packets_each).flat_map(at).collect()
}
