//! Each transport on one bottleneck link, against the predictions of its paper or RFC.
#![allow(clippy::unwrap_used)]

use dropcast_fabric::{
    Connection, DroppedPacket, Fabric, FabricConfig, FabricObserver, Flow, FlowClass, FlowList,
    FlowRecord, Occupancy, Simulation, Transport,
};
use dropcast_switch::PolicySpec;

/// Bytes of a full packet in a buffer.
const PACKET: f64 = 1432.0;

/// Samples of a leaf whose only busy port is the bottleneck.
#[derive(Default)]
struct Watch {
    flows: Vec<FlowRecord>,
    /// Occupancy, packets, one per sample.
    queue: Vec<f64>,
    drops_ns: Vec<u64>,
}

impl FabricObserver for Watch {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.flows.push(*record);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        if occupancy.switch_id == 0 {
            self.queue.push(f64::from(occupancy.longest_queue_bytes) / PACKET);
        }
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.drops_ns.push(drop.time_ns);
    }
}

/// Servers of 40 Gbps, leaves connected by 10 Gbps: packets queue at leaf 0's only uplink.
fn fabric(buffer_packets: f64, aqm: &str) -> Fabric {
    Fabric::try_from(FabricConfig {
        spines: 1,
        servers: 4,
        server_rate_bps: 40_000_000_000,
        server_delay_ns: 5_000,
        uplink_delay_ns: 5_000,
        leaf_buffer_bytes: (buffer_packets * PACKET) as u32,
        aqm: aqm.parse().unwrap(),
        sample_interval_ns: 5_000,
        ..FabricConfig::artifact()
    })
    .unwrap()
}

/// Flight without queueing, in packets at 10 Gbps: propagation, plus a packet and its
/// acknowledgement on two links of each rate.
const PIPE: f64 = (40_000.0 + 2.0 * (1172.0 + 293.0) + 2.0 * (52.0 + 13.0)) / 1172.0;

/// Flows of this many packets each, from servers 0, 1, ... to those of the other leaf.
fn run(fabric: &Fabric, transport: Transport, flows: u16, packets: u64) -> Watch {
    let flow = |from| Flow {
        start_ns: 0,
        from,
        to: from + fabric.config().servers,
        size_bytes: packets * 1400,
        class: FlowClass::Single,
        connection: Connection::Handshake,
        transport,
        queue: 1,
        spines: None,
    };
    let list = FlowList::new((0..flows).map(flow).collect());
    let policy: PolicySpec = "complete-sharing".parse().unwrap();
    let mut watch = Watch::default();
    let simulation = Simulation::new(fabric, |_, site| policy.build(site), list).unwrap();
    simulation.run(&mut watch).unwrap();
    watch
}

/// Goodput of the flows as a share of the line rate, up to the last completion.
fn utilisation(watch: &Watch) -> f64 {
    let end_ns = watch.flows.iter().filter_map(|flow| flow.fct_ns).max().unwrap();
    let packets: u64 = watch.flows.iter().map(|flow| flow.flow.size_bytes / 1400).sum();
    packets as f64 * 1172.0 / end_ns as f64
}

fn middle(values: &[f64]) -> &[f64] {
    &values[values.len() / 3..values.len() * 2 / 3]
}

/// DCTCP, section 3.3: the queue moves between `K + N - A` and `K + N`, with the amplitude
/// `A = N D`, `D = (W* + 1) alpha / 2`, `alpha = sqrt(2 / W*)`, `W* = (C RTT + K) / N`.
#[test]
fn dctcp_saws_as_its_paper_computes() {
    for flows in [1u16, 2] {
        let k = 40.0;
        let fabric = fabric(500.0, "ecn:threshold_bytes=57280");
        let watch = run(&fabric, Transport::Dctcp, flows, 30_000);
        assert!(watch.drops_ns.is_empty());
        let queue = middle(&watch.queue);
        let (least, most) =
            queue.iter().fold((f64::MAX, 0.0f64), |(l, m), &q| (l.min(q), m.max(q)));
        let n = f64::from(flows);
        let critical = (PIPE + k) / n;
        let alpha = (2.0 / critical).sqrt();
        let amplitude = n * (critical + 1.0) * alpha / 2.0;
        // One packet is on the wire and one in the ring, outside the counted queue.
        assert!((most - (k + n)).abs() <= 2.5, "{flows} flows: at most {most}, expected {}", k + n);
        let low = k + n - amplitude;
        assert!(
            (least - low).abs() <= 0.35 * amplitude + 2.0,
            "{flows}: at least {least} or {low}"
        );
        assert!(utilisation(&watch) > 0.97);
    }
}

