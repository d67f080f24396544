//! `sweep.toml`: what a sweep reads, how it divides rows and what it varies.

use crate::PipelineError;
use crate::files::read_settings;
use crate::settings::check_max_features;
use crate::training::TraceRoles;
use dropcast_features::FeatureSet;
use dropcast_train::{MOST_SWEEP_ROWS, Split, SplitSettings, SweepAxes, SweepPlan};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The settings of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSettings {
    /// Labelled traces; all of them train if there are others.
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
    /// How rows of `data` are divided.
    pub split: Option<SplitSettings>,
    /// What is varied.
    #[serde(default)]
    pub axes: SweepAxes,
}

impl SweepSettings {
    /// Reads and checks a `sweep.toml`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        let settings: SweepSettings = read_settings(path)?;
        settings.check().map_err(|error| error.in_file(path.display()))?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), PipelineError> {
        if self.data.is_empty() {
            return Err(PipelineError::setting("data", "expected at least one labelled trace"));
        }
        self.plan()?;
        self.split()?;
        for &drawn in &self.axes.max_features {
            for features in &self.axes.features {
                check_max_features(drawn, features)?;
            }
        }
        Ok(())
    }

    /// Everything that is trained.
    pub(super) fn plan(&self) -> Result<SweepPlan, PipelineError> {
        SweepPlan::new(&self.axes).ok_or_else(|| {
            let problem = format!(
                "more than {MOST_SWEEP_ROWS} combinations; leave out values, or sweep in parts"
            );
            PipelineError::setting("axes", problem)
        })
    }

    /// The traces by what they are for.
    pub(super) fn roles(&self) -> TraceRoles<'_> {
        TraceRoles { data: &self.data, validation: &self.validation, test: &self.test }
    }

    /// The split of `data`, where no files are kept apart.
    pub(super) fn split(&self) -> Result<Split, PipelineError> {
        if self.split.is_some() && self.roles().are_kept_apart() {
            let problem = "with validation or test, files are kept apart whole and none is \
                           divided; leave it out";
            return Err(PipelineError::setting("split", problem));
        }
        Ok(self.split.clone().unwrap_or_default().check()?)
    }

    /// Every feature of any set of the sweep.
    pub(super) fn features(&self) -> Result<FeatureSet, PipelineError> {
        let mut names: Vec<String> = Vec::new();
        for name in self.axes.features.iter().flat_map(FeatureSet::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(FeatureSet::try_from(names)?)
    }
}
