//! Rows counted by the leaf they reach in each tree: scores, and the Gini decrease of each split.

use dropcast_forest::{Forest, ForestScorer, Node, Tree};

/// For each node of each tree, the rows that reach it: `[transmitted, dropped]`. Leaves only,
/// until [`LeafCounts::gini_decrease`] sums them up.
pub(crate) struct LeafCounts {
    trees: Vec<TreeCounts>,
}

struct TreeCounts {
    counts: Vec<[u64; 2]>,
    leaves: Vec<Leaf>,
    /// Scores a row by the number of its leaf among `leaves`; none where a score cannot number
    /// them all.
    numbered: Option<ForestScorer>,
}

#[derive(Clone, Copy)]
struct Leaf {
    node: usize,
    weight: u8,
}

impl LeafCounts {
    pub(crate) fn new(forest: &Forest) -> Self {
        LeafCounts {
            trees: forest.trees.iter().map(|tree| TreeCounts::new(forest, tree)).collect(),
        }
    }

    /// Counts rows, given by columns, and returns their scores: those of [`Forest::score`].
    pub(crate) fn add(
        &mut self,
        forest: &Forest,
        columns: &[&[u32]],
        dropped: &[bool],
    ) -> Vec<u32> {
        let mut scores = vec![0; dropped.len()];
        for (tree, counts) in forest.trees.iter().zip(&mut self.trees) {
            counts.add(tree, columns, dropped, &mut scores);
        }
        scores
    }

    /// By feature: how much its splits lower the Gini impurity of these rows, summed over the
    /// splits of a tree, each weighted by its share of the rows, and averaged over trees. None
    /// without rows or trees.
    pub(crate) fn gini_decrease(mut self, forest: &Forest) -> Vec<Option<f64>> {
        let mut sums = vec![0.0; forest.features.len()];
        let mut rows = 0;
        for (tree, TreeCounts { counts, .. }) in forest.trees.iter().zip(&mut self.trees) {
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

impl TreeCounts {
    fn new(forest: &Forest, tree: &Tree) -> Self {
        let mut numbered = tree.clone();
        let mut leaves = Vec::new();
        for (node, found) in numbered.nodes.iter_mut().enumerate() {
            if let Node::Leaf { weight } = found {
                leaves.push(Leaf { node, weight: *weight });
                // What does not fit is not used: see below.
                *weight = u8::try_from(leaves.len() - 1).unwrap_or(u8::MAX);
            }
        }
        let alone = Forest { trees: vec![numbered], ..forest.clone() };
        let fits = leaves.len() <= usize::from(u8::MAX) + 1;
        TreeCounts {
            counts: vec![[0; 2]; tree.nodes.len()],
            leaves,
            numbered: fits.then(|| ForestScorer::new(&alone)),
        }
    }

    /// Counts rows and adds to their scores.
    fn add(&mut self, tree: &Tree, columns: &[&[u32]], dropped: &[bool], scores: &mut [u32]) {
        let TreeCounts { counts, leaves, numbered } = self;
        let rows = scores.iter_mut().zip(dropped).enumerate();
        match numbered {
            Some(numbered) => {
                let numbers = numbered.score_columns(columns);
                for (row, (score, &dropped)) in rows {
                    let Leaf { node, weight } = leaves[numbers[row] as usize];
                    counts[node][usize::from(dropped)] += 1;
                    *score += u32::from(weight);
                }
            }
            None => {
                for (row, (score, &dropped)) in rows {
                    let Leaf { node, weight } = leaf_of(tree, columns, row);
                    counts[node][usize::from(dropped)] += 1;
                    *score += u32::from(weight);
                }
            }
        }
    }
}

/// Where a row ends.
fn leaf_of(tree: &Tree, columns: &[&[u32]], row: usize) -> Leaf {
    let mut node = 0;
    loop {
        match tree.nodes[node] {
            Node::Leaf { weight } => return Leaf { node, weight },
            Node::Split { feature, threshold, left, right } => {
                let goes_left = columns[usize::from(feature)][row] <= threshold;
                node = if goes_left { left } else { right } as usize;
            }
        }
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
        let columns: [&[u32]; 3] = [&[1, 5, 6, 6], &[0, 3, 1, 3], &[9, 9, 9, 9]];
        let drops = [false, false, false, true];
        let scores = counts.add(&forest, &columns, &drops);
        let row = |at: usize| columns.map(|column| column[at]);
        assert_eq!(scores, [0, 1, 2, 3].map(|at| forest.score(&row(at))));
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

    #[test]
    fn trees_of_more_leaves_than_numbers_count_the_same() {
        // A chain: leaf `k` is where a row of value `k` ends.
        let chain = |leaves: u32| {
            let mut nodes = Vec::new();
            for at in 0..leaves - 1 {
                let (left, right) = (2 * at + 1, 2 * at + 2);
                nodes.push(Node::Split { feature: 0, threshold: at, left, right });
                nodes.push(Node::Leaf { weight: (at % 256) as u8 });
            }
            nodes.push(Node::Leaf { weight: 7 });
            Tree { nodes }
        };
        let forest = |leaves| Forest { trees: vec![chain(leaves)], ..forest() };
        let values: Vec<u32> = (0..600).collect();
        let columns: [&[u32]; 3] = [&values, &values, &values];
        let drops: Vec<bool> = values.iter().map(|value| value % 3 == 0).collect();
        for leaves in [256, 257] {
            let forest = forest(leaves);
            let mut counts = LeafCounts::new(&forest);
            assert_eq!(counts.trees[0].numbered.is_some(), leaves == 256);
            let scores = counts.add(&forest, &columns, &drops);
            assert!(values.iter().all(|&at| scores[at as usize] == forest.score(&[at; 3])));
            let reached: Vec<[u64; 2]> = counts.trees[0]
                .leaves
                .iter()
                .map(|leaf| counts.trees[0].counts[leaf.node])
                .collect();
            assert_eq!(reached[3..5], [[0, 1], [1, 0]]);
            assert_eq!(reached[leaves as usize - 1].iter().sum::<u64>(), 601 - u64::from(leaves));
        }
    }
}
