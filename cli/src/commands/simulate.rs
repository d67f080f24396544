//! `dropcast simulate`.

use super::kept_runs::{self, SimulatedPart};
use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_lab::closed_loop::{Experiment, RunFile};
use dropcast_lab::pages::{experiment_text, flow_times};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use std::path::Path;

pub(crate) fn run(args: &SimulateArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if let Some(file) = &args.experiment {
        return closed_loop(args, file.as_deref(), progress);
    }
    // Required without an experiment.
    let output = args.output.as_deref().unwrap_or(Path::new("events.parquet"));
    output::check_data(output)?;
    check_output(output, &args.workload)?;
    let workload =
        WorkloadSettings::read(args.topology, args.workload.as_deref())?.with(&args.changes);
    let generated = generate(&workload, output, progress);
    let generated = generated.map_err(|error| error.in_settings(args.workload.as_deref()))?;
    output::print_beside(output, args.format, &generated, |generated| {
        format!("{}: {} arrivals\n", output::shown(&generated.events), generated.rows)
    })
}

fn closed_loop(
    args: &SimulateArgs,
    file: Option<&Path>,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let mut experiment = file.map_or_else(|| Ok(Experiment::websearch()), Experiment::read)?;
    if !args.policies.is_empty() {
        experiment.policies = args.policies.clone();
    }
    experiment.runs = args.runs.unwrap_or(experiment.runs);
    if let Some(seed) = args.changes.seed {
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
        return output::print(args.format, &done, SimulatedPart::text);
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
    output::print(args.format, &summary, experiment_text)
}
