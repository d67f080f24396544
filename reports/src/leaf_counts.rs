//! Rows counted by the leaf they reach in each tree: scores, and what each split separates.

use dropcast_train::{Forest, Node, Tree};

/// For each node of each tree, the rows that reach it: `[transmitted, dropped]`. Leaves only,
/// until [`LeafCounts::gini_decrease`] sums them up.
pub(crate) struct LeafCounts {
    trees: Vec<Vec<[u64; 2]>>,
}

impl LeafCounts {
    pub(crate) fn new(forest: &Forest) -> Self {
        let zeros = |tree: &Tree| vec![[0; 2]; tree.nodes.len()];
        LeafCounts { trees: forest.trees.iter().map(zeros).collect() }
    }

    /// Counts a row and returns its score: that of [`Forest::score`].
    pub(crate) fn add(&mut self, forest: &Forest, row: &[u32], dropped: bool) -> u32 {
        let trees = forest.trees.iter().zip(&mut self.trees);
        let weights = trees.map(|(tree, counts)| {
            let mut at = 0;
            loop {
                match tree.nodes[at] {
                    Node::Leaf { weight } => {
                        counts[at][usize::from(dropped)] += 1;
                        return u32::from(weight);
                    }
                    Node::Split { feature, threshold, left, right } => {
                        let goes_left = row[usize::from(feature)] <= threshold;
                        at = if goes_left { left } else { right } as usize;
                    }
                }
            }
        });
        weights.sum()
    }

    /// By feature: how much its splits lower the Gini impurity of these rows, summed over the
    /// splits of a tree, each weighted by its share of the rows, and averaged over trees. None
    /// without rows or trees.
    pub(crate) fn gini_decrease(mut self, forest: &Forest) -> Vec<Option<f64>> {
        let mut sums = vec![0.0; forest.features.len()];
        let mut rows = 0;
        for (tree, counts) in forest.trees.iter().zip(&mut self.trees) {
            // Children come after their parent.
            for (at, node) in tree.nodes.iter().enumerate().rev() {
                if let Node::Split { feature, left, right, .. } = *node {
                    let (left, right) = (counts[left as usize], counts[right as usize]);
                    counts[at] = [left[0] + right[0], left[1] + right[1]];
                    let after = impurity(left) + impurity(right);
                    sums[usize::from(feature)] += impurity(counts[at]) - after;
                }
            }
            rows = counts.first().map_or(0, |root| root[0] + root[1]);
        }
        let all = rows as f64 * forest.trees.len() as f64;
        // A sum of non-negative numbers, but for rounding.
        sums.into_iter().map(|sum: f64| (all > 0.0).then(|| sum.max(0.0) / all)).collect()
    }
}

/// Gini impurity `1 - a^2 - d^2` of the shares, times the rows.
fn impurity([accepts, drops]: [u64; 2]) -> f64 {
    let rows = accepts + drops;
    if rows == 0 { 0.0 } else { 2.0 * accepts as f64 * drops as f64 / rows as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forest() -> Forest {
        let split =
            |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
        let leaf = |weight| Node::Leaf { weight };
        let deep = vec![split(0, 5, 1, 2), leaf(10), split(1, 2, 3, 4), leaf(20), leaf(30)];
        let flat = vec![split(1, 0, 1, 2), leaf(1), leaf(2)];
        Forest {
            features: ["a", "b", "c"].map(str::to_owned).to_vec(),
            vote_threshold: 0,
            trees: vec![Tree { nodes: deep }, Tree { nodes: flat }],
        }
    }

    #[test]
    fn decreases_worked_by_hand_and_scores_are_the_forests() {
        let forest = forest();
        let mut counts = LeafCounts::new(&forest);
        // (a, b, drop)
        let rows = [(1, 0, false), (5, 3, false), (6, 1, false), (6, 3, true)];
        for (a, b, drop) in rows {
            assert_eq!(counts.add(&forest, &[a, b, 9], drop), forest.score(&[a, b, 9]));
        }
        let decrease: Vec<f64> = counts.gini_decrease(&forest).into_iter().flatten().collect();
        // First tree: 4 rows with 1 drop are 1.5 impure; split on a: 0 and 2 rows, 1.0; on b: 0.
        // Second: 1.5; on b: 1 row, 0, and 3 rows with 1 drop, 4/3.
        assert!((decrease[0] - 0.5 / 8.0).abs() < 1e-12);
        assert!((decrease[1] - (1.0 + 1.5 - 4.0 / 3.0) / 8.0).abs() < 1e-12);
        assert_eq!(decrease[2], 0.0);
    }

    #[test]
    fn without_rows_nothing_is_defined() {
        let forest = forest();
        assert_eq!(LeafCounts::new(&forest).gini_decrease(&forest), [None; 3]);
    }
}
