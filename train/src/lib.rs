//! Training: forests on labelled traces.
//!
//! [`fit`] reads labelled rows from a [`BatchSource`], grows a forest of integer trees from
//! histograms, chooses its vote threshold and measures it. The result is a [`Model`], whose file
//! is `model.json`. Nothing here opens a file.
//!
//! The modules are the steps: rows are split into parts and kept as bins (`split`, `bins`,
//! `rows`), trees grow on them (`growth`), a vote threshold is chosen (`vote`), a forest is
//! squeezed into a budget (`budget`), and many forests are compared (`sweep`).

mod bins;
mod budget;
mod error;
mod fit;
mod growth;
mod params;
mod provenance;
mod random;
mod rows;
mod split;
mod sweep;
mod threads;
mod vote;

pub use budget::refit::refit_leaves;
pub use budget::{
    Budget, ForestCost, ForestStates, NotABudget, Objective, Resource, Squeezed, squeeze,
};
pub use error::TrainError;
pub use fit::{FitTask, Fitted, ForestTask, fit, fit_many};
pub use params::{
    CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, ParamError,
};
pub use provenance::{DataOrigin, Provenance};
pub use rows::part_rows::{ReplayRows, rows_of_part, rows_to_replay};
pub use rows::source::{BatchSource, Batches, RowArrivals, RunBatch, RunRows};
pub use rows::spill::SpillFile;
pub use rows::training_rows::{ReadTask, TrainingRows};
pub use split::share::{NotAShare, Share};
pub use split::{Part, RunSwitch, Split};
pub use sweep::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, MOST_SWEEP_ROWS, PartSize,
    SWEEP_FORMAT_VERSION, Spread, SpreadScores, SweepAxes, SweepGroup, SweepPart, SweepPartError,
    SweepParts, SweepPlan, SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable,
    SweepTimings, assemble,
};
pub use vote::{QUANTILES as VOTE_QUANTILES, VoteError, VoteRule};

/// A model with the record of how this crate trained it.
pub type Model = dropcast_forest::Model<Provenance>;
