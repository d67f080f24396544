//! `sweep.toml`: what a sweep reads, how it divides rows and what it varies.

use crate::commands::export::read_text;
use crate::config::{SplitBy, TrainConfig, check_max_features};
use crate::failure::UserError;
use anyhow::Context;
use dropcast_train::{MOST_SWEEP_ROWS, Split, SweepAxes, SweepPlan};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The settings of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SweepConfig {
    /// Labelled traces; all of them train if there are others.
    pub(crate) data: Vec<PathBuf>,
    /// Labelled traces to choose on.
    #[serde(default)]
    pub(crate) validation: Vec<PathBuf>,
    /// Labelled traces to test on.
    #[serde(default)]
    pub(crate) test: Vec<PathBuf>,
    /// Whether the exact `eta` of every row is measured.
    #[serde(default)]
    pub(crate) eta: bool,
    split: Option<SplitConfig>,
    #[serde(default)]
    pub(crate) axes: SweepAxes,
}

/// How rows of `data` are divided.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SplitConfig {
    by: SplitBy,
    train_share: Option<f64>,
    validation_share: Option<f64>,
    guard_ns: u64,
    test_switches: Vec<u16>,
    validation_switches: Vec<u16>,
}

/// By time, in blocks: drops come in few episodes, and the last fifth of a trace may have none to
/// choose on.
impl Default for SplitConfig {
    fn default() -> Self {
        SplitConfig {
            by: SplitBy::TimeBlocks,
            train_share: None,
            validation_share: None,
            guard_ns: 0,
            test_switches: Vec::new(),
            validation_switches: Vec::new(),
        }
    }
}

/// Share of the rows that validate where nothing else is said: a sweep chooses among many
/// forests, and what it chooses on cannot be what it is measured on.
const VALIDATION_SHARE: f64 = 0.2;

impl SweepConfig {
    /// Reads the file, and plans what is trained.
    pub(crate) fn read(path: &Path) -> anyhow::Result<(Self, SweepPlan)> {
        let text = read_text(path)?;
        let checked = || {
            let config = SweepConfig::parse(&text)?;
            let plan = config.plan()?;
            config.split()?;
            config.check_max_features()?;
            anyhow::Ok((config, plan))
        };
        checked().with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let config: SweepConfig = toml::from_str(text)?;
        if config.data.is_empty() {
            return Err(UserError("data: expected at least one labelled trace".to_owned()).into());
        }
        Ok(config)
    }

    /// Everything that is trained.
    fn plan(&self) -> Result<SweepPlan, UserError> {
        SweepPlan::new(&self.axes).ok_or_else(|| {
            UserError(format!(
                "axes: more than {MOST_SWEEP_ROWS} combinations; leave out values, or sweep in parts"
            ))
        })
    }

    fn check_max_features(&self) -> anyhow::Result<()> {
        for &drawn in &self.axes.max_features {
            for features in &self.axes.features {
                check_max_features(drawn, features).context("[axes]")?;
            }
        }
        Ok(())
    }

    /// The split of `data`, where no files are kept apart.
    pub(crate) fn split(&self) -> anyhow::Result<Split> {
        let has_files_apart = !self.validation.is_empty() || !self.test.is_empty();
        if self.split.is_some() && has_files_apart {
            let problem = "[split]: with validation or test, files are kept apart whole and none is \
                           divided; leave it out";
            return Err(UserError(problem.to_owned()).into());
        }
        let split = self.split.clone().unwrap_or_default();
        if split.train_share.is_some() {
            split.by.check_has_train_share().context("[split]")?;
        }
        let by_shares = matches!(split.by, SplitBy::Time | SplitBy::Random | SplitBy::TimeBlocks);
        let default = if by_shares { VALIDATION_SHARE } else { 0.0 };
        let config = TrainConfig {
            split: split.by,
            train_share: split.train_share.unwrap_or(TrainConfig::default().train_share),
            validation_share: split.validation_share.unwrap_or(default),
            guard_ns: split.guard_ns,
            test_switches: split.test_switches,
            validation_switches: split.validation_switches,
            ..TrainConfig::default()
        };
        config.split().context("[split]")
    }
}
