//! The whole pipeline into one folder: events, labelled trace, forest, tables, report.

use crate::settings::RunSettings;
use dropcast_arrivals::LeafWorkload;
use dropcast_data::{DataError, EventFiles, TraceReader, check_regular, write_atomic};
use dropcast_export::Target;
use dropcast_features::FeatureSet;
use dropcast_measure::Report;
use dropcast_measure::measure::{ReportRows, measure_file};
use dropcast_measure::verdict::{Verdict, judge};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::event_reading::CollectReading;
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::collect::{CollectTask, EventData, Labelled};
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::files::matching;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, spare_inputs, spare_inputs_in};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::{Roles, TrainTask};
use dropcast_train::{SplitBy, VoteRule};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Files of every run, beside its tables.
const FILES: [&str; 6] =
    ["config.toml", "switch.toml", "trace.parquet", "model.json", "report.json", "report.html"];
const TABLES: &str = "tables";
/// That of a run without given events.
const EVENTS: &str = "events.parquet";

/// What a run ends with.
pub enum RunResult {
    /// A forest, measured.
    Report(Box<Report>),
    /// LQD drops nothing, so there is nothing to train on: what every policy transmits.
    NoDrops(Box<Verdict>),
}

/// A run in its working folder. Nothing appears in the run's own folder until [`Run::finish`]: a
/// run that fails leaves nothing behind, and an earlier one of its name as it was.
pub struct Run {
    settings: RunSettings,
    /// How events are read.
    targets: Vec<Target>,
    folder: PathBuf,
    work: WorkFolder,
}

impl Run {
    /// Checks all settings, before any work, and creates the working folder in `runs`.
    ///
    /// An earlier run of this name with other settings is only replaced with `replace`.
    ///
    /// # Errors
    /// What is wrong with the settings or the folder.
    pub fn begin(settings: RunSettings, runs: &Path, replace: bool) -> Result<Self, PipelineError> {
        let mut settings = settings;
        settings.train.seed = settings.seed;
        settings.workload.seed = settings.seed;
        let folder = runs.join(&settings.name);
        if let Some(events) = &settings.events {
            let mut inputs = matching(events.paths())?;
            inputs.extend(matching(&settings.drops)?);
            for name in FILES {
                spare_inputs(&folder.join(name), &inputs)?;
            }
            spare_inputs_in(&folder.join(TABLES), &inputs)?;
        }
        let targets = check(&settings)?;
        let options = collect_task(&settings).options()?;
        if let Some(events) = &settings.events {
            // They are opened twice: before any work, and to be read.
            EventFiles::open(&matching(events.paths())?, &options)?;
        }
        state_defaults(&mut settings)?;
        check_folder(&settings, &folder, replace)?;
        let work = WorkFolder::beside(&folder)?;
        Ok(Run { settings, targets, folder, work })
    }

    /// Runs the pipeline.
    ///
    /// # Errors
    /// Those of its stages.
    pub fn execute(
        &self,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<RunResult, PipelineError> {
        let Run { settings, .. } = self;
        self.write("config.toml", &config_text(settings)?)?;
        let events = match &settings.events {
            Some(events) => events.paths().to_vec(),
            None => {
                let path = self.path(EVENTS);
                let workload = WorkloadSettings::Leaf(settings.workload.clone());
                vec![generate(&workload, &path, progress)?.events]
            }
        };
        let (events, trace) = (EventData::Paths(events), self.path("trace.parquet"));
        let labelled = collect_task(settings).collect(events, Some(&trace), resources, progress)?;
        let Labelled::Trace { collected, .. } = labelled else {
            unreachable!("folders of events are refused before")
        };
        if let Some(specs) = TraceReader::read_meta(&trace, &[])?.switches {
            self.write("switch.toml", &specs.to_toml())?;
        }
        for (reason, rows) in &collected.skipped {
            progress.note(&format!("left out {rows} rows: {reason}"));
        }
        let data = [trace];
        if collected.counts.drops == 0 {
            let traces = LabelledTraces::open(&data, &FeatureSet::none())?;
            return Ok(RunResult::NoDrops(Box::new(judge(
                &traces,
                &settings.asked(),
                resources,
                progress,
            )?)));
        }
        let task = TrainTask { settings: settings.train.clone(), ..TrainTask::default() };
        let (traces, model) = (Roles::of(data.to_vec()), self.path("model.json"));
        task.train(&traces, Some(&model), resources, progress, |_, _, _| Ok(()))?;
        let model = ModelFile::read(&model)?;
        model.export(&self.targets, None, &self.path(TABLES))?;
        let report = measure_file(&model, &data, ReportRows::Unseen, &settings.asked(), progress)?;
        Ok(RunResult::Report(Box::new(report)))
    }

    /// Writes a file of the run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), DataError> {
        write_atomic(&self.path(name), text.as_bytes())
    }

    /// Moves everything into the run's folder, which is returned. What an earlier run left there and
    /// this one does not have, such as the tables of other targets, is removed.
    ///
    /// # Errors
    /// If a file cannot be put in place.
    pub fn finish(self) -> Result<PathBuf, DataError> {
        let Run { folder, work, .. } = self;
        work.finish(|path| {
            let name = path.file_name().unwrap_or_default();
            let ours = FILES.iter().any(|own| name == *own) || name == TABLES;
            // A lock that could not be removed.
            ours || name.to_str().is_some_and(|name| name.starts_with(".tables."))
        })?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }
}

