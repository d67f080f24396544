//! How events are read, as commands say it.

use crate::PipelineError;
use crate::files::matching;
use dropcast_data::{
    DataError, DropReports, EventColumns, EventOptions, OnBadRow, TimeUnit, read_switch_file,
};
use std::path::PathBuf;

/// What events do not say of themselves.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct EventReading {
    /// Switch description (docs/switch.md), if the events do not contain one.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE.toml"))]
    pub switch: Option<PathBuf>,
    /// Read a field of the events from this column. May be repeated.
    #[cfg_attr(feature = "clap", arg(long = "column", value_name = "FIELD=COLUMN"))]
    pub columns: Vec<String>,
    /// Unit of the times of the events. Decimal numbers are rounded to whole nanoseconds and counted
    /// [default: whole nanoseconds].
    #[cfg_attr(feature = "clap", arg(long, value_name = "s|ms|us|ns"))]
    pub time_unit: Option<TimeUnit>,
}

impl EventReading {
    /// How to read events that are described so.
    ///
    /// # Errors
    /// If the description of the switch cannot be read, or a field is unknown.
    pub fn options(&self, on_bad_row: OnBadRow) -> Result<EventOptions, DataError> {
        let switch = self.switch.as_deref().map(read_switch_file).transpose()?;
        let (specs, maps) = switch.map(|file| (file.specs, file.maps)).unzip();
        Ok(EventOptions {
            columns: EventColumns::parse(&self.columns)?,
            time_unit: self.time_unit,
            specs,
            maps: maps.unwrap_or_default(),
            on_bad_row,
            ..EventOptions::default()
        })
    }
}

/// How events that are labelled are read.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CollectReading {
    /// What they do not say of themselves.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub reading: EventReading,
    /// Reports of packets of the captures that the real switch dropped: sFlow datagrams with discarded packets, in a
    /// capture, or a table (docs/drops.md).
    #[cfg_attr(feature = "clap", arg(long, num_args = 1.., value_name = "PATH"))]
    pub drops: Vec<PathBuf>,
    /// How far apart in time a packet and its drop report may be [default: 1000].
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub drop_window_ms: Option<u64>,
    /// What to do with a bad row [default: fail].
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub on_bad_row: Option<OnBadRow>,
}

/// An hour.
const MOST_WINDOW_MS: u64 = 3_600_000;

impl CollectReading {
    /// How far apart in time a packet and its report may be, if nothing else is said, ms.
    pub const WINDOW_MS: u64 = 1_000;

    /// How to read events that are described so. Reads the reports of drops.
    ///
    /// # Errors
    /// Those of [`EventReading::options`], and if reports of drops cannot be read, or there is a window for none.
    pub fn options(&self) -> Result<EventOptions, PipelineError> {
        let on_bad_row = self.on_bad_row.unwrap_or_default();
        let mut options = self.reading.options(on_bad_row)?;
        let window_ms = self.drop_window_ms.unwrap_or(Self::WINDOW_MS);
        let refused = |problem: String| Err(PipelineError::setting("drop_window_ms", problem));
        if window_ms > MOST_WINDOW_MS {
            return refused(format!("is {window_ms}, expected at most {MOST_WINDOW_MS}, an hour"));
        }
        if self.drops.is_empty() {
            return match self.drop_window_ms {
                None => Ok(options),
                Some(_) => refused("is that of drop reports, and none are given".to_owned()),
            };
        }
        let paths = matching(&self.drops)?;
        options.drops = Some(DropReports::read(&paths, window_ms * 1_000_000, on_bad_row)?);
        Ok(options)
    }
}
