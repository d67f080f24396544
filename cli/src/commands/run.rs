//! `dropcast run`: the whole pipeline into one folder.

use crate::args::RunArgs;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_reports::ReportFormat;
use dropcast_run::{run_page, run_pages};
use dropcast_terminal::Failure;
use dropcast_terminal::{self as output, Format};

pub(crate) fn run(args: &RunArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let done = args.task.execute(&resources, progress, run_pages)?;
    let folder = output::shown(&done.folder);
    output::print_text(&match args.format {
        Format::Json => run_page(&done.result, ReportFormat::Json)?,
        Format::Text => {
            let summary = run_page(&done.result, ReportFormat::Text)?;
            format!("{summary}\nAll of it is in {folder}; open report.html there.\n")
        }
    })
}
