//! What a format of packet events is: how it is recognised, opened and described. `formats.rs` lists them.

use super::columns::EventColumns;
use super::file_kind::FileKind;
use super::source::Opened;
use super::time_unit::TimeUnit;
use crate::capture::MirrorClocks;
use crate::drop_reports::DropReports;
use crate::io::TextInput;
use crate::switch::InputMaps;
use crate::{DataError, OnBadRow, SwitchSpecs};
use serde::Serialize;

/// A format of packet events in text or packets. Tables (Parquet, Arrow IPC) are not listed: every reader opens them.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct EventFormat {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether a file with these first bytes and this name has this format.
    #[serde(skip)]
    pub(super) looks_like: fn(head: &[u8], name: &str) -> bool,
    /// Starts to read it.
    #[serde(skip)]
    pub(super) open: fn(TextInput, &Opening<'_>) -> Opened,
    /// Describes a file by its first bytes; events have these columns.
    #[serde(skip)]
    pub(super) describe: fn(TextInput, &str, &EventColumns) -> Result<FileKind, DataError>,
}

/// How to read events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EventOptions {
    /// Which column is which field.
    pub columns: EventColumns,
    /// The switches; by default those that the file describes.
    pub specs: Option<SwitchSpecs>,
    /// The unit of the times; decimal numbers are rounded to whole nanoseconds and counted. By
    /// default times are whole nanoseconds, or of the unit of a timestamp column.
    pub time_unit: Option<TimeUnit>,
    /// What to do with bad rows.
    pub on_bad_row: OnBadRow,
    /// The format; recognised from the first bytes by default.
    pub format: Option<EventFormat>,
    /// Switches and ports of traces and captures.
    pub maps: InputMaps,
    /// The switch of events that do not name one, in a table without a column for it or a capture without a rule
    /// for it; 0 by default.
    pub switch_id: Option<u16>,
    /// The port of all packets of a capture, where `maps` has no rules for ports.
    pub port: Option<u16>,
    /// Reports of packets of captures that the real switch dropped (`docs/drops.md`), which [`EventFiles`] joins.
    ///
    /// [`EventFiles`]: crate::EventFiles
    pub drops: Option<DropReports>,
}

/// What a format knows of the file that it opens.
pub(super) struct Opening<'a> {
    /// What errors call it.
    pub(super) file: &'a str,
    /// Its name, without its folder.
    pub(super) name: &'a str,
    pub(super) options: &'a EventOptions,
    /// Clocks of switches that mirror to captures.
    pub(super) clocks: &'a MirrorClocks,
}

impl Opening<'_> {
    /// The switches, for what describes none and has no columns, and times of a known unit.
    pub(super) fn switches_of_no_table(&self) -> Result<&SwitchSpecs, DataError> {
        let EventOptions { columns, specs, time_unit, .. } = self.options;
        let (given, hint) = if time_unit.is_some() {
            ("time_unit", "leave it out")
        } else if !columns.own.is_empty() {
            ("features of your own", "they are columns; leave them out")
        } else if *columns != EventColumns::default() {
            ("column names", "leave them out")
        } else {
            let no_switches = || DataError::NoSwitches { file: self.file.to_owned() };
            return specs.as_ref().ok_or_else(no_switches);
        };
        let problem = format!("is a trace or capture, not a table, so it takes no {given}");
        Err(DataError::file(self.file, problem, hint))
    }
}
