use super::*;
use crate::flow_sizes::{FlowSizeChoice, FlowSizeName};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// A workload without traffic; each test adds what it needs.
fn silent() -> LeafWorkload {
    LeafWorkload {
        load: 0.0,
        outgoing_load: 0.0,
        incast_per_server_hz: 0.0,
        outgoing_incast_per_server_hz: 0.0,
        packets_per_ack: 0,
        ..LeafWorkload::loaded()
    }
}

fn events(workload: &LeafWorkload) -> Vec<Event> {
    workload.arrivals().expect("valid").flat_map(|batch| batch.events).collect()
}

/// With the ingress link of each.
fn traced(workload: &LeafWorkload) -> Vec<(usize, Event)> {
    let mut arrivals = workload.arrivals().expect("valid");
    std::iter::from_fn(|| arrivals.next_arrival()).collect()
}

#[test]
fn a_seed_is_a_trace() {
    let short = LeafWorkload { duration_ns: 5_000_000, ..LeafWorkload::loaded() };
    let first = events(&short);
    assert!(first.len() > 10_000);
    assert_eq!(first, events(&short));
    assert_ne!(first, events(&LeafWorkload { seed: 2, ..short.clone() }));
    let longer = events(&LeafWorkload { duration_ns: 6_000_000, ..short });
    assert_eq!(longer[..first.len()], first, "a longer trace begins like a shorter one");
}

#[test]
fn sources_have_streams_of_their_own() {
    let flows = |outgoing_load| {
        let mut workload = LeafWorkload { duration_ns: 20_000_000, outgoing_load, ..silent() };
        workload.load = 0.5;
        events(&workload).into_iter().filter(|event| event.port < 16).collect::<Vec<_>>()
    };
    assert!(!flows(0.0).is_empty());
    assert_eq!(flows(0.0), flows(0.3), "outgoing flows leave the incoming ones as they were");
}