/// A packet that finds K packets before it waits for their time on the wire, and is marked as it leaves where it would
/// have been marked as it came: TCN at K packets' time is DCTCP's threshold of K (TCN, section 3).
#[test]
fn a_threshold_in_time_is_one_in_packets() {
    let range = |aqm| {
        let watch = run(&fabric(500.0, aqm), Transport::Dctcp, 2, 30_000);
        let queue = middle(&watch.queue);
        let (least, most) =
            queue.iter().fold((f64::MAX, 0.0f64), |(l, m), &q| (l.min(q), m.max(q)));
        (least, most, queue.iter().sum::<f64>() / queue.len() as f64)
    };
    // 40 packets of 1,172 ns, and half of one: one is on the wire as they come.
    let by_time = range("tcn:threshold_ns=47466");
    let by_length = range("ecn:threshold_bytes=57280");
    for (time, length) in
        [(by_time.0, by_length.0), (by_time.1, by_length.1), (by_time.2, by_length.2)]
    {
        assert!((time - length).abs() <= 2.0, "{by_time:?}, {by_length:?}");
    }
}

/// CoDel and ECN# keep a queue that stands to about their target, where TCN lets it grow to its threshold; all use the link.
#[test]
fn standing_queues_are_drained() {
    let mean = |aqm| {
        let watch = run(&fabric(500.0, aqm), Transport::Dctcp, 2, 30_000);
        assert!(watch.drops_ns.is_empty() && utilisation(&watch) > 0.9, "{aqm}");
        let queue = middle(&watch.queue);
        queue.iter().sum::<f64>() / queue.len() as f64
    };
    let tcn = mean("tcn:threshold_ns=100000");
    for aqm in [
        "codel:target_ns=10000,interval_ns=100000",
        "ecn-sharp:instant_ns=100000,target_ns=10000,interval_ns=100000",
    ] {
        let stands = mean(aqm);
        assert!(stands < tcn / 2.0, "{aqm}: {stands}, TCN {tcn}");
    }
}

/// NewReno halves the flight size, which is the bandwidth-delay product plus the buffer, and grows
/// by one packet per round trip: the time between losses is the time to grow back (RFC 5681).
#[test]
fn new_reno_halves_and_climbs_back_in_as_many_round_trips() {
    let buffer = 100.0;
    let fabric = fabric(buffer, "none");
    let watch = run(&fabric, Transport::NewReno, 1, 120_000);
    let flow = &watch.flows[0];
    assert_eq!(flow.timeouts, 0);
    let mut losses = watch.drops_ns.clone();
    losses.dedup_by(|next, last| *next - *last < 1_000_000);
    assert!(losses.len() >= 4, "{losses:?}");
    // From the second on: the first ends slow start, with many losses.
    // One packet more is on the wire, one in the ring.
    let most = PIPE + buffer + 1.0;
    let half = most / 2.0;
    // A window of w packets takes max(w, pipe) packet times per round trip.
    let climb_ns: f64 =
        (half as u64..most as u64).map(|window| (window as f64).max(PIPE) * 1172.0).sum();
    for pair in losses[1..].windows(2) {
        let period_ns = (pair[1] - pair[0]) as f64;
        assert!((period_ns / climb_ns - 1.0).abs() < 0.15, "{period_ns} or {climb_ns} ns");
    }
    assert!(utilisation(&watch) > 0.95, "a buffer above the product keeps the line busy");
}

/// RFC 9438, section 4.6: a loss leaves 0.7 of the window. With a buffer of at least 6/7 of the
/// bandwidth-delay product that keeps the line busy, while NewReno's half does not.
#[test]
fn cubic_keeps_seven_tenths() {
    let fabric = fabric(26.0, "none");
    let cubic = utilisation(&run(&fabric, Transport::Cubic, 1, 60_000));
    let reno = utilisation(&run(&fabric, Transport::NewReno, 1, 60_000));
    assert!(cubic > reno, "{cubic} or {reno}");
    assert!(cubic > 0.97 && reno < 0.985, "{cubic}, {reno}");
}

/// PowerTCP, theorem 1: the equilibrium queue is the sum of the additive increases, here a hundredth
/// of the bandwidth-delay product for each flow (less as it aims at 0.95 of the rate); theorem 3:
/// flows share evenly.
#[test]
fn power_tcp_keeps_the_line_busy_with_an_empty_queue() {
    let fabric = fabric(500.0, "none");
    let watch = run(&fabric, Transport::PowerTcp, 3, 20_000);
    assert!(watch.drops_ns.is_empty());
    let queue = middle(&watch.queue);
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    assert!(mean < 4.0, "{mean} packets on average");
    assert!(utilisation(&watch) > 0.9, "{}", utilisation(&watch));
    let fcts: Vec<u64> = watch.flows.iter().filter_map(|flow| flow.fct_ns).collect();
    let (least, most) = (fcts.iter().min().unwrap(), fcts.iter().max().unwrap());
    assert!(*most as f64 / *least as f64 <= 1.1, "{fcts:?}");
}

