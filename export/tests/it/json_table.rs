//! The JSON table, read back.

use crate::forests::{example, exported, origin_of, random_forest, shapes};
use dropcast_export::Vectors;
use proptest::prelude::*;
use serde::Deserialize;

/// Every field of the document, as in docs/dct.md.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    format_version: u32,
    tool: String,
    model: ModelName,
    average_ns: Option<u64>,
    features: Vec<Feature>,
    depth: usize,
    vote_threshold: u32,
    trees: Vec<Tree>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelName {
    name: String,
    sha256: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    name: String,
    unit: String,
    definition: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
    columns: Vec<usize>,
    thresholds: Vec<u32>,
    weights: Vec<u8>,
}

impl Document {
    fn score(&self, row: &[u32]) -> u32 {
        self.trees.iter().map(|tree| u32::from(tree.weight(row, self.depth))).sum()
    }
}

impl Tree {
    fn weight(&self, row: &[u32], depth: usize) -> u8 {
        assert_eq!((self.columns.len(), self.weights.len()), ((1 << depth) - 1, 1 << depth));
        let mut at = 0;
        for _ in 0..depth {
            let left = row[self.columns[at]] <= self.thresholds[at];
            at = 2 * at + if left { 1 } else { 2 };
        }
        self.weights[at - self.columns.len()]
    }
}

fn read(bytes: &[u8]) -> Document {
    let document: Document = serde_json::from_slice(bytes).expect("as documented");
    assert_eq!((document.format.as_str(), document.format_version), ("dropcast-table", 1));
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn a_document_predicts_what_its_forest_does(shape in shapes(1..=32), seed in any::<u64>()) {
        let forest = random_forest(shape, seed);
        let document = read(&exported(&forest, &origin_of(&forest, "m"), "json"));
        prop_assert_eq!(document.vote_threshold, forest.vote_threshold);
        for row in Vectors::new(&forest, seed, 100).expect("valid").rows() {
            prop_assert_eq!(document.score(row), forest.score(row), "{:?}", row);
        }
    }
}

#[test]
fn a_document_says_where_it_comes_from() {
    let (forest, mut origin) = example();
    origin.model_name = "a \"name\"\\".to_owned();
    let document = read(&exported(&forest, &origin, "json"));
    assert_eq!(document.tool, format!("dropcast {}", origin.tool_version));
    assert_eq!(document.model.name, origin.model_name);
    assert_eq!(document.model.sha256, origin.model_sha256);
    assert_eq!(document.average_ns, origin.average_ns);
    assert_eq!(document.features.len(), origin.columns.len());
    for (feature, column) in document.features.iter().zip(&origin.columns) {
        assert_eq!(feature.name, column.name);
        assert_eq!(feature.unit, column.unit);
        assert_eq!(feature.definition, column.definition);
    }
}
