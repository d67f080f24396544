//! OPT by Belady's rule for buffers ([`OfflineOptimum`]), and the fluid bound ([`FluidOptimum`]).
//!
//! The rule is held to the search of [`optimum`], to a min-cost flow that shares nothing with it, and the bound to the
//! rule on packets of one byte each.

use crate::optimum::optimum;
use crate::sequence::{Sequence, count, sequences};
use dropcast_data::{Outcome, Scheduler, SwitchSpec};
use dropcast_switch::{
    Buffer, CompleteSharing, DynamicThresholds, Fit, FluidOptimum, FollowLqd, LineRate, Lqd,
    Observer, OfflineOptimum, Packet, Policy, Removal, Switch, Victim,
};
use proptest::prelude::*;

fn by_the_rule(sequence: &Sequence) -> usize {
    let arrivals = sequence.packets().map(|(slot, packet)| (slot, packet.queue));
    count(&sequence.replay(|_| true, OfflineOptimum::slotted(sequence.ports, arrivals)))
}

/// Sequences with silences and with more arrivals in a slot than ports.
fn any_sequences(
    ports: std::ops::RangeInclusive<usize>,
    buffer: std::ops::RangeInclusive<u32>,
    slots: usize,
) -> impl Strategy<Value = Sequence> {
    (ports, buffer).prop_flat_map(move |(ports, buffer)| {
        let port = prop_oneof![1 => Just(0), 2 => 0..ports];
        let slot = prop_oneof![
            2 => Just(Vec::new()),
            4 => prop::collection::vec(port, 0..=ports),
            1 => (0..ports, 0..=2 * buffer as usize).prop_map(|(port, n)| vec![port; n]),
        ];
        prop::collection::vec(slot, 1..=slots).prop_map(move |slots| Sequence {
            ports,
            buffer,
            slots,
        })
    })
}

/// The most packets that can be accepted, as a flow: each of the `B` cells of the buffer is a unit that goes through
/// time, either free, or through a queue from the arrival of a packet to the slot in which it is sent.
///
/// At any time the units in the queues and the free ones are `B`. A queue keeps its units in a chain of slots, of which
/// one a slot may leave. An arrival is an arc of capacity 1 and cost -1. Costs are whole, so the best flow is.
struct Flow {
    /// From, to, capacity left and cost; the reverse of arc `a` is `a ^ 1`.
    arcs: Vec<(usize, usize, u32, i32)>,
    nodes: usize,
}

impl Flow {
    fn of(sequence: &Sequence) -> Flow {
        let mut flow = Flow { arcs: Vec::new(), nodes: 1 };
        let slots = sequence.slots.len() + sequence.len();
        let mut free = 0;
        let mut held: Vec<Option<usize>> = vec![None; sequence.ports];
        for slot in 0..slots {
            let chain: Vec<usize> = (0..sequence.ports).map(|_| flow.node()).collect();
            for (port, before) in held.iter_mut().enumerate() {
                if let Some(before) = before {
                    flow.arc(*before, chain[port], sequence.buffer, 0);
                }
                *before = Some(chain[port]);
            }
            for &port in sequence.slots.get(slot).map_or(&[][..], Vec::as_slice) {
                // Every arrival has a cut of its own: the buffer is full or not when it comes.
                let next = flow.node();
                flow.arc(free, next, sequence.buffer, 0);
                flow.arc(free, chain[port], 1, -1);
                free = next;
            }
            let next = flow.node();
            flow.arc(free, next, sequence.buffer, 0);
            for node in chain {
                flow.arc(node, next, 1, 0);
            }
            free = next;
        }
        flow
    }

    fn node(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }

    fn arc(&mut self, from: usize, to: usize, capacity: u32, cost: i32) {
        self.arcs.push((from, to, capacity, cost));
        self.arcs.push((to, from, 0, -cost));
    }

