//! The pipeline as a library: what the `dropcast` command does from packet events to a report.
//!
//! Events become a labelled trace ([`collect`](collect::collect)), the trace trains a forest
//! ([`train`](train::train)), the forest is measured ([`measure`](report::measure::measure)) and
//! exported ([`models`](export::models)). Sweeps, budgets, cross-validation and models per switch are here too, and
//! the whole run ([`run`]). Nothing here prints: long work tells a [`Progress`](progress::Progress),
//! results are values.
//!
//! ```
//! use dropcast_data::{Departures, SwitchSpecs};
//! use dropcast_pipeline::progress::Silent;
//! use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
//! use dropcast_pipeline::report::{ModelSource, measure, verdict};
//! use dropcast_pipeline::{collect, resources, traces, train};
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
//! let split = train::choose_split(&traces, &settings.split.check()?, &Silent)?;
//! let model = train::train_on(&traces, &split, &settings, &cores, &Silent)?.model;
//!
//! // What it is worth on the last 20%.
//! let (source, rows) = (ModelSource::default(), measure::ReportRows::Unseen);
//! let asked = verdict::AskedPolicies::default();
//! let report = measure::measure(&model, source, &traces, rows, &asked, &Silent)?;
//! println!("F1 {:?}, gain {:?}", report.prediction.f1, report.gain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod collect;
pub mod counters;
mod error;
mod exact_times;
pub mod export;
pub mod files;
pub mod inspection;
pub mod named_policy;
pub mod oracle_file;
pub mod progress;
pub mod report;
pub mod resources;
pub mod run;
pub mod settings;
pub mod switch_draft;
pub mod traces;
pub mod train;
pub mod wall_clock;

pub use error::PipelineError;
pub use files::work_folder::leave_nothing;
