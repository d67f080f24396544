//! The program of docs/c-header.md around the decision in C, run by DPDK between captures.

use super::in_c::COMPILERS;
use super::{Model, code, decided};
use crate::dpdk_switch::{DPDK, Frame, Served, compile, run, write_capture, write_program};
use crate::event_log::sample;
use crate::replay::found;
use dropcast_data::{Event, EventKind, Scheduler};
use dropcast_export::{Origin, export};
use std::fs;
use std::path::Path;

/// Every packet of the sample is accepted or dropped as by Credence in a switch at line rate, and sent in
/// the same order.
#[test]
fn the_pages_program_decides_alike() {
    let Some(dpdk) = found(DPDK) else { return };
    let input = sample();
    let arrivals: Vec<&Event> =
        input.events.iter().filter(|event| event.kind == EventKind::Arrival).collect();
    let model = Model::random(&input.spec, "level4", 1);
    assert_eq!(model.spec.scheduler, Scheduler::RoundRobin, "as the page's program");
    let decided = decided(&model, &input.events, false);
    let mut verdicts = vec![0; 5];
    decided.expected.iter().for_each(|verdict| verdicts[usize::from(code(*verdict))] += 1);
    assert!(verdicts[3..].iter().all(|&count| count > 0), "{verdicts:?}");
    let mut accepted = decided.expected.iter().map(|verdict| verdict.accepts());
    let served = Served::new(
        &model.spec,
        decided.records.iter().map(|&[kind, port, queue, ..]| {
            let accepted = (kind == 0).then(|| accepted.next().expect("a verdict"));
            (port as usize, queue as usize, accepted)
        }),
    );
    let frame = |event: &&Event| {
        let &&Event { time_ns, port, queue, size_bytes, .. } = event;
        Frame { time_ns, port, queue, size_bytes }
    };
    let frames: Vec<Frame> = arrivals.iter().map(frame).collect();
    for compiler in &COMPILERS[..2] {
        let Some(tool) = found(compiler.tool) else { continue };
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_program(folder.path());
        write_headers(folder.path(), &model);
        write_capture(&folder.path().join("in.pcap"), &frames);
        compile(&tool, &dpdk, folder.path(), &["-DPACKET_CLOCK"]);
        let outcome = run(folder.path(), model.spec.ports(), arrivals.len());
        assert_eq!(outcome.verdicts, verdicts);
        served.check(&outcome.sent);
        compile(&tool, &dpdk, folder.path(), &[]);
        let outcome = run(folder.path(), model.spec.ports(), arrivals.len());
        assert_eq!(outcome.verdicts.iter().sum::<usize>(), arrivals.len());
        let sent: usize = outcome.sent.iter().map(Vec::len).sum();
        assert_eq!(sent, outcome.verdicts[0] + outcome.verdicts[1]);
    }
}

/// The headers that the program includes.
fn write_headers(folder: &Path, model: &Model) {
    let origin = Origin { model_name: "example".to_owned(), ..model.origin() };
    let files = export(&model.forest, &origin, "c".parse().expect("a target"));
    for file in files.expect("exportable") {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}
