//! The exported decision decides about every packet as `dropcast_switch::CredencePolicy` does.

mod any_calls;
mod arrivals;
mod compiled;
pub(crate) mod in_c;
mod in_dpdk;
pub(crate) mod in_ebpf;
pub(crate) mod in_rust;
pub(crate) mod in_verilog;
mod mutants;
mod swapped;

use crate::agreement::missing;
use crate::event_log::sample;
use crate::forests::{Shape, random_forest};
use arrivals::{PART, any_switch, crowds_and_trickles};
use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Event, EventFiles, EventKind, EventOptions, Scheduler, SwitchSpec, Victim};
use dropcast_export::{EmittedFile, ExportError, Origin, Target, export};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_runtime::{DriftRule, PacketVerdict, Situation};
use dropcast_switch::{
    Buffer, CredencePolicy, Fit, LineRate, Live, Observer, Packet, Removal, Switch, situation,
};
use dropcast_verify::VerifyError;
use in_c::{COMPILERS, Compiler};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;

/// Arrivals at a switch, its departures, and what Credence decided about each arrival.
struct Decided {
    /// 0 arrival or 1 departure, port, queue, bytes, low and high half of the time.
    records: Vec<[u32; 6]>,
    expected: Vec<PacketVerdict>,
}

/// Hears of the departures of the switch's own queues.
pub(crate) struct Departures<'a> {
    pub(crate) records: &'a mut Vec<[u32; 6]>,
    pub(crate) queues_per_port: usize,
}

impl Observer for Departures<'_> {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let (port, queue) =
            (removal.queue / self.queues_per_port, removal.queue % self.queues_per_port);
        self.records.push(record(1, [port, queue], removal.packet.size_bytes, removal.time));
    }
}

pub(crate) fn record(
    kind: u32,
    [port, queue]: [usize; 2],
    size_bytes: u32,
    time_ns: u64,
) -> [u32; 6] {
    [kind, port as u32, queue as u32, size_bytes, time_ns as u32, (time_ns >> 32) as u32]
}

/// Replays arrivals through Credence at line rate with the defaults of labels.
fn decided(model: &Model, events: &[Event], falls_back: bool) -> Decided {
    let spec = &model.spec;
    let (victim, fit) = (Victim::default(), Fit::default());
    let live = Live { features: model.features.clone(), oracle: model.forest.clone() };
    // With the description's slack, as in replays.
    let policy = CredencePolicy::new(spec, victim, fit, LineRate::new(spec), live);
    let policy = if falls_back { policy.falling_back(DriftRule::default()) } else { policy };
    let mut switch = Switch::new(spec, fit, policy, LineRate::new(spec));
    let (mut records, mut expected) = (Vec::new(), Vec::new());
    let queues_per_port = usize::from(spec.queues_per_port);
    let arrivals = events.iter().filter(|event| event.kind == EventKind::Arrival);
    for (id, event) in (0..).zip(arrivals) {
        let queue = spec.queue_index(event.port, event.queue);
        let packet = Packet::new(id, queue, event.size_bytes);
        let departures = &mut Departures { records: &mut records, queues_per_port };
        switch.advance(event.time_ns, departures);
        let size_bytes = switch.buffer().shared_part(queue, event.size_bytes);
        let before = situation(switch.buffer(), 0, &Packet { size_bytes, ..packet });
        let accepted = switch.admit(&packet, event.time_ns, departures);
        let threshold_bytes = switch.policy().thresholds()[queue];
        let after = Situation { threshold_bytes, slack_bytes: spec.slack_bytes, ..before };
        let verdict =
            if size_bytes == 0 { PacketVerdict::Accepted } else { after.decide(|| !accepted) };
        assert_eq!(verdict.accepts(), accepted);
        let place = [usize::from(event.port), usize::from(event.queue)];
        records.push(record(0, place, event.size_bytes, event.time_ns));
        expected.push(verdict);
    }
    Decided { records, expected }
}

/// A model and its switch.
struct Model {
    spec: SwitchSpec,
    features: FeatureSet,
    forest: Forest,
}

impl Model {
    /// Random trees whose thresholds are of the buffer's magnitude.
    fn random(spec: &SwitchSpec, features: &str, seed: u64) -> Self {
        let features: FeatureSet = features.parse().expect("known features");
        let largest = spec.buffer_bytes;
        let shape = Shape { trees: 4, depth: 4, features: features.len(), largest, stops: 10 };
        let forest = Forest { features: features.names(), ..random_forest(shape, seed) };
        Model { spec: spec.clone(), features, forest }
    }

    fn origin(&self) -> Origin {
        let mut origin = Origin::new("m", &"0".repeat(64), &self.features);
        origin.average_ns = Some(self.spec.base_rtt_ns);
        origin.buffer_bytes = Some(self.spec.buffer_bytes);
        origin.switch = Some(self.spec.clone());
        origin
    }
}

