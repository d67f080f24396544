//! Training: forests on labelled traces.
//!
//! [`fit`] reads labelled rows from a [`BatchSource`], grows a forest of integer trees from
//! histograms, chooses its vote threshold and measures it. The result is a [`Model`], whose file
//! is `model.json`. Nothing here opens a file.
//!
//! The forest itself ([`Forest`], [`Tree`], [`Node`]) is the form that every trainer produces and
//! every export starts from.

mod best_split;
mod bin_masks;
mod binned;
mod bins;
mod bootstrap;
mod budget;
mod buffer_scale;
mod confusion;
mod edges;
mod error;
mod fit;
mod forest;
mod forest_check;
mod forest_fit;
mod forest_scores;
mod growing;
mod histogram;
mod import_origin;
mod json_layout;
mod model;
mod params;
mod part_rows;
mod random;
mod refit;
mod row_numbers;
mod scorer;
mod scores;
mod share;
mod sketch;
mod sorted_rows;
mod source;
mod spill;
mod split;
mod sweep;
mod threads;
mod training_marks;
mod training_rows;
mod vote;

pub use budget::{
    Budget, ForestCost, ForestStates, NotABudget, Objective, Resource, Squeezed, squeeze,
};
pub use buffer_scale::{BufferScale, UnknownBuffer, scale_to_buffer};
pub use confusion::Confusion;
pub use error::TrainError;
pub use fit::{FitTask, Fitted, ForestTask, fit, fit_many};
pub use forest::{Forest, Node, Tree};
pub use forest_check::{ForestError, MAX_DEPTH, TreeError};
pub use import_origin::{Agreement, ImportOrigin};
pub use model::{
    DataOrigin, FORMAT_VERSION, Metrics, Model, ModelError, PartMetrics, Provenance, SwitchContext,
};
pub use params::{
    CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, ParamError,
};
pub use part_rows::{ReplayRows, rows_of_part, rows_to_replay};
pub use refit::refit_leaves;
pub use scorer::{BinnedForest, ForestScorer};
pub use scores::{Decision, ScoreHistogram};
pub use share::{NotAShare, Share};
pub use source::{BatchSource, Batches, RowArrivals, RunBatch, RunRows};
pub use spill::SpillFile;
pub use split::{Part, RunSwitch, Split};
pub use sweep::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, MOST_SWEEP_ROWS, PartSize,
    SWEEP_FORMAT_VERSION, Spread, SpreadScores, SweepAxes, SweepGroup, SweepPart, SweepPartError,
    SweepParts, SweepPlan, SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable,
    SweepTimings, assemble,
};
pub use training_rows::{ReadTask, TrainingRows};
pub use vote::{QUANTILES as VOTE_QUANTILES, VoteError, VoteRule};
