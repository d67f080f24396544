//! Settings of a run: its `config.toml`.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{OnBadRow, TimeUnit};
use dropcast_measure::verdict::{AskedPolicies, LEAST_GAIN};
use dropcast_pipeline::collect::event_reading::{CollectReading, EventReading};
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_train::ForestParams;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything that determines a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// Name of the run.
    pub name: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Packet events; generated if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventPaths>,
    /// Switch description, if the events bring none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<PathBuf>,
    /// Columns that hold the fields of events, each `FIELD=COLUMN`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The unit of their times, if they are not whole nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Reports of packets of captures that the real switch dropped (docs/drops.md).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<PathBuf>,
    /// How far apart in time a packet and its drop report may be, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_window_ms: Option<u64>,
    /// What to do with bad rows of events and reports: fail or skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_bad_row: Option<OnBadRow>,
    /// Policies that reports replay with the others (docs/policies.md).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<NamedPolicy>,
    /// What share of the lost bytes a policy has to save to be worth a change.
    pub least_gain: f64,
    /// How labels are made.
    pub collect: TracerSettings,
    /// How the forest is trained.
    pub train: TrainSettings,
    /// What is exported.
    pub export: ExportSettings,
    /// What is generated where there are no events; its seed is the run's.
    pub workload: LeafWorkload,
}

impl Default for RunSettings {
    fn default() -> Self {
        RunSettings {
            name: "default".to_owned(),
            seed: ForestParams::default().seed,
            events: None,
            switch: None,
            columns: Vec::new(),
            time_unit: None,
            drops: Vec::new(),
            drop_window_ms: None,
            on_bad_row: None,
            policies: Vec::new(),
            least_gain: LEAST_GAIN,
            collect: TracerSettings::default(),
            train: TrainSettings::default(),
            export: ExportSettings::default(),
            workload: LeafWorkload::default(),
        }
    }
}

impl RunSettings {
    /// The policies that reports replay with the others.
    pub fn asked(&self) -> AskedPolicies {
        let (policies, least_gain) = (self.policies.clone(), Some(self.least_gain));
        AskedPolicies { policies, least_gain, ..AskedPolicies::default() }
    }

    /// How given events are read.
    pub fn reading(&self) -> CollectReading {
        let RunSettings { switch, columns, time_unit, drops, drop_window_ms, on_bad_row, .. } =
            self.clone();
        let reading = EventReading { switch, columns, time_unit };
        CollectReading { reading, drops, drop_window_ms, on_bad_row }
    }
}

/// Files of packet events; one is written as text, several as a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventPaths {
    /// One file.
    One(PathBuf),
    /// Several, which are merged by time.
    Several(Vec<PathBuf>),
}

impl EventPaths {
    /// These files; none if there are none.
    pub fn new(mut paths: Vec<PathBuf>) -> Option<Self> {
        match paths.len() {
            0 => None,
            1 => paths.pop().map(EventPaths::One),
            _ => Some(EventPaths::Several(paths)),
        }
    }

    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            EventPaths::One(path) => std::slice::from_ref(path),
            EventPaths::Several(paths) => paths,
        }
    }
}

/// What a run exports.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportSettings {
    /// Names of targets.
    pub targets: Vec<String>,
}

impl Default for ExportSettings {
    /// Targets that need no device and no tool.
    fn default() -> Self {
        ExportSettings { targets: ["c", "dct"].map(str::to_owned).to_vec() }
    }
}
