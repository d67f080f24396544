//! Settings that the command line and a run's `config.toml` share.

use crate::failure::UserError;
use clap::{Args, ValueEnum};
use dropcast_data::{CollectSettings, Departures, Victim};
use dropcast_features::FeatureSet;
use dropcast_simulate::LeafWorkload;
use dropcast_train::{
    Budget, CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, Share, Split,
    VoteRule,
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
        RunConfig {
            name: "default".to_owned(),
            seed: 1,
            events: None,
            switch: None,
            collect: CollectConfig::default(),
            train: TrainConfig::default(),
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
    /// What needs no device of its own; a run that asks for no others cannot fail for lack of one.
    fn default() -> Self {
        ExportConfig { targets: ["c", "dct"].map(str::to_owned).to_vec() }
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
    /// The switches of --test-switches test, in every run, the others train.
    Switches,
    /// All rows train.
    None,
}

impl SplitBy {
    /// Refuses `train_share` where it is not used.
    pub(crate) fn check_has_train_share(self) -> Result<(), UserError> {
        if matches!(self, SplitBy::Time | SplitBy::Random) {
            return Ok(());
        }
        let problem = "train_share: only the splits time and random have it; leave it out";
        Err(UserError(problem.to_owned()))
    }
}

/// Refuses to draw more features than there are.
pub(crate) fn check_max_features(
    max_features: MaxFeatures,
    features: &FeatureSet,
) -> Result<(), UserError> {
    match max_features {
        MaxFeatures::Count(count) if usize::from(count.get()) > features.len() => {
            Err(UserError(format!(
                "max_features: {count} is more than the {} features of {features}; expected at \
                 most so many, or all",
                features.len()
            )))
        }
        _ => Ok(()),
    }
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
    /// Which features to train on: a set (level4; paper4, those of the Credence paper; carry4) or
    /// names, separated by commas.
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
    /// Size of a bootstrap sample, as a share of the rows, 0.001 to 1 (the default).
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_samples: Option<f64>,
    /// How the vote threshold is chosen, on the validation rows, or on the training rows if there
    /// are no others: f1; eta-bound; eta or credence, by replay of the arrivals;
    /// cost:FALSE_DROP:FALSE_ACCEPT; or fixed:SHARE.
    #[arg(long, value_name = "RULE", default_value_t = TrainConfig::default().vote)]
    pub(crate) vote: VoteRule,
    /// How rows are divided.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) split: SplitBy,
    /// Share of the rows that train, for --split time and random.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true,
        default_value_t = TrainConfig::default().train_share)]
    pub(crate) train_share: f64,
    /// Share of the rows that the vote threshold is chosen on; they do not train.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, default_value_t)]
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) validation_share: f64,
    /// The switches that test, for --split switches.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) test_switches: Vec<u16>,
    /// The switches that the vote threshold is chosen on, for --split switches.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) validation_switches: Vec<u16>,
    /// Rows this soon after a cut are left out, for the splits by time, nanoseconds.
    #[arg(long, value_name = "NS", default_value_t)]
    pub(crate) guard_ns: u64,
    /// The most that the forest may take of a device: ternary-entries=256; also range-entries,
    /// bits, dct-bytes and thresholds, several separated by commas. Forests up to --n-estimators
    /// and --max-depth are pruned and rounded; the best found that fits is kept (docs/sweep.md).
    #[arg(long, value_name = "RESOURCE=N,...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    /// Fit the weights of all leaves together when the trees are there, drawn to the weights as
    /// they are as strongly as by so many rows for each leaf (docs/sweep.md).
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refit_leaves: Option<f64>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    #[serde(skip, default = "first_seed")]
    pub(crate) seed: u64,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
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
            features: FeatureSet::level4(),
            max_features: params.max_features,
            min_samples_leaf: params.min_samples_leaf,
            min_samples_split: params.min_samples_split,
            criterion: params.criterion,
            class_weight: params.class_weight,
            max_bins: params.max_bins,
            no_bootstrap: false,
            max_samples: params.max_samples,
            vote: VoteRule::F1,
            split: SplitBy::default(),
            train_share: 0.6,
            validation_share: 0.0,
            test_switches: Vec::new(),
            validation_switches: Vec::new(),
            guard_ns: 0,
            budget: None,
            refit_leaves: None,
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
            max_samples: self.max_samples,
            max_bins: self.max_bins,
            random_state: self.seed,
        };
        check_max_features(self.max_features, &self.features)?;
        if self.refit_leaves.is_some_and(|rows| !(0.0..=1e12).contains(&rows)) {
            return Err(
                UserError("refit_leaves: expected a number of rows, 0 to 1e12".to_owned()).into()
            );
        }
        Ok(params.check()?)
    }

    /// The split.
    pub(crate) fn split(&self) -> anyhow::Result<Split> {
        let share =
            |name, value| Share::new(value).map_err(|error| UserError(format!("{name}: {error}")));
        let train_share = share("train_share", self.train_share)?;
        let validation_share = share("validation_share", self.validation_share)?;
        let guard_ns = self.guard_ns;
        self.check_split()?;
        Ok(match self.split {
            SplitBy::Time => Split::Time { train_share, validation_share, guard_ns },
            SplitBy::TimeBlocks => match Split::time_blocks() {
                Split::TimeBlocks { blocks, .. } => {
                    Split::TimeBlocks { blocks, validation_share, guard_ns }
                }
                other => other,
            },
            SplitBy::Random => Split::Random { train_share, validation_share },
            SplitBy::Switches => Split::Switches {
                test: self.test_switches.clone(),
                validation: self.validation_switches.clone(),
            },
            SplitBy::None => Split::None,
        })
    }

    /// Refuses what the split would silently ignore, and shares that leave nothing.
    fn check_split(&self) -> Result<(), UserError> {
        let refuse = |is_wrong: bool, problem: &str| {
            if is_wrong { Err(UserError(problem.to_owned())) } else { Ok(()) }
        };
        let by_switch = self.split == SplitBy::Switches;
        let names_switches = !self.test_switches.is_empty() || !self.validation_switches.is_empty();
        refuse(
            by_switch && self.test_switches.is_empty(),
            "test_switches: the switches split needs at least one switch that tests",
        )?;
        refuse(
            !by_switch && names_switches,
            "test_switches, validation_switches: only the switches split has these; set split to it",
        )?;
        refuse(
            self.test_switches.iter().any(|id| self.validation_switches.contains(id)),
            "validation_switches: a switch cannot both test and validate",
        )?;
        // A share that is written down, but as it is by default, says nothing wrong.
        if self.train_share != TrainConfig::default().train_share {
            self.split.check_has_train_share()?;
        }
        refuse(
            self.guard_ns > 0 && !matches!(self.split, SplitBy::Time | SplitBy::TimeBlocks),
            "guard_ns: only the splits time and time-blocks have cuts to guard; leave it out",
        )?;
        let validates = self.validation_share > 0.0;
        let by_shares = matches!(self.split, SplitBy::Time | SplitBy::Random);
        refuse(
            by_shares && self.train_share + self.validation_share > 1.0,
            "validation_share: with train_share it is more than all rows",
        )?;
        refuse(
            self.split == SplitBy::TimeBlocks && self.validation_share >= 0.5,
            "validation_share: half of the time blocks test, the other half can't all validate; \
             expected below 0.5",
        )?;
        refuse(
            validates && matches!(self.split, SplitBy::None | SplitBy::Switches),
            "validation_share: only the splits by time and at random have it",
        )
    }
}