/// DCQCN, sections 3 and 5: behind RED with the paper's numbers flows share evenly, also one that comes later, with a mean
/// queue between RED's thresholds. With even shares both take as long: what the first sends alone, the second does at the end.
#[test]
fn dcqcn_flows_converge() {
    let fabric = fabric(2_000.0, "red:min_bytes=5000,max_bytes=200000,max_probability=0.01");
    let flow = |from: u16| Flow {
        start_ns: u64::from(from) * 5_000_000,
        from,
        to: from + fabric.config().servers,
        size_bytes: 80_000 * 1400,
        class: FlowClass::Single,
        connection: Connection::Handshake,
        transport: Transport::Dcqcn,
        queue: 1,
        spines: None,
    };
    let list = FlowList::new((0..2).map(flow).collect());
    let policy: PolicySpec = "complete-sharing".parse().unwrap();
    let mut watch = Watch::default();
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), list).unwrap();
    simulation.run(&mut watch).unwrap();
    assert!(watch.drops_ns.is_empty());
    let queue = middle(&watch.queue);
    let mean_bytes = PACKET * queue.iter().sum::<f64>() / queue.len() as f64;
    assert!((5_000.0..200_000.0).contains(&mean_bytes), "{mean_bytes} bytes on average");
    // Alpha begins at 1: the first notifications halve rates, and what is halved comes back in tens of milliseconds.
    assert!(utilisation(&watch) > 0.8, "{}", utilisation(&watch));
    let fcts: Vec<u64> = watch.flows.iter().filter_map(|flow| flow.fct_ns).collect();
    let ratio = fcts[1] as f64 / fcts[0] as f64;
    assert!((ratio - 1.0).abs() < 0.1, "{fcts:?}");
}

/// HPCC, section 3.3: flows settle at eta of the line's bytes with an almost empty queue, and share evenly.
#[test]
fn hpcc_settles_at_eta_with_an_empty_queue() {
    let fabric = fabric(1_000.0, "none");
    for flows in [1, 2, 4] {
        let watch = run(&fabric, Transport::Hpcc, flows, 40_000);
        assert!(watch.drops_ns.is_empty());
        let queue = middle(&watch.queue);
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        assert!(mean < 1.0, "{flows} flows: {mean} packets on average");
        // Telemetry counts 1,432 of the 1,465 bytes that a packet takes on the line.
        let share = utilisation(&watch) * 1_432.0 / 1_465.0;
        assert!((share - 0.95).abs() < 0.015, "{flows} flows: {share} of the line");
        let fcts: Vec<u64> = watch.flows.iter().filter_map(|flow| flow.fct_ns).collect();
        let (least, most) = (fcts.iter().min().unwrap(), fcts.iter().max().unwrap());
        assert!(*most as f64 / *least as f64 <= 1.1, "{flows} flows: {fcts:?}");
    }
}

/// Theta-PowerTCP: `n` flows of rate `r` rest where `r = r / power + beta`, with a round-trip time that does not change: a
/// power of RTT over base RTT. Few flows rest before the line is full, at `beta / (1 - base RTT / RTT)` each; many fill it,
/// with a queue that makes the RTT `1 / (1 - n beta / b)` base RTTs.
#[test]
fn theta_power_tcp_rests_where_power_is_balanced_by_its_increase() {
    let wide = FabricConfig { servers: 32, ..fabric(4_000.0, "none").config().clone() };
    let fabric = Fabric::try_from(wide).unwrap();
    // Propagation, and two segments at 40 Gbps.
    let (base_ns, packet_ns) = (40_560.0, 1172.0);
    let few = run(&fabric, Transport::ThetaPowerTcp, 3, 4_000);
    let rate = 0.01 / (1.0 - base_ns / (PIPE * packet_ns));
    let share = utilisation(&few) / 3.0;
    assert!((share / rate - 1.0).abs() < 0.1, "{share} of the line each, expected {rate}");
    let many = run(&fabric, Transport::ThetaPowerTcp, 24, 2_000);
    assert!(many.drops_ns.is_empty());
    assert!(utilisation(&many) > 0.9, "{}", utilisation(&many));
    let queue = middle(&many.queue);
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    // One packet is on the wire and one in the ring, outside the counted queue.
    let expected = base_ns / (1.0 - 0.24) / packet_ns - PIPE - 2.0;
    assert!((mean - expected).abs() < 1.5, "{mean} packets on average, expected {expected}");
}

