//! `sweep.toml`: what a sweep reads, how it divides rows and what it varies.

use crate::PipelineError;
use crate::files::read_settings;
use crate::settings::{TrainSettings, check_budget, check_max_features};
use crate::traces::LabelledTrace;
use crate::train::Roles;
use dropcast_features::FeatureSet;
use dropcast_train::{
    Budget, MOST_SWEEP_ROWS, SplitChoice, SplitSettings, SweepAxes, SweepPlan, SweepSetting,
};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The settings of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSettings {
    /// Labelled traces; all of them train if there are others. Files need them.
    #[serde(default)]
    pub data: Vec<PathBuf>,
    /// Labelled traces to choose on.
    #[serde(default)]
    pub validation: Vec<PathBuf>,
    /// Labelled traces to test on.
    #[serde(default)]
    pub test: Vec<PathBuf>,
    /// Whether the exact `eta` of every row is measured.
    #[serde(default)]
    pub eta: bool,
    /// What the best model of each feature set must fit; nothing is squeezed without.
    pub budget: Option<Budget>,
    /// How rows of `data` are divided.
    pub split: Option<SplitSettings>,
    /// What is varied.
    #[serde(default)]
    pub axes: SweepAxes,
    /// The file that says so.
    #[serde(skip)]
    file: Option<PathBuf>,
}

/// Without traces there is nothing to train on.
pub(super) fn no_data() -> PipelineError {
    PipelineError::setting("data", "expected at least one labelled trace")
}

impl SweepSettings {
    /// Reads and checks a `sweep.toml`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        let mut settings: SweepSettings = read_settings(path)?;
        settings.file = Some(path.to_owned());
        settings.check().map_err(|error| error.in_file(path.display()))?;
        Ok(settings)
    }

    /// Checks the settings of a sweep over files.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn check(&self) -> Result<(), PipelineError> {
        if self.data.is_empty() {
            return Err(no_data());
        }
        self.split(self.roles().are_kept_apart())?;
        self.check_but_data()
    }

    /// Checks the settings of a sweep whose traces are not files.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn check_but_data(&self) -> Result<(), PipelineError> {
        self.plan()?;
        if let Some(budget) = &self.budget {
            for features in &self.axes.features {
                check_budget(budget, features)?;
            }
        }
        for &drawn in &self.axes.max_features {
            for features in &self.axes.features {
                check_max_features(drawn, features)?;
            }
        }
        Ok(())
    }

    /// Everything that is trained.
    pub(super) fn plan(&self) -> Result<SweepPlan, PipelineError> {
        SweepPlan::new(&self.axes.clone().with_seeds()).ok_or_else(|| {
            let problem = format!(
                "more than {MOST_SWEEP_ROWS} combinations; leave out values, or sweep in parts"
            );
            PipelineError::setting("axes", problem)
        })
    }

    /// Opens the trace files.
    ///
    /// # Errors
    /// If one cannot be read, or lacks a feature.
    pub(super) fn open(&self) -> Result<Roles<LabelledTrace>, PipelineError> {
        self.roles().open(&self.features()?)
    }

    /// The traces by what they are for.
    fn roles(&self) -> Roles<PathBuf> {
        let (data, validation, test) = (&self.data, &self.validation, &self.test);
        Roles { data: data.clone(), validation: validation.clone(), test: test.clone() }
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &PathBuf> + Clone {
        [&self.data, &self.validation, &self.test].into_iter().flatten().chain(&self.file)
    }

    /// The split of `data`, where no files are kept apart.
    pub(super) fn split(&self, kept_apart: bool) -> Result<SplitChoice, PipelineError> {
        if self.split.is_some() && kept_apart {
            let problem = "with validation or test, files are kept apart whole and none is \
                           divided; leave it out";
            return Err(PipelineError::setting("split", problem));
        }
        Ok(self.split.clone().unwrap_or_default().check()?)
    }

    /// What `train` is given to train a row of this setting, within the budget.
    pub(super) fn train_settings(
        &self,
        setting: &SweepSetting,
        seed: u64,
    ) -> Result<TrainSettings, PipelineError> {
        Ok(TrainSettings {
            features: FeatureSet::try_from(setting.features.clone())?,
            n_estimators: setting.trees,
            max_depth: setting.max_depth,
            max_bins: setting.max_bins,
            max_features: setting.max_features,
            criterion: setting.criterion,
            class_weight: setting.class_weight,
            min_samples_leaf: setting.min_samples_leaf,
            vote: Some(setting.vote),
            split: self.split.clone().unwrap_or_default(),
            budget: self.budget.clone(),
            seeds: 1,
            seed,
            ..TrainSettings::default()
        })
    }

    /// Every feature of any set of the sweep.
    ///
    /// # Errors
    /// None: they are known.
    pub fn features(&self) -> Result<FeatureSet, PipelineError> {
        let mut names: Vec<String> = Vec::new();
        for name in self.axes.features.iter().flat_map(FeatureSet::spelled) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(FeatureSet::try_from(names)?)
    }
}