/// The files of a target.
fn files_of(model: &Model, target: &str) -> Vec<EmittedFile> {
    let target: Target = target.parse().expect("a target");
    export(&model.forest, &model.origin(), target).expect("exportable")
}

fn write_files(folder: &Path, model: &Model, target: &str) {
    for file in files_of(model, target) {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}

/// Compares every compiler's verdicts with Credence's; returns how often each verdict occurred.
fn agree(
    model: &Model,
    events: &[Event],
    packets: Option<u32>,
    compilers: &[Compiler],
) -> [u64; 5] {
    agree_if(model, events, packets, compilers, false)
}

/// The same with or without falling back.
fn agree_if(
    model: &Model,
    events: &[Event],
    packets: Option<u32>,
    compilers: &[Compiler],
    falls_back: bool,
) -> [u64; 5] {
    let decided = decided(model, events, falls_back);
    let codes: Vec<u8> = decided.expected.iter().map(|&verdict| code(verdict)).collect();
    let places = packets.map_or(65_535, |packets| packets as usize);
    let Model { spec, features, forest } = model;
    let in_rust = in_rust::decide(spec, features, forest, &decided.records, places, falls_back);
    assert_eq!(in_rust, decided.expected, "{features}, {spec:?}");
    if compilers.len() > 1 {
        let files = files_of(model, "ebpf");
        let in_kernel = in_ebpf::decide(&files, spec, &decided.records, packets, falls_back);
        assert!(in_kernel.is_none_or(|verdicts| verdicts == codes), "{features}, {spec:?}");
        let files = files_of(model, "verilog");
        for simulator in [in_verilog::ICARUS, in_verilog::VERILATOR] {
            let simulated =
                in_verilog::decide(&files, simulator, &decided.records, places, falls_back);
            let agrees = simulated.is_none_or(|verdicts| codes.starts_with(&verdicts));
            assert!(agrees, "{}: {features}, {spec:?}", simulator.command);
        }
    }
    for compiler in compilers {
        let files = files_of(model, compiler.target);
        let records = &decided.records;
        let verdicts = compiler.decide(&files, spec, records, packets, falls_back);
        let Some(verdicts) = verdicts else { continue };
        assert_eq!(verdicts.len(), codes.len());
        let differing = verdicts.iter().zip(&codes).filter(|(a, b)| a != b).count();
        let first = verdicts.iter().zip(&codes).position(|(a, b)| a != b);
        assert_eq!(
            differing,
            0,
            "{} of {} decisions differ, first {first:?}: {}, {}, {:?}",
            differing,
            codes.len(),
            compiler.tool.command,
            model.features,
            model.spec,
        );
    }
    let mut counts = [0; 5];
    for code in codes {
        counts[usize::from(code)] += 1;
    }
    counts
}

/// The order of the exported enum.
fn code(verdict: PacketVerdict) -> u8 {
    match verdict {
        PacketVerdict::Safeguarded => 0,
        PacketVerdict::Accepted => 1,
        PacketVerdict::NoRoom => 2,
        PacketVerdict::AboveThreshold => 3,
        PacketVerdict::PredictedDrop => 4,
    }
}

/// Adds up, and checks that every verdict but the rare ones occurred.
fn all_occur(counts: impl IntoIterator<Item = [u64; 5]>) {
    let mut sums = [0; 5];
    for count in counts {
        for (sum, count) in sums.iter_mut().zip(count) {
            *sum += count;
        }
    }
    assert!(sums.iter().all(|&sum| sum >= 100), "{sums:?}");
}

#[test]
#[ignore = "slow"]
fn every_packet_of_the_sample_is_decided_alike() {
    let input = sample();
    let counts = ["level4", "paper4", "cut1", "class1"].map(|features| {
        let model = Model::random(&input.spec, features, 1);
        agree(&model, &input.events, None, &COMPILERS)
    });
    assert_eq!(counts[0].iter().sum::<u64>(), 53_820);
    assert!(counts.iter().all(|counts| counts[4] > 0), "{counts:?}");
}

/// Packets of Linux's TCP at a live switch of 16 hosts (lab/notes/linux.md).
#[test]
fn every_packet_of_linux_is_decided_alike() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/samples/linux-events.parquet");
    let reader = EventFiles::open(&[path.into()], &EventOptions::default()).expect("events");
    let spec = reader.specs().get(0).expect("its switch").clone();
    let events: Vec<Event> = reader.flat_map(|batch| batch.expect("sound").events).collect();
    let model = Model::random(&spec, "level4", 1);
    let counts = agree(&model, &events, None, &COMPILERS);
    assert!(counts.iter().sum::<u64>() > 10_000 && counts[4] > 100, "{counts:?}");
}

