//! SWX programs, run by DPDK.

use crate::agreement::{SHAPES, agrees, forest_of};
use crate::damage::Damage;
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_export::{Origin, export};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_verify::Tool;
use std::fs;

#[test]
fn programs_agree() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        agrees(&forest_of(shape, seed as u64), "dpdk", 2000);
    }
}

#[test]
fn programs_with_thresholds_at_the_ends_agree() {
    let split = |threshold, left, right| Node::Split { feature: 0, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let trees = [0, 1 << 20, u32::MAX - 1, u32::MAX]
        .map(|threshold| Tree { nodes: vec![split(threshold, 1, 2), leaf(100), leaf(30)] });
    let features = vec!["drop".to_owned(), "header".to_owned()];
    agrees(&Forest { features, vote_threshold: 200, trees: trees.to_vec() }, "dpdk", 100);
}

/// The device must use priorities, masks and values.
#[test]
fn any_change_of_an_entry_is_noticed() {
    for (file, from, to) in [
        (
            "example.codes_of_occupancy.entries",
            "0xaae60/0xffffffff priority 0",
            "0xaae60/0xffffffff priority 31",
        ),
        ("example.codes_of_occupancy.entries", "0x0/0xfff00000", "0x0/0xffe00000"),
        (
            "example.tree_0.entries",
            "0x1/0x1 0x0/0x1 priority 0 action add_weight weight 40",
            "0x1/0x1 0x0/0x1 priority 0 action add_weight weight 41",
        ),
        (
            "example.tree_0.entries",
            "match 0x0/0x1 0x0/0x0 priority 0",
            "match 0x0/0x1 0x0/0x1 priority 0",
        ),
        ("example.spec", "jmpgt DROP m.score 160", "jmpgt DROP m.score 159"),
    ] {
        Damage { target: "dpdk", file, from, to }.is_noticed(2000);
    }
}

/// docs/dpdk.md: the decision in C, between DPDK's rings and cards.
#[test]
fn the_pages_program_compiles() {
    let page = include_str!("../../../docs/dpdk.md");
    let (_, rest) = page.split_once("```c\n").expect("a program");
    let (program, _) = rest.split_once("```").expect("it ends");
    let version_arguments = &["--modversion", "libdpdk"];
    let dpdk = Tool { command: "pkg-config", version_arguments, package: "libdpdk-dev" };
    let Some(dpdk) = found(dpdk) else { return };
    let features = FeatureSet::level4();
    let forest = Forest { features: features.names(), ..forest_of(SHAPES[1], 1) };
    let mut origin = Origin::new("example", &"0".repeat(64), &features);
    origin.average_ns = Some(8_000);
    origin.switch = Some(SwitchSpec {
        queues_per_port: 2,
        pushable: vec![true; 2],
        shared: vec![true; 2],
        ..SwitchSpec::uniform(4, 10_000_000_000, 1_000_000, 8_000)
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = export(&forest, &origin, "c".parse().expect("a target")).expect("exportable");
    for file in files {
        fs::write(folder.path().join(file.name), file.bytes).expect("written");
    }
    fs::write(folder.path().join("program.c"), program).expect("written");
    let flags = dpdk.in_folder(folder.path()).args(["--cflags", "libdpdk"]).output();
    let flags = String::from_utf8(flags.expect("it starts").stdout).expect("text");
    for command in ["gcc", "clang"] {
        let tool = Tool { command, version_arguments: &["--version"], package: command };
        let Some(tool) = found(tool) else { continue };
        let mut compile = tool.in_folder(folder.path());
        compile.args(flags.split_whitespace());
        compile.args(["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "program.c"]);
        let output = compile.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
