//! Time per packet at a switch under each policy and AQM, on one core, without a simulation around
//! it.
//!
//! `cargo bench -p dropcast-switch` prints nanoseconds per packet, arrival and departure together,
//! and the ratio to Complete Sharing. Fixed seed; the fastest of several passes counts, because
//! other load only slows a pass down. The last line is OPT for 10 million unit packets, what it takes to learn of all
//! arrivals included.

use dropcast_data::SwitchSpec;
use dropcast_switch::aqm::{Action, Aqm};
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape};
use dropcast_switch::{
    AqmSite, AqmSpec, Buffer, CompleteSharing, Decision, Fit, LineRate, NoObserver, Observer,
    OfflineOptimum, Packet, Policy, PolicyModel, PolicySite, PolicySpec, Removal, Slotted, Switch,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const PASSES: usize = 5;
const PACKETS: u64 = 500_000;

fn main() -> std::io::Result<()> {
    let spec = leaf();
    let arrivals = arrivals(&spec);
    let mut out = std::io::stdout().lock();
    let time = |build: &dyn Fn() -> Box<dyn Policy + Send>| fastest(&spec, &arrivals, build);
    let baseline = time(&|| Box::new(CompleteSharing));
    let mut print = |what: &str, name: &str, ns: f64| {
        writeln!(out, "{what:6} {name:24} {ns:6.1} ns/packet  {:5.2} x", ns / baseline)
    };
    for &name in PolicySpec::NAMES.iter().chain(&["abm:update_ns=0"]) {
        let policy: PolicySpec = name.parse().expect("a name");
        let ns = time(&|| policy.build(site(&spec, name)).expect("valid defaults"));
        print("policy", name, ns)?;
    }
    for &name in AqmSpec::NAMES {
        let aqm: AqmSpec = name.parse().expect("a name");
        let site = AqmSite { spec: &spec, seed: 1 };
        let ns = time(&|| Box::new(Asking(aqm.build(site).expect("valid defaults"))));
        print("aqm", name, ns)?;
    }
    let (packets, dropped, seconds) = optimum_of_unit_packets();
    writeln!(out, "OPT    {packets} unit packets, {dropped} dropped: {seconds:.2} s")
}

/// OPT at 16 ports and a buffer of 160: one slot in sixteen brings a burst of the whole buffer for one port.
fn optimum_of_unit_packets() -> (usize, usize, f64) {
    const QUEUES: usize = 16;
    let spec = SwitchSpec::uniform(QUEUES as u16, 1, 160, 1);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut arrivals = Vec::new();
    for slot in 0.. {
        let word = random.next_u64();
        let packets = if word.is_multiple_of(16) { 160 } else { 0 };
        arrivals.extend((0..packets).map(|_| (slot, (word >> 32) as usize % QUEUES)));
        if arrivals.len() >= 10_000_000 {
            break;
        }
    }
    let start = Instant::now();
    let policy = OfflineOptimum::slotted(QUEUES, arrivals.iter().copied());
    let mut switch = Switch::new(&spec, Fit::Exact, policy, Slotted::default());
    let mut dropped = Dropped(0);
    for (id, &(slot, queue)) in (0..).zip(&arrivals) {
        switch.advance(slot, &mut dropped);
        let accepted = switch.admit(&Packet::new(id, queue, 1), slot, &mut dropped);
        dropped.0 += usize::from(!accepted);
    }
    (arrivals.len(), dropped.0, start.elapsed().as_secs_f64())
}

/// Counts packets that are pushed out.
struct Dropped(usize);

impl Observer for Dropped {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0 += usize::from(removal.outcome.is_drop());
    }
}

/// A leaf of the papers: 16 servers and 4 spines at 10 Gbps, ACKs in a separate queue.
fn leaf() -> SwitchSpec {
    let mut spec = SwitchSpec::uniform(20, 10_000_000_000, 1_052_672, 32_000);
    spec.queues_per_port = 2;
    spec.pushable = vec![false, true];
    spec.shared = vec![true; 2];
    spec
}

fn site<'a>(spec: &'a SwitchSpec, name: &str) -> PolicySite<'a> {
    let network = NdtNetwork::neutral(NetworkShape::default()).expect("valid defaults");
    let model = (name == "ndt").then_some(PolicyModel::Network(network));
    PolicySite { model, ..PolicySite::new(spec, 1) }
}

/// Packets of 1,440 bytes at 90% load, in bursts of 16 to 256 packets for one port each, from 16
/// senders at once.
fn arrivals(spec: &SwitchSpec) -> Vec<(u64, Packet)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw = |below: u64| random.next_u64() % below;
    let ports = spec.ports() as u64;
    let mut arrivals = Vec::new();
    let mut begin_ns = 0;
    while (arrivals.len() as u64) < PACKETS {
        let (port, packets, flow) = (draw(ports), 16 << draw(5), draw(u64::MAX));
        for number in 0..packets {
            let flow_hash = flow ^ (number % 16);
            let flags = Packet::ECN_CAPABLE | u8::from(number < 32);
            let packet =
                Packet { flow_hash, flags, ..Packet::new(0, 2 * port as usize + 1, 1_440) };
            arrivals.push((begin_ns + number * 1_152 / 16, packet));
        }
        begin_ns += packets * 1_152 * 10 / (9 * ports);
    }
    arrivals.sort_by_key(|&(time_ns, _)| time_ns);
    for ((_, packet), id) in arrivals.iter_mut().zip(0..) {
        packet.id = id;
    }
    arrivals
}

/// Nanoseconds per packet in the fastest pass.
fn fastest(
    spec: &SwitchSpec,
    arrivals: &[(u64, Packet)],
    build: &dyn Fn() -> Box<dyn Policy + Send>,
) -> f64 {
    let pass = |_| {
        let mut switch = Switch::new(spec, Fit::Exact, build(), LineRate::new(spec));
        let start = Instant::now();
        for (now_ns, packet) in arrivals {
            switch.advance(*now_ns, &mut NoObserver);
            black_box(switch.admit(packet, *now_ns, &mut NoObserver));
        }
        start.elapsed().as_secs_f64() * 1e9 / arrivals.len() as f64
    };
    (0..PASSES).map(pass).fold(f64::INFINITY, f64::min)
}

/// Complete Sharing behind an AQM.
struct Asking(Box<dyn Aqm + Send>);

impl Policy for Asking {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        match self.0.arrives(buffer, packet, now) {
            Action::Drop => Decision::Reject,
            Action::Pass | Action::Mark => CompleteSharing.decide(buffer, packet, now),
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.0.departed(buffer, queue, size_bytes, time);
    }
}
