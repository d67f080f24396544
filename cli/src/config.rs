//! Settings that the command line and a run's `config.toml` share.

use crate::failure::UserError;
use clap::{Args, ValueEnum};
use dropcast_data::{CollectSettings, Departures, Victim};
use dropcast_features::FeatureSet;
use dropcast_simulate::LeafWorkload;
use dropcast_train::{
    CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, Share, Split, VoteRule,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything that determines a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunConfig {
    /// Name of the run.
    pub(crate) name: String,
    /// Seed of everything random.
    pub(crate) seed: u64,
    /// Packet events; generated if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<PathBuf>,
    /// Switch description, if the events bring none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) switch: Option<PathBuf>,
    pub(crate) collect: CollectConfig,
    pub(crate) train: TrainConfig,
    pub(crate) export: ExportConfig,
    /// What is generated where there are no events; its seed is the run's.
    pub(crate) workload: LeafWorkload,
}

impl Default for RunConfig {
    fn default() -> Self {
        let train = TrainConfig { features: FeatureSet::all(), ..TrainConfig::default() };
        RunConfig {
            name: "default".to_owned(),
            seed: 1,
            events: None,
            switch: None,
            collect: CollectConfig::default(),
            train,
            export: ExportConfig::default(),
            workload: LeafWorkload::default(),
        }
    }
}

/// What a run exports.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportConfig {
    /// Names of targets.
    pub(crate) targets: Vec<String>,
}

impl Default for ExportConfig {
    fn default() -> Self {
        let targets = dropcast_export::Target::all().iter();
        ExportConfig { targets: targets.map(ToString::to_string).collect() }
    }
}

/// How labels are made.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CollectConfig {
    /// What drains the virtual queues: `observed`, the trace's own departures (right when the real
    /// switch ran LQD), or `line-rate`, each port at its rate (arrivals alone suffice).
    #[arg(long, value_name = "observed|line-rate", default_value_t)]
    pub(crate) departures: Departures,
    /// Who goes when the buffer is full: `tail`, the last packet of the longest queue, or
    /// `arrival`, where the arriving packet counts as the last of its queue.
    #[arg(long, value_name = "tail|arrival", default_value_t)]
    pub(crate) victim: Victim,
    /// Accept a packet only if it leaves a byte free, as the Credence authors' ns-3 code does.
    #[arg(long)]
    pub(crate) strict_fit: bool,
    /// Which features to record.
    #[arg(long, value_name = "NAME,...", default_value_t = FeatureSet::all())]
    pub(crate) features: FeatureSet,
}

impl Default for CollectConfig {
    fn default() -> Self {
        let CollectSettings { departures, victim, strict_fit } = CollectSettings::default();
        CollectConfig { departures, victim, strict_fit, features: FeatureSet::all() }
    }
}

impl CollectConfig {
    pub(crate) fn settings(&self) -> CollectSettings {
        let &CollectConfig { departures, victim, strict_fit, .. } = self;
        CollectSettings { departures, victim, strict_fit }
    }
}

/// How rows are divided into training and test rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SplitBy {
    /// The earlier rows train, the later ones test.
    #[default]
    Time,
    /// Even twentieths of the rows in time train, odd ones test.
    TimeBlocks,
    /// Each row by the toss of a coin, as in the paper; it leaks.
    Random,
    /// All rows train.
    None,
}

/// How a forest is trained; names as in scikit-learn.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrainConfig {
    /// Number of trees, 1 to 128.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().n_estimators)]
    pub(crate) n_estimators: u16,
    /// Depth of each tree, 1 to 8.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().max_depth)]
    pub(crate) max_depth: u8,
    /// Which features to train on: paper4, or names separated by commas.
    #[arg(long, value_name = "NAME,...", default_value_t = TrainConfig::default().features)]
    pub(crate) features: FeatureSet,
    /// Features drawn for each node: sqrt, all or a number.
    #[arg(long, value_name = "sqrt|all|N", default_value_t)]
    pub(crate) max_features: MaxFeatures,
    /// Least rows in a leaf.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().min_samples_leaf)]
    pub(crate) min_samples_leaf: u32,
    /// Least rows in a node that is split.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().min_samples_split)]
    pub(crate) min_samples_split: u32,
    /// What a split lowers: gini or entropy.
    #[arg(long, value_name = "gini|entropy", default_value_t)]
    pub(crate) criterion: Criterion,
    /// Weights of the classes: none, balanced, or ACCEPT:DROP.
    #[arg(long, value_name = "none|balanced|ACCEPT:DROP", default_value_t)]
    pub(crate) class_weight: ClassWeight,
    /// Most bins of a feature, 2 to 256; fewer distinct values than that are kept exactly.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().max_bins)]
    pub(crate) max_bins: u16,
    /// Train each tree on all rows instead of a bootstrap sample.
    #[arg(long)]
    pub(crate) no_bootstrap: bool,
    /// How the vote threshold is chosen on the training rows: f1, eta-bound, or fixed:SHARE.
    #[arg(long, value_name = "f1|eta-bound|fixed:SHARE", default_value_t)]
    pub(crate) vote: VoteRule,
    /// How rows are divided.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) split: SplitBy,
    /// Share of the rows that train, for --split time and random.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true,
        default_value_t = TrainConfig::default().train_share)]
    pub(crate) train_share: f64,
    /// Rows this soon after a cut are left out, for the splits by time, nanoseconds.
    #[arg(long, value_name = "NS", default_value_t)]
    pub(crate) guard_ns: u64,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    #[serde(skip, default = "first_seed")]
    pub(crate) seed: u64,
}

fn first_seed() -> u64 {
    1
}

impl Default for TrainConfig {
    fn default() -> Self {
        let params = ForestParams::default();
        TrainConfig {
            n_estimators: 4,
            max_depth: 4,
            features: FeatureSet::paper4(),
            max_features: params.max_features,
            min_samples_leaf: params.min_samples_leaf,
            min_samples_split: params.min_samples_split,
            criterion: params.criterion,
            class_weight: params.class_weight,
            max_bins: params.max_bins,
            no_bootstrap: false,
            vote: VoteRule::default(),
            split: SplitBy::default(),
            train_share: 0.6,
            guard_ns: 0,
            seed: first_seed(),
        }
    }
}

impl TrainConfig {
    /// The forest's parameters.
    pub(crate) fn params(&self) -> anyhow::Result<CheckedForestParams> {
        let params = ForestParams {
            n_estimators: self.n_estimators,
            max_depth: self.max_depth,
            max_features: self.max_features,
            min_samples_leaf: self.min_samples_leaf,
            min_samples_split: self.min_samples_split,
            criterion: self.criterion,
            class_weight: self.class_weight,
            bootstrap: !self.no_bootstrap,
            max_bins: self.max_bins,
            random_state: self.seed,
            ..ForestParams::default()
        };
        Ok(params.check()?)
    }

    /// The split.
    pub(crate) fn split(&self) -> anyhow::Result<Split> {
        let train_share = Share::new(self.train_share)
            .map_err(|error| UserError(format!("train_share: {error}")))?;
        let guard_ns = self.guard_ns;
        Ok(match self.split {
            SplitBy::Time => Split::Time { train_share, guard_ns },
            SplitBy::TimeBlocks => match Split::time_blocks() {
                Split::TimeBlocks { blocks, .. } => Split::TimeBlocks { blocks, guard_ns },
                other => other,
            },
            SplitBy::Random => Split::Random { train_share },
            SplitBy::None => Split::None,
        })
    }
}
