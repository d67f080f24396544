//! What takes flows apart by their hashes uses all of its slots: tables of flows, PRED's bitmap, paths.

use dropcast_data::{Event, EventBatch, EventOptions, EventReader, SwitchSpec, SwitchSpecs};
use dropcast_fabric::{
    Connection, Fabric, FabricConfig, Flow, FlowClass, FlowList, PacketEvents, Simulation,
    Transport,
};
use dropcast_features::flow_slot;
use dropcast_switch::PolicySpec;
use dropcast_switch::aqm::pred::FlowCounter;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const SPINES: u16 = 4;
const SERVERS: u16 = 8;

/// The hash of each flow of a fabric, both ways, and the spine that it went through.
fn fabric_flows() -> BTreeMap<u64, u16> {
    let config = FabricConfig { leaves: 2, spines: SPINES, servers: SERVERS, ..Default::default() };
    let fabric = Fabric::try_from(config).expect("valid");
    let flow = |number: u64| Flow {
        start_ns: number * 300,
        from: (number % u64::from(SERVERS)) as u16,
        to: SERVERS + (number / 8 % u64::from(SERVERS)) as u16,
        size_bytes: 1_000,
        class: FlowClass::Single,
        connection: Connection::Handshake,
        transport: Transport::Dctcp,
        queue: 0,
        spines: None,
    };
    let list = FlowList::new((0..6_000).map(flow).collect());
    let policy: PolicySpec = "complete-sharing".parse().expect("a policy");
    let simulation = Simulation::new(&fabric, |_, site| policy.build(site), list).expect("valid");
    let mut flows = BTreeMap::new();
    let mut events = PacketEvents::new(|batch: EventBatch| {
        for event in batch.events.iter().filter(|event| event.switch_id >= 2) {
            flows.insert(event.flow_hash, event.switch_id - 2);
        }
    });
    simulation.run(&mut events).expect("they fit");
    let _ = events.finish();
    flows
}

fn hashes(events: impl Iterator<Item = Event>) -> Vec<u64> {
    events.map(|event| event.flow_hash).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Flows between 16 servers, from ports that follow each other, as an Ethernet capture of UDP.
fn captured() -> Vec<u64> {
    let word = |word: u32| word.to_le_bytes();
    let header = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1];
    let mut capture: Vec<u8> = header.into_iter().flat_map(word).collect();
    for number in 0..8_000_u32 {
        let (from, to) = (number as u8 % 16, number as u8 / 16 % 16);
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 46, 0, 1];
        frame.extend([0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
        frame.extend((32_768 + number as u16).to_be_bytes());
        frame.extend([0, 80, 0, 26, 0, 0]);
        frame.resize(60, 0);
        capture.extend([0, number * 1_000, 60, 60].into_iter().flat_map(word));
        capture.extend(frame);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("port0.pcap");
    fs::write(&path, capture).expect("written");
    let specs = Some(SwitchSpecs::Same(SwitchSpec::uniform(1, 10_000_000_000, 1_000_000, 1_000)));
    let options = EventOptions { specs, port: Some(0), ..EventOptions::default() };
    let reader = EventReader::open(&path, options).expect("a capture");
    hashes(reader.flat_map(|batch| batch.expect("sound").events))
}

/// Pearson's statistic of flows in equally likely slots, in standard deviations from its mean.
fn excess(slots: usize, of_flows: impl Iterator<Item = usize>) -> f64 {
    let mut counts = vec![0.0; slots];
    of_flows.for_each(|slot| counts[slot] += 1.0);
    let expected = counts.iter().sum::<f64>() / slots as f64;
    let squares = counts.iter().map(|count: &f64| (count - expected).powi(2) / expected);
    let freedom = (slots - 1) as f64;
    (squares.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// How many flows PRED counts in groups of 60, in standard errors from what 120 equally likely bits give.
fn counted(flows: &[u64]) -> f64 {
    let (bits, group) = (120.0_f64, 60.0);
    let of_group = |flows: &[u64]| {
        let mut counter = FlowCounter::new(u64::MAX);
        flows.iter().for_each(|&flow| counter.arrives(flow, 0));
        f64::from(counter.estimate())
    };
    let groups: Vec<f64> = flows.chunks_exact(60).map(of_group).collect();
    let (empty, two_empty) = ((1.0 - 1.0 / bits).powf(group), (1.0 - 2.0 / bits).powf(group));
    let variance = bits * empty + bits * (bits - 1.0) * two_empty - (bits * empty).powi(2);
    let mean = groups.iter().sum::<f64>() / groups.len() as f64;
    (mean - bits * (1.0 - empty)) / (variance / groups.len() as f64).sqrt()
}

/// Hashes in an order that is not theirs.
fn shuffled(mut flows: Vec<u64>) -> Vec<u64> {
    flows.sort_by_key(|flow| flow.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    flows
}

#[test]
fn every_slot_of_what_counts_flows_is_used() {
    let fabric = fabric_flows();
    let sources = [("fabric", fabric.keys().copied().collect()), ("capture", captured())];
    for (source, flows) in sources {
        assert!(flows.len() > 5_000 && !flows.contains(&0), "{source}: {}", flows.len());
        // FAB, Intelligent Buffer and the features of flows have a slot for the last bits.
        for slots in [2, 16, 512, 8_192] {
            let excess = excess(slots, flows.iter().map(|&flow| flow_slot(flow, slots)));
            assert!(excess.abs() < 5.0, "{source}: {slots} slots, {excess}");
        }
        let counted = counted(&shuffled(flows));
        assert!(counted.abs() < 5.0, "{source}: PRED, {counted}");
    }
    let excess = excess(usize::from(SPINES), fabric.values().map(|&spine| spine.into()));
    assert!(excess.abs() < 5.0, "paths: {excess}");
}
