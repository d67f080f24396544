//! `dropcast refine`.

use super::kept_runs;
use crate::args::RefineArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_lab::pages::refined_text;
use dropcast_lab::refine::refine_into;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;

pub(crate) fn run(args: &RefineArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let mut task = args.settings.open()?;
    task.kept = args.keep.as_deref().map(|path| kept_runs::open(path, progress)).transpose()?;
    let resources = Resources { threads: args.threads, memory: None };
    let refined = refine_into(&args.output, &task, &resources, progress)?;
    output::print(args.format, &refined, refined_text)
}
