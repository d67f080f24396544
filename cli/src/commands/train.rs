//! `dropcast train`.

use crate::args::TrainArgs;
use dropcast_forest::Metrics;
use dropcast_measure::GainSection;
use dropcast_measure::oracle_gain::{OracleGain, oracle_gain};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::train::model_per::GroupModels;
use dropcast_pipeline::train::{Roles, TaskResults, cautions};
use dropcast_reports::words::comparisons::{folds_table, groups_table};
use dropcast_reports::words::model::{forest_line, gain_line, metrics_table};
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use dropcast_train::{ChosenSplit, PassedOver, Split, TrainedModel};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &TrainArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let TrainArgs { data, test, validation, task, threads, memory_limit, output: path, format } =
        args;
    let roles = Roles { data: data.clone(), validation: validation.clone(), test: test.clone() };
    let memory = memory_limit.map(|mib| MemoryLimit { mib, beside: path.clone() });
    let resources = Resources { threads: *threads, memory };
    let (seed, threads) = (task.settings.seed, resources.threads());
    let trained =
        task.train(&roles, Some(path), &resources, progress, |model, traces, chosen| {
            oracle_gain(model, traces, &chosen.split, seed, threads)
        })?;
    let (model, shown) = (&trained.fitted.model, output::shown(path));
    match trained.found {
        TaskResults::Gain { chosen, gain } => print_gain(args, model, &chosen, gain, progress),
        TaskResults::Folds(folds) => output::print(*format, &folds, |folds| {
            let tables = format!("{}{}", folds_table(folds), forest_line(model));
            format!("{tables}model of all runs: {shown}\n{}", next(args, model))
        }),
        TaskResults::Groups { models, files } => {
            let printed = GroupFiles { pooled: path, files, compared: &models };
            output::print(*format, &printed, |printed| {
                let mut text = groups_table(printed.compared);
                text.push_str(&format!("\nmodel of all: {shown}\n"));
                for file in printed.files.iter().flatten() {
                    text.push_str(&format!("model: {}\n", output::shown(file)));
                }
                text + &next(args, model)
            })
        }
    }
}

/// The command that goes on from a model; no report replays what senders repeat.
fn next(args: &TrainArgs, model: &TrainedModel) -> String {
    let (file, of_flows) = (output::argument(&args.output), model.features.looks_at_flows());
    let data = output::arguments(if args.test.is_empty() { &args.data } else { &args.test });
    output::next(&match of_flows {
        true => format!("dropcast export {file} --target c --output tables"),
        false => format!("dropcast report --model {file} --data {data}"),
    })
}

/// Prints what one model is worth; `gain` is not known for a reason.
fn print_gain(
    args: &TrainArgs,
    model: &TrainedModel,
    chosen: &ChosenSplit,
    gain: Result<OracleGain, String>,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let metrics = model.metrics.as_ref();
    let ChosenSplit { split, passed_over, .. } = chosen;
    let mut cautions = cautions(model);
    if let Ok(gain) = &gain {
        gain.cautions.iter().for_each(|caution| progress.note(caution));
        cautions.extend(gain.cautions.iter().cloned());
    }
    let gain = gain.map(|gain| gain.section);
    let printed = Trained { metrics, gain: gain.as_ref().ok(), split, passed_over, cautions };
    output::print(args.format, &printed, |_| {
        let metrics = metrics.map_or_else(String::new, metrics_table);
        let gain = match &gain {
            Ok(gain) => gain_line(gain),
            Err(reason) => format!("not known, because {reason}"),
        };
        format!("{metrics}{}gain: {gain}\n{}", forest_line(model), next(args, model))
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
