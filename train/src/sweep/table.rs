//! The result of a sweep: `sweep.json` (`docs/sweep.md`).

use crate::{Budget, ClassWeight, Criterion, DataOrigin, MaxFeatures, Split, VoteRule};
use dropcast_forest::PartMetrics;
use serde::{Deserialize, Serialize};

/// Version of the format of [`SweepTable`].
pub const SWEEP_FORMAT_VERSION: u32 = 1;

/// The result of a sweep: a row for each configuration and seed, and a summary of each
/// configuration over its seeds. It holds no time of day and no path, and interruptions do not
/// change it; durations are in a separate file ([`SweepTimings`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepTable {
    /// [`SWEEP_FORMAT_VERSION`].
    pub format_version: u32,
    /// The tool and its version.
    pub tool: String,
    /// Where the labelled rows came from.
    pub data: Vec<DataOrigin>,
    /// Which rows trained, validated and tested.
    pub split: Split,
    /// The rows of each part.
    pub parts: SweepParts,
    /// What the Pareto front compares.
    pub front: FrontRule,
    /// What the models of [`SweepTable::best`] were squeezed into; null if they are as grown.
    pub budget: Option<Budget>,
    /// What every switch could do without a forest; null without replays.
    pub best_alpha: Option<SweepAlpha>,
    /// The place of the proposed row in [`SweepTable::rows`], from 0: of the configurations on the Pareto front that are
    /// [within noise](SweepSummary::within_noise) of the best, the one with the fewest ternary entries. Null without a
    /// front.
    pub proposed: Option<usize>,
    /// The best model of each feature set, in the order of the axis.
    pub best: Vec<SweepBest>,
    /// One for each configuration and seed, in the order of the axes.
    pub rows: Vec<SweepRow>,
    /// One for each configuration, in the order of the axes.
    pub summary: Vec<SweepSummary>,
}

/// Dynamic Thresholds with the alpha that transmits most packets of the rows that votes are chosen on; of those that drop
/// nothing before the buffer is two thirds full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepAlpha {
    /// The alpha; null if it is infinite, which is Complete Sharing.
    pub alpha: Option<f64>,
    /// LQD's packets over those with this alpha, on the validation rows, as `eta` of forests
    /// ([`SweepScores::eta_packets`]); null without any.
    pub validation: Option<f64>,
    /// The same on the test rows.
    pub test: Option<f64>,
}

/// The rows of a sweep by part; null for a part without rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepParts {
    /// Trees are grown from them.
    pub train: Option<PartSize>,
    /// Votes and the front are chosen on them.
    pub validation: Option<PartSize>,
    /// Nothing is chosen on them.
    pub test: Option<PartSize>,
}

/// How informative the rows of a part are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSize {
    /// Rows.
    pub rows: u64,
    /// How many of them are drops.
    pub drops: u64,
    /// Number of drop episodes: drops of a switch belong to one episode while the gap between them
    /// is shorter than its buffer takes to drain through one port. Null if rows lack time and
    /// switch, or the split separates neighbours.
    pub episodes: Option<u64>,
}

impl PartSize {
    /// Fewer episodes than this say little: drops of one episode are very similar.
    pub const FEW_EPISODES: u64 = 10;

    /// Whether scores on these rows are mostly luck.
    pub fn has_few_episodes(&self) -> bool {
        self.episodes.is_some_and(|episodes| episodes < PartSize::FEW_EPISODES)
    }
}

impl SweepParts {
    /// The existing parts, by name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, PartSize)> {
        let all = [("train", self.train), ("validation", self.validation), ("test", self.test)];
        all.into_iter().filter_map(|(name, part)| Some((name, part?)))
    }
}

/// One forest: its configuration, cost and scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// The configuration.
    #[serde(flatten)]
    pub setting: SweepSetting,
    /// `seed` of the forest.
    pub seed: u64,
    /// The chosen vote threshold.
    pub vote_threshold: u32,
    /// On the training rows.
    pub train: SweepScores,
    /// On the validation rows; null if the split has none.
    pub validation: Option<SweepScores>,
    /// On the test rows; null if the split has none.
    pub test: Option<SweepScores>,
    /// Its table resources.
    #[serde(flatten)]
    pub size: ForestSize,
    /// Whether it [stands for](SweepSummary::row) a configuration that is Pareto-optimal by [`SweepTable::front`] and
    /// size.
    pub pareto: bool,
    /// The model's file in the sweep's folder, for rows of the front.
    pub model: Option<String>,
}

/// A configuration without its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepSetting {
    /// The features, in their order.
    pub features: Vec<String>,
    /// Number of trees.
    pub trees: u16,
    /// Longest path from a root to a leaf, in splits.
    pub max_depth: u8,
    /// Maximum bins of a feature.
    pub max_bins: u16,
    /// How many features are drawn for a node.
    pub max_features: MaxFeatures,
    /// The impurity that splits lower.
    pub criterion: Criterion,
    /// Weights of the classes.
    pub class_weight: ClassWeight,
    /// Fewest distinct rows on either side of a split.
    pub min_samples_leaf: u32,
    /// How the vote threshold was chosen.
    pub vote: VoteRule,
}

