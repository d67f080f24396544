//! `dropcast run`: the whole pipeline into one folder.

use crate::args::RunArgs;
use dropcast_measure::measures::ReportOrVerdict;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_reports::{ReportFormat, next_command};
use dropcast_run::{RunResult, run_page, run_pages};
use dropcast_terminal::Failure;
use dropcast_terminal::{self as output, OutputFormat};

pub(crate) fn run(args: &RunArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let done = args.task.execute(&resources, progress, run_pages)?;
    let format = match (args.format, args.details) {
        (OutputFormat::Json, _) => ReportFormat::Json,
        (OutputFormat::Text, true) => ReportFormat::Details,
        (OutputFormat::Text, false) => ReportFormat::Text,
    };
    let text = run_page(&done.result, format)?;
    if format == ReportFormat::Json {
        return output::print_text(&text);
    }
    let file = |name: &str| output::argument(&done.folder.join(name));
    let (measured, model) = match &done.result {
        RunResult::Report(report) => (ReportOrVerdict::Report(report), Some(file("model.json"))),
        RunResult::NoDrops(verdict) => (ReportOrVerdict::Verdict(verdict), None),
    };
    let next = next_command(measured, &file("trace.parquet"), model.as_deref());
    let more = format!("More     {}; --details prints every fact\n", file("report.html"));
    output::print_answer(&format!("{text}{}{more}", output::next(&next)))
}
