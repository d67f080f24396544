//! `dropcast-runtime`'s Credence, which runs in caller-owned memory, against the policy of the same
//! name: decision for decision, threshold for threshold, on random traffic at line rate.

use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::{BufferView, Feature, FeatureSet};
use dropcast_runtime::{
    Average, ClassState, DropOracle, Memory, NotReady, PacketState, PacketVerdict, PortState,
    QueueState, Service, SwitchConstants,
};
use dropcast_switch::{
    Buffer, CredencePolicy, Fit, LineRate, Live, Observer, Packet, Removal, Switch, Victim,
};
use proptest::prelude::*;

/// An arrival: time, queue, bytes.
type Arrival = (u64, usize, u32);

/// A predictor that depends on every feature, and on nothing else.
#[derive(Clone, Copy, Debug)]
struct Hash {
    seed: u64,
    drops_in_256: u64,
}

impl DropOracle for Hash {
    fn predicts_drop(&self, features: &[u32]) -> bool {
        let mix = |hash: u64, &value: &u32| {
            (hash ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        features.iter().fold(self.seed, mix) % 256 < self.drops_in_256
    }
}

/// Packets that left, and where from.
#[derive(Default)]
struct Left(Vec<(u64, usize, u32)>);

impl Observer for Left {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::Departed {
            self.0.push((removal.time, removal.queue, removal.packet.size_bytes));
        }
    }
}

/// The memory of an oracle.
struct Owned {
    ports: Vec<PortState>,
    queues: Vec<QueueState>,
    packets: Vec<PacketState>,
    heard_ns: Vec<u64>,
    classes: Vec<ClassState>,
    averages: Vec<Average>,
}

impl Owned {
    fn new(spec: &SwitchSpec, packets: usize) -> Self {
        let queues = spec.queues();
        Owned {
            ports: vec![PortState::IDLE; spec.ports()],
            queues: vec![QueueState::EMPTY; queues],
            packets: vec![PacketState::FREE; packets],
            heard_ns: vec![7; queues],
            classes: vec![ClassState::EMPTY; Memory::CLASSES],
            averages: vec![Average::ZERO; queues + 1],
        }
    }

    fn borrowed(&mut self) -> Memory<'_> {
        Memory {
            ports: &mut self.ports,
            queues: &mut self.queues,
            packets: &mut self.packets,
            heard_ns: &mut self.heard_ns,
            classes: &mut self.classes,
            averages: &mut self.averages,
            rings: &mut [],
            deficits: &mut [],
            reserves: &mut [],
        }
    }
}

fn constants(spec: &SwitchSpec, slack_bytes: u32) -> SwitchConstants<'_> {
    SwitchConstants {
        queues_per_port: spec.queues_per_port.into(),
        buffer_bytes: spec.buffer_bytes,
        base_rtt_ns: spec.base_rtt_ns,
        line_rate_bps: &spec.line_rate_bps,
        service: Service::RoundRobin,
        wire_overhead_bytes: spec.wire_overhead_bytes,
        transmit_ring_packets: 0,
        slack_bytes,
        reserved_bytes: &spec.reserved_bytes,
        pushable: u32::MAX,
    }
}

/// Codes of features that are gone, and that of the user's own.
#[test]
fn what_it_does_not_keep_is_refused_by_its_code() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 9_000, 2_000);
    for code in [14, 15, Feature::OWN_CODE] {
        let mut memory = Owned::new(&spec, 1);
        let hash = Hash { seed: 0, drops_in_256: 0 };
        let codes = [0, code];
        let credence = dropcast_runtime::Credence::with_oracle(
            constants(&spec, 0),
            memory.borrowed(),
            &codes,
            hash,
        );
        assert_eq!(credence.err(), Some(NotReady::UnknownFeature(code)));
    }
}

