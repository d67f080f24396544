//! Whether a program says what the forest says.

use crate::{Program, VerifyError};
use dropcast_train::Forest;

/// How a program's answers compare with the forest's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Rows compared.
    pub rows: u64,
    /// Rows whose score or decision differs.
    pub mismatches: u64,
    /// The first of them, at most [`Comparison::SHOWN`].
    pub first: Vec<Mismatch>,
}

/// A row of which a program says something else than the forest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The row.
    pub row: Vec<u32>,
    /// The forest's score.
    pub expected_score: u32,
    /// The forest's decision.
    pub expected_drop: bool,
    /// The program's score, if it tells one.
    pub score: Option<u32>,
    /// The program's decision, if it tells one.
    pub drop: Option<bool>,
}

impl Comparison {
    /// How many mismatches are kept.
    pub const SHOWN: usize = 5;

    /// Asks `program` about `rows`; adds what comes of it.
    ///
    /// # Errors
    /// If the program cannot be run, or does not answer every row.
    pub fn add(
        &mut self,
        forest: &Forest,
        program: &mut dyn Program,
        rows: &[Vec<u32>],
    ) -> Result<(), VerifyError> {
        let answers = program.answer(rows)?;
        let (scores, drops) = (answers.scores.as_deref(), answers.drops.as_deref());
        let counts = [scores.map(<[u32]>::len), drops.map(<[bool]>::len)];
        if counts == [None, None] || counts.iter().flatten().any(|&count| count != rows.len()) {
            let problem = format!("answered {counts:?} of {} rows", rows.len());
            return Err(VerifyError::BadAnswer { program: program.name().to_owned(), problem });
        }
        self.rows += rows.len() as u64;
        for (at, row) in rows.iter().enumerate() {
            let expected_score = forest.score(row);
            let expected_drop = expected_score > forest.vote_threshold;
            let (score, drop) = (scores.map(|scores| scores[at]), drops.map(|drops| drops[at]));
            if score.is_none_or(|score| score == expected_score)
                && drop.is_none_or(|drop| drop == expected_drop)
            {
                continue;
            }
            self.mismatches += 1;
            if self.first.len() < Self::SHOWN {
                let row = row.clone();
                self.first.push(Mismatch { row, expected_score, expected_drop, score, drop });
            }
        }
        Ok(())
    }
}
