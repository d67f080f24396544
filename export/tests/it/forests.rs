//! Forests to export: random ones of a given shape, and the small one of the documentation.

use dropcast_export::{Column, Origin, Target, export};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The shape of a random forest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) trees: usize,
    pub(crate) depth: usize,
    pub(crate) features: usize,
    /// Thresholds are below this or extremes.
    pub(crate) largest: u32,
    /// Probability that a node above the last level is a leaf, percent.
    pub(crate) stops: u32,
}

/// Shapes within `trees`, depth 0 to 8 and 1 to 12 features; with few values, most splits
/// contradict others and ties are common.
pub(crate) fn shapes(trees: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Shape> {
    let largest = prop_oneof![Just(3), Just(2_000_000), Just(u32::MAX)];
    (trees, 0_usize..=8, 1_usize..=12, largest, 0_u32..60).prop_map(
        |(trees, depth, features, largest, stops)| Shape { trees, depth, features, largest, stops },
    )
}

/// A random forest; usually some rows exceed its vote threshold and others do not.
pub(crate) fn random_forest(shape: Shape, seed: u64) -> Forest {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let trees: Vec<Tree> = (0..shape.trees).map(|_| random_tree(shape, &mut random)).collect();
    let features = (0..shape.features).map(|at| format!("feature_{at}")).collect();
    let mut forest = Forest { features, vote_threshold: 0, trees };
    forest.vote_threshold = match random.random_range(0..20) {
        0 => 0,
        1 => 255 * shape.trees as u32,
        _ => {
            let row: Vec<u32> =
                (0..shape.features).map(|_| random.random_range(0..shape.largest)).collect();
            forest.score(&row)
        }
    };
    forest
}

fn random_tree(shape: Shape, random: &mut ChaCha8Rng) -> Tree {
    let mut nodes = Vec::new();
    let mut levels = vec![0];
    let mut at = 0;
    while at < levels.len() {
        let level = levels[at];
        let stops = level == shape.depth || (level > 0 && random.random_ratio(shape.stops, 100));
        nodes.push(if stops {
            Node::Leaf { weight: random.random() }
        } else {
            let left = levels.len() as u32;
            levels.extend([level + 1; 2]);
            Node::Split {
                feature: random.random_range(0..shape.features) as u16,
                threshold: match random.random_range(0..40) {
                    0 => 0,
                    1 => u32::MAX,
                    2 => u32::MAX - 1,
                    _ => random.random_range(0..shape.largest),
                },
                left,
                right: left + 1,
            }
        });
        at += 1;
    }
    Tree { nodes }
}

/// An origin for a forest of any features.
pub(crate) fn origin_of(forest: &Forest, model_name: &str) -> Origin {
    let mut origin = Origin::new(model_name, &"0123456789abcdef".repeat(4), &FeatureSet::paper4());
    let column = |(at, name): (usize, &String)| Column {
        name: name.clone(),
        unit: "bytes".to_owned(),
        definition: format!("feature number {at}"),
        code: at as u8,
    };
    origin.columns = forest.features.iter().enumerate().map(column).collect();
    origin
}

/// The one file of a target that emits one.
pub(crate) fn exported(forest: &Forest, origin: &Origin, target: &str) -> Vec<u8> {
    let target: Target = target.parse().expect("a target");
    let [file] = export(forest, origin, target).expect("exportable").try_into().expect("one file");
    file.bytes
}

/// The forest of docs/dct.md, docs/c-header.md and the golden files: two trees, one of them with
/// a leaf above the last level, on two features.
pub(crate) fn example() -> (Forest, Origin) {
    let features: FeatureSet = "queue_length,occupancy".parse().expect("known features");
    let split = |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let deep = vec![split(0, 30_000, 1, 2), leaf(2), split(1, 900_000, 3, 4), leaf(40), leaf(230)];
    let stump = vec![split(1, 700_000, 1, 2), leaf(5), leaf(120)];
    let forest = Forest {
        features: features.names(),
        vote_threshold: 160,
        trees: vec![Tree { nodes: deep }, Tree { nodes: stump }],
    };
    let hash = "5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef";
    let mut origin = Origin::new("example", hash, &features);
    origin.average_ns = Some(8_000);
    origin.buffer_bytes = Some(1_000_000);
    origin.ports = Some(20);
    // Fixed here, so that a new release does not change the golden files.
    origin.tool_version = "0.1.0".to_owned();
    (forest, origin)
}

/// A tree on the first of these features, with the origin of [`example`].
pub(crate) fn example_of(features: &str) -> (Forest, Origin) {
    let (forest, origin) = example();
    let features: FeatureSet = features.parse().expect("known features");
    let mut trees = forest.trees;
    trees.truncate(1);
    for node in &mut trees[0].nodes {
        if let Node::Split { feature, .. } = node {
            *feature = 0;
        }
    }
    let columns = Origin::new("example", &origin.model_sha256, &features).columns;
    let forest = Forest { features: features.names(), vote_threshold: 100, trees };
    (forest, Origin { columns, ..origin })
}
