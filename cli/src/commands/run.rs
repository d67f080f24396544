//! `dropcast run`: the whole pipeline into one folder.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::run::Run;
use dropcast_pipeline::settings::RunSettings;
use dropcast_reports::{Exporter, Html, Json, Text};

pub(crate) fn run(args: &RunArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let run = Run::begin(settings(args)?, &args.runs, args.replace)?;
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let report = run.execute(&resources, progress)?;
    run.write("report.json", &Json.export(&report)?)?;
    run.write("report.html", &Html.export(&report)?)?;
    let folder = run.finish()?;
    let summary = Text.export(&report)?;
    output::print(args.format, &report, |_| {
        let folder = folder.display();
        format!("{summary}\nAll of it is in {folder}; open report.html there.\n")
    })
}

/// The settings of a file, or the defaults, overridden by the command line.
fn settings(args: &RunArgs) -> Result<RunSettings, PipelineError> {
    let mut settings: RunSettings = match &args.config {
        None => RunSettings::default(),
        Some(path) => read_settings(path)?,
    };
    if let Some(events) = &args.events {
        settings.events = Some(events.clone());
    }
    if let Some(switch) = &args.switch {
        settings.switch = Some(switch.clone());
    }
    if !args.columns.is_empty() {
        settings.columns.clone_from(&args.columns);
    }
    if let Some(name) = &args.name {
        settings.name.clone_from(name);
    }
    settings.seed = args.seed.unwrap_or(settings.seed);
    Ok(settings)
}
