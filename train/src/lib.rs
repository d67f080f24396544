//! Training: forests on labelled traces.
//!
//! [`fit`] reads labelled rows from a [`BatchSource`], grows a forest of integer trees from
//! histograms, chooses its vote threshold and measures it. The result is a [`TrainedModel`], whose file is
//! `model.json`. Nothing here opens a file.
//!
//! ```
//! use dropcast_data::LabelledBatch;
//! use dropcast_features::FeatureSet;
//! use dropcast_forest::SwitchContext;
//! use dropcast_train::{FitTask, ForestParams, RunBatch, SplitSettings, VoteRule, fit};
//!
//! // A switch that drops whenever the queue is above 1,500 bytes.
//! let mut batch = LabelledBatch::with_arrivals(1);
//! for time_ns in 0..1_000_u64 {
//!     let queue_length = (time_ns * 37 % 2_000) as u32;
//!     batch.features[0].push(queue_length);
//!     batch.drop.push(queue_length > 1_500);
//!     if let Some(arrivals) = &mut batch.arrivals {
//!         arrivals.time_ns.push(time_ns);
//!         arrivals.switch_id.push(0);
//!     }
//! }
//! let rows = [RunBatch { run: 1, batch }];
//!
//! let task = FitTask {
//!     features: FeatureSet::try_from(vec!["queue_length".to_owned()])?,
//!     params: ForestParams { max_depth: 2, ..ForestParams::default() }.check()?,
//!     split: SplitSettings::default().check()?.choose(&rows[..], 1)?.split,
//!     vote: VoteRule::F1,
//!     switch: SwitchContext::default(),
//!     data: Vec::new(),
//!     threads: 2.try_into()?,
//! };
//! let model = fit(&rows[..], &task)?.model;
//! let test = model.metrics.and_then(|metrics| metrics.test).ok_or("no test rows")?;
//! assert_eq!(test.f1, Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules are the steps: `splits` divides rows into parts, `bins` and `rows` store them as
//! bins, `growth` grows trees, `votes` chooses a vote threshold, `budgets` squeezes a forest into a
//! budget, and `sweep` compares many forests. `partition` trains on rows that are in many places.

mod bins;
mod budgets;
mod error;
mod fit;
mod growth;
mod leaf_shares;
mod params;
mod partition;
mod provenance;
mod random;
mod row_numbers;
mod rows;
mod share;
mod source;
mod splits;
mod sweep;
mod training_rows;
mod vote_error;
mod votes;

pub use budgets::{
    Budget, BudgetObjective, ForestCost, ForestStates, NotABudget, Resource, Squeezed, Squeezing,
    TreeOutline, refit_leaves, squeeze,
};
pub use error::TrainError;
pub use fit::{FitTask, Fitted, ForestTask, fit, fit_many, fit_seeds};
pub use leaf_shares::LeafShares;
pub use params::{
    CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, Monotone, ParamError,
};
pub use partition::{Partition, PartitionedFit, merge_answers};
pub use provenance::{DataOrigin, Provenance, TrainedModel};
pub use rows::part_rows::{ReplayRows, rows_of_part, rows_to_replay};
pub use rows::spill::SpillFile;
pub use share::{NotAShare, Share};
pub use source::{BatchSource, Batches, RowArrivals, RunBatch, RunRows};
pub use splits::{
    ChosenSplit, Part, PassedOver, RunSwitch, RunTime, Split, SplitBy, SplitChoice, SplitError,
    SplitSettings, why_split,
};
pub use sweep::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, MOST_SWEEP_ROWS, PartSize, SEEDS,
    SWEEP_FORMAT_VERSION, Spread, SpreadScores, SweepAlpha, SweepAxes, SweepBest, SweepGroup,
    SweepPart, SweepPartError, SweepParts, SweepPlan, SweepRow, SweepScores, SweepSetting,
    SweepSummary, SweepTable, SweepTimings, assemble,
};
pub use training_rows::{ReadTask, TrainingRows};
pub use votes::{ForestScores, NoReplay, VoteError, VoteReplay, VoteRule};
