//! linfa: its random forest (linfa-ensemble), or its trees (linfa-trees) on its bootstrap samples.

use super::method::Method;
use super::params::Unsupported;
use super::rows::{FloatRows, Limits};
use super::votes::voting_tree;
use crate::threshold::Comparison;
use crate::values::{ForeignNode, Leaf};
use dropcast_forest::Tree;
use dropcast_train::{ClassWeight, Criterion, FitTask, ForestParams, MaxFeatures};
use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_ensemble::EnsembleLearnerParams;
use linfa_trees::{DecisionTree, DecisionTreeParams, SplitQuality, TreeNode};
use ndarray::{Array1, Array2, ArrayView2};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Their versions, as in Cargo.lock.
const ENSEMBLE: &str = "linfa-ensemble 0.8.1";
const TREES: &str = "linfa-trees 0.8.1";

/// linfa-trees counts in `f32`, which cannot count further.
const MOST_COUNTED: usize = 1 << 24;

type Dataset = DatasetBase<Array2<f64>, Array1<bool>>;

pub(super) fn method(task: &FitTask) -> Result<Method, Unsupported> {
    // Each parameter is checked here, or `grow` hands it on.
    let &ForestParams {
        n_estimators,
        max_depth,
        max_features: _,
        min_samples_leaf: _,
        min_samples_split: _,
        criterion: _,
        class_weight,
        monotone,
        bootstrap,
        max_samples: _,
        seed: _,
        max_bins,
    } = task.params.get();
    let check = Unsupported::unless;
    Unsupported::unless_plain(max_bins, monotone)?;
    let is_plain = bootstrap || (n_estimators == 1 && draws_all(task));
    check(is_plain, "bootstrap", "must be on, but for one tree on all features")?;
    let weights = class_weights(class_weight);
    check(
        weights.is_some(),
        "class_weight",
        "must be none, or two whole numbers: it adds them up in f32",
    )?;
    let heaviest = weights.unwrap_or_default().into_iter().fold(1.0, f32::max);
    let features = task.features.len();
    Ok(Method {
        tool: if draws_all(task) { TREES } else { ENSEMBLE }.to_owned(),
        limits: Limits {
            most_rows: MOST_COUNTED / heaviest as usize,
            // The values, those of a sample and of its features, sorted pairs and a copy of a
            // column, and two masks for each level.
            bytes_per_row: 48 * features + 32 + 2 * usize::from(max_depth),
        },
        grow,
    })
}

/// Whether every tree has all features.
fn draws_all(task: &FitTask) -> bool {
    let features = task.features.len();
    let max_features = task.params.get().max_features;
    max_features == MaxFeatures::All || max_features.count(features) == features
}

/// Weights of accepts and drops that `f32` adds up without rounding.
fn class_weights(weight: ClassWeight) -> Option<[f32; 2]> {
    match weight {
        ClassWeight::None => Some([1.0, 1.0]),
        ClassWeight::Explicit { accept, drop } => {
            let is_whole =
                |weight: f64| weight.fract() == 0.0 && (1.0..=65_536.0).contains(&weight);
            (is_whole(accept) && is_whole(drop)).then_some([accept as f32, drop as f32])
        }
        ClassWeight::Balanced => None,
    }
}

fn grow(rows: FloatRows, task: &FitTask) -> Result<Vec<Tree>, String> {
    let params = task.params.get();
    let features = task.features.len();
    let count = rows.drop.len();
    let values = Array2::from_shape_vec((count, features), rows.values)
        .map_err(|error| error.to_string())?;
    let dataset = Dataset::new(values, Array1::from_vec(rows.drop));
    let learner = TreeLearner::new(params);
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let trees = usize::from(params.n_estimators);
    let all: Vec<usize> = (0..features).collect();
    if !params.bootstrap {
        return Ok(vec![learner.tree(&dataset)?.over(&all)?]);
    }
    let sample = params.max_samples.unwrap_or(1.0);
    if draws_all(task) {
        let size = (count as f64 * sample).ceil() as usize;
        let samples = dataset.bootstrap_samples(size, &mut rng).take(trees);
        return samples.map(|sample| learner.tree(&sample)?.over(&all)).collect();
    }
    // The ensemble takes the share of features times their number, rounded up.
    let share = (params.max_features.count(features) as f64 - 0.5) / features as f64;
    let forest = EnsembleLearnerParams::new_fixed_rng(learner, rng)
        .ensemble_size(trees)
        .bootstrap_proportion(sample)
        .feature_proportion(share)
        .fit(&dataset)
        .map_err(|error| error.to_string())?;
    let trees = forest.models.into_iter().zip(&forest.model_features);
    trees.map(|(tree, columns)| tree?.over(columns)).collect()
}

/// linfa-trees with weights of classes, which linfa-ensemble drops with the rows' weights, and
/// without its dice: see [`TheirTree`].
#[derive(Clone, Copy, Debug)]
struct TreeLearner {
    params: DecisionTreeParams<f64, bool>,
    weights: [f32; 2],
}

impl TreeLearner {
    fn new(params: &ForestParams) -> Self {
        let theirs = DecisionTree::params()
            .split_quality(match params.criterion {
                Criterion::Gini => SplitQuality::Gini,
                Criterion::Entropy => SplitQuality::Entropy,
            })
            .max_depth(Some(usize::from(params.max_depth)))
            .min_weight_leaf(params.min_samples_leaf as f32)
            .min_weight_split(params.min_samples_split as f32)
            // The least it takes; scikit-learn's is 0.
            .min_impurity_decrease(f64::EPSILON);
        let weights = class_weights(params.class_weight).unwrap_or([1.0, 1.0]);
        TreeLearner { params: theirs, weights }
    }

