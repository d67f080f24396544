//! Numbers in leaves as 8-bit weights, with a proof that the forest decides as before.

use crate::reach::each_combination;
use crate::threshold::Values;
use crate::values::{ValueForest, ValueTree, grain};
use dropcast_forest::{Agreement, Tree};

/// Most combinations of leaves that are looked at one by one.
const MOST_COMBINATIONS: usize = 1 << 22;

/// Most leaves, over all combinations, that are kept to mend weights with.
const MOST_KEPT: usize = 1 << 22;

/// Passes over the combinations to mend weights.
const PASSES: usize = 100;

/// A forest with integer weights, and how far it agrees with the one that it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    pub(crate) trees: Vec<Tree>,
    pub(crate) vote_threshold: u32,
    pub(crate) agreement: Agreement,
}

/// What a tool decides for a combination of leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafVote {
    Accept,
    Drop,
    /// The order in which it adds decides.
    Open,
}

/// Weights of all leaves, by tree, and the vote threshold.
#[derive(Clone, Debug)]
struct Weights {
    trees: Vec<Vec<u8>>,
    threshold: u32,
}

/// Finds 8-bit weights and a vote threshold for `forest`, whose trees split on `features` features.
///
/// Every tree is shifted so that its smallest leaf is 0, and all are scaled alike, so that the
/// widest tree reaches 255; then weights are rounded. Where the combinations of leaves that rows can
/// reach are few enough, each is compared, and weights are nudged until none decides otherwise (or
/// that does not help).
pub(crate) fn weigh(forest: &ValueForest, features: usize) -> Weighted {
    let scaled = Scaled::new(forest);
    if let Some(weights) = scaled.votes() {
        return finish(forest, &weights, Agreement::EQUAL);
    }
    let rounded = scaled.rounded();
    let Some(counts) = CombinationCounts::counted(forest, features, &rounded) else {
        let agreement = Agreement {
            combinations: None,
            differing: None,
            margin: scaled.rounding_error(&rounded) + sum_error(forest, forest_size(forest)),
        };
        return finish(forest, &rounded, agreement);
    };
    let rounded = Weights { threshold: counts.best_threshold(rounded.threshold), ..rounded };
    let weights = match Kept::enumerated(forest, features) {
        Some(kept) if kept.wrong(&rounded) > 0 => kept.mend(&scaled, rounded),
        _ => rounded,
    };
    let agreement = agreement(forest, features, &weights);
    finish(forest, &weights, agreement)
}

fn finish(forest: &ValueForest, weights: &Weights, agreement: Agreement) -> Weighted {
    let trees = forest.trees.iter().zip(&weights.trees);
    Weighted {
        trees: trees.map(|(tree, weights)| tree.with_weights(weights)).collect(),
        vote_threshold: weights.threshold,
        agreement,
    }
}

/// Values in units of weights.
struct Scaled<'a> {
    forest: &'a ValueForest,
    /// Of each tree, its smallest value.
    least: Vec<f64>,
    /// Weights per unit of value; 0 if all leaves of each tree are equal.
    scale: f64,
}

impl<'a> Scaled<'a> {
    fn new(forest: &'a ValueForest) -> Self {
        let ranges: Vec<(f64, f64)> = forest.trees.iter().map(ValueTree::range).collect();
        let widest = ranges.iter().map(|(least, most)| most - least).fold(0.0, f64::max);
        let scale = if widest > 0.0 { 255.0 / widest } else { 0.0 };
        Scaled { forest, least: ranges.into_iter().map(|(least, _)| least).collect(), scale }
    }

    /// The sum of what no leaf goes below.
    fn floor(&self) -> f64 {
        self.forest.base + self.least.iter().sum::<f64>()
    }

    /// Exact weights, if every tree only votes: 0 or 255, and the numbers of votes that are above
    /// the threshold are known for sure.
    fn votes(&self) -> Option<Weights> {
        let mut vote: Option<f64> = None;
        for (tree, least) in self.forest.trees.iter().zip(&self.least) {
            for leaf in tree.leaves.iter().filter(|leaf| leaf.value != *least) {
                let found = leaf.value - least;
                if *vote.get_or_insert(found) != found {
                    return None;
                }
            }
        }
        let vote = vote.unwrap_or(0.0);
        let grain = self.forest.trees.iter().flat_map(|tree| &tree.leaves).map(|leaf| leaf.grain);
        let sum = Sum { size: forest_size(self.forest), grain: grain.min().unwrap_or(0) };
        // Votes needed; more are no less.
        let trees = self.forest.trees.len();
        let mut needed = trees as u32 + 1;
        for votes in (0..=trees).rev() {
            match sum.decide(self.forest, self.floor() + votes as f64 * vote) {
                LeafVote::Drop => needed = votes as u32,
                LeafVote::Accept => break,
                LeafVote::Open => return None,
            }
        }
        let weigh = |tree: &ValueTree, least: f64| {
            let weight = |leaf: &crate::values::Leaf| if leaf.value == least { 0 } else { 255 };
            tree.leaves.iter().map(weight).collect()
        };
        let mut weights: Vec<Vec<u8>> = self
            .forest
            .trees
            .iter()
            .zip(&self.least)
            .map(|(tree, &least)| weigh(tree, least))
            .collect();
        let Some(above) = (255 * needed).checked_sub(128) else {
            // Always a drop: some score must be above 0 whatever the row.
            weights.iter_mut().flatten().for_each(|weight| *weight = 255);
            return Some(Weights { trees: weights, threshold: 0 });
        };
        Some(Weights { trees: weights, threshold: above.min(255 * trees as u32) })
    }

