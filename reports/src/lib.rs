//! What a model is worth, as numbers and pictures.
//!
//! A [`ReportBuilder`] reads labelled rows in batches, in bounded memory, and makes a [`Report`]:
//! every number there is, in one value. An [`Exporter`] writes it as JSON, as a page or as text.
//! Nothing here opens a file.

mod builder;
mod calibration;
mod curve;
mod distribution;
pub mod fig14;
pub mod fig15;
mod figures;
mod forest_replay;
mod format;
mod html;
mod importance;
mod json;
mod leaf_counts;
mod numbers;
pub mod plot;
mod random;
mod replay;
mod replay_section;
mod report;
mod row_sample;
mod score_ranges;
mod sweep_figures;
mod sweep_view;
mod text;
mod value_histogram;
mod vote_choice;

pub use builder::{BuildError, ModelSource, ReportBuilder, TraceSource};
pub use calibration::{CalibrationRange, CalibrationSection};
pub use curve::{CurvePoint, MOST_POINTS};
pub use forest_replay::{ForestReplay, ForestReplayError, LanesSent, VoteLane, VotePolicy};
pub use format::{ExportError, Exporter, ReportFormat, UnknownFormat};
pub use html::{Html, sweep_page};
pub use importance::{FeatureImportance, ImportanceSection, Loss, SampleSection};
pub use json::Json;
pub use replay::{Arrival, Replay, ReplayError, ReplayOptions, ReplayPolicy, Replayed, Sent};
pub use report::{
    AgreementSection, BestF1, CurveSection, Distribution, EtaSection, FeatureSection, LabelSection,
    ModelSection, PolicySection, PredictionSection, REPORT_SCHEMA_VERSION, ReplaySection,
    ReplayTotals, Report, ScoreBin, SwitchSection, TraceSection,
};
pub use text::Text;
pub use vote_choice::VoteChoice;