#[test]
#[ignore = "slow"]
fn every_packet_of_generated_traces_is_decided_alike() {
    let features =
        ["level4", "paper4", "cut1", "carry4", "paper4,longest,rank", "cut1,class1,level1"];
    all_occur((1..10).map(|seed| {
        let workload = LeafWorkload {
            queues_per_port: if seed % 2 == 0 { 2 } else { 1 },
            ..LeafWorkload::small(seed)
        };
        let spec = workload.switch_spec().expect("valid");
        let events = events_of(&workload);
        let model = Model::random(&spec, features[seed as usize % features.len()], seed);
        let compilers = if seed < 3 { &COMPILERS } else { &COMPILERS[..1] };
        // Acknowledgements of 32 bytes.
        agree(&model, &events, Some(2000), compilers)
    }));
}

/// An oracle that is right while many packets arrive at once and wrong otherwise, so that the trust in
/// it comes and goes.
#[test]
fn every_packet_is_decided_alike_when_falling_back() {
    let split = |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let spec = SwitchSpec::uniform(4, 10_000_000_000, 60_000, 32_000);
    let features: FeatureSet = "occupancy,longest_gap".parse().expect("known features");
    // The buffer is nearly full, and the packet's queue nearly the longest.
    let nodes = vec![split(0, 57_000, 1, 2), leaf(0), split(1, 1500, 3, 4), leaf(255), leaf(0)];
    let trees = vec![Tree { nodes }];
    let forest = Forest { features: features.names(), vote_threshold: 127, trees };
    let model = Model { spec, features, forest };
    let events = crowds_and_trickles();
    let followed = agree_if(&model, &events, None, &COMPILERS, true);
    let always = agree_if(&model, &events, None, &COMPILERS[..1], false);
    assert!(followed[4] > 500 && always[4] > followed[4] + 500, "{followed:?} {always:?}");
    // By the second half of each part, predictions are followed, or not.
    let verdicts = decided(&model, &events, true).expected;
    let halves = verdicts.chunks(PART / 2).map(|half| half.contains(&PacketVerdict::PredictedDrop));
    let second_halves: Vec<bool> = halves.skip(1).step_by(2).collect();
    assert_eq!(second_halves, [true, false, true, false, true, false]);
}

/// The exported constants and memory, compiled by rustc.
#[test]
fn the_exported_rust_decides_alike() {
    let input = sample();
    for (features, spec, events) in [
        ("level4", input.spec.clone(), input.events),
        ("paper4", any_switch(4).0, any_switch(4).1),
        ("paper4,rank", any_switch(7).0, any_switch(7).1),
        ("class1,cut1", any_switch(3).0, any_switch(3).1),
        ("level4", SwitchSpec { reserved_bytes: vec![900, 0], ..any_switch(1).0 }, any_switch(1).1),
    ] {
        let model = Model::random(&spec, features, 1);
        let files = files_of(&model, "dct");
        let decided = decided(&model, &events, false);
        let (size, verdicts) = in_rust::compiled(&files, &spec, &decided.records);
        let expected: Vec<u8> = decided.expected.iter().map(|&verdict| code(verdict)).collect();
        assert!(verdicts == expected, "{features}");
        let text = String::from_utf8(files[1].bytes.clone()).expect("text");
        assert!(text.contains(&format!("// State: {size} bytes")), "{size}: {text}");
    }
}

fn events_of(workload: &LeafWorkload) -> Vec<Event> {
    workload.arrivals().expect("valid").flat_map(|batch| batch.events).collect()
}

/// Ports of different rates, every scheduler, transmit rings, queues that nothing is pushed out of,
/// packets of all sizes, many at the same time.
#[test]
#[ignore = "slow"]
fn every_packet_at_any_switch_is_decided_alike() {
    all_occur((0..18).map(|seed| {
        let (spec, events) = any_switch(seed);
        let features = [
            "level4,rank",
            "paper4,projected_occupancy,longest_gap",
            "occupancy,cut1,class1",
            "occupancy",
        ][seed as usize % 4];
        let model = Model::random(&spec, features, seed);
        // Each scheduler, and each set of features.
        let compilers = if [0, 2, 5, 8].contains(&seed) { &COMPILERS } else { &COMPILERS[..1] };
        agree(&model, &events, Some(70_000), compilers)
    }));
}

