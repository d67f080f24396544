//! The ideal completion time is a lower bound: no flow has a slowdown below 1, on an idle fabric or a busy one.
#![allow(clippy::expect_used)]

use dropcast_fabric::{
    Connection, Fabric, FabricConfig, FabricObserver, Flow, FlowClass, FlowList, FlowRecord,
    Simulation, Transport,
};
use dropcast_switch::PolicySpec;
use proptest::prelude::*;

#[derive(Default)]
struct Ends(Vec<FlowRecord>);

impl FabricObserver for Ends {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.0.push(*record);
    }
}

fn run(fabric: &Fabric, flows: Vec<Flow>) -> Vec<FlowRecord> {
    let policy: PolicySpec = "complete-sharing".parse().expect("a known policy");
    let list = FlowList::new(flows);
    let simulation = Simulation::new(fabric, |_, site| policy.build(site), list);
    let mut ends = Ends::default();
    simulation.expect("no model").run(&mut ends).expect("flows between two servers");
    ends.0
}

/// One switch, or some leaves and spines, with links of any rates and delays.
fn fabrics() -> impl Strategy<Value = Fabric> {
    let rates = || prop_oneof![Just(1_000_000_000), Just(10_000_000_000), Just(40_000_000_000)];
    let delays = || prop_oneof![Just(0), 1_u64..20_000];
    let shape = (1_u16..4, 0_u16..3, 2_u16..5);
    let units = (1_u32..3_000, 0_u32..60, 0_u32..60, 1_u32..60);
    let senders = prop_oneof![Just(FabricConfig::artifact()), Just(FabricConfig::default())];
    (shape, rates(), rates(), (delays(), delays()), units, 0.1_f64..=1.0, senders).prop_map(
        |(
            shape,
            server_rate_bps,
            uplink_rate_bps,
            (server_delay_ns, uplink_delay_ns),
            units,
            rate,
            senders,
        )| {
            let (leaves, spines, servers) = shape;
            let (segment_bytes, header, wire_overhead_bytes, initial_window_segments) = units;
            let config = FabricConfig {
                leaves,
                spines: if leaves > 1 { spines + 1 } else { spines },
                servers,
                server_rate_bps,
                uplink_rate_bps,
                server_delay_ns,
                uplink_delay_ns,
                leaf_buffer_bytes: 200_000,
                spine_buffer_bytes: 200_000,
                segment_bytes,
                header_bytes: header + 1,
                wire_overhead_bytes,
                initial_window_segments,
                unresponsive_rate: rate,
                end_ns: 300_000_000,
                ..senders
            };
            Fabric::try_from(config).expect("valid")
        },
    )
}

/// A fabric, and flows of every transport and class between any two of its servers.
fn fabric_and_flows() -> impl Strategy<Value = (Fabric, Vec<Flow>)> {
    let classes = prop_oneof![
        Just((FlowClass::Single, Connection::Handshake)),
        Just((FlowClass::Incast(0), Connection::New)),
        Just((FlowClass::Incast(0), Connection::Reused)),
        Just((FlowClass::Collective(0), Connection::New)),
    ];
    let sizes = prop_oneof![1_u64..100, 1_u64..5_000, 1_u64..200_000];
    let flow = (0_u64..50_000, any::<u16>(), any::<u16>(), sizes, classes, 0..Transport::ALL.len());
    (fabrics(), prop::collection::vec(flow, 1..12)).prop_map(|(fabric, flows)| {
        let servers = fabric.servers();
        let flow = |(start_ns, from, step, size_bytes, (class, connection), transport)| {
            let from: u16 = from % servers;
            let to = (from + 1 + step % (servers - 1)) % servers;
            let transport = Transport::ALL[transport];
            Flow {
                start_ns,
                from,
                to,
                size_bytes,
                class,
                connection,
                transport,
                queue: 1,
                spines: None,
            }
        };
        let mut flows: Vec<Flow> = flows.into_iter().map(flow).collect();
        flows.sort_by_key(|flow| flow.start_ns);
        (fabric, flows)
    })
}

fn check(records: &[FlowRecord]) -> Result<(), TestCaseError> {
    for record in records {
        prop_assert!(record.slowdown().is_none_or(|slowdown| slowdown >= 1.0), "{record:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// All at once, and each alone.
    #[test]
    fn no_flow_is_faster_than_its_ideal((fabric, flows) in fabric_and_flows()) {
        check(&run(&fabric, flows.clone()))?;
        for flow in flows {
            let alone = run(&fabric, vec![flow]);
            // An unresponsive flow alone can still overflow the buffer before a slow uplink.
            let ends = alone[0].fct_ns.is_some() || flow.transport == Transport::Unresponsive;
            prop_assert!(ends, "nothing is in its way: {alone:?}");
            check(&alone)?;
        }
    }
}

/// The bound is close: a connected flow alone, without headers, takes its ideal time and that of storing
/// one segment at its leaf.
#[test]
fn a_connected_flow_alone_takes_little_more_than_its_ideal() {
    let config =
        FabricConfig { header_bytes: 1, wire_overhead_bytes: 0, ..FabricConfig::artifact() };
    let fabric = Fabric::try_from(config).expect("valid");
    let flow = Flow {
        start_ns: 0,
        from: 0,
        to: 1,
        size_bytes: 140_000,
        class: FlowClass::Incast(0),
        connection: Connection::New,
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    };
    let record = run(&fabric, vec![flow])[0];
    assert_eq!(record.ideal_fct_ns, 2 * 4_000 + 112_000);
    let slowdown = record.slowdown().expect("it completes");
    assert!((1.0..1.02).contains(&slowdown), "{slowdown}");
}