#[test]
fn no_traffic_is_an_empty_trace() {
    assert_eq!(silent().arrivals().expect("valid").next(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// In order of time, on known ports and queues, and on no ingress link faster than its rate.
    #[test]
    fn packets_come_in_order_and_no_faster_than_the_line(
        (servers, uplinks) in (2u16..20, 1u16..6),
        gbps in 1u64..40,
        (load, outgoing_load, rack_local_load) in (0.0..0.7, 0.0..0.3, 0.0..0.2),
        flow_rate in 0.05..1.0,
        (packets_per_ack, queues_per_port) in (0u16..4, 1u8..3),
        fan_in in 1u16..40,
        seed in 0u64..1000,
    ) {
        let workload = LeafWorkload {
            servers,
            uplinks,
            line_rate_bps: gbps * 1_000_000_000,
            load,
            outgoing_load: outgoing_load * f64::from(servers.min(uplinks)) / f64::from(uplinks),
            rack_local_load,
            flow_rate,
            packets_per_ack,
            queues_per_port,
            flow_sizes: FlowSizeChoice::Named(FlowSizeName::Hadoop),
            incast_fan_in: fan_in,
            incast_burst: 0.02,
            duration_ns: 3_000_000,
            seed,
            ..LeafWorkload::loaded()
        };
        let spec = workload.switch_spec().expect("valid");
        let mut free_ns = vec![0; spec.ports()];
        let mut last_ns = 0;
        for (link, event) in traced(&workload) {
            prop_assert!(event.time_ns >= last_ns && event.time_ns < workload.duration_ns);
            prop_assert!(usize::from(event.port) < spec.ports() && event.queue < queues_per_port);
            prop_assert!(usize::from(event.port) != link, "sent back where it came from");
            prop_assert!(event.flow_hash != 0);
            let wire_ns = spec.wire_time_ns(link, event.size_bytes);
            prop_assert!(event.time_ns >= free_ns[link] + wire_ns, "link {} too fast", link);
            last_ns = event.time_ns;
            free_ns[link] = event.time_ns;
        }
    }
}

/// Bits on the wire of the arrivals, as a share of the capacity of `links` links.
fn measured_load(workload: &LeafWorkload, from: impl Fn(usize) -> bool, links: u16) -> f64 {
    let overhead = workload.wire_overhead_bytes;
    let bytes: f64 = traced(workload)
        .iter()
        .filter(|(link, _)| from(*link))
        .map(|(_, event)| f64::from(event.size_bytes + overhead))
        .sum();
    let capacity = f64::from(links) * workload.line_rate_bps as f64;
    bytes * 8e9 / (workload.duration_ns as f64 * capacity)
}

#[test]
fn the_offered_load_is_the_one_asked_for() {
    // Flows of 100 000 bytes: the number of flows is Poisson, so the load's relative standard
    // deviation is 1 / sqrt(flows). Five of them, and as much for flows cut by the trace's end.
    let fixed = FlowSizeChoice::Points(vec![(99_999, 0.0), (100_000, 1.0)]);
    let base = LeafWorkload { flow_sizes: fixed, flow_rate: 1.0, ..silent() };
    let check = |workload: LeafWorkload, from: fn(usize) -> bool, links: u16, asked: f64| {
        let flow_bits = 8.0 * (100_000.0 + 72.0 * 65.0);
        let seconds = workload.duration_ns as f64 / 1e9;
        let flows = asked * f64::from(links) * 10e9 * seconds / flow_bits;
        let measured = measured_load(&workload, from, links);
        let error = (measured / asked - 1.0).abs();
        assert!(error < 5.0 / flows.sqrt(), "{measured} instead of {asked}: {error}");
    };
    check(LeafWorkload { load: 0.8, ..base.clone() }, |link| link >= 16, 4, 0.8);
    check(LeafWorkload { outgoing_load: 0.4, ..base.clone() }, |link| link < 16, 4, 0.4);
    check(LeafWorkload { rack_local_load: 0.3, ..base }, |link| link < 16, 16, 0.3);
}

#[test]
fn the_offered_load_does_not_depend_on_the_flow_sizes() {
    for name in [FlowSizeName::Websearch, FlowSizeName::Hadoop] {
        let workload = LeafWorkload {
            load: 0.5,
            flow_sizes: FlowSizeChoice::Named(name),
            duration_ns: 1_000_000_000,
            ..silent()
        };
        let measured = measured_load(&workload, |link| link >= 16, 4);
        // Second moments of these tables give a relative standard deviation of 3%.
        assert!((measured / 0.5 - 1.0).abs() < 0.1, "{name:?}: {measured}");
    }
}

#[test]
fn bursts_are_exact() {
    for (incoming, outgoing) in [(2.0, 0.0), (0.0, 2.0)] {
        let workload = LeafWorkload {
            incast_per_server_hz: incoming,
            outgoing_incast_per_server_hz: outgoing,
            incast_fan_in: 7,
            duration_ns: 1_000_000_000,
            ..silent()
        };
        let burst = workload.burst_bytes();
        assert_eq!(burst, 789_504);
        // Bursts last less than 2 ms and are 31 ms apart on average, so gaps separate them.
        let events = events(&workload);
        let mut bursts = 0;
        for together in events.chunk_by(|a, b| b.time_ns - a.time_ns < 2_000_000) {
            let payload: u64 = together.iter().map(|event| u64::from(event.size_bytes) - 32).sum();
            if together[0].time_ns < workload.duration_ns - 5_000_000 {
                assert_eq!(payload % burst, 0, "{payload}");
                bursts += payload / burst;
            }
        }
        assert!((10..60).contains(&bursts), "32 expected, {bursts} found");
        let to_servers = events.iter().all(|event| event.port < 16);
        assert_eq!(to_servers, incoming > 0.0);
    }
}

#[test]
fn data_is_acknowledged_in_the_other_direction() {
    let mut workload = silent();
    (workload.load, workload.outgoing_load) = (0.3, 0.3);
    (workload.packets_per_ack, workload.duration_ns) = (1, 10_000_000);
    // By flow: time and (from, to) of data not yet acknowledged.
    let mut open: BTreeMap<u64, VecDeque<(u64, usize, u16)>> = BTreeMap::new();
    let (mut data, mut acks) = (0, 0);
    for (link, event) in traced(&workload) {
        let flow = open.entry(event.flow_hash).or_default();
        if event.queue == 1 {
            data += 1;
            flow.push_back((event.time_ns, link, event.port));
        } else {
            acks += 1;
            let (sent_ns, from, to) = flow.pop_front().expect("an acknowledgement of something");
            assert_eq!((link, usize::from(event.port)), (usize::from(to), from));
            let delay_ns = if link < 16 { 8_000 } else { 24_000 };
            assert!(event.time_ns >= sent_ns + delay_ns + 52);
            assert_eq!((event.size_bytes, event.flags), (32, 0));
        }
    }
    assert!(data > 5_000 && acks > data * 9 / 10, "{data} packets, {acks} acknowledgements");
}

#[test]
fn what_waits_is_a_small_part_of_what_started() {
    let mut arrivals = LeafWorkload::loaded().arrivals().expect("valid");
    let (mut peak, mut started) = (0, std::collections::BTreeSet::new());
    while let Some((_, event)) = arrivals.next_arrival() {
        started.insert(event.flow_hash);
        peak = peak.max(arrivals.senders.waiting());
    }
    assert!(peak < started.len() / 4, "{peak} flows waited, {} started", started.len());
}

/// The drops of a plain virtual LQD under a workload.
struct LqdShare {
    arrivals: u64,
    drops: u64,
    drops_at_uplinks: u64,
    /// By fifth of the trace.
    drops_over_time: [u64; 5],
}

/// Longest Queue Drop by definition: a FIFO of sizes per queue, ports that serve their queues in
/// turn at line rate, the longest pushable queue found by a scan.
fn lqd(workload: &LeafWorkload) -> LqdShare {
    let spec = workload.switch_spec().expect("valid");
    let queues = usize::from(spec.queues_per_port);
    let mut held = vec![VecDeque::<u32>::new(); spec.queues()];
    let mut bytes = vec![0u32; spec.queues()];
    let (mut free_ns, mut turn) = (vec![0; spec.ports()], vec![0; spec.ports()]);
    let mut share =
        LqdShare { arrivals: 0, drops: 0, drops_at_uplinks: 0, drops_over_time: [0; 5] };
    for event in workload.arrivals().expect("valid").flat_map(|batch| batch.events) {
        let now = event.time_ns;
        for port in 0..spec.ports() {
            let own = port * queues..(port + 1) * queues;
            while free_ns[port] <= now {
                let next = own.clone().map(|i| own.start + (i + turn[port]) % queues);
                let Some(queue) = next.into_iter().find(|&queue| !held[queue].is_empty()) else {
                    // Idle: free from now on.
                    free_ns[port] = now;
                    break;
                };
                let size = held[queue].pop_front().expect("not empty");
                bytes[queue] -= size;
                turn[port] = queue - own.start + 1;
                free_ns[port] += spec.wire_time_ns(port, size);
            }
        }
        share.arrivals += 1;
        let mut accept = true;
        while bytes.iter().sum::<u32>() + event.size_bytes > spec.buffer_bytes {
            share.drops += 1;
            share.drops_over_time[(now * 5 / workload.duration_ns) as usize] += 1;
            let pushable = (0..spec.queues()).filter(|&queue| spec.pushable[queue % queues]);
            let longest = pushable.rev().max_by_key(|&queue| bytes[queue]).expect("has queues");
            share.drops_at_uplinks += u64::from(longest / queues >= usize::from(workload.servers));
            let Some(size) = held[longest].pop_back() else {
                accept = false;
                break;
            };
            bytes[longest] -= size;
        }
        if accept {
            let queue = spec.queue_index(event.port, event.queue);
            held[queue].push_back(event.size_bytes);
            bytes[queue] += event.size_bytes;
        }
    }
    share
}

/// Prints the numbers of `docs/workloads.md` when run with `--nocapture`.
#[test]
#[allow(clippy::print_stdout, reason = "the test is also the command that measures")]
fn the_defaults_drop_a_small_share_from_load_and_from_incasts() {
    println!("seed traffic arrivals drops percent at-uplinks by-fifths-of-time");
    let (mut both_drops, mut load_drops, mut incast_drops) = (0, 0, 0);
    for seed in 1..=5 {
        let both = LeafWorkload { seed, ..LeafWorkload::default() };
        let load = LeafWorkload {
            incast_per_server_hz: 0.0,
            outgoing_incast_per_server_hz: 0.0,
            ..both.clone()
        };
        let incast = LeafWorkload { load: 0.0, outgoing_load: 0.0, ..both.clone() };
        load_drops += printed("load", &load).drops;
        incast_drops += printed("incast", &incast).drops;
        let share = printed("both", &both);
        both_drops += share.drops;
        let percent = 100.0 * share.drops as f64 / share.arrivals as f64;
        assert!((0.1..2.0).contains(&percent), "{percent}%");
        assert!((1_500_000..3_000_000).contains(&share.arrivals), "{}", share.arrivals);
        // A split by time needs drops on both sides of it.
        assert!(!share.drops_over_time.contains(&0), "{:?}", share.drops_over_time);
    }
    assert!(load_drops > 0 && incast_drops > 0 && both_drops > load_drops + incast_drops);
}

#[allow(clippy::print_stdout, reason = "see above")]
fn printed(traffic: &str, workload: &LeafWorkload) -> LqdShare {
    let share = lqd(workload);
    let LqdShare { arrivals, drops, drops_at_uplinks, drops_over_time } = &share;
    let percent = 100.0 * *drops as f64 / *arrivals as f64;
    println!(
        "{} {traffic} {arrivals} {drops} {percent:.2} {drops_at_uplinks} {drops_over_time:?}",
        workload.seed
    );
    share
}
