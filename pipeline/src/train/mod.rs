//! Train: labelled traces become forests, one or many.

pub mod cross_validation;
pub mod model_per;
pub mod partitions;
pub mod replays;
mod roles;
pub mod sweep;
mod task;
mod training;

pub use roles::{Roles, TrainInput, choose_split};
pub use task::{TaskResults, TrainTask, Trained};
pub(crate) use training::{Training, read_rows, vote_rule};
pub use training::{cautions, train_on};
