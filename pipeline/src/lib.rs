//! The pipeline as a library: everything that the `dropcast` command does.
//!
//! Events become a labelled trace ([`collect`](collect::collect)), the trace trains a forest
//! ([`train`](training::train)), the forest is measured ([`measure`](measure::measure)) and
//! exported ([`models`]). Sweeps, budgets, cross-validation and models per switch are here too, and
//! the whole run ([`run`]). Nothing here prints: long work tells a [`Progress`](progress::Progress),
//! results are values.

pub mod closed_loop;
pub mod collect;
pub mod cross_validation;
mod error;
pub mod fabric_oracle;
pub mod files;
pub mod generate;
pub mod inspection;
pub mod map;
pub mod measure;
pub mod model_per;
pub mod models;
pub mod oracle_gain;
pub mod progress;
mod replays;
pub mod report;
pub mod reproduce;
pub mod resources;
pub mod run;
pub mod settings;
pub mod statistics;
pub mod sweep;
pub mod table_cost;
pub mod tool_measurements;
pub mod traces;
pub mod training;
pub mod verification;
mod votes;

pub use error::PipelineError;
