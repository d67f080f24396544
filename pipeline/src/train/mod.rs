//! Train: labelled traces become forests, one or many.

pub mod cross_validation;
pub mod model_per;
pub mod partitions;
pub mod replays;
pub mod sweep;
mod training;
mod votes;

pub use training::{
    KeptApart, OpenRoles, TraceRoles, cautions, choose_split, refuse_split, train, train_on,
};
pub(crate) use training::{Training, read_rows, vote_rule};
