//! Scores of a batch, computed where they are asked for.

use dropcast_data::LabelledBatch;
use dropcast_data::Threads;
use dropcast_forest::{Forest, ForestScorer};
use std::ops::Range;

/// Rows of a batch are scored in stretches of this many if there is one forest; more forests score the whole
/// batch, on all threads.
const STRETCH_ROWS: usize = 512;

/// The scores of a batch by each forest.
pub(super) struct BatchScores<'a> {
    forests: &'a [ScoredForest],
    threads: &'a Threads,
    batch: &'a LabelledBatch,
    /// The lowest threshold of the lanes of each forest.
    lowest: &'a [u32],
    stretch_rows: usize,
    scores: &'a mut KnownScores,
}

/// Memory for the scores of a batch.
#[derive(Default)]
pub(super) struct KnownScores {
    /// By forest.
    scores: Vec<Vec<u32>>,
    /// By stretch: the scores of others are those of an earlier batch.
    are_known: Vec<bool>,
}

impl<'a> BatchScores<'a> {
    pub(super) fn new(
        forests: &'a [ScoredForest],
        lowest: &'a [u32],
        threads: &'a Threads,
        batch: &'a LabelledBatch,
        scores: &'a mut KnownScores,
    ) -> Self {
        let rows = batch.len();
        let stretch_rows = if forests.len() > 1 { rows.max(1) } else { STRETCH_ROWS };
        scores.scores.resize(forests.len(), Vec::new());
        scores.scores.iter_mut().for_each(|scores| scores.resize(rows, 0));
        scores.are_known.clear();
        scores.are_known.resize(rows.div_ceil(stretch_rows), false);
        BatchScores { stretch_rows, scores, forests, lowest, threads, batch }
    }

    /// Whether a lane predicts the drop of this row.
    pub(super) fn is_predicted(&mut self, row: usize) -> bool {
        let stretch = row / self.stretch_rows;
        if !self.scores.are_known[stretch] {
            self.score(stretch);
        }
        self.scores.scores.iter().zip(self.lowest).any(|(scores, lowest)| scores[row] > *lowest)
    }

    fn score(&mut self, stretch: usize) {
        let KnownScores { scores, are_known } = &mut *self.scores;
        let begin = stretch * self.stretch_rows;
        let rows = begin..self.batch.len().min(begin + self.stretch_rows);
        let score = |forest: &ScoredForest| forest.scores(self.batch, rows.clone());
        let found = self.threads.map(self.forests.iter().collect(), score);
        for (scores, found) in scores.iter_mut().zip(found) {
            scores[rows.clone()].copy_from_slice(&found);
        }
        are_known[stretch] = true;
    }

    /// The scores of a row by forest; 0 unless somebody has asked for it or a row near it.
    pub(super) fn of_row(&self, row: usize) -> impl Iterator<Item = u32> {
        let KnownScores { scores, are_known } = &*self.scores;
        let is_known = are_known[row / self.stretch_rows];
        scores.iter().map(move |scores| if is_known { scores[row] } else { 0 })
    }
}

/// A forest with the column of each of its features.
pub(super) struct ScoredForest {
    scorer: ForestScorer,
    columns: Vec<usize>,
}

impl ScoredForest {
    /// A forest on batches with these feature columns.
    ///
    /// # Errors
    /// The feature without a column.
    pub(super) fn new(forest: &Forest, columns: &[String]) -> Result<Self, String> {
        let column = |feature: &String| {
            let place = columns.iter().position(|column| column == feature);
            place.ok_or_else(|| feature.clone())
        };
        let columns = forest.features.iter().map(column).collect::<Result<_, _>>()?;
        Ok(ScoredForest { scorer: ForestScorer::new(forest), columns })
    }

    fn scores(&self, batch: &LabelledBatch, rows: Range<usize>) -> Vec<u32> {
        let column = |&column: &usize| &batch.features[column][rows.clone()];
        let columns: Vec<&[u32]> = self.columns.iter().map(column).collect();
        self.scorer.score_columns(&columns)
    }
}
