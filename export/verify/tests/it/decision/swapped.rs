//! A new model takes over the state of a running decision: C as shared libraries, eBPF by pinned maps, and in Rust.

use super::in_c::{GCC, WARNINGS, fed};
use super::in_ebpf;
use super::in_rust::{decide_by_turns, replaced};
use super::{Departures, Model, any_switch, files_of, record};
use crate::event_log::sample;
use crate::replay::found;
use dropcast_data::{Event, EventKind, SwitchSpec, Victim};
use dropcast_forest::{Forest, Node};
use dropcast_runtime::{DropOracle, NotReady};
use dropcast_switch::{CredencePolicy, Fit, LineRate, Live, Packet, Switch};
use dropcast_verify::FoundTool;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

/// How threads share what decides.
const NEXT_MODEL: &str = include_str!("../../../../../docs/programs/next_model.h");

/// Two forests, of which the second decides once `is_second` is set.
struct Swapped {
    forests: [Forest; 2],
    is_second: Rc<Cell<bool>>,
}

impl DropOracle for Swapped {
    fn predicts_drop(&self, features: &[u32]) -> bool {
        self.forests[usize::from(self.is_second.get())].predicts_drop(features)
    }
}

/// Arrivals and departures, and whether each arrival is accepted; and where the second forest takes over.
fn decided(models: [&Model; 2], events: &[Event]) -> (Vec<[u32; 6]>, Vec<bool>, usize) {
    let Model { spec, features, .. } = models[0];
    let is_second = Rc::new(Cell::new(false));
    let oracle =
        Swapped { forests: models.map(|of| of.forest.clone()), is_second: is_second.clone() };
    let live = Live { features: features.clone(), oracle };
    let (victim, fit) = (Victim::default(), Fit::default());
    let policy = CredencePolicy::new(spec, victim, fit, LineRate::new(spec), live);
    let mut switch = Switch::new(spec, fit, policy, LineRate::new(spec));
    let queues_per_port = usize::from(spec.queues_per_port);
    let (mut records, mut accepted, mut half) = (Vec::new(), Vec::new(), 0);
    let arrivals: Vec<&Event> =
        events.iter().filter(|event| event.kind == EventKind::Arrival).collect();
    for (id, event) in (0..).zip(&arrivals) {
        let departures = &mut Departures { records: &mut records, queues_per_port };
        switch.advance(event.time_ns, departures);
        if id as usize == arrivals.len() / 2 {
            is_second.set(true);
            half = records.len();
        }
        let packet = Packet::new(id, spec.queue_index(event.port, event.queue), event.size_bytes);
        let departures = &mut Departures { records: &mut records, queues_per_port };
        accepted.push(switch.admit(&packet, event.time_ns, departures));
        let place = [usize::from(event.port), usize::from(event.queue)];
        records.push(record(0, place, event.size_bytes, event.time_ns));
    }
    (records, accepted, half)
}

fn library(gcc: &FoundTool, folder: &Path, model: &Model, name: &str) {
    let own = folder.join(name);
    fs::create_dir(&own).expect("a folder");
    for file in files_of(model, "c") {
        fs::write(own.join(file.name), file.bytes).expect("written");
    }
    let rates: Vec<String> =
        model.spec.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
    let text = include_str!("library.c").replace("LINE_RATES", &rates.join(", "));
    fs::write(own.join("library.c"), text).expect("written");
    compiled(gcc, &own, &["-std=c99", "-shared", "-fPIC", "library.c", "-o", "library.so"]);
}

fn compiled(gcc: &FoundTool, folder: &Path, arguments: &[&str]) {
    let output = gcc.in_folder(folder).arg("-O2").args(&WARNINGS[..2]).args(arguments).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn swapped(
    gcc: &FoundTool,
    models: [&Model; 2],
    records: &[[u32; 6]],
    half: i64,
) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    library(gcc, folder.path(), models[0], "first");
    library(gcc, folder.path(), models[1], "second");
    fs::write(folder.path().join("swapped.c"), include_str!("swapped.c")).expect("written");
    fs::write(folder.path().join("next_model.h"), NEXT_MODEL).expect("written");
    compiled(gcc, folder.path(), &["-pthread", "swapped.c", "-o", "swapped", "-ldl"]);
    let mut program = Command::new(folder.path().join("swapped"));
    program.args(["first", "second"].map(|name| folder.path().join(name).join("library.so")));
    program.arg(half.to_string());
    let is_refused = records.is_empty() && program.status().expect("it starts").code() == Some(3);
    if is_refused { None } else { Some(fed(&mut program, records)) }
}

#[test]
fn a_new_model_takes_over_a_running_state() {
    let Some(gcc) = found(GCC) else { return };
    let input = sample();
    for (spec, events, features) in
        [(input.spec.clone(), input.events, "level4"), (any_switch(4).0, any_switch(4).1, "paper4")]
    {
        let [first, second] = [3, 4].map(|seed| Model::random(&spec, features, seed));
        let (records, accepted, half) = decided([&first, &second], &events);
        let at = half as i64;
        let verdicts = swapped(&gcc, [&first, &second], &records, at).expect("one layout");
        let by_libraries: Vec<bool> = verdicts.iter().map(|&verdict| verdict <= 1).collect();
        assert!(by_libraries == accepted, "{features}");
        let Model { features, forest, .. } = &first;
        let forests = [forest, &second.forest];
        let verdicts = decide_by_turns(&spec, features, forests, &records, half, 65_535, false);
        assert!(
            verdicts.iter().map(|verdict| verdict.accepts()).eq(accepted.iter().copied()),
            "{features}"
        );
        // It matters which forest decides.
        let alone = swapped(&gcc, [&first, &first], &records, at).expect("one layout");
        assert!(alone.iter().map(|&verdict| verdict <= 1).ne(accepted), "{features}");
    }
}

