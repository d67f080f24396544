//! smartcore's random forest. Its nodes are private: they are read from what serde writes of it.

use super::method::Method;
use super::params::Unsupported;
use super::rows::{FloatRows, Limits};
use super::votes::voting_tree;
use crate::threshold::Comparison;
use crate::values::{ForeignNode, Leaf};
use dropcast_forest::Tree;
use dropcast_train::{ClassWeight, Criterion, FitTask, ForestParams};
use serde::Deserialize;
use smartcore::ensemble::random_forest_classifier::{
    RandomForestClassifier, RandomForestClassifierParameters,
};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::tree::decision_tree_classifier::SplitCriterion;

/// Its version, as in Cargo.lock.
const TOOL: &str = "smartcore 0.7.0";

type TheirForest = RandomForestClassifier<f64, u32, DenseMatrix<f64>, Vec<u32>>;

pub(super) fn method(task: &FitTask) -> Result<Method, Unsupported> {
    // Each parameter is checked here, or `fit` hands it on.
    let &ForestParams {
        n_estimators: _,
        max_depth,
        max_features: _,
        min_samples_leaf: _,
        min_samples_split: _,
        criterion: _,
        class_weight,
        monotone,
        bootstrap,
        max_samples,
        seed: _,
        max_bins,
    } = task.params.get();
    let check = Unsupported::unless;
    Unsupported::unless_plain(max_bins, monotone)?;
    check(class_weight == ClassWeight::None, "class_weight", "must be none: it weighs no rows")?;
    check(bootstrap, "bootstrap", "must be on: it always draws samples")?;
    check(
        max_samples.is_none(),
        "max_samples",
        "must not be set: it draws as many rows as there are",
    )?;
    // Floats, their order, labels twice, and samples for each node that waits to be split.
    let waiting = 2 + (1 << max_depth);
    let bytes_per_row = 16 * task.features.len() + 40 + 8 * waiting;
    let limits = Limits { most_rows: usize::MAX, bytes_per_row };
    Ok(Method { tool: TOOL.to_owned(), limits, grow })
}

fn grow(rows: FloatRows, task: &FitTask) -> Result<Vec<Tree>, String> {
    let forest = fit(rows, task)?;
    let json = serde_json::to_value(&forest).map_err(|error| error.to_string())?;
    let forest = ForestText::deserialize(json).map_err(|error| error.to_string())?;
    if forest.classes != [0, 1] {
        return Err(format!("its classes are {:?}", forest.classes));
    }
    forest.trees.iter().map(|tree| tree.convert(task.features.len())).collect()
}

fn fit(rows: FloatRows, task: &FitTask) -> Result<TheirForest, String> {
    let params = task.params.get();
    let features = task.features.len();
    let labels: Vec<u32> = rows.drop.iter().map(|&drop| u32::from(drop)).collect();
    let matrix = DenseMatrix::new(rows.drop.len(), features, rows.values, false)
        .map_err(|error| error.to_string())?;
    let theirs = RandomForestClassifierParameters::default()
        .with_criterion(match params.criterion {
            Criterion::Gini => SplitCriterion::Gini,
            Criterion::Entropy => SplitCriterion::Entropy,
        })
        // It counts the root as a level: depth d has d - 1 levels of splits.
        .with_max_depth(u16::from(params.max_depth) + 1)
        .with_min_samples_leaf(params.min_samples_leaf as usize)
        .with_min_samples_split(params.min_samples_split as usize)
        .with_n_trees(params.n_estimators)
        .with_m(params.max_features.count(features))
        .with_seed(params.seed);
    RandomForestClassifier::fit(&matrix, &labels, theirs).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct ForestText {
    trees: Vec<TreeText>,
    classes: Vec<u32>,
}

#[derive(Deserialize)]
struct TreeText {
    nodes: Vec<NodeText>,
}

#[derive(Deserialize)]
struct NodeText {
    /// Index of the class with most rows.
    output: usize,
    split_feature: usize,
    split_value: Option<f64>,
    /// Where `x <= split_value` goes.
    true_child: Option<usize>,
    false_child: Option<usize>,
}

impl TreeText {
    fn convert(&self, features: usize) -> Result<Tree, String> {
        let nodes: Vec<ForeignNode> = self.nodes.iter().map(NodeText::convert).collect();
        voting_tree(&nodes, features)
    }
}

impl NodeText {
    fn convert(&self) -> ForeignNode {
        match (self.true_child, self.false_child, self.split_value) {
            (Some(left), Some(right), Some(threshold)) => ForeignNode::Split {
                feature: self.split_feature,
                threshold,
                comparison: Comparison::AtMost,
                left,
                right,
            },
            // A node that may be split but was not keeps its candidate.
            _ => ForeignNode::Leaf(Leaf::new(self.output as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trainer::samples::{neighbours, rows, task};
    use dropcast_forest::Forest;

    #[test]
    fn our_forest_predicts_what_theirs_does() {
        for (trees, depth, criterion) in
            [(1, 1, Criterion::Gini), (3, 4, Criterion::Entropy), (4, 8, Criterion::Gini)]
        {
            let task = task(ForestParams {
                n_estimators: trees,
                max_depth: depth,
                criterion,
                seed: 0,
                ..ForestParams::default()
            });
            let ours = Forest {
                features: task.features.names(),
                vote_threshold: 255 * u32::from(trees) / 2,
                trees: grow(rows(1_500), &task).unwrap(),
            };
            assert_eq!(ours.depth(), usize::from(depth));
            let theirs = fit(rows(1_500), &task).unwrap();
            let cases = neighbours(&ours.trees, &rows(1_500));
            let floats: Vec<f64> = cases.iter().flatten().map(|&x| f64::from(x)).collect();
            let matrix = DenseMatrix::new(cases.len(), 4, floats, false).unwrap();
            let predicted = theirs.predict(&matrix).unwrap();
            for (row, drop) in cases.iter().zip(predicted) {
                assert_eq!(ours.predicts_drop(row), drop == 1, "{row:?}");
            }
        }
    }
}
