//! `collect`: opens events, labels them, writes a trace or a folder of traces.

use super::event_reading::CollectReading;
use super::folder::{FolderCollected, FolderJob};
use super::labelling::{Collected, collect};
use super::sinks::{InMemory, TraceFile};
use crate::PipelineError;
use crate::files::{check_output, matching};
use crate::progress::Progress;
use crate::resources::Resources;
use crate::settings::TracerSettings;
use dropcast_collect::Tracer;
use dropcast_data::{EventFiles, EventOptions, EventReader, Frame, SwitchFile, is_folder};
use std::path::{Path, PathBuf};

/// The settings of `collect`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CollectTask {
    /// How events are read.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub reading: CollectReading,
    /// A description of their switches that is in no file; it takes precedence.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub switch: Option<SwitchFile>,
    /// How packets are labelled.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub settings: TracerSettings,
    /// Keep this integer column of the events, too: a feature of your own. May be repeated
    /// (docs/features.md).
    #[cfg_attr(feature = "clap", arg(long = "own", value_name = "NAME", value_delimiter = ','))]
    pub own_features: Vec<String>,
    /// Maximum rows that wait for a label, over all traces labelled at a time, before a trace is refused; each takes
    /// about 50 bytes, and 8 for each feature.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Tracer::DEFAULT_MAX_WAITING_ROWS))]
    pub max_waiting_rows: usize,
}

impl Default for CollectTask {
    fn default() -> Self {
        CollectTask {
            reading: CollectReading::default(),
            switch: None,
            settings: TracerSettings::default(),
            own_features: Vec::new(),
            max_waiting_rows: Tracer::DEFAULT_MAX_WAITING_ROWS,
        }
    }
}

/// Where events are.
#[derive(Clone, Debug)]
pub enum EventData {
    /// In files, which are merged by time, or under the only path, a folder: each folder there is a run. Paths may be
    /// [patterns](matching).
    Paths(Vec<PathBuf>),
    /// In memory, merged by time.
    Frames(Vec<Frame>),
}

/// What was labelled.
#[derive(Debug)]
pub enum Labelled {
    /// A trace.
    Trace {
        /// What came of it, with its file, or the name that errors call it.
        collected: Collected,
        /// Its rows, if they stay in memory.
        rows: Option<Frame>,
    },
    /// A folder of traces.
    Folder(FolderCollected),
}

/// The name of a trace in memory in errors.
const IN_MEMORY: &str = "trace";

impl CollectTask {
    /// Labels events: into the file `output`, the folder `output` if they are one, or in memory without.
    ///
    /// # Errors
    /// If a setting is wrong, an event is wrong, there is nothing to label, or a trace cannot be written.
    pub fn collect(
        &self,
        events: EventData,
        output: Option<&Path>,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Labelled, PipelineError> {
        let events = match events {
            EventData::Paths(paths) => EventData::Paths(matching(&paths)?),
            frames => frames,
        };
        let settings = self.labels()?;
        if let EventData::Paths(paths) = &events
            && let [folder] = &paths[..]
            && is_folder(folder)
        {
            let none = "the events are a folder; name one for their labelled traces";
            let output = output.ok_or_else(|| PipelineError::setting("output", none))?;
            let job = FolderJob {
                options: self.options()?,
                settings: &settings,
                max_waiting_rows: self.max_waiting_rows,
                threads: resources.threads(),
            };
            return Ok(Labelled::Folder(job.run(folder, output, progress)?));
        }
        if let (Some(output), EventData::Paths(paths)) = (output, &events) {
            let CollectReading { reading, drops, .. } = &self.reading;
            check_output(output, paths.iter().chain(&reading.switch).chain(&matching(drops)?))?;
        }
        let events = self.open(&events)?;
        let (specs, most_waiting) = (events.specs().clone(), self.max_waiting_rows);
        let Some(path) = output else {
            let name = IN_MEMORY.to_owned();
            let found =
                collect::<InMemory>(events, specs, &settings, most_waiting, name, progress)?;
            let Collected { trace, counts, skipped, notes } = found;
            let collected = Collected { trace: IN_MEMORY.into(), counts, skipped, notes };
            return Ok(Labelled::Trace { collected, rows: Some(trace.frame()?) });
        };
        let path = path.to_owned();
        let collected =
            collect::<TraceFile>(events, specs, &settings, most_waiting, path, progress)?;
        Ok(Labelled::Trace { collected, rows: None })
    }

    /// Opens events that are no folder.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn open(&self, events: &EventData) -> Result<EventFiles, PipelineError> {
        let options = self.options()?;
        let frames = match events {
            EventData::Paths(paths) => return Ok(EventFiles::open(paths, &options)?),
            EventData::Frames(frames) => frames,
        };
        if options.drops.is_some() {
            let problem = "are joined with captures, which are files; give no frames";
            return Err(PipelineError::setting("drops", problem));
        }
        let readers = frames.iter().map(|frame| EventReader::of_frame(frame, &options));
        Ok(EventFiles::merge(readers.collect::<Result<_, _>>()?)?)
    }

    /// How packets are labelled, with columns of the user's own among the features.
    fn labels(&self) -> Result<TracerSettings, PipelineError> {
        let features = self.settings.features.with_own(&self.own_features)?;
        Ok(TracerSettings { features, ..self.settings.clone() })
    }

    /// How events are read, with the columns of the user's own.
    ///
    /// # Errors
    /// Those of [`CollectReading::options`], and if a column of the user's own has no name for a feature.
    pub fn options(&self) -> Result<EventOptions, PipelineError> {
        let mut options = self.reading.options()?;
        options.columns.own = self.labels()?.features.split_own().1.names();
        if let Some(SwitchFile { specs, maps }) = self.switch.clone() {
            (options.specs, options.maps) = (Some(specs), maps);
        }
        Ok(options)
    }
}
