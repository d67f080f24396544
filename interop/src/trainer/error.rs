//! Why another trainer could not train.

use super::kind::Trainer;
use super::params::Unsupported;
use dropcast_train::TrainError;

/// Why another trainer could not train.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainerError {
    /// The crate was built without it.
    #[error(
        "this program was built without {0}; build it with the cargo feature {0}, or train with our own trainer"
    )]
    NotBuilt(Trainer),
    /// It does not have what a parameter asks for.
    #[error("{trainer} cannot do that: {problem}")]
    Unsupported {
        /// The trainer.
        trainer: Trainer,
        /// What it lacks.
        problem: Unsupported,
    },
    /// More rows than it can count or hold.
    #[error(
        "{trainer} would need more than {rows} rows in memory: {why}; train on less, or with our own trainer"
    )]
    TooManyRows {
        /// The trainer.
        trainer: Trainer,
        /// How many were read before that was clear.
        rows: usize,
        /// Which limit, and what it is.
        why: String,
    },
    /// It failed; its own words.
    #[error("{trainer} failed: {problem}")]
    Failed {
        /// The trainer.
        trainer: Trainer,
        /// What it said.
        problem: String,
    },
    /// The rows cannot be read, or not be trained on by anyone.
    #[error(transparent)]
    Train(#[from] TrainError),
}
