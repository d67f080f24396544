//! The pipeline as a library: what the `dropcast` command does from packet events to a model and its tables.
//!
//! Events become a labelled trace ([`collect`](collect::collect)), the trace trains a forest
//! ([`train`](train::TrainTask::train)), and the forest is exported ([`models`](export::models)). Sweeps, budgets, cross-validation
//! and models per switch are here too. What a model is worth is measured by the crate `dropcast-measure`. Nothing here prints:
//! long work reports to a [`Progress`](progress::Progress), results are values.

pub mod collect;
pub mod counters;
mod counts;
mod error;
pub mod exact_times;
pub mod export;
pub mod files;
pub mod inspection;
pub mod named_policy;
pub mod oracle_file;
pub mod progress;
pub mod resources;
pub mod settings;
pub mod switch_draft;
pub mod table_cost;
pub mod traces;
pub mod train;
pub mod wall_clock;

pub use error::{PipelineError, ReportError};
pub use files::work_folder::leave_nothing;