/// Queues with bytes beside the shared buffer, which they use first, and queues beside it altogether, under every scheduler.
#[test]
#[ignore = "slow"]
fn every_packet_with_reserved_bytes_is_decided_alike() {
    all_occur((0..18).map(|seed| {
        let (spec, events) = any_switch(seed);
        let reserved_bytes =
            (0..spec.queues_per_port).map(|queue| [3_000, 0, 700][usize::from(queue)]);
        let shared = (0..spec.queues_per_port).map(|queue| queue != 2 && (queue != 1 || seed < 9));
        let (reserved_bytes, shared) = (reserved_bytes.collect(), shared.collect());
        let spec = SwitchSpec { reserved_bytes, shared, ..spec };
        let features = match seed / 3 % 3 {
            0 => "level4,rank",
            1 => "paper4,longest_gap",
            // A queue outside the shared buffer moves no cut.
            _ if spec.shared.contains(&false) => "level4",
            _ => "cut1,class1",
        };
        let model = Model::random(&spec, features, seed);
        let compilers = if [1, 5, 8].contains(&seed) { &COMPILERS } else { &COMPILERS[..1] };
        agree(&model, &events, Some(70_000), compilers)
    }));
}

/// The kernel's verifier looks at one step of each scan, so that large switches load, whatever the
/// features and the scheduler.
#[test]
fn the_kernel_decides_alike_at_256_queues() {
    for (ports, features, scheduler) in [
        (20, "level4", Scheduler::RoundRobin),
        (128, "level4", Scheduler::RoundRobin),
        (128, "paper4", Scheduler::StrictPriority),
        (128, "level4,rank,longest", Scheduler::Dwrr),
    ] {
        let spec = SwitchSpec {
            queues_per_port: 2,
            pushable: vec![true; 2],
            shared: vec![true; 2],
            quantum_bytes: if scheduler == Scheduler::Dwrr { vec![700, 3000] } else { Vec::new() },
            scheduler,
            ..SwitchSpec::uniform(ports, 10_000_000_000, 400_000, 8_000)
        };
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut time_ns = 0;
        let event = |_| {
            time_ns += random.random_range(0..20);
            Event {
                time_ns,
                flow_hash: 0,
                size_bytes: random.random_range(64..=1500),
                switch_id: 0,
                port: random.random_range(0..ports) / random.random_range(1..9),
                queue: random.random_range(0..2),
                kind: EventKind::Arrival,
                flags: 0,
            }
        };
        let events: Vec<Event> = (0..20_000).map(event).collect();
        let model = Model::random(&spec, features, 3);
        let decided = decided(&model, &events, false);
        let codes: Vec<u8> = decided.expected.iter().map(|&verdict| code(verdict)).collect();
        assert!([0, 1, 4].iter().all(|code| codes.contains(code)), "{features}");
        let files = files_of(&model, "ebpf");
        let in_kernel = in_ebpf::decide(&files, &spec, &decided.records, None, false);
        assert!(in_kernel.is_none_or(|verdicts| verdicts == codes), "{features}, {scheduler:?}");
    }
}

/// Yosys finds no latch, no loop of logic and no wire with two drivers.
#[test]
fn yosys_takes_the_decision() {
    for (seed, features) in [(0, "level4,rank"), (8, "level4,rank"), (8, "paper4,class1,cut1")] {
        let (spec, _) = any_switch(seed);
        in_verilog::synthesisable(&files_of(&Model::random(&spec, features, seed), "verilog"));
    }
}

#[test]
fn what_the_decision_cannot_do_is_refused() {
    let (spec, _) = any_switch(5);
    let refused = |change: &dyn Fn(&mut Origin), features: &str, part: &str| {
        let model = Model::random(&spec, features, 1);
        let mut origin = model.origin();
        change(&mut origin);
        for target in ["c", "cpp"] {
            let error = export(&model.forest, &origin, target.parse().expect("a target"))
                .expect_err("refused");
            assert!(matches!(error, ExportError::Decision { .. }), "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    };
    let switch = |change: fn(&mut SwitchSpec)| {
        move |origin: &mut Origin| origin.switch.iter_mut().for_each(change)
    };
    refused(&|origin| origin.buffer_bytes = Some(1), "paper4", "rescale");
    refused(&|origin| origin.average_ns = Some(1), "paper4", "base RTT of 1 ns");
    refused(&|origin| origin.average_ns = None, "paper4", "no time constant");
    refused(&switch(|spec| spec.shared[0] = false), "cut1", "class1");
    refused(&switch(|spec| spec.transmit_ring_packets = 257), "occupancy", "transmit ring");
    refused(&switch(|spec| spec.queues_per_port = 33), "occupancy", "33 queues");
    refused(
        &switch(|spec| spec.line_rate_bps = vec![1_000_000_000; 2000]),
        "occupancy",
        "6000 queues",
    );
    let slow_and_large = switch(|spec| {
        spec.line_rate_bps[0] = 3;
        spec.wire_overhead_bytes = u32::MAX;
    });
    refused(&slow_and_large, "occupancy", "64 bits");
}

/// Without any compiler nothing is tested, which is an error in CI.
#[test]
fn there_is_a_compiler() {
    if COMPILERS.iter().all(|compiler| compiler.tool.find().is_err()) {
        missing(&VerifyError::missing("gcc or clang", "gcc"));
    }
}
