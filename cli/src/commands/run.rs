//! `dropcast run`: the whole pipeline into one folder.

use crate::args::RunArgs;
use crate::commands::report::write_verdict;
use crate::failure::Failure;
use crate::output::{self, Format};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::run::{Run, RunResult};
use dropcast_pipeline::settings::{EventPaths, RunSettings};
use dropcast_reports::ReportFormat;

pub(crate) fn run(args: &RunArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let settings = settings(args)?;
    let in_settings = |error: PipelineError| match &error {
        PipelineError::Setting { name, .. } if is_typed(args, name) => error,
        _ => error.in_settings(args.config.as_deref()),
    };
    let run = Run::begin(settings, &args.runs, args.replace).map_err(in_settings)?;
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let result = run.execute(&resources, progress).map_err(in_settings)?;
    let page = |format: ReportFormat| match &result {
        RunResult::Report(report) => Ok(format.exporter().export(report)?),
        RunResult::NoDrops(verdict) => write_verdict(verdict, format),
    };
    let (json, summary) = (page(ReportFormat::Json)?, page(ReportFormat::Text)?);
    run.write("report.json", &json)?;
    run.write("report.html", &page(ReportFormat::Html)?)?;
    let folder = run.finish()?;
    let folder = folder.display();
    output::print_text(&match args.format {
        Format::Json => json,
        Format::Text => {
            format!("{summary}\nAll of it is in {folder}; open report.html there.\n")
        }
    })
}

/// Whether a setting is that of the command line, not of the file.
fn is_typed(args: &RunArgs, name: &str) -> bool {
    match name {
        "name" => args.name.is_some(),
        "events" => !args.events.is_empty(),
        "switch" => args.reading.switch.is_some(),
        _ => false,
    }
}

/// The settings of a file, or the defaults, overridden by the command line.
fn settings(args: &RunArgs) -> Result<RunSettings, PipelineError> {
    let mut settings: RunSettings = match &args.config {
        None => RunSettings::default(),
        Some(path) => read_settings(path)?,
    };
    if let Some(events) = EventPaths::new(args.events.clone()) {
        settings.events = Some(events);
    }
    if let Some(switch) = &args.reading.switch {
        settings.switch = Some(switch.clone());
    }
    if !args.reading.columns.is_empty() {
        settings.columns.clone_from(&args.reading.columns);
    }
    settings.time_unit = args.reading.time_unit.or(settings.time_unit);
    if let Some(name) = &args.name {
        settings.name.clone_from(name);
    }
    settings.seed = args.seed.unwrap_or(settings.seed);
    Ok(settings)
}
