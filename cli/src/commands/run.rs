//! `dropcast run`: the whole pipeline into one folder.

use super::collect::{Collected, label};
use super::export::{create_folder, export_model, read_text};
use super::report::report;
use super::simulate::simulate;
use super::train::{RunFiles, train};
use crate::args::{ReportRows, RunArgs};
use crate::config::RunConfig;
use crate::failure::UserError;
use crate::output;
use crate::output_file::{self, spare_inputs};
use crate::training::Room;
use anyhow::Context;
use dropcast_collect::Tracer;
use dropcast_data::{DataError, EventOptions, EventReader, move_file, read_switches, write_atomic};
use dropcast_export::Target;
use dropcast_pipeline::report::Report;
use dropcast_reports::{Exporter, Html, Json, Text};
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let config = config(args)?;
    let folder = args.runs.join(&config.name);
    check(&config, &folder)?;
    let work = WorkFolder::begin(args.runs.join(format!(".{}.partial", config.name)))?;
    let report = stages(&config, args.threads, &work.path)?;
    work.finish(&folder)?;
    output::print(args.format, &report, |report| text(report, &folder))
}

/// The pipeline, into `folder`.
fn stages(
    config: &RunConfig,
    threads: Option<NonZeroUsize>,
    folder: &Path,
) -> anyhow::Result<Report> {
    write_atomic(&folder.join("config.toml"), toml::to_string_pretty(config)?.as_bytes())?;

    let events = events(config, folder)?;
    let trace = folder.join("trace.parquet");
    collect(config, &events, folder, &trace)?;

    let model = folder.join("model.json");
    let room = Room { threads, ..Room::default() };
    let fitted = train(&RunFiles::of(std::slice::from_ref(&trace)), &config.train, &room)?;
    write_atomic(&model, fitted.model.to_json().as_bytes())?;
    export_model(&model, &targets(config)?, &folder.join("tables"))?;

    let report = report(&model, &[trace], ReportRows::Unseen)?;
    write_atomic(&folder.join("report.json"), Json.export(&report)?.as_bytes())?;
    write_atomic(&folder.join("report.html"), Html.export(&report)?.as_bytes())?;
    Ok(report)
}

/// Files of every run, beside its tables.
const FILES: [&str; 6] =
    ["config.toml", "switch.toml", "trace.parquet", "model.json", "report.json", "report.html"];

/// Where a run works until all of it is done: a run that fails leaves nothing behind, and an
/// earlier one of its name as it was.
struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    fn begin(path: PathBuf) -> anyhow::Result<Self> {
        // What is left of a run that was killed.
        let _ = std::fs::remove_dir_all(&path);
        create_folder(&path)?;
        Ok(WorkFolder { path })
    }

    /// Moves everything into `folder`.
    fn finish(self, folder: &Path) -> anyhow::Result<()> {
        move_files(&self.path, folder)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn move_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    create_folder(to)?;
    let failed = |source| {
        let file = to.display().to_string();
        DataError::Io { file, doing: "be put in place", source }
    };
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            move_files(&entry.path(), &target)?;
        } else {
            move_file(&entry.path(), &target)?;
        }
    }
    Ok(())
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
    if Path::new(&config.name).file_name() != Some(OsStr::new(&config.name)) {
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

/// Refuses, before any work and before a folder is made, what could not end well.
fn check(config: &RunConfig, folder: &Path) -> anyhow::Result<()> {
    config.train.params()?;
    config.train.split()?;
    targets(config)?;
    output_file::check_replaced(folder, FILES)?;
    let recorded = config.collect.features.names();
    if let Some(name) = config.train.features.names().iter().find(|&name| !recorded.contains(name))
    {
        let problem =
            format!("train.features: {name} is not one of collect.features; add it there");
        return Err(UserError(problem).into());
    }
    match &config.events {
        None => {
            config.workload.arrivals()?;
        }
        Some(path) if path.as_os_str() == "-" => {
            let problem = "a run reads its events from a file, so that it can be repeated; \
                           save standard input in one";
            return Err(UserError(problem.to_owned()).into());
        }
        Some(path) => {
            spare_inputs(&folder.join("trace.parquet"), [path])?;
            open_events(config, path)?;
        }
    }
    Ok(())
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
    let reader = open_events(config, events)?;
    let specs = reader.specs().clone();
    write_atomic(&folder.join("switch.toml"), specs.to_toml().as_bytes())?;
    label(reader, specs, Tracer::DEFAULT_MAX_WAITING_ROWS, &config.collect, trace)
}

fn open_events(config: &RunConfig, events: &Path) -> anyhow::Result<EventReader> {
    let specs = config.switch.as_deref().map(read_switches).transpose()?;
    Ok(EventReader::open(events, EventOptions { specs, ..EventOptions::default() })?)
}

fn targets(config: &RunConfig) -> anyhow::Result<Vec<Target>> {
    let parse = |name: &String| name.parse::<Target>().map_err(|e| UserError(e.to_string()).into());
    config.export.targets.iter().map(parse).collect()
}
