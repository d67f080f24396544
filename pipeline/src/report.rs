//! What a model is worth on labelled traces: every number there is, in one value.

mod builder;
mod calibration;
mod curve;
mod distribution;
mod importance;
mod leaf_counts;
mod replay_section;
mod row_sample;
mod score_ranges;
mod value;
mod value_histogram;

pub use builder::{BuildError, ModelSource, ReportBuilder, TraceSource};
pub use calibration::{CalibrationRange, CalibrationSection};
pub use curve::{BestF1, CurvePoint, CurveSection, MOST_POINTS};
pub use distribution::{Distribution, FeatureSection};
pub use importance::{FeatureImportance, ImportanceSection, Loss, SampleSection};
pub use replay_section::{AgreementSection, EtaSection, PolicySection, ReplayTotals};
pub use score_ranges::ScoreBin;
pub use value::{
    LabelSection, ModelSection, PredictionSection, REPORT_SCHEMA_VERSION, ReplaySection, Report,
    SwitchSection, TraceSection,
};
