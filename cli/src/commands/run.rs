//! `dropcast run`: the whole pipeline into one folder.

use super::collect::{Collected, label};
use super::export::{create_folder, export_model, read_text};
use super::report::report;
use super::simulate::simulate;
use super::train::train;
use crate::args::{ReportRows, RunArgs};
use crate::config::RunConfig;
use crate::failure::UserError;
use crate::output;
use anyhow::Context;
use dropcast_collect::Tracer;
use dropcast_data::{EventOptions, EventReader, read_switches, write_atomic};
use dropcast_export::Target;
use dropcast_reports::{Exporter, Html, Json, Report, Text};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let config = config(args)?;
    let folder = args.runs.join(&config.name);
    create_folder(&folder)?;
    write_atomic(&folder.join("config.toml"), toml::to_string_pretty(&config)?.as_bytes())?;

    let events = events(&config, &folder)?;
    let trace = folder.join("trace.parquet");
    collect(&config, &events, &folder, &trace)?;

    let model = folder.join("model.json");
    let fitted = train(&[trace.clone()], &[], &config.train, args.threads)?;
    write_atomic(&model, fitted.model.to_json().as_bytes())?;
    export_model(&model, &targets(&config)?, &folder.join("tables"))?;

    let report = report(&model, &[trace], ReportRows::Unseen)?;
    write_atomic(&folder.join("report.json"), Json.export(&report)?.as_bytes())?;
    write_atomic(&folder.join("report.html"), Html.export(&report)?.as_bytes())?;
    output::print(args.format, &report, |report| text(report, &folder))
}

fn text(report: &Report, folder: &Path) -> String {
    let summary = Text.export(report).unwrap_or_else(|error| format!("{error}\n"));
    format!("{summary}\nAll of it is in {}; open report.html there.\n", folder.display())
}

/// The settings of a file, or the defaults, with what the command line says.
fn config(args: &RunArgs) -> anyhow::Result<RunConfig> {
    let mut config = match &args.config {
        None => RunConfig::default(),
        Some(path) => {
            toml::from_str(&read_text(path)?).with_context(|| path.display().to_string())?
        }
    };
    if let Some(events) = &args.events {
        config.events = Some(events.clone());
    }
    if let Some(switch) = &args.switch {
        config.switch = Some(switch.clone());
    }
    if let Some(name) = &args.name {
        config.name.clone_from(name);
    }
    config.seed = args.seed.unwrap_or(config.seed);
    config.train.seed = config.seed;
    config.workload.seed = config.seed;
    let is_plain = Path::new(&config.name).components().count() == 1
        && Path::new(&config.name).file_name().is_some();
    if !is_plain {
        return Err(UserError(format!(
            "name {:?}: expected the name of a folder, without a path",
            config.name
        ))
        .into());
    }
    if config.switch.is_some() && config.events.is_none() {
        let problem =
            "--switch describes given events; without --events the switch is that of [workload]";
        return Err(UserError(problem.to_owned()).into());
    }
    Ok(config)
}

/// The event file: the user's, or one that is generated.
fn events(config: &RunConfig, folder: &Path) -> anyhow::Result<PathBuf> {
    match &config.events {
        Some(path) => Ok(path.clone()),
        None => {
            let path = folder.join("events.parquet");
            simulate(&config.workload, &path)?;
            Ok(path)
        }
    }
}

fn collect(
    config: &RunConfig,
    events: &Path,
    folder: &Path,
    trace: &Path,
) -> anyhow::Result<Collected> {
    let specs = config.switch.as_deref().map(read_switches).transpose()?;
    let reader = EventReader::open(events, EventOptions { specs, ..EventOptions::default() })?;
    let specs = reader.specs().clone();
    write_atomic(&folder.join("switch.toml"), specs.to_toml().as_bytes())?;
    label(reader, specs, Tracer::DEFAULT_MAX_WAITING_ROWS, &config.collect, trace)
}

fn targets(config: &RunConfig) -> anyhow::Result<Vec<Target>> {
    let parse = |name: &String| name.parse::<Target>().map_err(|e| UserError(e.to_string()).into());
    config.export.targets.iter().map(parse).collect()
}
