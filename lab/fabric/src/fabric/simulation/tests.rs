use super::*;
use crate::fabric::{
    Connection, DroppedPacket, FabricConfig, FabricDropReason, FlowClass, FlowRecord, Occupancy,
    OnFull, PacketEvents, Paths, Unwatched,
};
use crate::workloads::{AnswerSizes, FlowList, Incast, PoissonFlows, TrafficConfig};
use dropcast_data::{Event, EventKind};
use dropcast_switch::PolicySpec;
use proptest::prelude::*;

#[derive(Default, PartialEq, Debug)]
struct Everything {
    flows: Vec<FlowRecord>,
    drops: Vec<DroppedPacket>,
    samples: Vec<Occupancy>,
    events: Vec<Event>,
}

impl FabricObserver for Everything {
    const WANTS_EVENTS: bool = true;

    fn packet_event(&mut self, event: &Event) {
        self.events.push(*event);
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        self.drops.push(*drop);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        self.samples.push(*occupancy);
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        self.flows.push(*record);
    }
}

fn fabric(change: impl FnOnce(&mut FabricConfig)) -> Fabric {
    let mut config = FabricConfig { leaves: 2, spines: 2, servers: 4, ..FabricConfig::artifact() };
    config.leaf_buffer_bytes = 100_000;
    config.spine_buffer_bytes = 100_000;
    change(&mut config);
    Fabric::try_from(config).expect("valid")
}

fn flow(start_ns: u64, from: u16, to: u16, size_bytes: u64, transport: Transport) -> Flow {
    let class = FlowClass::Single;
    let connection = class.connection();
    Flow { start_ns, from, to, size_bytes, class, connection, transport, queue: 1, spines: None }
}

fn busy(transport: Transport, seed: u64, incast: Incast) -> TrafficConfig {
    TrafficConfig {
        duration_ns: 3_000_000,
        seed,
        flows: vec![PoissonFlows { load: 0.8, transport, ..PoissonFlows::default() }],
        incasts: vec![Incast { burst: 2.0, fan_in: 6, per_server_hz: 150.0, transport, ..incast }],
        collectives: Vec::new(),
    }
}

fn simulation<W: Workload>(fabric: &Fabric, policy: &str, workload: W) -> Simulation<W> {
    let policy: PolicySpec = policy.parse().expect("a known policy");
    Simulation::new(fabric, |_, site| policy.build(site), workload).expect("no model")
}

const POLICIES: [&str; 7] =
    ["lqd", "complete-sharing", "dt:alpha=0.5", "credence", "abm", "lqd:end=head", "occamy"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// After every event each packet is in flight, delivered or dropped with a reason, and the
    /// bytes of every buffer add up; at the end every flow has its bytes.
    #[test]
    fn nothing_gets_lost(
        name in 0..POLICIES.len(),
        transport in 0..Transport::ALL.len(),
        seed in 0u64..1000,
        red in prop::bool::ANY,
        linux in prop::bool::ANY,
        on_full in prop_oneof![Just(OnFull::Drop), Just(OnFull::Trim)],
        paths in prop_oneof![Just(Paths::Ecmp), Just(Paths::Spray)],
    ) {
        let fabric = fabric(|config| {
            if linux {
                *config = FabricConfig {
                    leaves: config.leaves,
                    spines: config.spines,
                    servers: config.servers,
                    leaf_buffer_bytes: config.leaf_buffer_bytes,
                    spine_buffer_bytes: config.spine_buffer_bytes,
                    min_rto_ns: config.min_rto_ns,
                    ..FabricConfig::default()
                };
            }
            // A handshake's first timeout is a second in Linux.
            config.end_ns = if linux { 8_000_000_000 } else { 400_000_000 };
            config.seed = seed;
            (config.on_full, config.paths) = (on_full, paths);
            if red {
                config.aqm = "red:min_bytes=10000,max_bytes=40000,signal=mark-or-drop"
                    .parse()
                    .expect("a known AQM");
            }
        });
        let transport = Transport::ALL[transport];
        let incast = match linux {
            true => Incast { train: 3, sizes: AnswerSizes::LogNormal(1.0), ..Incast::default() },
            false => Incast::artifact(),
        };
        let mix = busy(transport, seed, incast).mix(&fabric).expect("valid");
        let mut simulation = simulation(&fabric, POLICIES[name], mix);
        let mut sink = Everything::default();
        simulation.begin();
        let mut end_ns = 0;
        while let Some(now_ns) = simulation.step(&mut sink).expect("valid flows") {
            prop_assert!(now_ns >= end_ns);
            prop_assert!(simulation.network.adds_up(), "at {now_ns} ns");
            end_ns = now_ns;
        }
        let outcome = simulation.outcome(end_ns);
        prop_assert_eq!(outcome.packets_in_flight, 0);
        prop_assert_eq!(
            outcome.packets_sent,
            outcome.packets_delivered + outcome.all_dropped()
        );
        prop_assert_eq!(outcome.all_dropped() as usize, sink.drops.len());
        prop_assert_eq!(sink.flows.len() as u64, outcome.flows);
        if transport != Transport::Unresponsive {
            prop_assert_eq!(outcome.completed, outcome.flows);
            prop_assert!(sink.flows.iter().all(|r| r.received_bytes == r.flow.size_bytes));
        }
        check_events(&fabric, &sink);
        prop_assert_eq!(simulation.flows.len() + simulation.network.trails.len(), 0, "forgotten");
    }
}

