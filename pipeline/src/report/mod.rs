//! Reports: a model measured on labelled traces, all numbers in one value; and what an oracle could be worth
//! there ([`verdict`]).

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
pub use score_ranges::ScoreBin;
pub use source::{ModelSource, ReportError, TraceSource};
pub use value::{
    LabelSection, ModelSection, PredictionSection, REPORT_SCHEMA_VERSION, ReplaySection, Report,
    SwitchSection, TraceSection,
};