/// Runs both; they must agree. Returns how many packets were dropped and accepted.
fn agree(
    spec: &SwitchSpec,
    slack_bytes: u32,
    arrivals: &[Arrival],
    hash: Hash,
) -> Result<[usize; 2], TestCaseError> {
    let features = FeatureSet::all();
    let codes: Vec<u8> = features.features().iter().map(|feature| feature.code()).collect();
    let service = LineRate::new(spec);
    let live = Live { features, oracle: hash };
    let policy = CredencePolicy::new(spec, Victim::Tail, Fit::Exact, service.clone(), live)
        .with_slack(slack_bytes);
    let mut switch = Switch::new(spec, Fit::Exact, policy, service);
    let mut memory = Owned::new(spec, arrivals.len().max(1));
    let switch_constants = constants(spec, slack_bytes);
    let mut credence =
        dropcast_runtime::Credence::with_oracle(switch_constants, memory.borrowed(), &codes, hash)
            .expect("it is ready");
    let place = |queue: usize| {
        let per_port = usize::from(spec.queues_per_port);
        ((queue / per_port) as u32, (queue % per_port) as u32)
    };
    let mut counts = [0; 2];
    for (id, &(now, queue, size_bytes)) in (0..).zip(arrivals) {
        let packet = Packet::new(id, queue, size_bytes);
        let mut left = Left::default();
        switch.advance(now, &mut left);
        for (time, queue, size_bytes) in left.0 {
            let (port, queue) = place(queue);
            credence.departure(port, queue, size_bytes, time);
        }
        let (port, own) = place(queue);
        let verdict = credence.arrival(port, own, size_bytes, now);
        let accepted = switch.admit(&packet, now, &mut Left::default());
        prop_assert_eq!(verdict.accepts(), accepted, "packet {}: {:?}", id, verdict);
        for queue in 0..spec.queues() {
            let (port, own) = place(queue);
            let threshold = switch.policy().thresholds()[queue];
            prop_assert_eq!(credence.threshold_bytes(port, own), threshold, "packet {}", id);
            prop_assert_eq!(credence.queue_bytes(port, own), switch.buffer().lengths()[queue]);
        }
        prop_assert_eq!(credence.occupancy_bytes(), switch.buffer().occupancy_bytes());
        counts[usize::from(accepted)] += 1;
    }
    Ok(counts)
}

/// Bursts: packets with their gaps, towards few queues.
fn arrivals(queues: usize, most_bytes: u32, most_gap: u64) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0), 1 => 0..=most_gap];
    prop::collection::vec((gap, 0..queues, 1..=most_bytes), 0..200).prop_map(|packets| {
        let mut now = 0;
        let at = |(gap, queue, bytes)| {
            now += gap;
            (now, queue, bytes)
        };
        packets.into_iter().map(at).collect()
    })
}

fn hashes() -> impl Strategy<Value = Hash> {
    (any::<u64>(), prop_oneof![Just(0), 0_u64..=256])
        .prop_map(|(seed, drops_in_256)| Hash { seed, drops_in_256 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Packets of any size, even larger than the buffer, at line rate; several queues per port.
    #[test]
    fn decides_alike_at_line_rate(
        (ports, per_port, arrivals) in (1_u16..5, 1_u8..3).prop_flat_map(|(ports, per_port)| {
            let queues = usize::from(ports) * usize::from(per_port);
            (Just(ports), Just(per_port), arrivals(queues, 1500, 3000))
        }),
        buffer in prop_oneof![1000_u32..9000, 9000_u32..60_000],
        slack_bytes in prop_oneof![Just(0), 0_u32..3000, Just(u32::MAX)],
        hash in hashes(),
    ) {
        let mut spec = SwitchSpec::uniform(ports, 8_000_000_000, buffer, 2000);
        spec.queues_per_port = per_port;
        spec.shared = vec![true; usize::from(per_port)];
        spec.pushable = vec![true; usize::from(per_port)];
        spec.quantum_bytes = vec![1500; usize::from(per_port)];
        agree(&spec, slack_bytes, &arrivals, hash)?;
    }
}

/// Not vacuous: a loaded switch accepts and drops many packets.
#[test]
fn a_long_incast_is_decided_alike() {
    let spec = SwitchSpec::uniform(8, 8_000_000_000, 60_000, 5_000);
    let arrivals: Vec<Arrival> = (0..60_000_u64)
        .map(|at| (at * 150, (at * at % 11 % 8) as usize, 64 + (at * 7919 % 1437) as u32))
        .collect();
    let hash = Hash { seed: 3, drops_in_256: 30 };
    let counts = agree(&spec, 0, &arrivals, hash).expect("they agree");
    assert!(counts.iter().all(|&count| count > 2_000), "{counts:?}");
}

/// With too few places for packets, thresholds are lower, and nothing else goes wrong.
#[test]
fn too_few_places_make_it_careful() {
    let spec = SwitchSpec::uniform(2, 1, 100, 1);
    let mut memory = Owned::new(&spec, 3);
    let never = Hash { seed: 0, drops_in_256: 0 };
    let mut credence =
        dropcast_runtime::Credence::with_oracle(constants(&spec, 0), memory.borrowed(), &[], never)
            .expect("it is ready");
    // The port takes the first packet at once; three more are held, and no other finds a place.
    for _ in 0..5 {
        assert_eq!(credence.arrival(0, 0, 10, 1), PacketVerdict::Safeguarded);
    }
    assert_eq!((credence.threshold_bytes(0, 0), credence.unheld()), (30, 1));
    assert_eq!(credence.arrival(0, 0, 10, 1), PacketVerdict::AboveThreshold);
    // Port 1 is idle too, but nothing can be held for it.
    assert_eq!(credence.arrival(1, 0, 10, 1), PacketVerdict::AboveThreshold);
    assert_eq!(credence.occupancy_bytes(), 50);
}
