//! The scores of all rows by a growing forest, and by the smaller forests that are in it.

use crate::ScoreHistogram;
use crate::binned::{BinnedRows, on_threads};
use crate::growing::GrowingTree;

/// Scores of the rows of each part.
#[derive(Clone, Debug)]
pub(crate) struct PartScores {
    pub(crate) train: ScoreHistogram,
    pub(crate) validation: ScoreHistogram,
    pub(crate) test: ScoreHistogram,
}

impl PartScores {
    fn new(trees: usize) -> Self {
        let empty = || ScoreHistogram::new(trees);
        PartScores { train: empty(), validation: empty(), test: empty() }
    }

    fn merge(&mut self, other: &PartScores) {
        self.train.merge(&other.train);
        self.validation.merge(&other.validation);
        self.test.merge(&other.test);
    }
}

/// The scores of each of `sizes`: of the first so many trees, cut off at a depth. `sizes` ascend.
///
/// One pass: each row descends each tree once, and is weighed at every depth that is asked for.
pub(crate) fn scores_of_prefixes(
    rows: &BinnedRows,
    trees: &[GrowingTree],
    sizes: &[(usize, usize)],
    threads: usize,
) -> Vec<PartScores> {
    let mut depths: Vec<usize> = sizes.iter().map(|&(_, depth)| depth).collect();
    depths.sort_unstable();
    depths.dedup();
    // By tree and depth, the weight of each place on that level.
    let weights: Vec<Vec<Vec<u8>>> = trees
        .iter()
        .map(|tree| depths.iter().map(|&depth| tree.leaf_weights(depth)).collect())
        .collect();
    let empty = || sizes.iter().map(|&(trees, _)| PartScores::new(trees)).collect();
    let blocks = rows.blocks();
    let parts = on_threads(&blocks, threads, |blocks| {
        let mut found: Vec<PartScores> = empty();
        let mut places = Vec::new();
        let mut scores: Vec<Vec<u32>> = vec![Vec::new(); depths.len()];
        for block in blocks {
            for scores in &mut scores {
                scores.clear();
                scores.resize(block.rows.len(), 0);
            }
            let mut sizes = sizes.iter().zip(&mut found).peekable();
            for (nth, (tree, weights)) in trees.iter().zip(&weights).enumerate() {
                let by_depth = depths.iter().zip(weights).zip(&mut scores);
                for ((&depth, weights), scores) in by_depth {
                    tree.place(block, depth, &mut places);
                    for (score, &place) in scores.iter_mut().zip(&places) {
                        *score += u32::from(weights[usize::from(place)]);
                    }
                }
                while let Some((&(_, depth), found)) =
                    sizes.next_if(|((trees, _), _)| *trees == nth + 1)
                {
                    let at = depths.binary_search(&depth).expect("depths are those of the sizes");
                    let marks = &block.group.marks[block.rows.clone()];
                    for (&score, mark) in scores[at].iter().zip(marks) {
                        if mark.is_train() {
                            found.train.add(score, mark.is_drop());
                        } else if mark.is_validation() {
                            found.validation.add(score, mark.is_drop());
                        } else if mark.is_test() {
                            found.test.add(score, mark.is_drop());
                        }
                    }
                }
            }
        }
        found
    });
    parts.into_iter().fold(empty(), |mut sums, parts| {
        sums.iter_mut().zip(&parts).for_each(|(sum, part)| sum.merge(part));
        sums
    })
}