    /// A leaf's value in units of weights, not rounded.
    fn exact(&self, tree: usize, value: f64) -> f64 {
        (value - self.least[tree]) * self.scale
    }

    /// Rounded weights and the threshold that fits them.
    fn rounded(&self) -> Weights {
        let trees: Vec<Vec<u8>> = self
            .forest
            .trees
            .iter()
            .enumerate()
            .map(|(at, tree)| {
                tree.leaves.iter().map(|leaf| self.exact(at, leaf.value).round() as u8).collect()
            })
            .collect();
        let threshold = (self.forest.threshold - self.floor()) * self.scale;
        let most = 255 * trees.len() as u32;
        // Casts keep to the range of the type.
        Weights { threshold: (threshold.floor() as u32).min(most), trees }
    }

    /// How far, in units of values, rounding can move a score against the threshold.
    fn rounding_error(&self, weights: &Weights) -> f64 {
        let of_tree = |(at, (tree, weights)): (usize, (&ValueTree, &Vec<u8>))| {
            let errors = tree.leaves.iter().zip(weights);
            errors
                .map(|(leaf, &weight)| (self.exact(at, leaf.value) - f64::from(weight)).abs())
                .fold(0.0, f64::max)
        };
        let errors: f64 =
            self.forest.trees.iter().zip(&weights.trees).enumerate().map(of_tree).sum();
        // The threshold itself is rounded down, by less than 1.
        let error = (errors + 1.0) / self.scale;
        if error.is_finite() { error } else { f64::MAX }
    }
}

/// What is known of a sum without adding it up again: whether a tool's floats can get it wrong.
struct Sum {
    size: f64,
    grain: i32,
}

impl Sum {
    fn exact(forest: &ValueForest, leaves: &[u32]) -> (Sum, f64) {
        let mut sum = Sum { size: 0.0, grain: i32::MAX / 2 };
        let mut value = forest.base;
        for (tree, &leaf) in forest.trees.iter().zip(leaves) {
            let leaf = tree.leaves[leaf as usize];
            value += leaf.value;
            sum.size += leaf.value.abs();
            sum.grain = sum.grain.min(leaf.grain);
        }
        (sum, value)
    }

    /// What the tool decides where the sum is `value`.
    fn decide(&self, forest: &ValueForest, value: f64) -> LeafVote {
        let size = self.size + forest.base.abs();
        let lowest = self.grain.min(grain(forest.base));
        let digits = match forest.sums {
            Values::F32 => 24,
            Values::F64 => 53,
        };
        // All sums are multiples of the lowest bit, and small enough to be held.
        let is_exact = size < f64::from(lowest.saturating_add(digits).min(1000)).exp2();
        let distance = (value - forest.threshold).abs();
        let error = if is_exact { 0.0 } else { sum_error(forest, size) };
        if is_exact && distance == 0.0 {
            LeafVote::Accept
        } else if distance <= error + forest.blur {
            LeafVote::Open
        } else if value > forest.threshold {
            LeafVote::Drop
        } else {
            LeafVote::Accept
        }
    }
}

/// How far off a tool's sum of numbers, whose sizes add up to `size`, can be: each addition rounds
/// by at most half a unit in the last place, in whatever order. Twice that, for our own additions
/// and the comparison.
fn sum_error(forest: &ValueForest, size: f64) -> f64 {
    let unit = match forest.sums {
        Values::F32 => f64::from(f32::EPSILON),
        Values::F64 => f64::EPSILON,
    };
    (forest.trees.len() as f64 + 2.0) * unit * (size + forest.base.abs() + forest.threshold.abs())
}

/// The most that the sizes of a combination's numbers add up to.
fn forest_size(forest: &ValueForest) -> f64 {
    let largest =
        |tree: &ValueTree| tree.leaves.iter().map(|leaf| leaf.value.abs()).fold(0.0, f64::max);
    forest.trees.iter().map(largest).sum()
}

/// How many combinations of leaves are drops and accepts, by score.
struct CombinationCounts {
    drops: Vec<u32>,
    accepts: Vec<u32>,
}

