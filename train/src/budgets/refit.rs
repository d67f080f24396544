//! Leaf weights of a grown forest, refitted jointly.
//!
//! Each tree sets its leaf weights alone, so the sum counts twice what two trees have both learned.
//! Ridge regression of the label on all leaves at once does not (Ren, Cao, Wei, Sun: Global
//! refinement of random forest, CVPR 2015).

use super::state_columns::StateColumns;
use super::states::ForestStates;
use super::work::WorkForest;
use dropcast_forest::{Forest, Node, Tree};

/// `forest` with leaf weights refitted jointly to the labels of the training rows: least squares
/// with classes weighted by `class_weight`, and a ridge penalty toward the grown weights, in rows
/// per leaf.
///
/// All sums run in a fixed order, so the same rows give the same weights. The vote threshold must
/// be chosen again.
pub fn refit_leaves(
    forest: &Forest,
    states: &ForestStates,
    class_weight: [f64; 2],
    ridge: f64,
) -> Forest {
    let problem = Problem::new(forest, states, class_weight, ridge);
    problem.rounded(forest, &problem.solve())
}

/// Maximum passes of the solver; each reduces the error to a fraction.
const MOST_PASSES: usize = 200;

/// Least squares in the leaf weights (as shares of a forest's vote) and a constant.
struct Problem {
    /// By state, the unknown of each tree's leaf.
    leaves: Vec<Vec<u32>>,
    /// By state, the weight of its rows, and their weighted share of drops.
    rows: Vec<(f64, f64)>,
    /// By tree and node, the unknown of a leaf.
    unknowns: Vec<Vec<Option<u32>>>,
    /// The grown weights, then 0 for the constant.
    prior: Vec<f64>,
    ridge: f64,
}

impl Problem {
    fn new(forest: &Forest, states: &ForestStates, class_weight: [f64; 2], ridge: f64) -> Self {
        let mut prior = Vec::new();
        let scale = 255.0 * forest.trees.len() as f64;
        let number = |node: &Node| match node {
            Node::Leaf { weight } => {
                prior.push(f64::from(*weight) / scale);
                Some(prior.len() as u32 - 1)
            }
            Node::Split { .. } => None,
        };
        let mut number = number;
        let unknowns: Vec<Vec<Option<u32>>> =
            forest.trees.iter().map(|tree| tree.nodes.iter().map(&mut number).collect()).collect();
        prior.push(0.0);
        let columns = StateColumns::new(states);
        let work = WorkForest::new(forest, &columns, class_weight);
        let (mut leaves, mut rows) = (Vec::new(), Vec::new());
        for (state, (_, counts)) in states.iter().enumerate() {
            let [accepts, drops] =
                [0, 1].map(|class| counts.train[class] as f64 * class_weight[class]);
            if accepts + drops == 0.0 {
                continue;
            }
            let of_tree = |(tree, unknowns): (usize, &Vec<Option<u32>>)| {
                unknowns[work.leaf(tree, state) as usize].unwrap_or_default()
            };
            leaves.push(unknowns.iter().enumerate().map(of_tree).collect());
            rows.push((accepts + drops, drops / (accepts + drops)));
        }
        Problem { leaves, rows, unknowns, prior, ridge }
    }

