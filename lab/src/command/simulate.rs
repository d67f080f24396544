//! `dropcast-lab simulate`.

use super::args::SimulateArgs;
use super::kept_runs::{self, SimulatedPart};
use crate::closed_loop::{Experiment, ExperimentSummary, RunFile};
use crate::pages::{experiment_text, flow_times};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_terminal::{Failure, argument};

pub(super) fn run(args: &SimulateArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let file = args.experiment.as_deref();
    let mut experiment = file.map_or_else(|| Ok(Experiment::websearch()), Experiment::read)?;
    if !args.policies.is_empty() {
        experiment.policies = args.policies.clone();
    }
    experiment.runs = args.runs.unwrap_or(experiment.runs);
    if let Some(seed) = args.seed {
        experiment.set_seed(seed);
    }
    let mut prepared = experiment.prepare()?;
    if let Some(path) = &args.keep {
        prepared = prepared.keeping_flow_times(kept_runs::open(path, progress)?);
    }
    let resources = Resources { threads: args.threads, memory: None };
    if let (Some(part), Some(keep)) = (args.part, &args.keep) {
        let runs = prepared.simulate_part(part, &resources, progress)?;
        let done = SimulatedPart { runs, keep: keep.clone() };
        return dropcast_terminal::print(args.format, &done, SimulatedPart::text);
    }
    let files = if args.record.is_empty() { &RunFile::USUAL[..] } else { &args.record };
    let summary = match &args.output {
        Some(folder) if folder.as_os_str() == "-" => {
            let problem = "an experiment writes several files; name a folder for them";
            return Err(PipelineError::setting("output", problem).into());
        }
        Some(folder) => prepared.write(files, folder, &resources, progress, flow_times)?,
        None => prepared.compare(&resources, progress)?.summary(&experiment),
    };
    let next = dropcast_terminal::next(&next_command(args, files, &summary));
    dropcast_terminal::print(args.format, &summary, |summary| experiment_text(summary) + &next)
}

/// Files and pictures of the runs, or, from these, labels for an oracle.
fn next_command(args: &SimulateArgs, files: &[RunFile], summary: &ExperimentSummary) -> String {
    match (&args.output, summary.policies.first()) {
        (Some(folder), Some(first)) if args.keep.is_none() && files.contains(&RunFile::Events) => {
            let events = folder.join(&first.folder).join("run-0").join("events.parquet");
            format!("dropcast collect --events {} -o trace.parquet", argument(&events))
        }
        _ => {
            let file = args.experiment.as_deref().map(|path| format!("{} ", argument(path)));
            format!("dropcast-lab simulate {}-o runs/fabric", file.unwrap_or_default())
        }
    }
}
