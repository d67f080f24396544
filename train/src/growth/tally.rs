//! Scores of rows, counted as they are computed.

use crate::growth::part_scores::PartScores;
use crate::rows::row_kind::RowKind;

/// One thread's scores by part and class.
pub(super) struct PartTallies([[Tally; 2]; 3]);

impl PartTallies {
    pub(super) fn new(trees: usize) -> Self {
        PartTallies(std::array::from_fn(|_| std::array::from_fn(|_| Tally::new(trees))))
    }

    /// The tally of the rows of a kind.
    pub(super) fn tally(&mut self, kind: &RowKind) -> &mut Tally {
        &mut self.0[kind.part as usize][kind.class()]
    }

    pub(super) fn add_to(&self, found: &mut PartScores) {
        for (found, [accepts, drops]) in found.0.iter_mut().zip(&self.0) {
            for (score, (accepts, drops)) in (0..).zip(accepts.rows().zip(drops.rows())) {
                found.add_rows(score, [accepts, drops]);
            }
        }
    }
}

/// Rows by score. Most rows of a class have the same score, and increments of one counter wait for
/// each other; so each score has several counters, used in turn.
pub(super) struct Tally(Vec<[u64; 4]>);

impl Tally {
    fn new(trees: usize) -> Self {
        Tally(vec![[0; 4]; 255 * trees + 1])
    }

    /// Counts rows.
    pub(super) fn add(&mut self, scores: &[u32]) {
        let (fours, rest) = scores.as_chunks::<4>();
        for four in fours {
            for (turn, &score) in four.iter().enumerate() {
                self.0[score as usize][turn] += 1;
            }
        }
        rest.iter().for_each(|&score| self.0[score as usize][0] += 1);
    }

    fn rows(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|counters| counters.iter().sum())
    }
}
