//! Why another trainer could not train.

use super::kind::TrainerCrate;
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
    NotBuilt(TrainerCrate),
    /// It does not support a parameter.
    #[error("{trainer} does not support a parameter: {problem}")]
    Unsupported {
        /// The trainer.
        trainer: TrainerCrate,
        /// The parameter.
        problem: Unsupported,
    },
    /// There are more rows than it can count or hold.
    #[error(
        "{trainer} cannot train on {rows} rows: {why}; train on fewer rows, or with our own trainer"
    )]
    TooManyRows {
        /// The trainer.
        trainer: TrainerCrate,
        /// How many rows were read before the limit.
        rows: usize,
        /// The limit.
        why: String,
    },
    /// It failed.
    #[error("{trainer} failed: {problem}")]
    Failed {
        /// The trainer.
        trainer: TrainerCrate,
        /// Its message.
        problem: String,
    },
    /// The rows cannot be read, or no trainer can train on them.
    #[error(transparent)]
    Train(#[from] TrainError),
}
