//! The program of docs/dpdk.md around policies on a switch's own queues.

use crate::decision::in_c::COMPILERS;
use crate::dpdk_switch::{DPDK, Frame, Served, compile, run, write_capture, write_program};
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_export::{PacketArrival, PolicyCode};
use dropcast_switch::policies::fab::FabParameters;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;

/// Four ports of 10 Gbps, the rate of DPDK's capture device.
fn switch() -> SwitchSpec {
    SwitchSpec {
        queues_per_port: 2,
        pushable: vec![true; 2],
        shared: vec![true; 2],
        wire_overhead_bytes: 24,
        ..SwitchSpec::uniform(4, 10_000_000_000, 60_000, 8_000)
    }
}

/// Bursts of ten flows of ten packets towards one queue, and single packets for others.
fn frames(spec: &SwitchSpec) -> Vec<Frame> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut now, mut frames) = (0, Vec::new());
    for burst in 0..80 {
        now += random.random_range(0..60_000);
        let port = random.random_range(0..spec.ports() as u16);
        for number in 0..100 {
            now += random.random_range(100..300);
            let flow = burst * 16 + number % 10;
            frames.push(Frame { time_ns: now, port, queue: 1, size_bytes: 1_400, flow });
            if random.random_range(0..3) == 0 {
                let port = random.random_range(0..spec.ports() as u16);
                let size_bytes = random.random_range(64..1_400);
                let flow = 100_000 + u32::from(port);
                frames.push(Frame { time_ns: now, port, queue: 0, size_bytes, flow });
            }
        }
    }
    frames
}

/// Each decides as the policy in a switch at line rate, and each port sends the same packets in the same order.
#[test]
fn the_pages_program_decides_as_the_policies() {
    let Some(dpdk) = found(DPDK) else { return };
    let spec = switch();
    let frames = frames(&spec);
    let mut all_verdicts = Vec::new();
    for (code, compiler) in [
        (PolicyCode::SpareTails(SpareTailsParameters::default()), 0),
        (PolicyCode::Fab(FabParameters::default()), 1),
    ] {
        let Some(tool) = found(COMPILERS[compiler].tool) else { continue };
        let arrivals = frames.iter().map(|frame| PacketArrival {
            time_ns: frame.time_ns,
            queue: spec.queue_index(frame.port, frame.queue),
            size_bytes: frame.size_bytes,
            flow_hash: Frame::flow_hash(frame.flow),
        });
        let packets = code.decided(&spec, arrivals).expect("decided");
        let served = Served::new(
            &spec,
            packets.events.iter().map(|event| (event.port, event.queue, event.accepted)),
        );
        let verdicts: Vec<bool> = packets.verdicts().collect();
        let accepted = verdicts.iter().filter(|&&accepted| accepted).count();
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_program(folder.path());
        for file in code.files(&spec).expect("a switch that it knows") {
            fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
        }
        write_capture(&folder.path().join("in.pcap"), &frames);
        compile(&tool, &dpdk, folder.path(), &["-DPACKET_CLOCK"]);
        let outcome = run(folder.path(), spec.ports(), frames.len());
        assert_eq!(outcome.verdicts, [frames.len() - accepted, accepted], "{code:?}");
        served.check(&outcome.sent);
        assert!(
            !all_verdicts.contains(&verdicts),
            "packets that do not tell {code:?} from another"
        );
        all_verdicts.push(verdicts);
    }
}
