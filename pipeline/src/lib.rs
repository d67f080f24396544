//! The pipeline as a library: what the `dropcast` command does from packet events to a report.
//!
//! Events become a labelled trace ([`collect`](collect::collect)), the trace trains a forest
//! ([`train`](training::train)), the forest is measured ([`measure`](measure::measure)) and
//! exported ([`models`]). Sweeps, budgets, cross-validation and models per switch are here too, and
//! the whole run ([`run`]). Nothing here prints: long work tells a [`Progress`](progress::Progress),
//! results are values.
//!
//! ```
//! use dropcast_data::{Departures, SwitchSpecs};
//! use dropcast_pipeline::progress::Silent;
//! use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
//! use dropcast_pipeline::{collect, measure, report, resources, traces, training, verdict};
//! use dropcast_simulate::LeafWorkload;
//!
//! // What would push-out LQD drop of 20 ms of traffic at a small leaf switch?
//! let workload = LeafWorkload::small(7);
//! let switch = SwitchSpecs::Same(workload.switch_spec()?);
//! let tracer = TracerSettings { departures: Departures::LineRate, ..Default::default() };
//! let trace = collect::collect_in_memory("leaf", workload.arrivals()?, switch, &tracer)?;
//!
//! // A forest that predicts it, trained on the first 60% of the time.
//! let (settings, cores) = (TrainSettings::default(), resources::Resources::default());
//! let traces = traces::LabelledTraces::new(vec![trace], &settings.features)?;
//! let split = training::choose_split(&traces, &settings.split.check()?, &Silent)?;
//! let model = training::train_on(&traces, &split, &settings, &cores, &Silent)?.model;
//!
//! // What it is worth on the last 20%.
//! let (source, rows) = (report::ModelSource::default(), measure::ReportRows::Unseen);
//! let asked = verdict::AskedPolicies::default();
//! let report = measure::measure(&model, source, &traces, rows, &asked, &Silent)?;
//! println!("F1 {:?}, gain {:?}", report.prediction.f1, report.gain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod capture_packets;
pub mod collect;
pub mod collect_folder;
mod counts;
pub mod cross_validation;
mod error;
pub mod event_reading;
mod events_source;
mod exact_times;
pub mod files;
mod folders;
#[cfg(feature = "polars")]
pub mod frames;
pub mod generate;
pub mod inspection;
pub mod inspection_summary;
mod kept_rows;
mod manifest;
pub mod measure;
mod memory_rows;
pub mod model_per;
pub mod models;
pub mod named_policy;
pub mod oracle_gain;
pub mod partitions;
pub mod progress;
mod replays;
pub mod report;
pub mod resources;
pub mod run;
pub mod run_task;
pub mod settings;
pub mod statistics;
pub mod sweep;
mod switch_pieces;
pub mod table_cost;
pub mod timeline;
pub mod tool_measurements;
mod trace_names;
pub mod traces;
pub mod training;
pub mod verdict;
pub mod verification;
mod votes;
pub mod work_folder;

pub use error::PipelineError;
pub use work_folder::leave_nothing;