    /// The cost of the cheapest flow of `units` from the first node to the last, by cheapest paths.
    fn cost(mut self, units: u32) -> i32 {
        let mut total = 0;
        for _ in 0..units {
            // Bellman and Ford.
            let mut cheapest = vec![(i32::MAX, usize::MAX); self.nodes];
            cheapest[0].0 = 0;
            loop {
                let mut changed = false;
                for (number, &(from, to, capacity, cost)) in self.arcs.iter().enumerate() {
                    let reached = cheapest[from].0;
                    if capacity > 0 && reached < i32::MAX && reached + cost < cheapest[to].0 {
                        cheapest[to] = (reached + cost, number);
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
            let mut node = self.nodes - 1;
            total += cheapest[node].0;
            while node != 0 {
                let arc = cheapest[node].1;
                self.arcs[arc].2 -= 1;
                self.arcs[arc ^ 1].2 += 1;
                node = self.arcs[arc].0;
            }
        }
        total
    }
}

fn by_flow(sequence: &Sequence) -> usize {
    usize::try_from(-Flow::of(sequence).cost(sequence.buffer)).expect("packets are not lost twice")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_rule_is_as_good_as_a_search(sequence in any_sequences(1..=4, 1..=8, 9)) {
        prop_assert_eq!(by_the_rule(&sequence), optimum(&sequence));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_rule_is_as_good_as_a_flow(sequence in any_sequences(2..=8, 4..=16, 25)) {
        prop_assert_eq!(by_the_rule(&sequence), by_flow(&sequence));
    }
}

#[test]
fn a_longest_queue_that_is_idle_soon_is_the_wrong_victim() {
    // Queue 0 is longest, and nothing more comes for it. Queue 1 is to be busy for long: its packet would keep a place.
    let slots = vec![vec![0, 0, 0, 1, 1], vec![1], vec![1], vec![1], vec![1, 0, 0, 0]];
    let sequence = Sequence { ports: 2, buffer: 4, slots };
    let lqd = count(&sequence.replay(|_| true, Lqd::new(Victim::Tail)));
    assert_eq!((sequence.len(), by_the_rule(&sequence), optimum(&sequence), lqd), (12, 11, 11, 10));
}

/// Ports that send a byte in a nanosecond, and arrivals: times, queues and sizes.
fn bytes() -> impl Strategy<Value = (SwitchSpec, Vec<(u64, usize, u32)>)> {
    let spec = (1u16..=3, 1u8..=2, 8u32..=30, 0u32..=2, 0u16..=1).prop_map(
        |(ports, queues_per_port, buffer_bytes, wire_overhead_bytes, ring)| SwitchSpec {
            queues_per_port,
            scheduler: Scheduler::StrictPriority,
            wire_overhead_bytes,
            transmit_ring_packets: ring,
            ..SwitchSpec::uniform(ports, 8_000_000_000, buffer_bytes, 10)
        },
    );
    spec.prop_flat_map(|spec| {
        let arrival = (0u64..6, 0..spec.queues(), 1u32..=8);
        let arrivals = prop::collection::vec(arrival, 1..60).prop_map(|arrivals| {
            let mut now = 0;
            let later = arrivals.into_iter().map(|(after, queue, size)| {
                now += after;
                (now, queue, size)
            });
            later.collect()
        });
        (Just(spec), arrivals)
    })
}

fn most_bytes(spec: &SwitchSpec, arrivals: &[(u64, usize, u32)]) -> u64 {
    let mut fluid = FluidOptimum::new(spec, arrivals.iter().copied());
    for &(time_ns, queue, size_bytes) in arrivals {
        fluid.arrive(time_ns, queue, size_bytes);
    }
    fluid.most_bytes()
}

#[derive(Default)]
struct SentBytes(u64);

impl Observer for SentBytes {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::Departed {
            self.0 += u64::from(removal.packet.size_bytes);
        }
    }
}

fn sent_bytes(spec: &SwitchSpec, arrivals: &[(u64, usize, u32)], policy: impl Policy) -> u64 {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let mut sent = SentBytes::default();
    for (id, &(time_ns, queue, size_bytes)) in (0..).zip(arrivals) {
        switch.advance(time_ns, &mut sent);
        switch.admit(&Packet::new(id, queue, size_bytes), time_ns, &mut sent);
    }
    switch.advance(u64::MAX, &mut sent);
    sent.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A fluid packet is as many unit packets as it has bytes; its buffer is larger by a packet on each wire.
    #[test]
    fn the_fluid_bound_is_the_rule_on_single_bytes(sequence in any_sequences(1..=3, 4..=12, 9)) {
        let spec = SwitchSpec::uniform(sequence.ports as u16, 8_000_000_000, sequence.buffer, 10);
        let mut largest = vec![0; sequence.ports];
        let mut arrivals = Vec::new();
        for (time_ns, slot) in (0..).zip(&sequence.slots) {
            for (port, largest) in largest.iter_mut().enumerate() {
                let size = slot.iter().filter(|&&of| of == port).count() as u32;
                *largest = size.max(*largest);
                arrivals.extend((size > 0).then_some((time_ns, port, size)));
            }
        }
        let buffer = sequence.buffer + largest.iter().sum::<u32>();
        let larger = Sequence { buffer, ..sequence };
        prop_assert_eq!(most_bytes(&spec, &arrivals), by_the_rule(&larger) as u64);
    }

    #[test]
    fn no_policy_transmits_more_than_the_fluid_bound((spec, arrivals) in bytes()) {
        let most = most_bytes(&spec, &arrivals);
        let sent = |policy: Box<dyn Policy>| sent_bytes(&spec, &arrivals, policy);
        let follow = FollowLqd::new(&spec, Victim::Tail, Fit::Exact, LineRate::new(&spec));
        let optimum = OfflineOptimum::line_rate(&spec, arrivals.iter().copied());
        for (policy, sent) in [
            ("LQD", sent(Box::new(Lqd::new(Victim::Tail)))),
            ("Complete Sharing", sent(Box::new(CompleteSharing))),
            ("DT", sent(Box::new(DynamicThresholds::new(1.0)))),
            ("FollowLQD", sent(Box::new(follow))),
            ("OPT", sent(Box::new(optimum))),
        ] {
            prop_assert!(sent <= most, "{policy}: {sent} of {most}");
        }
    }
}

proptest! {
    /// What the rule drops, a drop-tail switch can refuse on arrival: it holds no more, and sends the same.
    #[test]
    fn the_rule_needs_no_push_out(sequence in sequences(12)) {
        let arrivals = sequence.packets().map(|(slot, packet)| (slot, packet.queue));
        let optimum = OfflineOptimum::slotted(sequence.ports, arrivals);
        let sent = sequence.replay(|_| true, optimum);
        let refused = sequence.replay(|id| sent[id as usize], CompleteSharing);
        prop_assert_eq!(sent, refused);
    }
}
