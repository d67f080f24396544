//! The report: every number there is, in one value (`docs/report.md`).
//!
//! A number that is not defined (a ratio whose denominator is 0) is `None` here and `null` in
//! JSON. Pages and texts are made from this value alone.

use crate::calibration::CalibrationSection;
use crate::curve::CurvePoint;
use crate::importance::ImportanceSection;
use crate::numbers::count;
use crate::replay::{ReplayPolicy, Sent};
use dropcast_data::{InputProvenance, SwitchSpecs, TraceMeta, Victim};
use dropcast_export::Resources;
use dropcast_train::{Confusion, Metrics, Provenance, SwitchContext};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the report's JSON.
pub const REPORT_SCHEMA_VERSION: u32 = 3;

/// What a model is worth on some labelled traces.
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
    /// What became of the packets.
    pub labels: LabelSection,
    /// The model's predictions at its own vote threshold.
    pub prediction: PredictionSection,
    /// Its predictions at every vote threshold.
    pub curve: CurveSection,
    /// Rows by score.
    pub score_histogram: Vec<ScoreBin>,
    /// What scores say of the share of drops.
    pub calibration: CalibrationSection,
    /// What each feature of the model is worth to it.
    pub importance: ImportanceSection,
    /// The features of the traces, each by label.
    pub features: Vec<FeatureSection>,
    /// The replays; null where they are not possible.
    pub replay: Option<ReplaySection>,
    /// Why there is no replay; null where there is one.
    pub replay_omitted: Option<String>,
    /// What the forest takes as match-action tables; null where it cannot be exported.
    pub resources: Option<Resources>,
    /// Why it cannot be exported; null where it can.
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
    /// The switch it was made for, as its file says.
    pub switch: SwitchContext,
    /// Its scores when it was made, as its file says; null if it does not.
    pub metrics: Option<Metrics>,
    /// How it was made, as its file says; null if it does not.
    pub provenance: Option<Provenance>,
}

/// A trace of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSection {
    /// File name.
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
    /// What the trace says of itself.
    pub meta: TraceMeta,
}

/// Packets by what became of them.
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
}

impl From<Confusion> for PredictionSection {
    fn from(confusion: Confusion) -> Self {
        PredictionSection {
            confusion,
            accuracy: confusion.accuracy(),
            precision: confusion.precision(),
            recall: confusion.recall(),
            f1: confusion.f1(),
        }
    }
}

/// The precision-recall curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurveSection {
    /// Sum of `(R_n - R_(n-1)) P_n` over all scores, exact (scikit-learn's
    /// `average_precision_score`).
    pub average_precision: Option<f64>,
    /// Decisions that vote thresholds can give: points before thinning.
    pub distinct_decisions: usize,
    /// The highest F1, and the lowest vote threshold that gives it.
    pub best_f1: Option<BestF1>,
    /// At most 512 of them, by increasing vote threshold.
    pub points: Vec<CurvePoint>,
}

/// The best that could be had by another vote threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestF1 {
    /// The vote threshold.
    pub vote_threshold: u32,
    /// F1 there.
    pub f1: f64,
}

/// Rows whose scores lie in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreBin {
    /// The lowest score of the range.
    pub from: u32,
    /// The highest.
    pub to: u32,
    /// Rows that LQD transmitted.
    pub transmitted: u64,
    /// Rows that LQD dropped.
    pub dropped: u64,
}

/// A feature's values in the traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureSection {
    /// Its name.
    pub name: String,
    /// Unit of its values; null for a feature unknown to this version.
    pub unit: Option<String>,
    /// What it is; null for a feature unknown to this version.
    pub definition: Option<String>,
    /// Packets that LQD transmitted.
    pub transmitted: Distribution,
    /// Packets that LQD dropped.
    pub dropped: Distribution,
}

