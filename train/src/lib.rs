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
mod budgets;
mod error;
mod fit;
mod growth;
mod params;
mod provenance;
mod random;
mod rows;
mod share;
mod splits;
mod sweep;
mod threads;
mod votes;

pub use budgets::{
    Budget, ForestCost, ForestStates, NotABudget, Objective, Resource, Squeezed, Squeezing,
    TreeOutline, refit_leaves, squeeze,
};
pub use error::TrainError;
pub use fit::{FitTask, Fitted, ForestTask, fit, fit_many};
pub use params::{
    CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, ParamError,
};
pub use provenance::{DataOrigin, Model, Provenance};
pub use rows::part_rows::{ReplayRows, rows_of_part, rows_to_replay};
pub use rows::source::{BatchSource, Batches, RowArrivals, RunBatch, RunRows};
pub use rows::spill::SpillFile;
pub use rows::training_rows::{ReadTask, TrainingRows};
pub use share::{NotAShare, Share};
pub use splits::{Part, RunSwitch, Split, SplitBy, SplitError, SplitSettings};
pub use sweep::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, MOST_SWEEP_ROWS, PartSize,
    SWEEP_FORMAT_VERSION, Spread, SpreadScores, SweepAxes, SweepGroup, SweepPart, SweepPartError,
    SweepParts, SweepPlan, SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable,
    SweepTimings, assemble,
};
pub use threads::Threads;
pub use votes::{
    ForestScores, NoReplay, Sent, VoteError, VoteLane, VotePolicy, VoteReplay, VoteRule,
};