impl CombinationCounts {
    /// `None` if there are too many combinations.
    fn counted(forest: &ValueForest, features: usize, weights: &Weights) -> Option<Self> {
        let scores = 255 * forest.trees.len() + 1;
        let mut counts = CombinationCounts { drops: vec![0; scores], accepts: vec![0; scores] };
        each_combination(forest, features, MOST_COMBINATIONS, |leaves| {
            let (sum, value) = Sum::exact(forest, leaves);
            let score = weights.score(leaves) as usize;
            match sum.decide(forest, value) {
                LeafVote::Drop => counts.drops[score] += 1,
                LeafVote::Accept => counts.accepts[score] += 1,
                LeafVote::Open => {}
            }
        })
        .then_some(counts)
    }

    /// The threshold that gets most combinations right; among these the nearest to `nominal`.
    fn best_threshold(&self, nominal: u32) -> u32 {
        // At threshold 0, drops of score 0 and accepts of higher scores are wrong.
        let mut wrong: u64 = self.accepts.iter().map(|&count| u64::from(count)).sum();
        let mut best = (u64::MAX, u32::MAX, 0);
        for (threshold, (&drops, &accepts)) in (0_u32..).zip(self.drops.iter().zip(&self.accepts)) {
            wrong = wrong + u64::from(drops) - u64::from(accepts);
            best = best.min((wrong, threshold.abs_diff(nominal), threshold));
        }
        best.2
    }
}

impl Weights {
    fn score(&self, leaves: &[u32]) -> u32 {
        let trees = self.trees.iter().zip(leaves);
        trees.map(|(weights, &leaf)| u32::from(weights[leaf as usize])).sum()
    }

    fn predicts_drop(&self, leaves: &[u32]) -> bool {
        self.score(leaves) > self.threshold
    }
}

/// Every combination of leaves that decides something, in memory.
struct Kept {
    trees: usize,
    /// One leaf of each tree, combination after combination.
    leaves: Vec<u32>,
    drop: Vec<bool>,
}

impl Kept {
    /// `None` if they are too many.
    fn enumerated(forest: &ValueForest, features: usize) -> Option<Self> {
        let trees = forest.trees.len();
        let mut kept = Kept { trees, leaves: Vec::new(), drop: Vec::new() };
        each_combination(forest, features, MOST_KEPT / trees, |leaves| {
            let (sum, value) = Sum::exact(forest, leaves);
            let decision = sum.decide(forest, value);
            if decision != LeafVote::Open {
                kept.leaves.extend_from_slice(leaves);
                kept.drop.push(decision == LeafVote::Drop);
            }
        })
        .then_some(kept)
    }

    fn combinations(&self) -> impl Iterator<Item = (&[u32], bool)> {
        self.leaves.chunks_exact(self.trees).zip(self.drop.iter().copied())
    }

    /// How many combinations `weights` decides otherwise.
    fn wrong(&self, weights: &Weights) -> usize {
        self.combinations().filter(|&(leaves, drop)| weights.predicts_drop(leaves) != drop).count()
    }

    /// Nudges weights, beginning with the rounded ones, until no combination is decided otherwise
    /// or the passes are used up; gives the best weights seen.
    ///
    /// This is the perceptron rule on what is left after rounding. The exact values part all drops
    /// from all accepts; whether some 8-bit weights do is not known before.
    fn mend(&self, scaled: &Scaled<'_>, rounded: Weights) -> Weights {
        let exact = |(at, tree): (usize, &ValueTree)| -> Vec<f64> {
            tree.leaves.iter().map(|leaf| scaled.exact(at, leaf.value)).collect()
        };
        let mut values: Vec<Vec<f64>> = scaled.forest.trees.iter().enumerate().map(exact).collect();
        let mut weights = rounded.clone();
        let mut best = (self.wrong(&rounded), rounded);
        for pass in 0..PASSES {
            // Smaller and smaller steps settle.
            let step = 0.5 / (1.0 + pass as f64 / 10.0);
            for (leaves, drop) in self.combinations() {
                if weights.predicts_drop(leaves) == drop {
                    continue;
                }
                let step = if drop { step } else { -step };
                for (tree, &leaf) in leaves.iter().enumerate() {
                    let value = &mut values[tree][leaf as usize];
                    *value = (*value + step).clamp(0.0, 255.0);
                    weights.trees[tree][leaf as usize] = value.round() as u8;
                }
            }
            let wrong = self.wrong(&weights);
            if wrong < best.0 {
                best = (wrong, weights.clone());
            }
            if wrong == 0 {
                break;
            }
        }
        best.1
    }
}

/// Compares all combinations, which are few enough.
fn agreement(forest: &ValueForest, features: usize, weights: &Weights) -> Agreement {
    let (mut combinations, mut differing, mut margin) = (0, 0, 0.0_f64);
    each_combination(forest, features, MOST_COMBINATIONS, |leaves| {
        let (sum, value) = Sum::exact(forest, leaves);
        let ours = if weights.predicts_drop(leaves) { LeafVote::Drop } else { LeafVote::Accept };
        combinations += 1;
        if sum.decide(forest, value) != ours {
            differing += 1;
            margin = margin.max((value - forest.threshold).abs());
        }
    });
    Agreement { combinations: Some(combinations), differing: Some(differing), margin }
}

#[cfg(test)]
mod tests;
