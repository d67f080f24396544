//! Properties of a fabric's arrivals.

use super::*;
use crate::flow_sizes::{FlowSizeChoice, FlowSizeName};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn events(workload: &FabricWorkload) -> Vec<Event> {
    workload.arrivals().expect("valid").flat_map(|batch| batch.events).collect()
}

fn short() -> FabricWorkload {
    FabricWorkload { duration_ns: 3_000_000, ..FabricWorkload::default() }
}

#[test]
fn a_seed_is_a_trace() {
    let first = events(&short());
    assert!(first.len() > 10_000, "{}", first.len());
    assert_eq!(first, events(&short()));
    assert_ne!(first, events(&FabricWorkload { seed: 2, ..short() }));
    let longer = events(&FabricWorkload { duration_ns: 3_999_999, ..short() });
    assert_eq!(longer[..first.len()], first, "a longer trace begins like a shorter one");
}

#[test]
fn batches_are_large() {
    let sizes: Vec<usize> =
        short().arrivals().expect("valid").map(|batch| batch.events.len()).collect();
    let (last, others) = sizes.split_last().expect("events");
    assert!(*last > 0 && others.iter().all(|&size| size >= BATCH_EVENTS));
}

#[test]
fn both_roles_drop_under_the_defaults() {
    let workload = FabricWorkload::default();
    let specs = workload.switch_specs().expect("valid");
    let mut dropped = [0_u64; 2];
    let mut switches: Vec<_> =
        (0..8).map(|id| replayed(specs.get(id).expect("described"))).collect();
    for (number, event) in (0..).zip(events(&workload)) {
        let spec = specs.get(event.switch_id).expect("described");
        let lost = arrive(&mut switches[usize::from(event.switch_id)], spec, number, &event).1;
        dropped[usize::from(event.switch_id >= 4)] += lost;
    }
    assert!(dropped.iter().all(|&drops| drops > 100), "{dropped:?}");
}

/// The same switch, fed with nothing but the events of a trace.
fn replayed(spec: &SwitchSpec) -> Switch<Lqd, LineRate> {
    Switch::new(spec, Fit::Exact, Lqd::default(), LineRate::new(spec))
}

/// An arrival at a switch; returns the departures and the number of drops.
fn arrive(
    switch: &mut Switch<Lqd, LineRate>,
    spec: &SwitchSpec,
    id: u64,
    event: &Event,
) -> (Vec<Removal>, u64) {
    let mut left = Left::default();
    let queue = spec.queue_index(event.port, event.queue);
    let packet = dropcast_switch::Packet::new(id, queue, event.size_bytes);
    switch.advance(event.time_ns, &mut left);
    let accepted = switch.admit(&packet, event.time_ns, &mut left);
    let pushed_out = left.0.iter().filter(|removal| removal.outcome == Outcome::PushedOut).count();
    (left.0, pushed_out as u64 + u64::from(!accepted))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A trace is consistent: replaying each switch's arrivals alone yields exactly the arrivals at
    /// the next switches; and servers send no faster than their links.
    #[test]
    fn what_leaves_a_switch_arrives_at_the_next(
        (leaves, spines, servers) in (2u16..5, 1u16..4, 1u16..6),
        gbps in 1u64..40,
        load in 0.0..0.5,
        buffer_bytes in 3_000u32..200_000,
        (packets_per_ack, queues_per_port) in (0u16..3, 1u8..3),
        fan_in in 1u16..20,
        seed in 0u64..1000,
    ) {
        let workload = FabricWorkload {
            leaves,
            spines,
            servers,
            line_rate_bps: gbps * 1_000_000_000,
            load: load * f64::from(servers.min(spines)) / f64::from(spines),
            leaf_buffer_bytes: buffer_bytes,
            spine_buffer_bytes: buffer_bytes / 2,
            packets_per_ack,
            queues_per_port,
            flow_sizes: FlowSizeChoice::Named(FlowSizeName::Hadoop),
            incast_fan_in: fan_in,
            incast_burst: 1.5,
            incast_per_server_hz: 300.0,
            duration_ns: 2_000_000,
            seed,
            ..FabricWorkload::default()
        };
        let specs = workload.switch_specs().expect("valid");
        let Ok(arrivals) = workload.arrivals() else {
            // Too much for slow links.
            return Ok(());
        };
        let events: Vec<Event> = arrivals.flat_map(|batch| batch.events).collect();
        prop_assert!(events.is_sorted_by_key(|event| event.time_ns));
        prop_assert!(events.iter().all(|event| event.time_ns < workload.duration_ns));

        let mut expected = BTreeSet::new();
        for (id, spec) in (0..leaves + spines).filter_map(|id| Some((id, specs.get(id)?))) {
            let to_next = |port: u16| match port {
                port if id >= leaves => Some(port),
                port => port.checked_sub(servers).map(|spine| leaves + spine),
            };
            for (sent_ns, port, event) in sent(spec, &events, id, workload.duration_ns) {
                let arrives_ns = sent_ns + workload.base_rtt_ns / 8;
                let next = to_next(port).filter(|_| arrives_ns < workload.duration_ns);
                expected.extend(next.map(|next| (arrives_ns, next, event.flow_hash, event.size_bytes)));
            }
        }
        // All traffic is between leaves: a leaf's upward traffic comes from its servers.
        let is_from_switch = |event: &&Event| event.switch_id >= leaves || event.port < servers;
        let arrived: BTreeSet<_> = events
            .iter()
            .filter(is_from_switch)
            .map(|event| (event.time_ns, event.switch_id, event.flow_hash, event.size_bytes))
            .collect();
        prop_assert_eq!(arrived, expected);

        // Servers send no faster than their links: nothing takes less time than a header.
        for leaf in 0..leaves {
            let least_ns = specs.get(leaf).map_or(1, |spec| spec.wire_time_ns(0, workload.header_bytes));
            let of_leaf = events.iter().filter(|event| event.switch_id == leaf && event.port >= servers);
            let most = u64::from(servers) * (workload.duration_ns / least_ns + 1);
            prop_assert!(of_leaf.count() as u64 <= most);
        }
    }
}

/// The output of a switch that gets only its own events of a trace: time of the last bit on the
/// link, port, and the packet's arrival.
fn sent<'a>(
    spec: &SwitchSpec,
    events: &'a [Event],
    id: u16,
    until_ns: u64,
) -> Vec<(u64, u16, &'a Event)> {
    let mut switch = replayed(spec);
    let mut left = Left::default();
    for (number, event) in (0..).zip(events).filter(|(_, event)| event.switch_id == id) {
        left.0.extend(arrive(&mut switch, spec, number, event).0);
    }
    switch.advance(until_ns, &mut left);
    let departed = left.0.into_iter().filter(|removal| removal.outcome == Outcome::Departed);
    let link = |Removal { packet, queue, time, .. }: Removal| {
        let port = queue / usize::from(spec.queues_per_port);
        let sent_ns = time + spec.wire_time_ns(port, packet.size_bytes);
        (sent_ns, port as u16, &events[packet.id as usize])
    };
    departed.map(link).collect()
}
