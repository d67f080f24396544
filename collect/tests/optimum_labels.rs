//! Labels of the optimum, as theorems say that they are.

use dropcast_collect::{Tracer, label_by_optimum};
use dropcast_data::{
    CollectSettings, Event, EventBatch, EventKind, LabelledBatch, Outcome, SwitchSpec, SwitchSpecs,
};
use dropcast_switch::{Decision, Fit, LineRate, NoObserver, Packet, Policy, Switch};
use proptest::prelude::*;

/// A packet takes a microsecond on the wire.
const PACKET_BYTES: u32 = 1_000;

/// A drop-tail switch that refuses listed packets.
struct RefusesListed(Vec<bool>);

impl Policy for RefusesListed {
    fn decide(&mut self, buffer: &dropcast_switch::Buffer, packet: &Packet, _: u64) -> Decision {
        if self.0[packet.id as usize] {
            return Decision::Reject;
        }
        assert!(buffer.fits(packet.size_bytes), "packet {} finds no room", packet.id);
        Decision::Accept
    }
}

fn spec(ports: u16, packets: u32) -> SwitchSpec {
    SwitchSpec::uniform(ports, 8_000_000_000, packets * PACKET_BYTES, 1_000)
}

fn events(steps: &[(u64, u16)], ports: u16) -> Vec<Event> {
    let mut time_ns = 0;
    let event = |&(dt, port): &(u64, u16)| {
        time_ns += dt;
        Event {
            time_ns,
            flow_hash: 0,
            size_bytes: PACKET_BYTES,
            switch_id: 3,
            port: port % ports,
            queue: 0,
            kind: EventKind::Arrival,
            flags: 0,
        }
    };
    steps.iter().map(event).collect()
}

fn label(spec: &SwitchSpec, events: &[Event]) -> Vec<LabelledBatch> {
    let specs = SwitchSpecs::Same(spec.clone());
    let features = "queue_length".parse().expect("a feature");
    let mut tracer = Tracer::new(specs, CollectSettings::default(), features);
    let first = tracer.push(&EventBatch::new(events.to_vec())).expect("known queues");
    vec![first, tracer.finish()]
}

fn labels(batches: &[LabelledBatch]) -> Vec<bool> {
    batches.iter().flat_map(|batch| batch.drop.iter().copied()).collect()
}

proptest! {
    /// What the labels accept finds room in a drop-tail switch: nothing needs to be pushed out.
    #[test]
    fn a_drop_tail_switch_can_follow_the_labels(
        ports in 1_u16..5,
        packets in 1_u32..9,
        steps in prop::collection::vec((prop_oneof![Just(0), 0_u64..2_000], 0_u16..5), 1..120),
    ) {
        let spec = spec(ports, packets);
        let events = events(&steps, ports);
        let mut batches = label(&spec, &events);
        let before = batches.clone();
        let specs = SwitchSpecs::Same(spec.clone());
        label_by_optimum(&mut batches, &specs, &CollectSettings::default(), &[]);
        let by_opt = labels(&batches);
        prop_assert_eq!(by_opt.len(), events.len());
        for (after, before) in batches.iter().zip(&before) {
            prop_assert_eq!(&after.features, &before.features);
            for (&drop, &outcome) in after.drop.iter().zip(after.outcome.iter().flatten()) {
                prop_assert_eq!(outcome, if drop { Outcome::Rejected } else { Outcome::Departed });
            }
        }
        let mut switch = Switch::new(&spec, Fit::Exact, RefusesListed(by_opt.clone()), LineRate::new(&spec));
        let mut nothing = NoObserver;
        for (row, event) in events.iter().enumerate() {
            switch.advance(event.time_ns, &mut nothing);
            let packet = Packet::new(row as u64, usize::from(event.port), PACKET_BYTES);
            let accepted = switch.admit(&packet, event.time_ns, &mut nothing);
            prop_assert_eq!(accepted, !by_opt[row]);
        }
    }
}

#[test]
fn the_optimum_refuses_where_the_queue_stays_busy_longest() {
    let spec = spec(2, 3);
    // Each port has a packet on the wire. One of port 0 waits, and two of port 1: the buffer is full.
    let full = [(0, 0), (0, 1), (0, 0), (0, 1), (0, 1)];
    // The next one is for port 0, which stays busy for long.
    let steps = [&full[..], &[(0, 0)], &[(1_000, 0); 6]].concat();
    let events = events(&steps, 2);
    let mut batches = label(&spec, &events);
    let drops = |batches: &[LabelledBatch]| -> Vec<usize> {
        let labels = labels(batches);
        (0..labels.len()).filter(|&row| labels[row]).collect()
    };
    assert_eq!(drops(&batches), [4], "LQD takes from the longer queue");
    label_by_optimum(&mut batches, &SwitchSpecs::Same(spec), &CollectSettings::default(), &[]);
    assert_eq!(drops(&batches), [5]);
}
