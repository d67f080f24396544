//! Reports: a model measured on labelled traces, all numbers in one value; and what an oracle could be worth
//! there ([`verdict`]).
//!
//! ```
//! use dropcast_data::{Departures, SwitchSpecs};
//! use dropcast_measure::{ModelSource, measure, verdict};
//! use dropcast_pipeline::progress::Silent;
//! use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
//! use dropcast_pipeline::{collect, resources, traces, train};
//! use dropcast_arrivals::LeafWorkload;
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

mod builder;
mod calibration;
pub mod condition;
mod curve;
pub mod decisions;
mod distribution;
mod drift;
mod gain;
mod importance;
mod leaf_counts;
pub mod measure;
pub mod measures;
mod model_replay;
mod one_comparison;
pub mod oracle_gain;
mod outside;
mod replay_section;
mod row_sample;
mod score_intervals;
mod score_ranges;
mod sent_at_votes;
mod source;
mod trained_comparison;
mod value;
mod value_histogram;
pub mod verdict;

pub use builder::ReportBuilder;
pub use calibration::{CalibrationRange, CalibrationSection};
pub use curve::{BestF1, CurvePoint, CurveSection, MOST_POINTS};
pub use distribution::{Distribution, FeatureSection};
pub use drift::{DriftSection, TrainedPart};
pub(crate) use gain::BestAlpha;
pub use gain::{AlphaGain, Gain, GainSection};
pub use importance::{FeatureImportance, ImportanceSection, Loss, SampleSection, gini_shares};
pub use one_comparison::OneComparison;
pub use outside::FeatureOutside;
pub use replay_section::{AgreementSection, EtaSection, PolicySection, ReplayTotals};
pub(crate) use replay_section::{common_dt_alpha, common_own_policy, common_slack_bytes, ratio};
pub use score_intervals::ScoreIntervals;
pub use score_ranges::ScoreBin;
pub use source::{ModelSource, TraceSource};
pub use value::{
    LabelSection, ModelSection, PredictionSection, REPORT_SCHEMA_VERSION, ReplaySection, Report,
    SwitchSection, TraceSection,
};
