//! A forest as a filter over Dynamic Thresholds.

use super::rule::{bursts, in_rust_of, sample_arrivals, switch};
use super::{TOOLS, agree, compiled, in_kernel, in_rust, records, unseen, verdicts};
use crate::decision::in_c::{CLANG, GCC};
use crate::forests::{Shape, random_forest};
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_export::{ForestFilter, Origin, PolicyCode, PolicyCodeError};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use std::fs;

/// What the state of a switch takes in Rust, without its memory of the queues.
const BESIDE_QUEUES: usize = 208;

/// Those of `level4`, and others without memory or with the same.
const IN_RUST: &str =
    "level4,queue_length,occupancy,longest_queue,rank,longest_gap,projected_occupancy";

/// All features that the code keeps.
const ALL: &str = "level4,paper4,longest_queue,rank,longest_gap,projected_occupancy";

fn filter(spec: &SwitchSpec, gate: Option<f64>, features: &str, forest: Forest) -> ForestFilter {
    let features: FeatureSet = features.parse().expect("known features");
    let mut origin = Origin::new("m", &"0".repeat(64), &features);
    origin.average_ns = Some(spec.base_rtt_ns);
    origin.buffer_bytes = Some(spec.buffer_bytes);
    let forest = Forest { features: features.names(), ..forest };
    ForestFilter { alpha: vec![16.0, 0.5], gate, forest, origin }
}

/// Trees at random whose thresholds are of the buffer's magnitude.
fn at_random(spec: &SwitchSpec, gate: Option<f64>, features: &str, seed: u64) -> ForestFilter {
    let count = features.parse::<FeatureSet>().expect("known features").len();
    let shape =
        Shape { trees: 4, depth: 4, features: count, largest: spec.buffer_bytes, stops: 10 };
    filter(spec, gate, features, random_forest(shape, seed))
}

/// A drop is predicted where three of the levels are above their shares of the buffer, in sixteenths.
fn above(spec: &SwitchSpec, gate: Option<f64>, shares: [u64; 4]) -> ForestFilter {
    let tree = |(feature, share): (u16, u64)| {
        let threshold = (u64::from(spec.buffer_bytes) * share / 16) as u32;
        let split = Node::Split { feature, threshold, left: 1, right: 2 };
        Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 1 }] }
    };
    let trees = (0..).zip(shares).map(tree).collect();
    filter(spec, gate, "level4", Forest { features: Vec::new(), vote_threshold: 2, trees })
}

/// The same with shares at which every feature of `level4` matters.
pub(super) fn by_levels(spec: &SwitchSpec, gate: Option<f64>) -> ForestFilter {
    above(spec, gate, [7, 12, 12, 14])
}

pub(super) fn code(filter: ForestFilter) -> PolicyCode {
    PolicyCode::Filter(Box::new(filter))
}

/// The code decides as the policy; returns about how many packets the forest makes a difference.
fn differences(
    spec: &SwitchSpec,
    filter: ForestFilter,
    arrivals: &[dropcast_export::PacketArrival],
) -> usize {
    let leaf = Tree { nodes: vec![Node::Leaf { weight: 0 }] };
    let never = Forest { trees: vec![leaf], vote_threshold: 0, ..filter.forest.clone() };
    let never = code(ForestFilter { forest: never, ..filter.clone() });
    let code = code(filter);
    let packets = code.decided(spec, arrivals.iter().copied()).expect("decided");
    let files = code.files(spec).expect("a switch that it knows");
    agree(&code, &files, &packets, &TOOLS);
    if files.iter().any(|file| file.name.ends_with(".rs")) {
        let told = in_rust(&in_rust_of(spec, "filter", BESIDE_QUEUES), &files, &packets);
        assert!(told == verdicts(&packets), "{spec:?}");
    }
    let without = never.decided(spec, arrivals.iter().copied()).expect("decided");
    packets.verdicts().zip(without.verdicts()).filter(|(one, other)| one != other).count()
}

#[test]
fn the_exported_filter_is_the_policy() {
    for seed in 0..6 {
        let spec = switch(seed);
        let gate = [None, Some(0.5), Some(0.1)][seed as usize / 2];
        let arrivals = bursts(&spec, 20_000, seed);
        let count = differences(&spec, by_levels(&spec, gate), &arrivals);
        assert!(count > 100, "{count} of {spec:?}");
    }
}

#[test]
#[ignore = "slow"]
fn every_feature_is_that_of_the_policy() {
    let mut counts = Vec::new();
    for seed in 0..6 {
        let spec = switch(seed);
        let gate = [None, Some(0.01)][seed as usize % 2];
        let arrivals = bursts(&spec, 20_000, seed);
        for features in [ALL, IN_RUST] {
            counts.push(differences(&spec, at_random(&spec, gate, features, seed), &arrivals));
        }
    }
    assert!(counts.iter().filter(|&&count| count > 100).count() >= 6, "{counts:?}");
}

