//! `train`: opens traces, divides them, trains, measures, writes models.

use super::cross_validation::{CrossValidation, Folds, cross_validate};
use super::model_per::{GroupModels, ModelFiles, ModelPer, groups, train_groups};
use super::roles::{ROLES_ARE_WHOLE, Roles, TrainInput, refuse_split};
use super::{Training, train_on};
use crate::PipelineError;
use crate::files::check_output;
use crate::progress::Progress;
use crate::resources::Resources;
use crate::settings::TrainSettings;
use crate::traces::LabelledTraces;
use dropcast_train::{ChosenSplit, Fitted, Split, TrainedModel};
use std::path::{Path, PathBuf};

/// Which models are trained, and how.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TrainTask {
    /// Cross-validate over the runs (files of --data), then train the model on all: runs, to leave
    /// one out at a time, or a number of folds.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "runs|FOLDS", conflicts_with = "model_per")
    )]
    pub cross_validate: Option<Folds>,
    /// Which switches share a model. Models of one switch or role are named after the pooled one:
    /// MODEL.switch-3.json, MODEL.leaf.json.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub model_per: ModelPer,
    /// How each is trained.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub settings: TrainSettings,
    /// Train on this column of the traces, too: a feature of your own, which dropcast does not
    /// compute. May be repeated (docs/features.md).
    #[cfg_attr(feature = "clap", arg(long = "own", value_name = "NAME", value_delimiter = ','))]
    pub own_features: Vec<String>,
}

/// What was trained.
#[derive(Debug)]
pub struct Trained<G> {
    /// The model of all rows that train.
    pub fitted: Fitted,
    /// Results of its mode.
    pub found: TaskResults<G>,
}

/// Results besides the metrics of the model.
#[derive(Debug)]
pub enum TaskResults<G> {
    /// For one model.
    Gain {
        /// How the rows were divided.
        chosen: ChosenSplit,
        /// What it gains.
        gain: G,
    },
    /// For cross-validation.
    Folds(CrossValidation),
    /// For models of single switches or roles.
    Groups {
        /// The models, each compared with the pooled one.
        models: GroupModels,
        /// Their files; none where there is no model, or models were not written.
        files: Vec<Option<PathBuf>>,
    },
}

impl TrainTask {
    /// Opens the traces, trains on what the roles and the split leave for it, measures the rest, and writes the models:
    /// that of all to `output`, if there is one. `gain` says what one model gains before it is written.
    ///
    /// # Errors
    /// If a setting is wrong, a trace cannot be read, a forest cannot be trained on it, or a model cannot be written; and
    /// those of `gain`.
    pub fn train<T: TrainInput, G>(
        &self,
        traces: &Roles<T>,
        output: Option<&Path>,
        resources: &Resources,
        progress: &dyn Progress,
        gain: impl FnOnce(&TrainedModel, &LabelledTraces, &ChosenSplit) -> Result<G, PipelineError>,
    ) -> Result<Trained<G>, PipelineError> {
        let features = self.settings.features.with_own(&self.own_features)?;
        let settings = &TrainSettings { features, ..self.settings.clone() };
        self.check(settings, traces.are_kept_apart())?;
        let inputs: Vec<PathBuf> = traces.all().filter_map(T::file).cloned().collect();
        output.map_or(Ok(()), |output| check_output(output, &inputs))?;
        let roles = traces.open(&settings.features)?;
        let (traces, chosen) = match self.cross_validate {
            Some(_) => (LabelledTraces::new(roles.data, &settings.features)?, Split::None.into()),
            None => roles.divided(settings, resources.kept_bytes(), progress)?,
        };
        let groups = match self.model_per {
            ModelPer::Pooled => None,
            per => Some(groups(&traces, per)?),
        };
        let files = output.map(|output| ModelFiles::begin(output, groups.as_ref(), &inputs));
        let files = files.transpose()?;
        let training = || Training::new(&traces, settings, resources, progress);
        let (fitted, mut found) = match (self.cross_validate, groups) {
            (Some(folds), _) => {
                let (found, fitted) = cross_validate(&training()?, folds, progress)?;
                (fitted, TaskResults::Folds(found))
            }
            (None, Some(groups)) => {
                let (models, pooled) = train_groups(&training()?, &chosen, groups, progress)?;
                (pooled, TaskResults::Groups { models, files: Vec::new() })
            }
            (None, None) => {
                let fitted = train_on(&traces, &chosen, settings, resources, progress)?;
                let gain = gain(&fitted.model, &traces, &chosen)?;
                (fitted, TaskResults::Gain { chosen, gain })
            }
        };
        if let Some(writer) = files {
            match &mut found {
                TaskResults::Groups { models, files } => {
                    *files = writer.write(&fitted.model, &models.models)?;
                }
                _ => drop(writer.write(&fitted.model, &[])?),
            }
        }
        Ok(Trained { fitted, found })
    }

    /// Refuses, before anything is opened, what does not go together.
    fn check(&self, settings: &TrainSettings, are_kept_apart: bool) -> Result<(), PipelineError> {
        match (self.cross_validate, are_kept_apart) {
            (Some(_), true) => {
                let problem =
                    "keeps whole files apart itself; leave out those for validation and testing";
                return Err(PipelineError::setting("cross_validate", problem));
            }
            (Some(_), false) => {
                let why = "cross-validation keeps whole files apart and divides none; leave it out";
                refuse_split(settings, why)?;
            }
            (None, true) => refuse_split(settings, ROLES_ARE_WHOLE)?,
            (None, false) => {}
        }
        settings.split.check()?;
        Ok(())
    }
}