/// A model, and one of half its weights and half its vote threshold: they decide alike, but the trees of one under the vote of
/// the other do not.
fn twins(spec: &SwitchSpec, features: &str) -> [Model; 2] {
    let halved = |model: Model, by: u8| {
        let mut forest = model.forest;
        forest.vote_threshold = forest.vote_threshold / 2 * 2 / u32::from(by);
        for node in forest.trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
            if let Node::Leaf { weight } = node {
                *weight = *weight / 2 * 2 / by;
            }
        }
        Model { forest, ..model }
    };
    [1, 2].map(|by| halved(Model::random(spec, features, 3), by))
}

/// Twins replace each other all the time; each verdict must be what one alone says.
#[test]
fn no_packet_meets_two_models_while_libraries_take_turns() {
    let Some(gcc) = found(GCC) else { return };
    let input = sample();
    for features in ["level4", "paper4"] {
        let [first, second] = twins(&input.spec, features);
        let (records, accepted, _) = decided([&first, &second], &input.events);
        let verdicts = swapped(&gcc, [&first, &second], &records, -1).expect("one layout");
        let is_accepted = |verdicts: Vec<u8>| verdicts.into_iter().map(|verdict| verdict <= 1);
        assert!(is_accepted(verdicts).eq(accepted.iter().copied()), "{features}");
        // A mixture would be noticed.
        let vote_threshold = second.forest.vote_threshold;
        let mixed = Model { forest: Forest { vote_threshold, ..first.forest.clone() }, ..second };
        let verdicts = swapped(&gcc, [&first, &mixed], &records, -1).expect("one layout");
        assert!(is_accepted(verdicts).ne(accepted), "{features}");
    }
}

/// The same at a network interface, where XDP programs of twins are attached by turns while frames come in.
#[test]
#[ignore = "slow"]
fn no_frame_meets_two_models_while_programs_take_turns() {
    let input = sample();
    for features in ["level4", "paper4"] {
        let [first, second] = twins(&input.spec, features);
        let (records, accepted, _) = decided([&first, &second], &input.events);
        let vote_threshold = second.forest.vote_threshold;
        let mixed = Forest { vote_threshold, ..first.forest.clone() };
        let mixed =
            Model { spec: input.spec.clone(), features: first.features.clone(), forest: mixed };
        let [first, second, mixed] = [first, second, mixed].map(|of| files_of(&of, "ebpf"));
        let passed = in_ebpf::decide_at_an_interface([&first, &second], &input.spec, &records);
        let Some(passed) = passed else { return };
        assert!(passed == accepted, "{features}");
        // A mixture would be noticed.
        let passed = in_ebpf::decide_at_an_interface([&first, &mixed], &input.spec, &records);
        assert!(passed.expect("permitted") != accepted, "{features}");
    }
}

/// The second program is loaded over the maps that the first has pinned, between two frames; the first is unloaded.
#[test]
fn a_new_program_takes_over_pinned_maps() {
    let input = sample();
    let wide = any_switch(4);
    for (spec, events, features) in
        [(input.spec.clone(), input.events, "level4"), (wide.0, wide.1, "paper4")]
    {
        let [first, second] = [3, 4].map(|seed| Model::random(&spec, features, seed));
        let (records, accepted, half) = decided([&first, &second], &events);
        let [files, next] = [&first, &second].map(|model| files_of(model, "ebpf"));
        let verdicts = in_ebpf::decide_by_turns([&files, &next], &spec, &records, half);
        let Some(verdicts) = verdicts else { return };
        let is_accepted = |verdicts: Vec<u8>| verdicts.into_iter().map(|verdict| verdict <= 1);
        assert!(
            is_accepted(verdicts.expect("one layout")).eq(accepted.iter().copied()),
            "{features}"
        );
        // It matters which program decides.
        let alone = in_ebpf::decide_by_turns([&files, &files], &spec, &records, half);
        let alone = alone.expect("permitted").expect("one layout");
        assert!(is_accepted(alone).ne(accepted), "{features}");
    }
}

/// Features that need more memory than the maps have.
#[test]
fn the_kernel_refuses_a_program_over_smaller_maps() {
    let spec = SwitchSpec::uniform(4, 10_000_000_000, 60_000, 32_000);
    let files =
        ["level4", "paper4"].map(|features| files_of(&Model::random(&spec, features, 1), "ebpf"));
    let records = [record(0, [0, 0], 1_500, 0); 2];
    let verdicts = in_ebpf::decide_by_turns([&files[0], &files[1]], &spec, &records, 1);
    assert!(verdicts.is_none_or(|verdicts| verdicts.is_err()));
}

/// Another switch, and features that need more memory.
#[test]
fn another_layout_is_refused() {
    let Some(gcc) = found(GCC) else { return };
    let spec = SwitchSpec::uniform(4, 10_000_000_000, 60_000, 32_000);
    let other = SwitchSpec { wire_overhead_bytes: 20, ..spec.clone() };
    let model = Model::random(&spec, "level4", 1);
    for next in [Model::random(&spec, "paper4", 1), Model::random(&other, "level4", 1)] {
        assert_eq!(swapped(&gcc, [&model, &next], &[], 0), None);
    }
    let next = Model::random(&spec, "paper4", 1);
    let both = [&model, &next].map(|of| (&of.features, &of.forest));
    assert_eq!(replaced(&spec, both), Err(NotReady::OtherFeatures));
    assert_eq!(replaced(&spec, [both[0]; 2]), Ok(()));
}
