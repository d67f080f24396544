//! Arguments of every command that reads events.

use clap::Args;
use dropcast_data::{DataError, EventColumns, EventOptions, OnBadRow, TimeUnit, read_switch_file};
use std::path::PathBuf;

/// What events do not say of themselves.
#[derive(Debug, Args)]
pub(crate) struct EventReading {
    /// Switch description (docs/switch.md), if the events do not contain one.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// Read a field of the events from this column. May be repeated.
    #[arg(long = "column", value_name = "FIELD=COLUMN")]
    pub(crate) columns: Vec<String>,
    /// Unit of the times of the events. Decimal numbers are rounded to whole nanoseconds and counted
    /// [default: whole nanoseconds].
    #[arg(long, value_name = "s|ms|us|ns")]
    pub(crate) time_unit: Option<TimeUnit>,
}

/// How to read events that are described so.
pub(crate) fn event_options(
    reading: &EventReading,
    on_bad_row: OnBadRow,
) -> Result<EventOptions, DataError> {
    let switch = reading.switch.as_deref().map(read_switch_file).transpose()?;
    let (specs, maps) = switch.map(|file| (file.specs, file.maps)).unzip();
    Ok(EventOptions {
        columns: EventColumns::parse(&reading.columns)?,
        time_unit: reading.time_unit,
        specs,
        maps: maps.unwrap_or_default(),
        on_bad_row,
        ..EventOptions::default()
    })
}
