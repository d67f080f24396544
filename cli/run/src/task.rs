//! A run as it is asked for: a file of settings, and what differs from it.

use super::{Run, RunResult};
use crate::settings::{EventPaths, RunSettings};
use dropcast_measure::verdict::AskedPolicies;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::event_reading::CollectReading;
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use std::path::PathBuf;

/// What to run; settings not given are those of the file, or defaults.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RunTask {
    /// Settings of the run; the command line takes precedence.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE.toml"))]
    pub config: Option<PathBuf>,
    /// Packet events (docs/events.md), an ns-3 ASCII trace (docs/ns3-ascii.md) or captures
    /// (docs/pcap.md) instead of generated events. Several files are merged by time.
    #[cfg_attr(feature = "clap", arg(long, num_args = 1.., value_name = "PATH"))]
    pub events: Vec<PathBuf>,
    /// How these events are read.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub reading: CollectReading,
    /// Policies to replay with the others.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub asked: AskedPolicies,
    /// Name of the run, and of its folder.
    #[cfg_attr(feature = "clap", arg(long))]
    pub name: Option<String>,
    /// Replace an earlier run of this name that has other settings.
    #[cfg_attr(feature = "clap", arg(long))]
    pub replace: bool,
    /// Folder of all runs.
    #[cfg_attr(feature = "clap", arg(long, default_value = "runs", value_name = "DIR"))]
    pub runs: PathBuf,
    /// Seed of all randomness.
    #[cfg_attr(feature = "clap", arg(long))]
    pub seed: Option<u64>,
}

/// A run that is done.
pub struct RunDone {
    /// What it ends with.
    pub result: RunResult,
    /// Where all of it is.
    pub folder: PathBuf,
}

impl RunTask {
    /// Runs the pipeline into the folder of the run. `pages` makes `report.json` and `report.html`.
    ///
    /// # Errors
    /// What is wrong with the settings, and errors of the stages. Then the folder is as it was.
    pub fn execute(
        &self,
        resources: &Resources,
        progress: &dyn Progress,
        pages: impl Fn(&RunResult) -> Result<[String; 2], PipelineError>,
    ) -> Result<RunDone, PipelineError> {
        let settings = self.settings()?;
        let in_settings = |error| self.in_settings(error);
        let run = Run::begin(settings, &self.runs, self.replace).map_err(in_settings)?;
        let result = run.execute(resources, progress).map_err(in_settings)?;
        let [json, html] = pages(&result)?;
        run.write("report.json", &json)?;
        run.write("report.html", &html)?;
        Ok(RunDone { result, folder: run.finish()? })
    }

    /// The settings of the file, or the defaults, with what differs.
    fn settings(&self) -> Result<RunSettings, PipelineError> {
        let mut settings: RunSettings = match &self.config {
            None => RunSettings::default(),
            Some(path) => read_settings(path)?,
        };
        let (seed, own) = (settings.seed, settings.workload.seed);
        if own != seed && own != RunSettings::default().workload.seed {
            let problem =
                format!("is {own}, but one seed of the run drives everything; set seed ({seed})");
            return Err(self.in_settings(PipelineError::setting("workload.seed", problem)));
        }
        if let Some(events) = EventPaths::new(self.events.clone()) {
            settings.events = Some(events);
        }
        let CollectReading { reading, drops, drop_window_ms, on_bad_row } = &self.reading;
        if let Some(switch) = &reading.switch {
            settings.switch = Some(switch.clone());
        }
        if !reading.columns.is_empty() {
            settings.columns.clone_from(&reading.columns);
        }
        if !drops.is_empty() {
            settings.drops.clone_from(drops);
        }
        settings.drop_window_ms = drop_window_ms.or(settings.drop_window_ms);
        settings.on_bad_row = on_bad_row.or(settings.on_bad_row);
        if !self.asked.policies.is_empty() {
            settings.policies.clone_from(&self.asked.policies);
        }
        settings.least_gain = self.asked.least_gain.unwrap_or(settings.least_gain);
        settings.time_unit = reading.time_unit.or(settings.time_unit);
        if let Some(name) = &self.name {
            settings.name.clone_from(name);
        }
        settings.seed = self.seed.unwrap_or(settings.seed);
        Ok(settings)
    }

    /// Names the file of settings in an error about one of them, unless it was given beside the file.
    fn in_settings(&self, error: PipelineError) -> PipelineError {
        let is_given = |name: &str| match name {
            "name" => self.name.is_some(),
            "events" => !self.events.is_empty(),
            "policy" => !self.asked.policies.is_empty(),
            "switch" => self.reading.reading.switch.is_some(),
            "drops" => !self.reading.drops.is_empty(),
            "drop_window_ms" => self.reading.drop_window_ms.is_some(),
            "on_bad_row" => self.reading.on_bad_row.is_some(),
            _ => false,
        };
        match &error {
            PipelineError::Setting { name, .. } if is_given(name) => error,
            _ => error.in_settings(self.config.as_deref()),
        }
    }
}
