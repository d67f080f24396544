//! Answers of partitions. Those of several partitions add up to that of all their rows.

use super::bytes::{decode, encode};
use super::placed_rows::PlacedRows;
use crate::TrainError;
use crate::bins::edges::ValueCounts;
use crate::bins::sketch::merge_counts;
use crate::growth::histogram::LevelCounts;
use crate::growth::part_scores::PartScores;
use crate::rows::row_kind::{MOST_COUNTED, RowKind};
use crate::splits::{RunSwitch, RunTimes};
use crate::training_rows::RowCounts;
use serde::{Deserialize, Serialize};

/// The answer to a question, by one or several partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    Rows(PlacedRows<RunSwitch>),
    Times(RunTimes),
    Values(Values),
    Counts(LevelCounts),
    /// By forest and size.
    Scores(Vec<Vec<PartScores>>),
}

/// Training rows by value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Values {
    pub(super) rows: RowCounts,
    pub(super) kinds: PlacedRows<RowKind>,
    /// By feature.
    pub(super) features: Vec<ValueCounts>,
}

/// The sum of the answers of several partitions to one question.
///
/// Addition: any grouping and any order give the same bytes, so an engine may merge as it likes, in
/// a tree, pair by pair, as answers come in. Each partition must be in the sum once.
///
/// # Errors
/// [`TrainError::Message`] if there is no answer, one is damaged, or they answer different questions.
pub fn merge_answers<B: AsRef<[u8]>>(
    answers: impl IntoIterator<Item = B>,
) -> Result<Vec<u8>, TrainError> {
    let mut sum: Option<Answer> = None;
    for answer in answers {
        let answer = Answer::from_bytes(answer.as_ref())?;
        match &mut sum {
            None => sum = Some(answer),
            Some(sum) => sum.merge(answer)?,
        }
    }
    sum.map(|sum| sum.to_bytes()).ok_or_else(|| wrong("is missing: no partition answered"))
}

fn wrong(problem: &str) -> TrainError {
    TrainError::Message { what: "an answer", problem: problem.to_owned() }
}

impl Answer {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, TrainError> {
        let answer: Answer = decode("an answer", bytes)?;
        if answer.is_sound() { Ok(answer) } else { Err(wrong("is damaged: it cannot be counted")) }
    }

    /// Whether counts are in order, and no more than there can be.
    fn is_sound(&self) -> bool {
        let can_be = |counts: &[u64]| counts.iter().all(|&count| count <= MOST_COUNTED);
        match self {
            Answer::Values(Values { rows, features, .. }) => {
                can_be(&[rows.all, rows.train[0], rows.train[1]])
                    && features.iter().all(ValueCounts::is_sound)
            }
            Answer::Scores(scores) => {
                let parts = scores.iter().flatten().flat_map(|scores| &scores.0);
                parts.into_iter().all(|part| can_be(part.accepts()) && can_be(part.drops()))
            }
            // Checked as they are read, or added up so that they cannot overflow.
            Answer::Rows(_) | Answer::Times(_) | Answer::Counts(_) => true,
        }
    }

    /// Adds the answer of other partitions.
    fn merge(&mut self, other: Answer) -> Result<(), TrainError> {
        let fits = match (self, other) {
            (Answer::Rows(own), Answer::Rows(other)) => {
                own.merge(other);
                true
            }
            (Answer::Times(own), Answer::Times(other)) => {
                own.merge(other);
                true
            }
            (Answer::Values(own), Answer::Values(other)) => own.merge(other),
            (Answer::Counts(own), Answer::Counts(other)) => own.merge(&other),
            (Answer::Scores(own), Answer::Scores(other)) => {
                let sizes =
                    |scores: &[Vec<PartScores>]| Vec::from_iter(scores.iter().map(Vec::len));
                let fits = sizes(own) == sizes(&other);
                let pairs = own.iter_mut().flatten().zip(other.iter().flatten());
                pairs.for_each(|(own, other)| own.merge(other));
                fits
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(wrong("is to another question than the one it is added to")) }
    }
}

impl Values {
    fn merge(&mut self, other: Values) -> bool {
        if self.features.len() != other.features.len() {
            return false;
        }
        self.rows.merge(other.rows);
        self.kinds.merge(other.kinds);
        for (own, other) in self.features.iter_mut().zip(&other.features) {
            *own = merge_counts(own, other);
        }
        true
    }
}
