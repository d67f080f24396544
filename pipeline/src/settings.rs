//! Settings of labels and training, which the command line and files of settings share.

use crate::PipelineError;
use crate::table_cost::TableCost;
use dropcast_data::{CollectSettings, Departures, Label, Victim};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use dropcast_train::{
    Budget, CheckedForestParams, ClassWeight, Criterion, ForestParams, MaxFeatures, Monotone,
    SEEDS, SplitSettings, VoteRule,
};
use serde::{Deserialize, Serialize};

/// How the tracer labels packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields, default)]
pub struct TracerSettings {
    /// What drains the virtual queues: `observed`, the trace's own departures (right when the real
    /// switch ran LQD), or `line-rate`, each port at its rate (arrivals alone suffice).
    #[cfg_attr(feature = "clap", arg(long, value_name = "observed|line-rate", default_value_t))]
    pub departures: Departures,
    /// Which packet LQD drops when the buffer is full: `tail`, the last packet of the longest
    /// queue, or `arrival`, where the arriving packet counts as the last of its queue.
    #[cfg_attr(feature = "clap", arg(long, value_name = "tail|arrival", default_value_t))]
    pub victim: Victim,
    /// Accept a packet only if it leaves a byte free, as the Credence authors' ns-3 code does.
    #[cfg_attr(feature = "clap", arg(long))]
    pub strict_fit: bool,
    /// What labels say: whether `lqd` drops a packet, whether `opt` does, the optimum, which knows all arrivals (at most
    /// 8 million, which stay in memory), or whether a packet is followed (`follows`, docs/reserve.md).
    #[cfg_attr(
        feature = "clap",
        arg(long, alias = "expert", value_name = "lqd|opt|follows", default_value_t)
    )]
    pub label: Label,
    /// Keep each packet's flow, for reports on policies that look at flows, such as fab and reserve
    /// (docs/trace.md).
    #[cfg_attr(feature = "clap", arg(long))]
    pub flows: bool,
    /// Which features to record.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME,...", default_value_t = FeatureSet::all()))]
    pub features: FeatureSet,
}

impl Default for TracerSettings {
    fn default() -> Self {
        let CollectSettings { departures, victim, strict_fit, label } = CollectSettings::default();
        let features = FeatureSet::all();
        TracerSettings { departures, victim, strict_fit, label, flows: false, features }
    }
}

impl TracerSettings {
    /// How virtual LQD is run, as the trace records it.
    pub fn collect(&self) -> CollectSettings {
        let &TracerSettings { departures, victim, strict_fit, label, flows: _, features: _ } = self;
        CollectSettings { departures, victim, strict_fit, label }
    }

    /// Refuses what does not go together.
    pub(crate) fn check(&self) -> Result<(), PipelineError> {
        if self.label == Label::Opt && self.departures == Departures::Observed {
            let problem =
                "is opt, which needs departures line-rate: observed ones are the real switch's";
            return Err(PipelineError::setting("label", problem));
        }
        Ok(())
    }
}

/// Who trains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Trainer {
    /// Our own.
    #[default]
    Dropcast,
    /// linfa-trees and linfa-ensemble.
    Linfa,
    /// smartcore's random forest.
    Smartcore,
}

impl Trainer {
    fn is_default(&self) -> bool {
        *self == Trainer::default()
    }
}

// Models record `ForestParams`, under scikit-learn's names (`bootstrap`, `random_state`). A command needs others: a flag is off
// until it is given, so here it is `no_bootstrap`; the seed is the whole run's, so no file of settings has it here. Axes of
// sweeps, and their tables, say `trees` for `n_estimators`, as pages do.
/// How a forest is trained; names as in scikit-learn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields, default)]
pub struct TrainSettings {
    /// Who trains: our own trainer, or another crate's (docs/trainers.md says what differs).
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    #[serde(skip_serializing_if = "Trainer::is_default")]
    pub trainer: Trainer,
    /// Number of trees, 1 to 128.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().n_estimators))]
    pub n_estimators: u16,
    /// Depth of each tree, 1 to 8.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().max_depth))]
    pub max_depth: u8,
    /// Which features to train on: a set (level4; paper4, those of the Credence paper; carry4) or
    /// names, separated by commas.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME,...", default_value_t = TrainSettings::default().features))]
    pub features: FeatureSet,
    /// Features drawn for each node: sqrt, all or a number.
    #[cfg_attr(feature = "clap", arg(long, value_name = "sqrt|all|N", default_value_t))]
    pub max_features: MaxFeatures,
    /// Least rows in a leaf.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().min_samples_leaf))]
    pub min_samples_leaf: u32,
    /// Least rows in a node that is split.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().min_samples_split))]
    pub min_samples_split: u32,
    /// What a split lowers: gini or entropy.
    #[cfg_attr(feature = "clap", arg(long, value_name = "gini|entropy", default_value_t))]
    pub criterion: Criterion,
    /// Weights of the classes: none, balanced, or ACCEPT:DROP.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "none|balanced|ACCEPT:DROP", default_value_t)
    )]
    pub class_weight: ClassWeight,
    /// Keep scores from falling where a queue length, an occupancy or a level is higher: auto (if all features are such),
    /// on or off (docs/features.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "auto|on|off", default_value_t))]
    pub monotone: Monotone,
    /// Most bins of a feature, 2 to 256; fewer distinct values than that are kept exactly.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().max_bins))]
    pub max_bins: u16,
    /// Train each tree on all rows instead of a bootstrap sample.
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_bootstrap: bool,
    /// Size of a bootstrap sample, as a share of the rows, 0.001 to 1 (the default).
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_samples: Option<f64>,
    /// How many seeds are trained, 1 to 64: the seed, and those after it, on the same rows. The model is that of the
    /// seed; the scores of all show how much is luck. One with a budget, refitted leaves, another trainer, in folds and
    /// of single switches.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TrainSettings::default().seeds))]
    pub seeds: u16,
    /// How the vote threshold is chosen: credence (the default: the surest gain in bytes of Credence over no oracle, by
    /// replay of the validation and training rows; no predicted drop if no gain is beyond noise); or on the validation
    /// rows: eta, by replay; f1; eta-bound; cost:FALSE_DROP:FALSE_ACCEPT; or
    /// fixed:SHARE. Traces that cannot be replayed default to f1, labels of followers to fixed:0.8.
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteRule>,
    /// How rows are divided.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub split: SplitSettings,
    /// The most that the forest may take of a device: ternary-entries=256; also range-entries,
    /// bits, dct-bytes, thresholds, loaded-entries and stages, several separated by commas. Forests of up to as many trees
    /// and levels are pruned and rounded; the best that fits is kept (docs/sweep.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "RESOURCE=N,..."))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Fit the weights of all leaves together once the trees are grown. The value is the ridge
    /// penalty toward the grown weights, in rows per leaf (docs/sweep.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "ROWS", allow_negative_numbers = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit_leaves: Option<f64>,
    /// Seed of everything random.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = TrainSettings::default().seed))]
    #[serde(skip, default = "default_seed")]
    pub seed: u64,
}

