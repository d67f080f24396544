//! SWX programs, run by DPDK.

use crate::agreement::{SHAPES, agrees, forest_of};
use crate::damage::Damage;
use dropcast_forest::{Forest, Node, Tree};

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
