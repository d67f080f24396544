//! Golden packets find code that decides otherwise: one operator or statement at a time is another one in the exported C, which the driver
//! beside it then asks about the packets.

#![allow(clippy::print_stdout, reason = "the log of a night says which are missed")]

use super::arrivals::any_switch;
use super::in_c::GCC;
use super::{Decided, Model, decided};
use crate::replay::found;
use dropcast_data::{Event, EventKind, SwitchSpec, SwitchSpecs, read_switches};
use dropcast_export::{GoldenPackets, Origin, export};
use dropcast_verify::FoundTool;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is written instead.
const OTHERS: [(&str, &str); 16] = [
    (" <= ", " < "),
    (" >= ", " > "),
    (" < ", " <= "),
    (" > ", " >= "),
    (" == ", " != "),
    (" != ", " == "),
    (" + ", " - "),
    (" - ", " + "),
    (" += ", " -= "),
    (" -= ", " += "),
    (" && ", " || "),
    (" || ", " && "),
    ("1u", "2u"),
    (" & ", " | "),
    (" * ", " + "),
    ("(!", "("),
];

/// Headers in which something is written otherwise, and where: never in comments, in tables and in the forest, which rows check.
fn mutants(header: &str) -> Vec<(String, String)> {
    let (mut found, mut in_comment, mut at) = (Vec::new(), false, 0);
    let begins =
        header.find("dropcast_").map_or(0, |first| header[..first].rfind('\n').unwrap_or(0));
    for line in header.split_inclusive('\n') {
        let is_code = !in_comment && line.starts_with(' ') && !line.trim_start().starts_with("/*");
        in_comment = (in_comment || line.contains("/*")) && !line.contains("*/");
        let mut replaced = |from: usize, length: usize, by: &str| {
            let mutant = format!("{}{by}{}", &header[..at + from], &header[at + from + length..]);
            found.push((format!("{} -> {by}", line.trim()), mutant));
        };
        if is_code && at > begins {
            for (of, by) in OTHERS {
                line.match_indices(of).for_each(|(from, _)| replaced(from, of.len(), by));
            }
            let statement = line.trim();
            let is_statement = statement.ends_with(';')
                && [" = ", "= ", "++", "("].iter().any(|of| statement.contains(of));
            if is_statement
                && !statement.starts_with("const ")
                && !statement.starts_with("return")
                && !statement.contains("uint")
            {
                replaced(line.find(statement).unwrap_or(0), statement.len(), ";");
            }
        }
        at += line.len();
    }
    found
}

/// Packets as the driver reads them, and its verdicts.
struct Packets {
    csv: String,
    verdicts: String,
}

impl Packets {
    fn golden(model: &Model, origin: &Origin) -> Self {
        let packets = GoldenPackets::new(&model.forest, origin, &model.spec).expect("all occurs");
        let verdicts = packets.events.iter().filter_map(|event| event.verdict);
        let verdicts = verdicts.map(|verdict| if verdict.accepts() { "1\n" } else { "0\n" });
        Packets { verdicts: verdicts.collect(), csv: packets.to_csv() }
    }

    /// Any other traffic.
    fn other(model: &Model, events: &[Event]) -> Self {
        let Decided { records, expected } = decided(model, events, false);
        let row = |&[kind, port, queue, size, low, high]: &[u32; 6]| {
            format!("{},{kind},{port},{queue},{size}\n", u64::from(low) | u64::from(high) << 32)
        };
        let rows: String = records.iter().map(row).collect();
        let verdicts = expected.iter().map(|verdict| if verdict.accepts() { "1\n" } else { "0\n" });
        Packets { csv: format!("names\n{rows}"), verdicts: verdicts.collect() }
    }
}

/// Crowds at a few queues and trickles, with packets of many sizes.
fn crowds(spec: &SwitchSpec, seed: u64) -> Vec<Event> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let largest = (spec.buffer_bytes / 64).clamp(1_500, 9_000);
    let (ports, queues) = (spec.line_rate_bps.len() as u16, spec.queues_per_port);
    let wire_ns = spec.wire_time_ns(0, largest);
    let (mut time_ns, mut hot) = (0, 0);
    let event = |number: u64| {
        if number.is_multiple_of(1_000) {
            hot = random.random_range(0..ports);
        }
        time_ns += match random.random_range(0..500) {
            0 => wire_ns * random.random_range(0..400),
            1..400 => random.random_range(0..=wire_ns / 16),
            _ => random.random_range(0..=wire_ns),
        };
        let size_bytes = match random.random_range(0..8) {
            0 => random.random_range(1..=200),
            1 => 1_500.min(largest),
            _ => random.random_range(64..=largest),
        };
        let port = if random.random_ratio(2, 3) { hot } else { random.random_range(0..ports) };
        let queue = random.random_range(0..queues);
        Event {
            time_ns,
            flow_hash: 0,
            size_bytes,
            switch_id: 0,
            port,
            queue,
            kind: EventKind::Arrival,
            flags: 0,
        }
    };
    (0..16_000).map(event).collect()
}

/// The driver of a header; none if it is not compiled.
fn built(gcc: &FoundTool, folder: &Path) -> Option<Vec<u8>> {
    let mut compiler = gcc.in_folder(folder);
    compiler.args(["-std=c99", "-O1", "-w", "m_driver.c", "-o", "driver"]);
    compiler
        .output()
        .expect("it starts")
        .status
        .success()
        .then(|| fs::read(folder.join("driver")).expect("built"))
}

