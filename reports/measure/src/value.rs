//! The report: all its numbers in one value (`docs/report.md`).
//!
//! A number that is not defined (a ratio whose denominator is 0) is `None` here and `null` in
//! JSON. Pages and texts are made from this value alone.

use super::calibration::CalibrationSection;
use super::curve::CurveSection;
use super::distribution::FeatureSection;
use super::drift::DriftSection;
use super::gain::GainSection;
use super::importance::ImportanceSection;
use super::one_comparison::OneComparison;
use super::outside::FeatureOutside;
use super::replay_section::ReplayTotals;
use super::score_intervals::ScoreIntervals;
use super::score_ranges::ScoreBin;
use super::verdict::Verdict;
use dropcast_data::{InputProvenance, TraceMeta, Victim};
use dropcast_export::TableResources;
use dropcast_forest::{Confusion, ImportOrigin, Metrics, SwitchContext};
use dropcast_switch::Alphas;
use dropcast_train::Provenance;
use serde::{Deserialize, Serialize};

/// Version of the report's JSON.
pub const REPORT_SCHEMA_VERSION: u32 = 1;

/// A model measured on labelled traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The tool and its version.
    pub tool: String,
    /// The model.
    pub model: ModelSection,
    /// The traces.
    pub traces: Vec<TraceSection>,
    /// Outcomes of the packets at LQD.
    pub labels: LabelSection,
    /// The model's predictions at its own vote threshold.
    pub prediction: PredictionSection,
    /// How far it is from what it was when it was trained; null if its file has no scores.
    #[serde(default)]
    pub drift: Option<DriftSection>,
    /// For each of its features, the rows outside the range of its training; null if its file has no ranges.
    #[serde(default)]
    pub outside: Option<Vec<FeatureOutside>>,
    /// Why these rows are not counted; null if they are.
    #[serde(default)]
    pub outside_omitted: Option<String>,
    /// Its predictions at every vote threshold.
    pub curve: CurveSection,
    /// Rows by score.
    pub score_histogram: Vec<ScoreBin>,
    /// Calibration of the scores.
    pub calibration: CalibrationSection,
    /// Importance of the model's features.
    pub importance: ImportanceSection,
    /// The features of the traces, each by label.
    pub features: Vec<FeatureSection>,
    /// What any oracle could be worth on these rows, and what the real switch, LQD and this model do
    /// over time and by queue; null where nothing was replayed.
    pub verdict: Option<Verdict>,
    /// Whether one comparison does as well as the model; null where nothing was replayed.
    pub one_comparison: Option<OneComparison>,
    /// What the oracle gains over switches without one; null where nothing was replayed.
    pub gain: Option<GainSection>,
    /// The replays; null where they are not possible.
    pub replay: Option<ReplaySection>,
    /// Why there is no replay; null where there is one.
    pub replay_omitted: Option<String>,
    /// Size of the forest as match-action tables; null if it cannot be exported.
    pub resources: Option<TableResources>,
    /// Why it cannot be exported; null if it can.
    pub resources_omitted: Option<String>,
}

/// The model of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSection {
    /// File name, if it has one.
    pub name: Option<String>,
    /// SHA-256 of its file, lower-case hex.
    pub sha256: Option<String>,
    /// Names of its features, in its order.
    pub features: Vec<String>,
    /// Number of trees.
    pub trees: usize,
    /// Splits from a root to the deepest leaf.
    pub depth: usize,
    /// A drop is predicted for scores above it.
    pub vote_threshold: u32,
    /// The highest score that it can give.
    pub max_score: u32,
    /// The switch it was trained for, from its file.
    pub switch: SwitchContext,
    /// What it was imported from, if it was trained elsewhere.
    pub imported: Option<ImportOrigin>,
    /// Whether its file says which rows it was trained on. If not, it may have been trained on the
    /// rows of this report, and its scores may flatter it.
    pub training_rows_known: bool,
    /// Its scores after training, from its file; null if they are not there.
    pub metrics: Option<Metrics>,
    /// How it was trained, from its file; null if it does not say.
    pub provenance: Option<Provenance>,
}

/// A trace of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSection {
    /// File name, or the folders that it is named for: a different one for each trace.
    pub name: String,
    /// Its file, with its SHA-256 and what was left out; null if it was never in one.
    pub input: Option<InputProvenance>,
    /// Rows read.
    pub rows: u64,
    /// Whether these are only the rows of the file that the model's own split kept for testing.
    pub held_out: bool,
    /// Whether the model says that it was trained on this file (same SHA-256) and these are not
    /// held-out rows: then these scores flatter it. Null where either does not say.
    pub in_training_data: Option<bool>,
    /// What the trace says of itself, with times as strings.
    #[serde(with = "dropcast_pipeline::exact_times::of_meta")]
    pub meta: TraceMeta,
}

/// Packets by outcome at LQD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelSection {
    /// Rows.
    pub rows: u64,
    /// Rows labelled as drops.
    pub drops: u64,
    /// `drops / rows`.
    pub drop_share: Option<f64>,
    /// Drops accepted first, then pushed out; null where a trace has only labels.
    pub pushed_out: Option<u64>,
    /// Drops never accepted; null where a trace has only labels.
    pub rejected: Option<u64>,
}

/// Predictions against labels. Positive means drop. Definitions: Credence paper, appendix C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionSection {
    /// Counts by truth and prediction.
    pub confusion: Confusion,
    /// `(TP + TN) / all`.
    pub accuracy: Option<f64>,
    /// `TP / (TP + FP)`.
    pub precision: Option<f64>,
    /// `TP / (TP + FN)`.
    pub recall: Option<f64>,
    /// `2 TP / (2 TP + FP + FN)`.
    pub f1: Option<f64>,
    /// How sure these and eta are; null where nothing was replayed.
    pub intervals: Option<ScoreIntervals>,
}

impl PredictionSection {
    pub(crate) fn new(confusion: Confusion, intervals: Option<ScoreIntervals>) -> Self {
        PredictionSection {
            confusion,
            intervals,
            accuracy: confusion.accuracy(),
            precision: confusion.precision(),
            recall: confusion.recall(),
            f1: confusion.f1(),
        }
    }
}

/// The same arrivals through every policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplaySection {
    /// `continuous`: packets of any size, drained at line rate.
    pub time_model: String,
    /// The `alpha` of Dynamic Thresholds, one or one for each queue of a port; null if it is not the same at
    /// every switch.
    pub dynamic_thresholds_alpha: Option<Alphas>,
    /// How much longer than its threshold Credence lets a queue become, bytes, here and in exported
    /// decisions: `slack_bytes` of the switch's description; null if it is not the same at every switch.
    pub slack_bytes: Option<u32>,
    /// All switches together.
    pub total: ReplayTotals,
    /// Each switch of each trace.
    pub switches: Vec<SwitchSection>,
}

/// One switch's replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchSection {
    /// Number of the trace in `traces`, from 0.
    pub trace: usize,
    /// Number of the switch.
    pub switch_id: u16,
    /// Its ports, the papers' `N`.
    pub ports: u16,
    /// The `alpha` of Dynamic Thresholds there, one or one for each queue of a port.
    pub dynamic_thresholds_alpha: Alphas,
    /// How much longer than its threshold Credence lets a queue become there, bytes.
    pub slack_bytes: u32,
    /// Which packet LQD pushes out; the trace's setting.
    pub victim: Victim,
    /// Whether a packet needs strictly more free bytes than it takes; the trace's setting.
    pub strict_fit: bool,
    /// Its results.
    pub results: ReplayTotals,
}