/// The best model of a feature set: that of the best configuration, as its [median row](SweepSummary::row) was grown and, with a budget,
/// squeezed into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepBest {
    /// The features, in their order.
    pub features: Vec<String>,
    /// Place of the best row in [`SweepTable::rows`], from 0: its configuration and seed are the
    /// model's.
    pub row: usize,
    /// The model's vote threshold.
    pub vote_threshold: u32,
    /// On the training rows.
    pub train: SweepScores,
    /// On the validation rows; null if the split has none.
    pub validation: Option<SweepScores>,
    /// On the test rows; null if the split has none.
    pub test: Option<SweepScores>,
    /// What the model takes in tables.
    #[serde(flatten)]
    pub size: ForestSize,
    /// The model's file in the sweep's folder.
    pub model: String,
}

/// How good a forest is on some rows. What is undefined or was not measured is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepScores {
    /// Share of drops among predicted drops.
    pub precision: Option<f64>,
    /// Share of predicted drops among drops.
    pub recall: Option<f64>,
    /// Harmonic mean of the two.
    pub f1: Option<f64>,
    /// Average precision over all vote thresholds.
    pub average_precision: Option<f64>,
    /// The exact error `eta` in packets (Credence, Definition 1), by replay of these rows.
    pub eta_packets: Option<f64>,
    /// Theorem 2's formula for it.
    pub eta_bound: Option<f64>,
}

/// The table resources of a forest; null if not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForestSize {
    /// Bytes of its `.dct` table.
    pub dct_bytes: Option<u64>,
    /// Ternary entries, over all tables.
    pub ternary_entries: Option<u64>,
    /// Distinct pairs of a feature and a threshold.
    pub thresholds: u64,
}

/// A configuration over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepSummary {
    /// The configuration.
    #[serde(flatten)]
    pub setting: SweepSetting,
    /// How many seeds there are.
    pub seeds: u32,
    /// The place in [`SweepTable::rows`], from 0, of the row with the median measure of [`SweepTable::front`]; the worse
    /// of two in the middle. Its score is the configuration's, and its model stands for it.
    pub row: usize,
    /// Whether the configuration is no worse than the best one beyond noise: with eight seeds, if it is better with at
    /// least two of them, or worse with none.
    pub within_noise: bool,
    /// On the training rows.
    pub train: SpreadScores,
    /// On the validation rows; null if the split has none.
    pub validation: Option<SpreadScores>,
    /// On the test rows; null if the split has none.
    pub test: Option<SpreadScores>,
    /// Bytes of the `.dct` table.
    pub dct_bytes: Option<Spread>,
    /// Ternary entries.
    pub ternary_entries: Option<Spread>,
    /// Distinct pairs of a feature and a threshold.
    pub thresholds: Option<Spread>,
}

/// [`SweepScores`] over seeds. Null if any seed's score is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpreadScores {
    /// Of the precision.
    pub precision: Option<Spread>,
    /// Of the recall.
    pub recall: Option<Spread>,
    /// Of the F1.
    pub f1: Option<Spread>,
    /// Of the average precision.
    pub average_precision: Option<Spread>,
    /// Of the exact error `eta`.
    pub eta_packets: Option<Spread>,
    /// Of Theorem 2's formula.
    pub eta_bound: Option<Spread>,
}

/// A number over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The lowest.
    pub lowest: f64,
    /// The median: of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The highest.
    pub highest: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation with denominator `n - 1`; null for one seed.
    pub sd: Option<f64>,
}

/// What a Pareto front compares, besides [`ForestSize::ternary_entries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontRule {
    /// The rows compared on: validation rows if there are any.
    pub part: FrontPart,
    /// The measure.
    pub measure: FrontMeasure,
}

/// Rows that a front is computed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontPart {
    /// Training rows: the split has no others.
    Train,
    /// Validation rows.
    Validation,
    /// Test rows: the split has no validation rows.
    Test,
}

/// The measure of a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontMeasure {
    /// A lower exact `eta`.
    EtaPackets,
    /// A higher F1, if `eta` was not measured.
    F1,
}

/// How long each row took, `timings.json`: separate, because durations differ from run to run. Time
/// spent on several rows together is divided equally among them. A part finished before an
/// interruption keeps its times; null if these are unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepTimings {
    /// Milliseconds of reading and binning.
    pub read_ms: f64,
    /// By row of [`SweepTable::rows`], milliseconds of growing its forest. Up to eight groups grow
    /// together.
    pub fit_ms: Vec<Option<f64>>,
    /// By row, milliseconds of choosing its vote and measuring it, mostly replays. The rows of a
    /// group, which differ in trees, depth and vote, are measured together.
    pub measure_ms: Vec<Option<f64>>,
}

impl SweepScores {
    /// The scores in `metrics`, with `eta` if it was measured.
    pub fn new(metrics: &PartMetrics, eta_packets: Option<f64>) -> Self {
        let &PartMetrics { precision, recall, f1, average_precision, eta_bound, .. } = metrics;
        SweepScores { precision, recall, f1, average_precision, eta_packets, eta_bound }
    }
}

impl SweepBest {
    /// The scores on the rows of `part`, if there are any.
    pub fn scores(&self, part: FrontPart) -> Option<&SweepScores> {
        match part {
            FrontPart::Train => Some(&self.train),
            FrontPart::Validation => self.validation.as_ref(),
            FrontPart::Test => self.test.as_ref(),
        }
    }
}

impl SweepRow {
    /// The scores on the rows of `part`, if there are any.
    pub fn scores(&self, part: FrontPart) -> Option<&SweepScores> {
        match part {
            FrontPart::Train => Some(&self.train),
            FrontPart::Validation => self.validation.as_ref(),
            FrontPart::Test => self.test.as_ref(),
        }
    }
}