/// Whether the driver decides so. One that does not come to an end does not.
fn decides_so(folder: &Path, packets: &Packets) -> bool {
    fs::write(folder.join("packets.csv"), &packets.csv).expect("written");
    let mut driver = Command::new("timeout");
    driver.arg("20").arg(folder.join("driver")).stderr(Stdio::null());
    driver.stdin(fs::File::open(folder.join("packets.csv")).expect("written"));
    let output = driver.output().expect("it starts");
    output.status.success() && output.stdout == packets.verdicts.as_bytes()
}

/// A switch, mutants found by golden packets, and those that only other traffic finds.
fn found_and_missed(gcc: &FoundTool, model: &Model) -> (usize, Vec<String>) {
    let origin = Origin { switch: Some(model.spec.clone()), ..model.origin() };
    let files = export(&model.forest, &origin, "c".parse().expect("a target")).expect("exportable");
    let golden = Packets::golden(model, &origin);
    let others: Vec<Packets> =
        (1..4).map(|seed| Packets::other(model, &crowds(&model.spec, seed))).collect();
    let header = files.iter().find(|file| file.name == "m_decision.h").expect("emitted");
    let header = String::from_utf8(header.bytes.clone()).expect("text");
    let mutants: Vec<_> = mutants(&header);
    let (next, results) = (AtomicUsize::new(0), Mutex::new((0, Vec::new(), BTreeMap::new())));
    let work = || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        files
            .iter()
            .for_each(|file| fs::write(folder.join(&file.name), &file.bytes).expect("written"));
        let original = built(gcc, folder).expect("it compiles");
        assert!(
            decides_so(folder, &golden) && others.iter().all(|other| decides_so(folder, other))
        );
        while let Some((what, text)) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            fs::write(folder.join("m_decision.h"), text).expect("written");
            let Some(program) = built(gcc, folder).filter(|program| *program != original) else {
                continue;
            };
            let is_found = !decides_so(folder, &golden);
            let is_other = is_found || others.iter().any(|other| !decides_so(folder, other));
            let mut results = results.lock().expect("no panic");
            match (is_found, is_other) {
                (true, _) => results.0 += 1,
                (_, true) => results.1.push(what.clone()),
                _ => drop(results.2.insert(program, what.clone())),
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let (found, missed, alike) = results.into_inner().expect("no panic");
    println!(
        "{} mutants, {found} found, {} missed, {} decide alike",
        mutants.len(),
        missed.len(),
        alike.len()
    );
    missed.iter().for_each(|what| println!("  missed: {what}"));
    alike.values().for_each(|what| println!("  alike: {what}"));
    (found, missed)
}

fn sonic(text: &str) -> SwitchSpec {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("switch.toml");
    fs::write(&path, text).expect("written");
    match read_switches(&path).expect("a description") {
        SwitchSpecs::Same(spec) => spec,
        SwitchSpecs::Each(_) => panic!("one switch"),
    }
}

#[test]
#[ignore = "nightly: compiles thousands of programs"]
fn golden_packets_find_mutants_at_five_switches() {
    let Some(gcc) = found(GCC) else { return };
    let uniform = SwitchSpec::uniform(8, 10_000_000_000, 256_000, 25_200);
    let (dwrr, _) = any_switch(8);
    let (mut found, mut missed) = (0, Vec::new());
    for (spec, features) in [
        (uniform, "level4"),
        (crate::event_log::sample().spec, "paper4"),
        (SwitchSpec { line_rate_bps: vec![10_000_000_000; 4], ..dwrr }, "occupancy,cut1"),
        (sonic(include_str!("sonic/leaf3.toml")), "level4"),
        (sonic(include_str!("sonic/tor32.toml")), "queue_length,occupancy"),
    ] {
        println!("{} ports, {features}", spec.ports());
        let model = Model::random(&spec, features, 1);
        let (of_switch, missed_here) = found_and_missed(&gcc, &model);
        found += of_switch;
        missed.extend(missed_here);
    }
    let share = found as f64 / (found + missed.len()) as f64;
    assert!(share >= 0.98, "{found} found, {} missed: {missed:#?}", missed.len());
}

/// Packets are made for switches of any size, ports of which may be paused by nothing.
#[test]
fn golden_packets_reach_every_boundary_of_real_switches() {
    let gbps = 1_000_000_000;
    for spec in [
        sonic(include_str!("sonic/leaf3.toml")),
        sonic(include_str!("sonic/tor32.toml")),
        crate::event_log::sample().spec,
        SwitchSpec::uniform(32, 100 * gbps, 9_000_000, 16_000),
        SwitchSpec::uniform(64, 800 * gbps, 132_000_000, 12_000),
        SwitchSpec::uniform(128, 400 * gbps, 64_000_000, 12_000),
        SwitchSpec::uniform(2, gbps, 30_000, 100_000),
    ] {
        let model = Model::random(&spec, "queue_length,occupancy", 1);
        let packets = GoldenPackets::new(&model.forest, &model.origin(), &spec);
        let dropped = packets.map(|packets| {
            let verdicts = packets.events.iter().filter_map(|event| event.verdict);
            verdicts.filter(|verdict| !verdict.accepts()).count()
        });
        assert!(dropped.as_ref().is_ok_and(|&dropped| dropped > 500), "{spec:?}: {dropped:?}");
    }
}