/// TIMELY, section 4.3: round-trip times stay below T_high. Its rates swing with the gradient, so that the line is idle a
/// fifth of the time; flows that begin together share evenly.
#[test]
fn timely_keeps_a_queue_within_its_thresholds() {
    let slow = FabricConfig {
        server_rate_bps: 10_000_000_000,
        server_delay_ns: 10_000,
        uplink_delay_ns: 10_000,
        ..fabric(1_000.0, "none").config().clone()
    };
    let fabric = Fabric::try_from(slow).unwrap();
    for flows in [2, 4] {
        let watch = run(&fabric, Transport::Timely, flows, 20_000);
        assert!(watch.drops_ns.is_empty());
        let queue = middle(&watch.queue);
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        let most = queue.iter().fold(0.0, |most: f64, &queue| most.max(queue));
        // 85 us without a queue, T_high is 500 us, a packet takes 1.172 us.
        assert!(most < (500.0 - 85.0) / 1.172, "{flows} flows: {most} packets");
        assert!(mean > 10.0, "{flows} flows: {mean} packets on average");
        assert!(utilisation(&watch) > 0.75, "{flows} flows: {}", utilisation(&watch));
        let rates = watch.flows.iter().map(|flow| 1.0 / flow.fct_ns.unwrap() as f64);
        let (least, most) =
            rates.fold((f64::MAX, 0.0), |(l, m): (f64, f64), rate| (l.min(rate), m.max(rate)));
        assert!(most / least < 1.2, "{flows} flows: {least}, {most}");
    }
}

/// An unresponsive sender takes its rate, and DCTCP the rest.
#[test]
fn dctcp_takes_what_an_unresponsive_sender_leaves() {
    let config = FabricConfig { unresponsive_rate: 0.125, ..fabric(500.0, "ecn").config().clone() };
    let fabric = Fabric::try_from(config).unwrap();
    let flow = |from, transport, packets: u64| Flow {
        start_ns: 0,
        from,
        to: from + 4,
        size_bytes: packets * 1400,
        class: FlowClass::Single,
        connection: Connection::Handshake,
        transport,
        queue: 1,
        spines: None,
    };
    let list = FlowList::new(vec![
        flow(1, Transport::Unresponsive, 30_000),
        flow(2, Transport::Dctcp, 10_000),
    ]);
    let policy: PolicySpec = "complete-sharing".parse().unwrap();
    let mut watch = Watch::default();
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), list).unwrap();
    simulation.run(&mut watch).unwrap();
    let fct = |transport| {
        let of = |flow: &&FlowRecord| flow.flow.transport == transport;
        watch.flows.iter().find(of).unwrap().fct_ns.unwrap() as f64
    };
    let rate = 10_000.0 * 1172.0 / fct(Transport::Dctcp);
    assert!((rate - 0.5).abs() < 0.04, "{rate}");
}

/// Equal senders at the line rate lose equally: the servers' jitter breaks the order in which their packets would meet a full
/// buffer for ever.
#[test]
fn equal_senders_lose_equally() {
    for (policy, senders) in
        [("complete-sharing", 2_u16), ("dt:alpha=8", 2), ("lqd", 2), ("dt:alpha=8", 5)]
    {
        let config = FabricConfig {
            leaves: 1,
            servers: 6,
            leaf_buffer_bytes: 100_000,
            ..FabricConfig::default()
        };
        let fabric = Fabric::try_from(config).unwrap();
        let packets = 20_000;
        let flow = |from| Flow {
            start_ns: 0,
            from,
            to: 5,
            size_bytes: packets * 1400,
            class: FlowClass::Incast(0),
            connection: Connection::New,
            transport: Transport::Unresponsive,
            queue: 1,
            spines: None,
        };
        let list = FlowList::new((0..senders).map(flow).collect());
        let spec: PolicySpec = policy.parse().unwrap();
        let mut watch = Watch::default();
        let simulation = Simulation::new(&fabric, |_, site| spec.build(site), list).unwrap();
        simulation.run(&mut watch).unwrap();
        let lost = |flow: &FlowRecord| packets - flow.received_bytes / 1400;
        let lost: Vec<u64> = watch.flows.iter().map(lost).collect();
        let mean = lost.iter().sum::<u64>() as f64 / f64::from(senders);
        assert!(mean > 5_000.0, "{policy}: {lost:?}");
        for &lost in &lost {
            assert!(
                (lost as f64 - mean).abs() < 0.05 * mean,
                "{policy}: {lost} of a mean of {mean}"
            );
        }
    }
}
