//! `dropcast refine`.

use crate::args::RefineArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_data::write_atomic;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::closed_loop::read_oracle;
use dropcast_pipeline::files::{check_replaced, create_folder};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::refine::{RefineTask, refine};
use dropcast_pipeline::resources::Resources;
use dropcast_reports::refined_text;
use std::path::PathBuf;

pub(crate) fn run(args: &RefineArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let model = |path: &PathBuf| Ok((path.display().to_string(), read_oracle(path)?));
    let task = RefineTask {
        experiment: args.closed_loop.experiment()?,
        objective: args.closed_loop.objective.clone(),
        models: args.model.iter().map(model).collect::<Result<_, PipelineError>>()?,
        data: args.data.clone(),
        train: args.settings.clone(),
        rounds: args.rounds,
        labelled_runs: args.labelled_runs,
    };
    let refined = refine(&task, &Resources { threads: args.threads, memory: None }, progress)?;
    create_folder(&args.output)?;
    check_replaced(&args.output, ["model.json", "rounds.json"])?;
    write_atomic(&args.output.join("model.json"), refined.model.to_json().as_bytes())?;
    let rounds = serde_json::to_string_pretty(&refined)?;
    write_atomic(&args.output.join("rounds.json"), rounds.as_bytes())?;
    output::print(args.format, &refined, refined_text)
}
