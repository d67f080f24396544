//! `dropcast-lab refine`.

use super::args::RefineArgs;
use super::kept_runs;
use crate::pages::refined_text;
use crate::refine::refine_into;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_terminal::Failure;

pub(super) fn run(args: &RefineArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let mut task = args.settings.open()?;
    task.kept = args.keep.as_deref().map(|path| kept_runs::open(path, progress)).transpose()?;
    let resources = Resources { threads: args.threads, memory: None };
    let refined = refine_into(&args.output, &task, &resources, progress)?;
    dropcast_terminal::print(args.format, &refined, refined_text)
}
