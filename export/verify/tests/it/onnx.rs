//! ONNX models, run by onnxruntime.

use crate::agreement::{SHAPES, agrees, forest_of, missing};
use crate::forests::example;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_verify::{Built, VerifyError};
use std::process::Command;

/// Random forests have thresholds at both ends of 32 bits, so these compare in double precision.
#[test]
fn models_in_double_precision_agree() {
    for (seed, shape) in SHAPES.into_iter().chain([(128, 8, 12)]).enumerate() {
        agrees(&forest_of(shape, seed as u64), "onnx", 20_000);
    }
}

#[test]
fn models_in_single_precision_agree() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        let mut forest = forest_of(shape, seed as u64);
        limit(&mut forest, (1 << 24) - 1);
        agrees(&forest, "onnx", 20_000);
    }
}

/// The end of single precision: values from 2^24 on are rounded.
#[test]
fn the_last_threshold_in_single_precision_and_the_first_in_double_agree() {
    for threshold in [0, 1 << 20, (1 << 24) - 2, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, u32::MAX] {
        let root = Node::Split { feature: 0, threshold, left: 1, right: 2 };
        let nodes = vec![root, Node::Leaf { weight: 1 }, Node::Leaf { weight: 2 }];
        let features = vec!["x".to_owned()];
        let forest = Forest { features, vote_threshold: 1, trees: vec![Tree { nodes }] };
        agrees(&forest, "onnx", 100);
    }
}

fn limit(forest: &mut Forest, most: u32) {
    for node in forest.trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
        if let Node::Split { threshold, .. } = node {
            *threshold = most.min(*threshold);
        }
    }
}

#[test]
fn the_documented_program_prints_what_the_page_says() {
    let page = include_str!("../../../../docs/dct.md");
    let (_, page) = page.split_once("## The ONNX model").expect("a section");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("such a block");
        rest.split_once("```").expect("the block ends").0
    };
    let (forest, origin) = example();
    let built = match Built::new(&forest, &origin, "onnx".parse().expect("a target")) {
        Ok(built) => built,
        Err(error @ VerifyError::MissingTool { .. }) => {
            missing(&error);
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut python = Command::new("python3");
    let output = python.args(["-c", block("python")]).current_dir(built.folder()).output();
    let output = output.expect("it has just been run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), block("text"), "{output:?}");
}
