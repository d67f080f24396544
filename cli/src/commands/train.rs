//! `dropcast train`.

use crate::args::TrainArgs;
use dropcast_data::{DataError, write_atomic};
use dropcast_forest::Metrics;
use dropcast_measure::GainSection;
use dropcast_measure::oracle_gain::oracle_gain;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::cross_validation::{Folds, cross_validate};
use dropcast_pipeline::train::model_per::{
    GroupModels, ModelFiles, ModelPer, groups, train_groups,
};
use dropcast_pipeline::train::{KeptApart, TraceRoles, cautions, refuse_split, train_on};
use dropcast_reports::gain_sentences;
use dropcast_reports::words::comparisons::{folds_table, groups_table};
use dropcast_reports::words::model::{forest_line, metrics_table};
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use dropcast_train::{ChosenSplit, Model, PassedOver, Split};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &TrainArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let args = &args.with_own_features()?;
    let roles = TraceRoles { data: &args.data, validation: &args.validation, test: &args.test };
    let kept_apart = match args.cross_validate {
        Some(_) => KeptApart::Folds,
        None if roles.are_kept_apart() => KeptApart::Roles,
        None => KeptApart::No,
    };
    refuse_split(&args.settings.split, kept_apart)?;
    check_output(&args.output, &roles.all())?;
    if let Some(folds) = args.cross_validate {
        return cross_validated(args, folds, progress);
    }
    if args.model_per != ModelPer::Pooled {
        return of_groups(args, &roles, progress);
    }
    let settings = &args.settings;
    let choice = settings.split.check().map_err(PipelineError::from)?;
    let resources = resources(args);
    let (traces, chosen) = roles.open(&settings.features, &choice, &resources, progress)?;
    let model = train_on(&traces, &chosen, settings, &resources, progress)?.model;
    let gain = oracle_gain(&model, &traces, &chosen.split, settings.seed, resources.threads())?;
    write_model(&args.output, &model)?;
    let metrics = model.metrics.as_ref();
    let ChosenSplit { split, passed_over, .. } = &chosen;
    let mut cautions = cautions(&model);
    if let Ok(gain) = &gain {
        gain.cautions.iter().for_each(|caution| progress.note(caution));
        cautions.extend(gain.cautions.iter().cloned());
    }
    let gain = gain.map(|gain| gain.section);
    let printed = Trained { metrics, gain: gain.as_ref().ok(), split, passed_over, cautions };
    output::print(args.format, &printed, |_| {
        let metrics = metrics.map_or_else(String::new, metrics_table);
        let gain = match &gain {
            Ok(gain) => gain_sentences(gain).join("\n"),
            Err(reason) => format!("What the oracle gains is not known, because {reason}."),
        };
        format!("{metrics}{}{gain}\nmodel: {}\n", forest_line(&model), output::shown(&args.output))
    })
}

/// The printed result of a forest.
#[derive(Serialize)]
struct Trained<'a> {
    #[serde(flatten)]
    metrics: Option<&'a Metrics>,
    /// The oracle's gain on the test rows; null if they are not replayed.
    gain: Option<&'a GainSection>,
    /// How the rows are divided.
    split: &'a Split,
    /// The splits that were tried before.
    passed_over: &'a [PassedOver],
    /// What makes the model or its measurement worthless.
    cautions: Vec<String>,
}

fn resources(args: &TrainArgs) -> Resources {
    let beside = || args.output.clone();
    let memory = args.memory_limit.map(|mib| MemoryLimit { mib, beside: beside() });
    Resources { threads: args.threads, memory }
}

fn write_model(path: &Path, model: &Model) -> Result<(), DataError> {
    write_atomic(path, model.to_json().as_bytes())
}

fn cross_validated(args: &TrainArgs, folds: Folds, progress: &dyn Progress) -> Result<(), Failure> {
    let traces = LabelledTraces::open(&args.data, &args.settings.features)?;
    let resources = resources(args);
    let (result, fitted) = cross_validate(&traces, folds, &args.settings, &resources, progress)?;
    write_model(&args.output, &fitted.model)?;
    output::print(args.format, &result, |result| {
        let (table, forest) = (folds_table(result), forest_line(&fitted.model));
        format!("{table}{forest}model of all runs: {}\n", output::shown(&args.output))
    })
}

/// The printed result of the models of groups.
#[derive(Serialize)]
struct GroupFiles<'a> {
    /// The file of the model of all switches.
    pooled: &'a Path,
    /// The files of the groups' models, in the order of `models`; null for none.
    files: Vec<Option<PathBuf>>,
    #[serde(flatten)]
    compared: &'a GroupModels,
}

fn of_groups(
    args: &TrainArgs,
    roles: &TraceRoles<'_>,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let settings = &args.settings;
    let choice = settings.split.check().map_err(PipelineError::from)?;
    let resources = resources(args);
    let (traces, chosen) = roles.open(&settings.features, &choice, &resources, progress)?;
    let groups = groups(&traces, args.model_per)?;
    let files = ModelFiles::begin(&args.output, &groups, &roles.all())?;
    let models = train_groups(&traces, &chosen, groups, settings, &resources, progress)?;
    let files = files.write(&models)?;
    let printed = GroupFiles { pooled: &args.output, files, compared: &models };
    output::print(args.format, &printed, |printed| {
        let mut text = groups_table(printed.compared);
        text.push_str(&format!("\nmodel of all: {}\n", output::shown(printed.pooled)));
        for file in printed.files.iter().flatten() {
            text.push_str(&format!("model: {}\n", output::shown(file)));
        }
        text
    })
}
