//! Compares a program's answers with the forest's.

use crate::{Answers, Program, VerifyError};
use dropcast_forest::Forest;
use serde::Serialize;

/// The comparison of a program's answers with the forest's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Rows compared.
    pub rows: u64,
    /// Rows whose score or decision differs.
    pub mismatches: u64,
    /// The first mismatches, at most [`Comparison::SHOWN`].
    pub first: Vec<Mismatch>,
}

/// A row for which a program's answer differs from the forest's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The row.
    pub row: Vec<u32>,
    /// The forest's score.
    pub expected_score: u32,
    /// The forest's decision.
    pub expected_drop: bool,
    /// The program's score, if it reports scores.
    pub score: Option<u32>,
    /// The program's decision, if it reports decisions.
    pub drop: Option<bool>,
}

impl Comparison {
    /// Number of mismatches kept.
    pub const SHOWN: usize = 5;

    /// Runs `program` on `rows` and adds the result.
    ///
    /// # Errors
    /// If the program cannot be run, or does not answer every row.
    pub fn add(
        &mut self,
        forest: &Forest,
        program: &mut dyn Program,
        rows: &[Vec<u32>],
    ) -> Result<(), VerifyError> {
        let mismatches = Expected::new(forest, rows).mismatches(program)?;
        self.rows += rows.len() as u64;
        self.mismatches += mismatches.len() as u64;
        let room = Self::SHOWN - self.first.len();
        self.first.extend(mismatches.into_iter().take(room).map(|(_, mismatch)| mismatch));
        Ok(())
    }
}

/// Rows, and the expected answers.
pub(crate) struct Expected<'a> {
    rows: &'a [Vec<u32>],
    scores: Vec<u32>,
    vote_threshold: u32,
}

impl<'a> Expected<'a> {
    pub(crate) fn new(forest: &Forest, rows: &'a [Vec<u32>]) -> Self {
        let scores = rows.iter().map(|row| forest.score(row)).collect();
        Expected { rows, scores, vote_threshold: forest.vote_threshold }
    }

    /// The numbers of the rows for which `program` answers differently.
    ///
    /// # Errors
    /// If the program cannot be run, or does not answer every row.
    pub(crate) fn mismatches(
        &self,
        program: &mut dyn Program,
    ) -> Result<Vec<(usize, Mismatch)>, VerifyError> {
        let answers = program.answer(self.rows)?;
        self.check_length(program.name(), &answers)?;
        Ok((0..self.rows.len()).filter_map(|at| Some((at, self.mismatch(at, &answers)?))).collect())
    }

    fn mismatch(&self, at: usize, answers: &Answers) -> Option<Mismatch> {
        let expected_score = self.scores[at];
        let expected_drop = expected_score > self.vote_threshold;
        let score = answers.scores.as_ref().map(|scores| scores[at]);
        let drop = answers.drops.as_ref().map(|drops| drops[at]);
        let is_right = score.is_none_or(|score| score == expected_score)
            && drop.is_none_or(|drop| drop == expected_drop);
        (!is_right).then(|| Mismatch {
            row: self.rows[at].clone(),
            expected_score,
            expected_drop,
            score,
            drop,
        })
    }

    /// Checks that there is an answer to every row.
    fn check_length(&self, program: &str, answers: &Answers) -> Result<(), VerifyError> {
        let counts = [answers.scores.as_ref().map(Vec::len), answers.drops.as_ref().map(Vec::len)];
        let rows = self.rows.len();
        if counts != [None, None] && counts.iter().flatten().all(|&count| count == rows) {
            return Ok(());
        }
        let problem = format!("answered {counts:?} of {rows} rows (scores, decisions)");
        Err(VerifyError::BadAnswer { program: program.to_owned(), problem })
    }
}
