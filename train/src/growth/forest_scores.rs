//! Scores of all rows by a forest and by the smaller forests it contains.

use crate::error::TrainError;
use crate::growth::growing::{GrowingTree, NEAR_LEVELS, Placing};
use crate::growth::part_scores::PartScores;
use crate::growth::tally::PartTallies;
use crate::rows::binned::{BinnedRows, Block};
use dropcast_data::Threads;
use dropcast_forest::binning::BLOCK_ROWS;
use dropcast_forest::{BinnedForest, Tree};

/// The scores for each of `sizes` (number of trees, depth; ascending): by the first trees, cut off
/// at that depth. The trees' features are these `columns`.
///
/// One pass: each row descends each tree once and collects weights at every requested depth.
pub(crate) fn scores_of_prefixes(
    rows: &BinnedRows,
    columns: &[usize],
    trees: &[GrowingTree],
    sizes: &[(usize, usize)],
    threads: &Threads,
) -> Result<Vec<PartScores>, TrainError> {
    if let [(size, depth)] = *sizes {
        let finish = |tree: &GrowingTree| tree.truncated(depth).finish(rows.bins(), columns).0;
        let trees: Vec<Tree> = trees[..size].iter().map(finish).collect();
        return Ok(vec![scores_of_forest(rows, columns, &trees, threads)?]);
    }
    let mut depths: Vec<usize> = sizes.iter().map(|&(_, depth)| depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let trees: Vec<WeighedTree<'_>> =
        trees.iter().map(|tree| WeighedTree::new(tree, &depths)).collect();
    let empty = || Vec::from_iter(sizes.iter().map(|&(trees, _)| PartScores::new(trees)));
    let start = || (empty(), Vec::new(), Placing::default());
    let parts = rows.each_chunk(
        threads,
        |_| true,
        start,
        |(found, scores, placing), chunk| {
            let kind = chunk.chunk.kind;
            for block in chunk.blocks(columns) {
                scores.clear();
                scores.resize(depths.len() * block.rows, 0_u16);
                let mut sizes = sizes.iter().zip(&mut *found).peekable();
                for (nth, tree) in trees.iter().enumerate() {
                    tree.weigh(&block, placing, scores);
                    while let Some((&(_, depth), found)) =
                        sizes.next_if(|((trees, _), _)| *trees == nth + 1)
                    {
                        let at = depths.binary_search(&depth).expect("depths are the sizes' own");
                        let scores = &scores[at * block.rows..][..block.rows];
                        found.part(kind.part).add_all(scores, kind.drop);
                    }
                }
            }
        },
    )?;
    Ok(parts.into_iter().fold(empty(), |mut sums, (parts, ..)| {
        sums.iter_mut().zip(&parts).for_each(|(sum, part)| sum.merge(part));
        sums
    }))
}

/// The scores by one forest of these trees: faster for a single size.
fn scores_of_forest(
    rows: &BinnedRows,
    columns: &[usize],
    trees: &[Tree],
    threads: &Threads,
) -> Result<PartScores, TrainError> {
    let bins = columns.iter().map(|&at| rows.bins()[at].clone()).collect();
    let forest = BinnedForest::new(trees, bins);
    let parts = rows.each_chunk(
        threads,
        |_| true,
        || PartTallies::new(trees.len()),
        |tallies, chunk| {
            let tally = tallies.tally(&chunk.chunk.kind);
            for block in chunk.blocks(columns) {
                for from in (0..block.rows).step_by(BLOCK_ROWS) {
                    let rows = from..block.rows.min(from + BLOCK_ROWS);
                    let mut scores = [0; BLOCK_ROWS];
                    let scores = &mut scores[..rows.len()];
                    let columns: Vec<&[u8]> =
                        block.columns.iter().map(|column| &column[rows.clone()]).collect();
                    forest.add_scores(&columns, scores);
                    tally.add(scores);
                }
            }
        },
    )?;
    let mut found = PartScores::new(trees.len());
    parts.iter().for_each(|tallies| tallies.add_to(&mut found));
    Ok(found)
}

/// A tree with the weights of its nodes at each requested depth.
struct WeighedTree<'a> {
    tree: &'a GrowingTree,
    /// By depth, the weight of each position on that level.
    weights: Vec<(usize, [u8; 256])>,
}

impl<'a> WeighedTree<'a> {
    fn new(tree: &'a GrowingTree, depths: &[usize]) -> Self {
        let weights = |&depth: &usize| {
            let mut by_place = [0; 256];
            let weights = tree.leaf_weights(depth);
            by_place[..weights.len()].copy_from_slice(&weights);
            (depth, by_place)
        };
        WeighedTree { tree, weights: depths.iter().map(weights).collect() }
    }

    /// Adds to the `scores` of a block's rows, by depth.
    fn weigh(&self, block: &Block<'_>, placing: &mut Placing, scores: &mut [u16]) {
        let mut level = 0;
        let mut places = placing.start(block.rows);
        for ((depth, weights), scores) in
            self.weights.iter().zip(scores.chunks_exact_mut(block.rows))
        {
            let near = NEAR_LEVELS.clamp(level, *depth);
            self.tree.place(block, level..near, &mut places);
            level = near;
            if level < *depth {
                for (row, place) in places.at.iter_mut().enumerate() {
                    *place = self.tree.descend(block, row, level, *place, *depth);
                }
                level = *depth;
            }
            for (score, &place) in scores.iter_mut().zip(&*places.at) {
                // 128 trees weigh at most 32,640.
                *score = score.wrapping_add(u16::from(weights[usize::from(place)]));
            }
        }
    }
}