    /// The weights, by conjugate gradients starting from the grown ones.
    fn solve(&self) -> Vec<f64> {
        let mut weights = self.prior.clone();
        // The negative gradient; at the prior the ridge term is 0.
        let mut residual = vec![0.0; weights.len()];
        for (leaves, &(rows, share)) in self.leaves.iter().zip(&self.rows) {
            let error = rows * (share - self.sum(leaves, &weights));
            self.spread(leaves, error, &mut residual);
        }
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let enough = square * 1e-16;
        for _ in 0..MOST_PASSES {
            if square <= enough {
                break;
            }
            let image = self.apply(&direction);
            let along = dot(&direction, &image);
            if along <= 0.0 {
                break;
            }
            let step = square / along;
            add(&mut weights, step, &direction);
            add(&mut residual, -step, &image);
            let next = dot(&residual, &residual);
            let kept = next / square;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + kept * *d);
            square = next;
        }
        weights
    }

    /// The matrix of the normal equations times `vector`.
    fn apply(&self, vector: &[f64]) -> Vec<f64> {
        let mut image: Vec<f64> = vector.iter().map(|value| self.ridge * value).collect();
        // The constant is not penalized.
        if let Some(last) = image.last_mut() {
            *last = 0.0;
        }
        for (leaves, &(rows, _)) in self.leaves.iter().zip(&self.rows) {
            self.spread(leaves, rows * self.sum(leaves, vector), &mut image);
        }
        image
    }

    /// The sum over a state's leaves, and the constant.
    fn sum(&self, leaves: &[u32], of: &[f64]) -> f64 {
        leaves.iter().map(|&leaf| of[leaf as usize]).sum::<f64>() + of[of.len() - 1]
    }

    /// Adds `value` to each of a state's leaves, and to the constant.
    fn spread(&self, leaves: &[u32], value: f64, to: &mut [f64]) {
        leaves.iter().for_each(|&leaf| to[leaf as usize] += value);
        let last = to.len() - 1;
        to[last] += value;
    }

    /// The weights as integers: each tree is shifted until its lowest weight is 0, which shifts
    /// every score equally, and all are scaled by one factor until the highest is 255.
    fn rounded(&self, forest: &Forest, weights: &[f64]) -> Forest {
        let of_tree = |unknowns: &[Option<u32>]| -> Vec<f64> {
            unknowns.iter().flatten().map(|&leaf| weights[leaf as usize]).collect()
        };
        let least =
            |unknowns: &[Option<u32>]| of_tree(unknowns).into_iter().fold(f64::INFINITY, f64::min);
        let most = |unknowns: &[Option<u32>]| {
            of_tree(unknowns).into_iter().fold(f64::NEG_INFINITY, f64::max)
        };
        let widest = self.unknowns.iter().map(|tree| most(tree) - least(tree)).fold(0.0, f64::max);
        let scale = if widest > 0.0 { 255.0 / widest } else { 0.0 };
        let refit = |(tree, unknowns): (&Tree, &Vec<Option<u32>>)| {
            let least = least(unknowns);
            let nodes = tree.nodes.iter().zip(unknowns).map(|(node, unknown)| match unknown {
                // Within 0 to 255 by the choice of the scale; the cast saturates.
                Some(leaf) => {
                    let above = weights[*leaf as usize] - least;
                    Node::Leaf { weight: (above * scale + 0.5).floor() as u8 }
                }
                None => node.clone(),
            });
            Tree { nodes: nodes.collect() }
        };
        let trees = forest.trees.iter().zip(&self.unknowns).map(refit).collect();
        Forest { trees, ..forest.clone() }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], step: f64, direction: &[f64]) {
    to.iter_mut().zip(direction).for_each(|(to, along)| *to += step * along);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BudgetObjective, Part};
    use dropcast_forest::ScoreHistogram;
    use proptest::prelude::*;

    fn stump(feature: u16, threshold: u32, weights: [u8; 2]) -> Tree {
        let split = Node::Split { feature, threshold, left: 1, right: 2 };
        let [low, high] = weights.map(|weight| Node::Leaf { weight });
        Tree { nodes: vec![split, low, high] }
    }

    fn forest(trees: Vec<Tree>) -> Forest {
        let features = vec!["a".to_owned(), "b".to_owned()];
        Forest { features, vote_threshold: 0, trees }
    }

    fn states(forest: &Forest, rows: &[([u32; 2], bool)]) -> ForestStates {
        let mut states = ForestStates::new(&[forest]);
        rows.iter().for_each(|(row, drop)| states.add(row, *drop, Part::Train));
        states
    }

    fn weights(forest: &Forest) -> Vec<u8> {
        let nodes = forest.trees.iter().flat_map(|tree| &tree.nodes);
        let weight = |node: &Node| match node {
            Node::Leaf { weight } => Some(*weight),
            Node::Split { .. } => None,
        };
        nodes.filter_map(weight).collect()
    }

    fn f1(forest: &Forest, rows: &[([u32; 2], bool)]) -> f64 {
        let mut scores = ScoreHistogram::new(forest.trees.len());
        rows.iter().for_each(|(row, drop)| scores.add(forest.score(row), *drop));
        BudgetObjective::F1.value(&scores)
    }

    #[test]
    fn what_two_trees_say_twice_no_longer_outvotes_the_third() {
        // Only `b` predicts drops; each of two trees that follow `a` has as much weight.
        let trees = vec![stump(0, 5, [0, 200]), stump(0, 5, [0, 200]), stump(1, 5, [0, 200])];
        let forest = forest(trees);
        let rows: Vec<([u32; 2], bool)> = (0..100)
            .map(|row| [10 * u32::from(row % 2 == 0), 10 * u32::from(row % 5 == 0)])
            .map(|row| (row, row[1] > 5))
            .collect();
        assert!(f1(&forest, &rows) < 0.7);
        let refitted = refit_leaves(&forest, &states(&forest, &rows), [1.0, 1.0], 0.1);
        assert_eq!(f1(&refitted, &rows), 1.0);
        assert_eq!(weights(&refitted)[4..], [0, 255]);
    }

    #[test]
    fn a_strong_ridge_keeps_the_weights() {
        let forest = forest(vec![stump(0, 5, [0, 255]), stump(1, 5, [0, 51])]);
        let rows = [([0, 0], true), ([9, 9], false)];
        let refitted = refit_leaves(&forest, &states(&forest, &rows), [1.0, 1.0], 1e12);
        assert_eq!(weights(&refitted), [0, 255, 0, 51]);
    }

    proptest! {
        #[test]
        fn squares_are_least(
            rows in prop::collection::vec(([0_u32..10, 0_u32..10], any::<bool>()), 1..40),
            weights in prop::collection::vec(any::<u8>(), 4),
        ) {
            let trees = vec![
                stump(0, 4, [weights[0], weights[1]]),
                stump(1, 6, [weights[2], weights[3]]),
            ];
            let forest = forest(trees);
            let states = states(&forest, &rows);
            let problem = Problem::new(&forest, &states, [1.0, 3.0], 0.5);
            let solved = problem.solve();
            let squares = |weights: &[f64]| {
                let mut sum = 0.0;
                for (leaves, &(rows, share)) in problem.leaves.iter().zip(&problem.rows) {
                    let error = share - problem.sum(leaves, weights);
                    sum += rows * error * error;
                }
                let leaves = weights.len() - 1;
                let drawn = weights.iter().zip(&problem.prior).take(leaves);
                sum + drawn.map(|(w, p)| 0.5 * (w - p) * (w - p)).sum::<f64>()
            };
            let best = squares(&solved);
            for at in 0..solved.len() {
                for by in [-1e-3, 1e-3] {
                    let mut other = solved.clone();
                    other[at] += by;
                    prop_assert!(squares(&other) >= best - 1e-9, "{} {}", squares(&other), best);
                }
            }
            let refitted = refit_leaves(&forest, &states, [1.0, 3.0], 0.5);
            prop_assert!(refitted.check().is_ok());
        }
    }
}
