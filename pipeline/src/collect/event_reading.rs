//! How events are read, as commands say it.

use dropcast_data::{DataError, EventColumns, EventOptions, OnBadRow, TimeUnit, read_switch_file};
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