fn config_text(settings: &RunSettings) -> Result<String, PipelineError> {
    toml::to_string_pretty(settings)
        .map_err(|error| PipelineError::Encode { what: "config.toml", problem: error.to_string() })
}

/// Writes defaults into the settings, so that config.toml says everything, whatever the defaults of
/// another version are.
fn state_defaults(settings: &mut RunSettings) -> Result<(), PipelineError> {
    if !settings.drops.is_empty() {
        settings.drop_window_ms.get_or_insert(CollectReading::WINDOW_MS);
    }
    let train = &mut settings.train;
    train.split = train.split.clone().with_shares()?;
    let vote = if train.split.by == SplitBy::Random { VoteRule::F1 } else { VoteRule::default() };
    train.vote.get_or_insert(vote);
    Ok(())
}

/// Refuses what could not end well; the targets of the export.
fn check(settings: &RunSettings) -> Result<Vec<Target>, PipelineError> {
    let RunSettings { name, events, collect, train, export, workload, .. } = settings;
    if Path::new(name).file_name() != Some(OsStr::new(name)) {
        let problem = format!("{name:?} is not the name of a folder; leave out the path");
        return Err(PipelineError::setting("name", problem));
    }
    if let (None, Some((name, problem))) = (events, setting_of_events(settings)) {
        return Err(PipelineError::setting(name, problem));
    }
    let generated = LeafWorkload { seed: workload.seed, ..LeafWorkload::default() };
    if events.is_some() && *workload != generated {
        let problem = "describes generated events, and events are given; leave one of them out";
        return Err(PipelineError::setting("workload", problem));
    }
    train.params()?;
    train.split.check()?;
    settings.asked().with_oracles()?;
    if let (None, Some(own)) = (events, collect.features.split_own().1.spelled().first()) {
        let problem = format!("{own} is a column of given events; without events there are none");
        return Err(PipelineError::setting("collect.features", problem));
    }
    let recorded = collect.features.spelled();
    if let Some(name) = train.features.spelled().iter().find(|&name| !recorded.contains(name)) {
        let problem = format!("{name} is not one of collect.features; add it there");
        return Err(PipelineError::setting("train.features", problem));
    }
    match events {
        None => {
            workload.arrivals()?;
        }
        Some(events) => {
            let files = [("events", events.paths()), ("drops", &settings.drops[..])];
            if let Some((name, _)) = files
                .into_iter()
                .find(|(_, paths)| paths.iter().any(|path| path.as_os_str() == "-"))
            {
                let problem = format!(
                    "a run reads its {name} from a file, so that it can be repeated; save standard input in one"
                );
                return Err(PipelineError::setting(name, problem));
            }
            let events = matching(events.paths())?;
            for path in &events {
                if path.is_dir() {
                    let problem = "is a folder; label it with `dropcast collect --events FOLDER -o TRACES`, \
                                   then `dropcast report --data TRACES` says what an oracle could be worth";
                    return Err(PipelineError::unfit(path.display(), problem));
                }
                check_regular(path)?;
            }
            matching(&settings.drops)?.iter().try_for_each(|path| check_regular(path))?;
        }
    }
    let parse = |name: &String| {
        name.parse::<Target>()
            .map_err(|error| PipelineError::setting("export.targets", error.to_string()))
    };
    export.targets.iter().map(parse).collect()
}

/// Refuses a folder that holds another run or the results of another command, or whose files cannot be replaced.
fn check_folder(settings: &RunSettings, folder: &Path, replace: bool) -> Result<(), PipelineError> {
    check_replaced(folder, FILES)?;
    let earlier = std::fs::read_to_string(folder.join("config.toml")).ok();
    if earlier.is_none()
        && ["map.json", "summary.json", "sweep.json"]
            .iter()
            .any(|result| folder.join(result).exists())
    {
        let problem = "holds the results of another command; choose another name";
        return Err(PipelineError::unfit(folder.display(), problem));
    }
    let differs = earlier.is_some_and(|earlier| config_text(settings).ok() != Some(earlier));
    if differs && !replace {
        let problem =
            "holds an earlier run with other settings; choose another name, or replace it";
        return Err(PipelineError::unfit(folder.display(), problem));
    }
    Ok(())
}

/// A setting that is of use with given events only, if it is set: its name, and what to do.
fn setting_of_events(settings: &RunSettings) -> Option<(&'static str, &'static str)> {
    let of_events = "is of given events; without events there are none";
    let of_use = [
        (
            "switch",
            settings.switch.is_some(),
            "describes given events; without events the switch is that of [workload]",
        ),
        (
            "columns",
            !settings.columns.is_empty(),
            "names columns of given events; without events there are none",
        ),
        (
            "time_unit",
            settings.time_unit.is_some(),
            "is that of given events; without events there are none",
        ),
        (
            "drops",
            !settings.drops.is_empty(),
            "is of given captures; without events there are none",
        ),
        ("drop_window_ms", settings.drop_window_ms.is_some(), of_events),
        ("on_bad_row", settings.on_bad_row.is_some(), of_events),
    ];
    of_use.into_iter().find(|(_, is_set, _)| *is_set).map(|(name, _, problem)| (name, problem))
}

/// How events are read and labelled.
fn collect_task(settings: &RunSettings) -> CollectTask {
    CollectTask {
        reading: settings.reading(),
        settings: settings.collect.clone(),
        ..CollectTask::default()
    }
}
