//! Why a forest could not be trained.

use crate::vote_error::VoteError;
use std::error::Error;

/// Why a forest could not be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The source failed; its error says how.
    #[error("cannot read the labelled rows")]
    Source(#[source] Box<dyn Error + Send + Sync>),
    /// A batch has the wrong number of feature columns, or columns of different lengths.
    #[error(
        "run {run}: a batch has {found} feature columns, expected {features} columns of the same length"
    )]
    Columns {
        /// The batch's run.
        run: u64,
        /// How many features are trained on.
        features: usize,
        /// How many columns the batch has.
        found: usize,
    },
    /// A split by time without arrival times.
    #[error(
        "the {split} split needs arrival times, but run {run} has none: split at random, or keep whole \
         runs for testing"
    )]
    NoTimes {
        /// The split.
        split: &'static str,
        /// The run.
        run: u64,
    },
    /// A split by switch without switch numbers.
    #[error(
        "the switches split needs switch numbers, but run {run} has none: keep whole runs for testing"
    )]
    NoSwitches {
        /// The run.
        run: u64,
    },
    /// No features.
    #[error("no features to train on")]
    NoFeatures,
    /// The source is empty.
    #[error("no rows to train on: the labelled data is empty")]
    NoRows,
    /// The split left nothing to train on.
    #[error("no rows to train on: the split keeps all {rows} rows for testing")]
    NoTrainingRows {
        /// Rows of the source.
        rows: u64,
    },
    /// Only accepted packets.
    #[error(
        "none of the {rows} training rows is a drop: a forest cannot learn what it never sees (train on \
         a longer or busier trace, or split otherwise)"
    )]
    NoDrops {
        /// Training rows.
        rows: u64,
    },
    /// Only dropped packets.
    #[error("all {rows} training rows are drops: a forest cannot learn what it never sees")]
    NoAccepts {
        /// Training rows.
        rows: u64,
    },
    /// The split asks for a part that has no rows.
    #[error(
        "there are no {part} rows, but the split asks for some: split by time-blocks, take other \
         shares, switches or files, take a shorter guard, or do without validation rows \
         (validation_share 0)"
    )]
    EmptyPart {
        /// The part: `validation` or `test`.
        part: &'static str,
    },
    /// Only accepted packets to choose a vote threshold on.
    #[error(
        "none of the {rows} validation rows is a drop, so nothing can be chosen on them: leave the split \
         out, and one with drops in every part is found; take other shares; or set validation_share to 0 to \
         choose on training rows"
    )]
    NoValidationDrops {
        /// Validation rows.
        rows: u64,
    },
    /// No split has drops in every part.
    #[error(
        "no split has drops in every part: LQD drops {drops} packets, too few or too close together; take a \
         longer or busier trace, keep whole files for validation and testing, or let all rows train (split \
         none)"
    )]
    NoSplit {
        /// Packets that LQD drops.
        drops: u64,
    },
    /// A later pass over the source found a run that an earlier one did not.
    #[error("the labelled data changed while it was read")]
    SourceChanged,
    /// The forest cannot grow on these rows: they were read with different settings.
    #[error("the forest needs a different {what} than the rows were read with")]
    Rows {
        /// What differs.
        what: &'static str,
    },
    /// The temporary file for rows that do not fit into memory failed.
    #[error("cannot write rows to the temporary file or read them back")]
    Spill(#[source] std::io::Error),
    /// Bytes between a training and its partitions that are not what they should be.
    #[error("{what} between the training and its partitions {problem}")]
    Message {
        /// What the bytes should be.
        what: &'static str,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The vote threshold could not be chosen.
    #[error(transparent)]
    Vote(#[from] VoteError),
}

impl TrainError {
    /// Whether the rows are too few, or all alike, for a forest or its vote threshold. What failed is then
    /// neither the reading nor the program.
    pub fn is_lack_of_rows(&self) -> bool {
        match self {
            TrainError::NoRows
            | TrainError::NoTrainingRows { .. }
            | TrainError::NoDrops { .. }
            | TrainError::NoAccepts { .. }
            | TrainError::EmptyPart { .. }
            | TrainError::NoValidationDrops { .. }
            | TrainError::NoSplit { .. } => true,
            TrainError::Source(_)
            | TrainError::Columns { .. }
            | TrainError::NoTimes { .. }
            | TrainError::NoSwitches { .. }
            | TrainError::NoFeatures
            | TrainError::SourceChanged
            | TrainError::Rows { .. }
            | TrainError::Spill(_)
            | TrainError::Message { .. }
            | TrainError::Vote(_) => false,
        }
    }

    pub(crate) fn source(error: impl Error + Send + Sync + 'static) -> Self {
        TrainError::Source(Box::new(error))
    }
}