fn default_seed() -> u64 {
    ForestParams::default().seed
}

impl Default for TrainSettings {
    fn default() -> Self {
        let params = ForestParams::default();
        TrainSettings {
            trainer: Trainer::default(),
            n_estimators: params.n_estimators,
            max_depth: params.max_depth,
            features: FeatureSet::level4(),
            max_features: params.max_features,
            min_samples_leaf: params.min_samples_leaf,
            min_samples_split: params.min_samples_split,
            criterion: params.criterion,
            class_weight: params.class_weight,
            max_bins: params.max_bins,
            monotone: params.monotone,
            no_bootstrap: !params.bootstrap,
            max_samples: params.max_samples,
            seeds: SEEDS,
            vote: None,
            split: SplitSettings::default(),
            budget: None,
            refit_leaves: None,
            seed: params.seed,
        }
    }
}

impl TrainSettings {
    /// How many seeds are trained together: one where that is all that is done.
    pub(crate) fn seeds_together(&self) -> u16 {
        let is_plain = self.trainer == Trainer::Dropcast
            && self.budget.is_none()
            && self.refit_leaves.is_none();
        if is_plain { self.seeds } else { 1 }
    }

    /// Neither the trainers of others nor leaves that are fitted anew keep to a sign.
    fn monotone(&self) -> Result<Monotone, PipelineError> {
        let is_kept = self.trainer == Trainer::Dropcast && self.refit_leaves.is_none();
        match self.monotone {
            Monotone::On if !is_kept => {
                let problem =
                    "on is for dropcast's own trainer, without refitted leaves; leave it out";
                Err(PipelineError::setting("monotone", problem))
            }
            asked if is_kept => Ok(asked),
            _ => Ok(Monotone::Off),
        }
    }

    /// The forest's parameters.
    ///
    /// # Errors
    /// If one is out of range, or more features are drawn than there are.
    pub fn params(&self) -> Result<CheckedForestParams, PipelineError> {
        let params = ForestParams {
            n_estimators: self.n_estimators,
            max_depth: self.max_depth,
            max_features: self.max_features,
            min_samples_leaf: self.min_samples_leaf,
            min_samples_split: self.min_samples_split,
            criterion: self.criterion,
            class_weight: self.class_weight,
            monotone: self.monotone()?,
            bootstrap: !self.no_bootstrap,
            max_samples: self.max_samples,
            max_bins: self.max_bins,
            seed: self.seed,
        };
        check_max_features(self.max_features, &self.features)?;
        if !(1..=64).contains(&self.seeds) {
            let problem = format!("is {}, expected 1 to 64", self.seeds);
            return Err(PipelineError::setting("seeds", problem));
        }
        if let Some(budget) = &self.budget {
            check_budget(budget, &self.features)?;
        }
        if self.refit_leaves.is_some_and(|rows| !(0.0..=1e12).contains(&rows)) {
            let problem = "expected a number of rows, 0 to 1e12";
            return Err(PipelineError::setting("refit_leaves", problem));
        }
        Ok(params.check()?)
    }
}

/// Refuses a budget that no forest of these features fits.
pub(crate) fn check_budget(budget: &Budget, features: &FeatureSet) -> Result<(), PipelineError> {
    let leaf = Tree { nodes: vec![Node::Leaf { weight: 0 }] };
    let smallest = Forest { features: features.names(), vote_threshold: 0, trees: vec![leaf] };
    if budget.admits(&smallest, &TableCost::new(features)) {
        return Ok(());
    }
    let problem = format!("{budget}: not even a single leaf fits; allow more");
    Err(PipelineError::setting("budget", problem))
}

/// Refuses to draw more features than there are.
pub(crate) fn check_max_features(
    max_features: MaxFeatures,
    features: &FeatureSet,
) -> Result<(), PipelineError> {
    match max_features {
        MaxFeatures::Count(count) if usize::from(count.get()) > features.len() => {
            let problem = format!(
                "{count} is more than the {} features of {features}; expected at most that many, \
                 or all",
                features.len()
            );
            Err(PipelineError::setting("max_features", problem))
        }
        _ => Ok(()),
    }
}