/// A switch of 40 queues and its sample of packets. Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_exported_filter_is_the_policy_on_the_sample() {
    let (spec, arrivals) = sample_arrivals();
    let code = code(by_levels(&spec, Some(0.5)));
    let packets = code.decided(&spec, arrivals).expect("decided");
    let files = code.files(&spec).expect("a switch that it knows");
    agree(&code, &files, &packets, &TOOLS);
    if let Some(told) = compiled(GCC, &code, &files, &records(&packets), &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

#[test]
fn what_the_code_cannot_do_is_refused() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let refused = |filter: ForestFilter| code(filter).files(&spec).err();
    let known = by_levels(&spec, Some(0.5));
    assert_eq!(refused(known.clone()), None);
    let odd = ForestFilter { alpha: vec![0.3], ..known.clone() };
    assert_eq!(refused(odd), Some(PolicyCodeError::Alpha(0.3)));
    let more = ForestFilter { gate: Some(2.0), ..known.clone() };
    assert_eq!(refused(more), Some(PolicyCodeError::Gate(2.0)));
    let said = |filter: ForestFilter| refused(filter).expect("refused").to_string();
    let other = SwitchSpec { buffer_bytes: 20_000, ..spec.clone() };
    assert!(
        said(by_levels(&other, None)).contains("a buffer of 20000 bytes, the switch has 10000")
    );
    let other = SwitchSpec { base_rtt_ns: 8_000, ..spec.clone() };
    assert!(said(by_levels(&other, None)).contains("a base RTT of 8000 ns"));
    let classed = said(at_random(&spec, None, "level4,cut_in_quarter_rtt", 1));
    assert!(classed.contains("does not keep cut_in_quarter_rtt"), "{classed}");
    let unknown = said(at_random(&spec, None, "ordered_in_quarter_rtt", 1));
    assert!(unknown.contains("no exported code that keeps"), "{unknown}");
}

/// A forest or constants of another switch are refused by the compiler.
#[test]
fn files_that_do_not_belong_together_are_told() {
    let spec = switch(1);
    let files_of = |spec: &SwitchSpec| code(by_levels(spec, None)).files(spec).expect("known");
    let others = [
        (SwitchSpec { buffer_bytes: 50_000, ..spec.clone() }, "another buffer"),
        (SwitchSpec { base_rtt_ns: 4_000, ..spec.clone() }, "another base RTT"),
    ];
    for (other, why) in others {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files_of(&spec) {
            fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
        }
        let is_config = |file: &&dropcast_export::EmittedFile| file.name.ends_with("_config.h");
        let config = files_of(&other).iter().find(is_config).expect("written").bytes.clone();
        fs::write(folder.path().join("dropcast_filter_config.h"), config).expect("written");
        let program = "#include \"dropcast_filter_config.h\"\n#include \"dropcast_filter.h\"\n";
        fs::write(folder.path().join("program.c"), program).expect("written");
        for tool in [GCC, CLANG] {
            let Some(compiler) = found(tool) else { continue };
            let output = compiler.in_folder(folder.path()).args(["-c", "program.c"]).output();
            let output = output.expect("it starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains(why), "{said}");
        }
    }
}

/// What is wrong in one place of a header is wrong about some packet of the exported ones.
#[test]
fn the_exported_packets_tell_a_header_with_one_change() {
    let rate = 10_000_000_000;
    let spec =
        SwitchSpec { queues_per_port: 2, ..SwitchSpec::uniform(20, rate, 1_052_672, 32_000) };
    let spec = SwitchSpec { pushable: vec![true; 2], shared: vec![true; 2], ..spec };
    let reserves = SwitchSpec { reserved_bytes: vec![30_000, 5_000], ..spec.clone() };
    let mut left = CHANGES.to_vec();
    let filters = [
        (&spec, by_levels(&spec, Some(0.5))),
        (&reserves, by_levels(&reserves, None)),
        // Predicts drops while no queue is long.
        (&spec, above(&spec, None, [1; 4])),
    ];
    for (spec, filter) in filters {
        let code = code(filter);
        let packets = code.golden(spec).expect("a switch that it knows");
        let files = code.files(spec).expect("known");
        left = unseen(&code, &files, &packets, &left);
    }
    assert!(left.is_empty(), "{left:?}");
}

/// A part of a header, and one that is wrong in its place. Those of the rule tell what is wrong in `dropcast_filtered.h`.
const CHANGES: [(&str, &str); 13] = [
    ("dropcast_filter_alpha_128[number]", "dropcast_filter_alpha_128[0]"),
    ("size_bytes, dropcast_filter_drain_bytes[number]", "size_bytes, 0"),
    (
        "&state->level, 0, dropcast_filter_drain_bytes[number]",
        "&state->level, 1500, dropcast_filter_drain_bytes[number]",
    ),
    ("&state->level, size_bytes,", "&state->level, part_bytes,"),
    ("state->buffer.long_queues == 0 || ", ""),
    ("|| !dropcast_filter_predicts(state, number)", "|| number > 64"),
    ("part_bytes, DROPCAST_FILTER_GATE", "part_bytes, 65537 - DROPCAST_FILTER_GATE"),
    ("dropcast_filter_forest_add(level, part_bytes);", ""),
    ("dropcast_filter_forest_remove(level, part_bytes, now_ns);", ""),
    ("< dropcast_filter_harmless_bytes", "< 2 * dropcast_filter_harmless_bytes"),
    ("busy_queues -= queue->length_bytes == 0", "busy_queues -= queue->length_bytes < 3000"),
    ("return dropcast_filter_forest_drop(x);", "return !dropcast_filter_forest_drop(x);"),
    (
        "dropcast_filter_forest_observe(&state->levels[number]",
        "dropcast_filter_forest_observe(&state->levels[number / 2]",
    ),
];

/// The kernel's verifier looks at every queue that a scan passes.
#[test]
fn the_kernel_takes_the_filter_of_256_queues() {
    let spec = SwitchSpec::uniform(256, 100_000_000_000, 4_000_000, 8_000);
    for features in ["level4", ALL] {
        let code = code(at_random(&spec, Some(0.5), features, 3));
        let packets = code.golden(&spec).expect("a switch that it knows");
        let files = code.files(&spec).expect("a switch that it knows");
        let in_kernel = in_kernel(&code, &files, &records(&packets));
        assert!(in_kernel.is_none_or(|told| told == verdicts(&packets)), "{features}");
    }
}
