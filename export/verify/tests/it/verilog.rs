//! Verilog: simulated, linted and synthesised.

use crate::agreement::{SHAPES, agrees, forest_of, missing};
use crate::damage::Damage;
use crate::forests::{Shape, origin_of, random_forest};
use dropcast_export::{Target, export};
use dropcast_forest::{Forest, Node, Tree};
use dropcast_verify::{VerifyError, synthesise};

fn verilog() -> Target {
    "verilog".parse().expect("a target")
}

/// Small ones are interpreted by Icarus Verilog, the last one is compiled by Verilator, too.
#[test]
#[ignore = "slow"]
fn pipelines_agree() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        agrees(&forest_of(shape, seed as u64), "verilog", 2000);
    }
}

#[test]
fn pipelines_with_thresholds_at_the_ends_agree() {
    let split = |threshold, left, right| Node::Split { feature: 0, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let trees = [0, 1 << 20, u32::MAX - 1, u32::MAX].map(|threshold| Tree {
        nodes: vec![split(threshold, 1, 2), leaf(100), split(threshold, 3, 4), leaf(7), leaf(30)],
    });
    for trees in [trees.to_vec(), trees[..1].to_vec(), trees[3..].to_vec()] {
        let features = vec!["valid".to_owned(), "module".to_owned()];
        agrees(&Forest { features, vote_threshold: 100, trees }, "verilog", 100);
    }
}

#[test]
fn any_change_of_a_module_is_noticed() {
    for (from, to) in [
        ("15'd30000", "15'd30001"),
        ("20'd900000", "20'd899999"),
        ("<= 8'd230", "<= 8'd231"),
        ("sum1_0 > VOTE", "sum1_0 >= VOTE"),
        ("!= 0 ? {20{1'b1}}", "!= 0 ? {20{1'b0}}"),
    ] {
        Damage { target: "verilog", file: ".v", from, to }.is_noticed(0);
    }
}

/// Answers that come too early, and rows that a reset does not clear.
#[test]
fn wrong_timing_is_an_error() {
    for (from, to) in
        [("valid[LATENCY-1]", "valid[LATENCY-2]"), ("if (rst)", "if (rst && clk === 0)")]
    {
        let mut built = match (Damage { target: "verilog", file: ".v", from, to }).built() {
            Ok(built) => built,
            Err(VerifyError::MissingTool { .. }) => return,
            // The linter may report it first.
            Err(VerifyError::ToolFailed { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        for program in built.programs() {
            let error = program.answer(&[vec![1, 2]]).expect_err("the timing is wrong");
            assert!(error.to_string().contains("valid_out is"), "{error}");
        }
    }
}

#[test]
fn modules_can_be_synthesised() {
    for (trees, depth, features, luts, flip_flops) in
        [(1, 0, 1, 0..=0, 3..=3), (4, 4, 4, 300..=800, 300..=700)]
    {
        let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 0 };
        let forest = random_forest(shape, 4);
        let files = export(&forest, &origin_of(&forest, "m"), verilog()).expect("exportable");
        match synthesise(&files) {
            Ok(cells) => {
                assert!(luts.contains(&cells.luts), "{cells:?}");
                assert!(flip_flops.contains(&cells.flip_flops), "{cells:?}");
            }
            Err(error @ VerifyError::MissingTool { .. }) => _ = missing(&error),
            Err(error) => panic!("{error}"),
        }
    }
}