/// A distribution. Percentiles and the curve are rounded up by at most 1/64 of the value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Rows.
    pub rows: u64,
    /// Smallest value.
    pub min: Option<u32>,
    /// Mean.
    pub mean: Option<f64>,
    /// Value that half of the rows do not exceed.
    pub p50: Option<u32>,
    /// Value that 90% of the rows do not exceed.
    pub p90: Option<u32>,
    /// Value that 99% of the rows do not exceed.
    pub p99: Option<u32>,
    /// Largest value.
    pub max: Option<u32>,
    /// At most 128 points `[value, share of rows that do not exceed it]`, increasing.
    pub cdf: Vec<(u32, f64)>,
}

/// The same arrivals through every policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplaySection {
    /// `continuous`: packets of any size, drained at line rate.
    pub time_model: String,
    /// The `alpha` of Dynamic Thresholds.
    pub dynamic_thresholds_alpha: f64,
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
    /// Who makes room in LQD; the trace's setting.
    pub victim: Victim,
    /// Whether a packet needs strictly more free bytes than it takes; the trace's setting.
    pub strict_fit: bool,
    /// Its results.
    pub results: ReplayTotals,
}

/// Results of the replays of one or more switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayTotals {
    /// All arrivals.
    pub arrived: Sent,
    /// Predictions against the trace's labels.
    pub confusion: Confusion,
    /// The error of the predictions.
    pub eta: EtaSection,
    /// What each policy transmitted, LQD first.
    pub policies: Vec<PolicySection>,
    /// How far the replay's own LQD drops what the trace's labels say.
    pub lqd_agreement: AgreementSection,
}

/// The error of the predictions (Credence paper, Definition 1), exact and bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EtaSection {
    /// Numerator: `LQD(sigma)`.
    pub lqd: Sent,
    /// Denominator: `FollowLQD(sigma - predicted drops)`.
    pub follow_lqd: Sent,
    /// `eta` in packets, as the paper defines it.
    pub packets: Option<f64>,
    /// `1 / eta` in packets.
    pub packets_inverse: Option<f64>,
    /// `eta` in bytes.
    pub bytes: Option<f64>,
    /// `1 / eta` in bytes.
    pub bytes_inverse: Option<f64>,
    /// Theorem 2: `(TN + FP) / (TN - min((N - 1) FN, TN))` from the trace's labels; for several
    /// switches the sum of the numerators over the sum of the denominators.
    pub bound: Option<f64>,
    /// `1 / bound`.
    pub bound_inverse: Option<f64>,
}

/// One policy's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySection {
    /// The policy.
    pub policy: ReplayPolicy,
    /// What it transmitted.
    pub sent: Sent,
    /// Packets as a share of LQD's.
    pub packets_to_lqd: Option<f64>,
    /// Bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
}

/// The trace's labels (truth) against the drops of the replay's LQD (prediction). They differ
/// where the labels were made with observed departures, which no replay of arrivals knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgreementSection {
    /// `tp`: both drop; `fn`: only the label does; `fp`: only the replay does; `tn`: neither.
    pub confusion: Confusion,
    /// Share of packets that both treat alike.
    pub share: Option<f64>,
    /// F1 of the replay's drops against the labels.
    pub f1: Option<f64>,
}

impl Report {
    /// The trace's names in one line.
    pub(crate) fn trace_names(&self) -> String {
        let names: Vec<&str> = self.traces.iter().map(|trace| trace.name.as_str()).collect();
        names.join(", ")
    }

    /// Which switches' features are scaled to the model's buffer, if any.
    pub(crate) fn scaling(&self) -> Option<String> {
        let own = self.model.switch.buffer_bytes?;
        let switches = self.traces.iter().filter_map(|trace| trace.meta.switches.as_ref());
        let buffers = switches.flat_map(SwitchSpecs::all).map(|spec| spec.buffer_bytes);
        let others: BTreeSet<u32> = buffers.filter(|&bytes| bytes != own).collect();
        let others: Vec<String> = others.into_iter().map(|bytes| count(bytes.into())).collect();
        (!others.is_empty()).then(|| {
            let (others, own) = (others.join(", "), count(own.into()));
            format!("bytes of buffers of {others} are scaled to the model's {own}")
        })
    }
}