/// At every switch what arrives leaves or is dropped, and no line is exceeded.
fn check_events(fabric: &Fabric, sink: &Everything) {
    assert!(sink.events.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
    for id in 0..fabric.switches() {
        let of = |kind| sink.events.iter().filter(move |e| e.switch_id == id && e.kind == kind);
        let dropped = sink.drops.iter().filter(|drop| drop.switch_id == id).count();
        let arrived = of(EventKind::Arrival).count();
        assert_eq!(arrived, of(EventKind::Departure).count() + dropped);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_watcher_changes_nothing() {
    let fabric = fabric(|config| config.sample_interval_ns = 50_000);
    let run = |seed, sink: &mut Everything| {
        let mix = busy(Transport::Dctcp, seed, Incast::artifact()).mix(&fabric).expect("valid");
        simulation(&fabric, POLICIES[0], mix).run(sink).expect("valid flows")
    };
    let (mut first, mut second, mut other) = Default::default();
    let outcome = run(7, &mut first);
    assert_eq!(outcome, run(7, &mut second));
    assert_eq!(first, second);
    assert_ne!(outcome, run(8, &mut other));
    assert_eq!(first.samples.len() % usize::from(fabric.switches()), 0);
    assert!(first.samples.iter().any(|sample| sample.occupancy_bytes > 0));
    let mix = busy(Transport::Dctcp, 7, Incast::artifact()).mix(&fabric).expect("valid");
    let unwatched = simulation(&fabric, POLICIES[0], mix).run(&mut Unwatched);
    assert_eq!(unwatched.expect("valid flows"), outcome);
}

#[test]
fn events_come_in_batches_in_order() {
    let fabric = fabric(|_| {});
    let mut everything = Everything::default();
    let mut batches = Vec::new();
    {
        let mut events = PacketEvents::new(|batch: dropcast_data::EventBatch| batches.push(batch));
        let mix = busy(Transport::Dctcp, 3, Incast::artifact()).mix(&fabric).expect("valid");
        let simulation = simulation(&fabric, POLICIES[0], mix);
        simulation.run(&mut (&mut everything, &mut events)).expect("valid flows");
        let _take = events.finish();
    }
    let events: Vec<Event> = batches.iter().flat_map(|batch| batch.events.clone()).collect();
    assert_eq!(events, everything.events);
    assert!(batches[..batches.len() - 1].iter().all(|batch| batch.events.len() == 8192));
}

/// By hand: the handshake's round trip, then the packets of the flow, stored and forwarded hop by
/// hop.
#[test]
fn a_flow_alone_takes_the_time_of_its_links() {
    let fabric = fabric(|_| {});
    let list = FlowList::new(vec![flow(1_000, 0, 5, 14_000, Transport::Dctcp)]);
    let mut sink = Everything::default();
    simulation(&fabric, POLICIES[0], list).run(&mut sink).expect("valid flows");
    // A packet takes ceil((32 + 33) * 8 / 10) = 52 ns without and 1172 ns with 1400 bytes of payload
    // per link, and 4 us of propagation; 4 links.
    let handshake_ns = 2 * 4 * (52 + 4_000);
    let data_ns = 4 * (1_172 + 4_000) + 9 * 1_172;
    assert_eq!(sink.flows[0].fct_ns, Some(handshake_ns + data_ns));
    assert_eq!(sink.flows[0].ideal_fct_ns, 32_000 + 11_200);
    let local = FlowList::new(vec![flow(0, 0, 1, 1_400, Transport::Unresponsive)]);
    let mut sink = Everything::default();
    simulation(&fabric, POLICIES[0], local).run(&mut sink).expect("valid flows");
    assert_eq!(sink.flows[0].fct_ns, Some(2 * (1_172 + 4_000)), "one leaf, no handshake");
    assert_eq!(sink.flows[0].ideal_fct_ns, 2 * 4_000 + 1_120);
    assert_eq!(sink.events.len(), 2, "an arrival and a departure");
}

#[test]
fn an_unresponsive_sender_keeps_its_rate_and_repeats_nothing() {
    let fabric = fabric(|config| config.unresponsive_rate = 0.5);
    let list = FlowList::new(vec![flow(0, 0, 5, 1_400_000, Transport::Unresponsive)]);
    let mut sink = Everything::default();
    simulation(&fabric, POLICIES[0], list).run(&mut sink).expect("valid flows");
    let fct_ns = sink.flows[0].fct_ns.expect("nothing is lost") as f64;
    let rate = 1432.0 * 1000.0 * 8.0 / fct_ns;
    assert!((rate - 5.0).abs() < 0.1, "{rate} Gbps");
    // Two at full rate for one port: half is lost, nobody sends again. (As both send at the same
    // instants it may always be the same one that loses.)
    let fabric =
        Fabric::try_from(FabricConfig { unresponsive_rate: 1.0, ..fabric.config().clone() });
    let fabric = fabric.expect("valid");
    let flows = [0, 1].map(|from| flow(0, from, 3, 2_800_000, Transport::Unresponsive));
    let mut sink = Everything::default();
    let list = FlowList::new(flows.to_vec());
    let outcome = simulation(&fabric, POLICIES[0], list).run(&mut sink);
    let outcome = outcome.expect("valid flows");
    assert_eq!(outcome.packets_sent, 4_000);
    for record in &sink.flows {
        let is_complete = record.received_bytes == 2_800_000;
        assert_eq!((record.slowdown().is_some(), record.retransmissions), (is_complete, 0));
    }
    assert!(outcome.completed < 2 && sink.flows.len() == 2);
    let dropped = outcome.dropped(FabricDropReason::PushOut);
    assert!((1_800..2_000).contains(&dropped), "{dropped}: half, less the buffer");
}

/// Of a burst twice as large as the buffer the payload that does not fit is repeated at once, so no flow waits for
/// its timer; without trimming, flows that lose their tails do.
#[test]
fn trimming_replaces_timeouts() {
    let timeouts = |on_full, transport| {
        let fabric = fabric(|config| {
            config.on_full = on_full;
            config.leaf_buffer_bytes = 60_000;
        });
        let burst = |from| Flow {
            class: FlowClass::Incast(0),
            connection: Connection::New,
            ..flow(0, from, 7, 65_000, transport)
        };
        let list = FlowList::new((0..4).map(burst).collect());
        let mut sink = Everything::default();
        let outcome = simulation(&fabric, "complete-sharing", list).run(&mut sink);
        let outcome = outcome.expect("valid flows");
        assert!(outcome.completed == 4 && outcome.all_dropped() > 0, "{outcome:?}");
        sink.flows.iter().map(|record| record.timeouts).sum::<u32>()
    };
    for transport in [Transport::Dctcp, Transport::Cubic, Transport::NewReno] {
        assert_eq!(timeouts(OnFull::Trim, transport), 0, "{transport:?}");
        assert!(timeouts(OnFull::Drop, transport) > 0, "{transport:?}");
    }
}

/// Packets of one flow take every spine if they are sprayed, and one if not.
#[test]
fn sprayed_packets_take_every_spine() {
    let spines = |paths| {
        let fabric = fabric(|config| config.paths = paths);
        let list = FlowList::new(vec![flow(0, 0, 7, 500_000, Transport::Unresponsive)]);
        let mut sink = Everything::default();
        simulation(&fabric, "lqd", list).run(&mut sink).expect("valid flows");
        let at_spine = |event: &&Event| event.switch_id >= 2 && event.kind == EventKind::Arrival;
        let mut counts = [0; 2];
        for event in sink.events.iter().filter(at_spine) {
            counts[usize::from(event.switch_id) - 2] += 1;
        }
        counts
    };
    let [first, second] = spines(Paths::Spray);
    assert!(first > 120 && second > 120, "{first} and {second} of 358");
    assert!(spines(Paths::Ecmp).contains(&0));
}

#[test]
fn a_flow_that_the_fabric_cannot_carry_is_named() {
    let fabric = fabric(|_| {});
    let check = |flow: Flow, says: &str| {
        let list = FlowList::new(vec![flow]);
        let run = simulation(&fabric, POLICIES[0], list).run(&mut Unwatched);
        let error = run.expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check(flow(0, 0, 8, 1, Transport::Dctcp), "flow 0: to is server 8, there are 8");
    check(flow(0, 3, 3, 1, Transport::Dctcp), "from server 3 to itself");
    check(flow(0, 0, 1, 0, Transport::Dctcp), "has 0 bytes");
    check(Flow { queue: 2, ..flow(0, 0, 1, 9, Transport::Dctcp) }, "for queue 2, there are 2");
    let spines = Some((0, 9));
    check(Flow { spines, ..flow(0, 0, 1, 9, Transport::Dctcp) }, "takes spines 0 and 9, there are");
}

#[test]
fn acknowledgements_that_are_lost_cost_no_payload() {
    // Acknowledgements and data share queues whose thresholds are exceeded all the time.
    let fabric = fabric(|config| {
        config.queues_per_port = 1;
        config.leaf_buffer_bytes = 20_000;
        config.end_ns = 4_000_000_000;
    });
    let flows = (0..8).map(|from| Flow {
        queue: 0,
        ..flow(0, from, (from + 3) % 8, 500_000, Transport::NewReno)
    });
    let mut sink = Everything::default();
    let list = FlowList::new(flows.collect());
    let outcome = simulation(&fabric, POLICIES[2], list).run(&mut sink);
    assert_eq!(outcome.expect("valid flows").completed, 8);
    assert!(sink.drops.iter().any(|drop| drop.size_bytes < 100), "acknowledgements were lost");
    assert!(sink.flows.iter().any(|record| record.retransmissions > 0));
}

/// On an idle network a connection that was used before needs no slow start, unless it was idle for a timeout and begins slowly then.
#[test]
fn a_connection_that_is_used_again_keeps_its_window_until_it_was_idle() {
    let took_ns = |slow_start_after_idle| {
        let fabric = fabric(|config| {
            *config = FabricConfig {
                slow_start_after_idle,
                jitter_ns: 0,
                aqm: "none".parse().expect("a known AQM"),
                ..FabricConfig::default()
            };
        });
        let answer = |start_ns| Flow {
            class: FlowClass::Incast(0),
            connection: Connection::Reused,
            ..flow(start_ns, 0, 17, 140_000, Transport::NewReno)
        };
        let list = FlowList::new([0, 2_000_000, 3_000_000_000].map(answer).to_vec());
        let mut sink = Everything::default();
        simulation(&fabric, "complete-sharing", list).run(&mut sink).expect("valid flows");
        sink.flows.iter().map(|flow| flow.fct_ns.expect("complete")).collect::<Vec<_>>()
    };
    let slow = took_ns(true);
    // Round trips were measured meanwhile: a packet's time less or more.
    assert!(slow[1] < slow[0] - 30_000 && slow[2].abs_diff(slow[0]) < 2_000, "{slow:?}");
    let fast = took_ns(false);
    assert!(fast[1] == slow[1] && fast[2].abs_diff(fast[1]) < 2_000, "{fast:?}");
}

/// The next request of a train goes to the same servers, a round trip after the last answer to the one before.
#[test]
fn a_train_waits_for_its_answers() {
    let fabric = fabric(|config| config.end_ns = 1_000_000_000);
    let incast = Incast { train: 3, spread_ns: 0, ..Incast::artifact() };
    let traffic = TrafficConfig { flows: Vec::new(), ..busy(Transport::Dctcp, 1, incast) };
    let mut sink = Everything::default();
    let mix = traffic.mix(&fabric).expect("valid");
    simulation(&fabric, "complete-sharing", mix).run(&mut sink).expect("valid flows");
    let mut requests: std::collections::BTreeMap<u32, Vec<&FlowRecord>> = Default::default();
    for record in &sink.flows {
        let FlowClass::Incast(request) = record.flow.class else { panic!("{record:?}") };
        requests.entry(request).or_default().push(record);
    }
    let start_ns = |of: &[&FlowRecord]| of[0].flow.start_ns;
    let end_ns = |of: &[&FlowRecord]| {
        of.iter().map(|own| own.flow.start_ns + own.fct_ns.expect("complete")).max().expect("some")
    };
    let servers = |of: &[&FlowRecord]| {
        let ends = of.iter().map(|own| (own.flow.to, own.flow.from));
        ends.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(requests.len() % 3, 0, "{}", requests.len());
    let follows = |of: &[&FlowRecord]| {
        let before = requests.values().find(|other| {
            end_ns(other) + fabric.path_rtt_ns() == start_ns(of) && servers(other) == servers(of)
        });
        before.is_some()
    };
    let following = requests.values().filter(|own| follows(own)).count();
    assert_eq!(following, requests.len() / 3 * 2);
}