    fn tree(&self, rows: &Dataset) -> Result<TheirTree, String> {
        let tree = self.fit_theirs(rows)?;
        Ok(TheirTree::read(&tree, rows.records.view(), &rows.targets, self.weights))
    }

    fn fit_theirs(&self, rows: &Dataset) -> Result<DecisionTree<f64, bool>, String> {
        let weights = rows.targets.map(|&drop| self.weights[usize::from(drop)]);
        let weighted =
            DatasetBase::new(rows.records.view(), rows.targets.view()).with_weights(weights);
        self.params.fit(&weighted).map_err(|error: linfa::Error| error.to_string())
    }
}

/// What linfa-ensemble fits; it stops the program on errors, so there are none.
impl Fit<Array2<f64>, Array1<bool>, linfa::Error> for TreeLearner {
    type Object = Result<TheirTree, String>;

    fn fit(&self, rows: &Dataset) -> Result<Self::Object, linfa::Error> {
        Ok(self.tree(rows))
    }
}

/// A fitted tree of linfa-trees, its leaves labelled by the rows that reach them.
///
/// In a leaf of as many accepts as drops linfa-trees predicts what a hash map yields first. That differs
/// from run to run, and so does what is pruned after it. Here such a leaf takes the label of the leaf
/// beside it; beside a split it accepts. Leaves of one label beside each other are joined here once more, as
/// the pruning does, so the tree is the same in every run.
#[derive(Clone, Debug, PartialEq)]
enum TheirTree {
    Leaf(Label),
    Split { column: usize, threshold: f64, sides: Box<[TheirTree; 2]> },
}

/// What most of a leaf's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Accept,
    Drop,
    Tie,
}

impl TheirTree {
    fn read(
        tree: &DecisionTree<f64, bool>,
        rows: ArrayView2<'_, f64>,
        drop: &Array1<bool>,
        weights: [f32; 2],
    ) -> Self {
        let all = (0..rows.nrows()).collect();
        TheirTree::below(tree.root_node(), all, &|at, column| rows[(at, column)], &|at| {
            (drop[at], f64::from(weights[usize::from(drop[at])]))
        })
    }

    /// The node and those below it, with the rows (by number) that reach it.
    fn below(
        node: &TreeNode<f64, bool>,
        rows: Vec<usize>,
        value: &impl Fn(usize, usize) -> f64,
        weight: &impl Fn(usize) -> (bool, f64),
    ) -> Self {
        let (column, threshold, _) = node.split();
        let sides: Vec<&TreeNode<f64, bool>> =
            node.children().into_iter().filter_map(Option::as_deref).collect();
        let [left, right] = sides[..] else { return TheirTree::Leaf(Label::summed(&rows, weight)) };
        // It predicts with `<`. Between two values of a sample there is none, so `<=` is the same.
        let (below, above) = rows.into_iter().partition(|&at| value(at, column) < threshold);
        let sides = [
            TheirTree::below(left, below, value, weight),
            TheirTree::below(right, above, value, weight),
        ];
        match sides {
            [TheirTree::Leaf(a), TheirTree::Leaf(b)] if a == b || b == Label::Tie => {
                TheirTree::Leaf(a)
            }
            [TheirTree::Leaf(Label::Tie), TheirTree::Leaf(b)] => TheirTree::Leaf(b),
            sides => TheirTree::Split { column, threshold, sides: Box::new(sides) },
        }
    }

    /// The tree over the features that its columns were drawn from, as one of ours.
    fn over(&self, columns: &[usize]) -> Result<Tree, String> {
        let mut nodes = Vec::new();
        self.flatten(columns, &mut nodes);
        voting_tree(&nodes, columns.iter().max().map_or(0, |&last| last + 1))
    }

    fn flatten(&self, columns: &[usize], nodes: &mut Vec<ForeignNode>) {
        let place = nodes.len();
        nodes.push(ForeignNode::Leaf(Leaf::new(0.0)));
        nodes[place] = match self {
            TheirTree::Leaf(label) => {
                ForeignNode::Leaf(Leaf::new(if *label == Label::Drop { 1.0 } else { 0.0 }))
            }
            TheirTree::Split { column, threshold, sides } => {
                let [left, right] = &**sides;
                let first = nodes.len();
                left.flatten(columns, nodes);
                let second = nodes.len();
                right.flatten(columns, nodes);
                ForeignNode::Split {
                    feature: columns[*column],
                    threshold: *threshold,
                    comparison: Comparison::Below,
                    left: first,
                    right: second,
                }
            }
        };
    }
}

impl Label {
    fn summed(rows: &[usize], weight: &impl Fn(usize) -> (bool, f64)) -> Self {
        let mut sums = [0.0, 0.0];
        for &at in rows {
            let (drop, weight) = weight(at);
            sums[usize::from(drop)] += weight;
        }
        match sums[1].total_cmp(&sums[0]) {
            std::cmp::Ordering::Greater => Label::Drop,
            std::cmp::Ordering::Equal => Label::Tie,
            std::cmp::Ordering::Less => Label::Accept,
        }
    }
}

#[cfg(test)]
mod tests;
