//! The pipeline as a library: everything that the `dropcast` command does.
//!
//! Events become a labelled trace ([`collect`](collect::collect)), the trace trains a forest
//! ([`train`](training::train)), the forest is measured ([`measure`](measure::measure)) and
//! exported ([`models`]). Sweeps, budgets, cross-validation and models per switch are here too, and
//! the whole run ([`run`]). Nothing here prints: long work tells a [`Progress`](progress::Progress),
//! results are values.
//!
//! ```
//! use dropcast_data::{Departures, SwitchSpecs};
//! use dropcast_pipeline::collect::collect_in_memory;
//! use dropcast_pipeline::measure::{ReportRows, measure};
//! use dropcast_pipeline::progress::Silent;
//! use dropcast_pipeline::report::ModelSource;
//! use dropcast_pipeline::resources::Resources;
//! use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
//! use dropcast_pipeline::traces::LabelledTraces;
//! use dropcast_pipeline::training::train_on;
//! use dropcast_simulate::LeafWorkload;
//!
//! // 20 ms of traffic with incasts at a small leaf switch.
//! let workload = LeafWorkload {
//!     servers: 4,
//!     uplinks: 2,
//!     buffer_bytes: 60_000,
//!     flow_rate: 1.0,
//!     incast_per_server_hz: 300.0,
//!     outgoing_incast_per_server_hz: 100.0,
//!     duration_ns: 20_000_000,
//!     seed: 7,
//!     ..LeafWorkload::default()
//! };
//! let switch = SwitchSpecs::Same(workload.switch_spec()?);
//!
//! // What would push-out LQD drop?
//! let tracer = TracerSettings { departures: Departures::LineRate, ..TracerSettings::default() };
//! let trace = collect_in_memory("leaf", workload.arrivals()?, switch, &tracer)?;
//!
//! // A forest that predicts it, trained on the first 60% of the time.
//! let settings = TrainSettings::default();
//! let traces = LabelledTraces::new(vec![trace], &settings.features)?;
//! let split = settings.split.check()?;
//! let model = train_on(&traces, &split, &settings, &Resources::default(), &Silent)?.model;
//!
//! // What it is worth on the last 20%.
//! let report = measure(&model, ModelSource::default(), &traces, ReportRows::Unseen, &Silent)?;
//! assert!(report.prediction.f1.is_some() && report.gain.is_some());
//! assert!(report.replay.is_some_and(|replay| replay.total.eta.bound >= Some(1.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod memory_rows;
pub mod model_per;
pub mod models;
pub mod oracle_gain;
pub mod progress;
pub mod refine;
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
pub mod verdict;
pub mod verification;
mod votes;

pub use error::PipelineError;
