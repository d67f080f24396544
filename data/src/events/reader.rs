//! Packet events from a file, in batches.

use super::capture::{CapturePlace, CaptureRows};
use super::columns::{EventColumns, EventPlaces};
use super::footer::switches_in_footer;
use super::gate::{Gate, OnBadRow, Problem};
use super::ns3::Ns3Rows;
use super::rows::EventRows;
use super::rule_use::RuleUse;
use super::table::EventTable;
use crate::arrow_stream::looks_like_arrow;
use crate::capture::{CaptureStart, MirrorClocks, PortCapture, Sight};
use crate::csv::CsvRows;
use crate::drop_reports::DropReports;
use crate::error::shown;
use crate::input::{Expect, Input, TextInput, recorded_name};
use crate::input_maps::InputMaps;
use crate::ns3::looks_like_ns3;
use crate::pool_map::PoolMap;
use crate::table::Table;
use crate::{DataError, EventBatch, Frame, InputProvenance, SwitchSpecs, TimeUnit};
use serde::Serialize;
use std::path::Path;

/// How events are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EventFormat {
    /// Delimited text with a header line, perhaps compressed with gzip or Zstandard.
    Csv,
    /// Parquet.
    Parquet,
    /// An Arrow IPC stream or file.
    Arrow,
    /// An ASCII trace of ns-3, perhaps compressed.
    Ns3,
    /// A pcap or pcapng capture, perhaps compressed.
    Capture,
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
    /// The format; told from the first bytes by default.
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

/// Reads and checks packet events. Yields batches of 1 to 65,536 events in input order; after an
/// error, nothing more. Memory does not grow with the input.
pub struct EventReader {
    file: String,
    name: String,
    specs: SwitchSpecs,
    gate: Gate,
    source: Source,
    sha256: String,
    done: bool,
}

enum Source {
    Csv(EventRows),
    Ns3(Box<Ns3Rows>),
    Capture(Box<CaptureRows>),
    Table(EventTable),
}

impl Source {
    /// Where the columns are, if it has columns.
    fn places(&self) -> Option<&EventPlaces> {
        match self {
            Source::Csv(rows) => Some(rows.places()),
            Source::Table(table) => Some(table.places()),
            Source::Ns3(_) | Source::Capture(_) => None,
        }
    }
}

impl EventReader {
    /// Opens the events at `path`, or on standard input if it is `-`.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, is in neither format, lacks a column, has one of a
    /// wrong type, or nothing describes its switches.
    pub fn open(path: &Path, options: EventOptions) -> Result<Self, DataError> {
        EventReader::open_among(path, options, &MirrorClocks::default())
    }

    /// The same for one file of several that share the clocks of mirrors.
    pub(super) fn open_among(
        path: &Path,
        options: EventOptions,
        clocks: &MirrorClocks,
    ) -> Result<Self, DataError> {
        let file = shown(path);
        let expect = match options.format {
            None => Expect::Anything,
            Some(EventFormat::Parquet) => Expect::Parquet,
            Some(_) => Expect::Text,
        };
        let table = |table: Table| {
            let specs = match options.specs {
                None => switches_in_footer(&file, &table)?,
                Some(_) => None,
            };
            let table = EventTable::start(
                &file,
                table,
                &options.columns,
                options.time_unit,
                options.switch_id,
            )?;
            Ok((Source::Table(table), specs))
        };
        let (source, specs) = match Input::open(path, expect)? {
            Input::Parquet(opened, hash) => table(Table::parquet(&file, opened, hash)?)?,
            Input::Text(mut input) => {
                let head = input.peek().map_err(DataError::io(&file, "be read"))?;
                match options.format.unwrap_or_else(|| format_of(head)) {
                    EventFormat::Arrow => table(Table::arrow(&file, input)?)?,
                    format => {
                        let opened = open_stream(&file, path, input, format, &options, clocks)?;
                        (opened, None)
                    }
                }
            }
        };
        let specs = options.specs.or(specs);
        let (on_bad_row, pools) = (options.on_bad_row, PoolMap::new(&options.maps.pool));
        EventReader::start(file, recorded_name(path), source, specs, on_bad_row, pools)
    }

    /// Events that are in memory.
    ///
    /// # Errors
    /// If a column is missing or of a wrong type, or nothing describes the switches.
    pub fn of_frame(frame: &Frame, options: &EventOptions) -> Result<Self, DataError> {
        let file = frame.name();
        let table = Table::frame(frame)?;
        let specs = match &options.specs {
            None => switches_in_footer(file, &table)?,
            Some(specs) => Some(specs.clone()),
        };
        let table =
            EventTable::start(file, table, &options.columns, options.time_unit, options.switch_id)?;
        let (file, name) = (file.to_owned(), file.to_owned());
        let (on_bad_row, pools) = (options.on_bad_row, PoolMap::new(&options.maps.pool));
        EventReader::start(file, name, Source::Table(table), specs, on_bad_row, pools)
    }

    fn start(
        file: String,
        name: String,
        source: Source,
        specs: Option<SwitchSpecs>,
        on_bad_row: OnBadRow,
        pools: PoolMap,
    ) -> Result<Self, DataError> {
        let no_switches = || DataError::NoSwitches { file: file.clone() };
        let specs = specs.ok_or_else(no_switches)?;
        let gate = Gate::new(&file, on_bad_row, &specs, pools);
        Ok(EventReader { gate, file, name, specs, source, sha256: String::new(), done: false })
    }

    /// Gives up memory, thread and file; what is known of it stays. It yields nothing more.
    pub(super) fn close(&mut self) {
        self.done = true;
        match &mut self.source {
            Source::Csv(rows) => rows.close(),
            Source::Ns3(rows) => rows.close(),
            Source::Capture(rows) => rows.close(),
            Source::Table(table) => table.close(),
        }
    }

    /// What errors call it.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The switches: those given, or those in the file.
    pub fn specs(&self) -> &SwitchSpecs {
        &self.specs
    }

    /// Whether the input can tell of push-outs, which are about packets that arrived before.
    pub fn may_push_out(&self) -> bool {
        self.source.places().is_some_and(|places| places.drop_reason.is_some())
    }

    /// Whether the input tells which packets the real switch dropped, even if it dropped none. An input that
    /// does not say so may still tell of drops, by the kinds of its events.
    pub fn tells_drops(&self) -> bool {
        matches!(self.source, Source::Ns3(_)) || self.may_push_out()
    }

    /// The switch and port of all packets, if this is a capture without rules for ports.
    pub(super) fn one_port(&self) -> Option<(u16, u16)> {
        match &self.source {
            Source::Capture(rows) => rows.one_port(),
            _ => None,
        }
    }

    /// Whether it is a capture.
    pub(super) fn is_capture(&self) -> bool {
        matches!(self.source, Source::Capture(_))
    }

    /// Of a capture, the interface of each packet of the last batch, and what it says of itself.
    pub(super) fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        match &mut self.source {
            Source::Capture(rows) => rows.take_sights(),
            _ => Vec::new(),
        }
    }

    /// What was read so far of a capture without rules for ports.
    pub(super) fn port_capture(&self) -> Option<PortCapture<'_>> {
        let Source::Capture(rows) = &self.source else { return None };
        let (_, port) = rows.one_port()?;
        Some(PortCapture { file: &self.file, name: &self.name, port, summary: rows.seen() })
    }

    /// Whether it is standard input, which may not end soon.
    pub(super) fn is_a_stream(&self) -> bool {
        self.name == "-"
    }

    /// Whether all of it was read, or an error ended it.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Names of its columns that hold nothing that is asked for.
    pub(super) fn unread_columns(&self) -> &[String] {
        self.source.places().map_or(&[], |places| &places.unread)
    }

    /// The rules that say where its packets belong, and which of them a packet met so far.
    pub(super) fn rule_uses(&self) -> Vec<RuleUse> {
        match &self.source {
            Source::Ns3(rows) => rows.rule_uses(),
            Source::Capture(rows) => rows.rule_uses(),
            Source::Csv(_) | Source::Table(_) => Vec::new(),
        }
    }

    /// Whether it has no place for real drops: packets without one are not known to be transmitted.
    pub(super) fn cannot_tell_drops(&self) -> bool {
        let has_kinds = self.source.places().is_some_and(|places| places.kind.is_some());
        !has_kinds && !self.tells_drops()
    }

    /// How many columns of the user's own each event has.
    pub(super) fn own_columns(&self) -> usize {
        self.source.places().map_or(0, |places| places.own.len())
    }

    /// Whether the input tells which packets the real switch marked (ECN).
    pub fn tells_marks(&self) -> bool {
        self.source.places().is_some_and(|places| places.ecn_mark.is_some())
    }

    /// What was read. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> InputProvenance {
        InputProvenance {
            name: self.name.clone(),
            sha256: self.sha256.clone(),
            events: self.gate.events(),
            skipped: self.gate.skipped(),
            notes: self.gate.notes(),
            capture: None,
        }
    }

    /// The rows left out because they are bad, by reason.
    pub fn problems(&self) -> Vec<Problem> {
        self.gate.problems()
    }

    fn next_batch(&mut self) -> Result<Option<EventBatch>, DataError> {
        loop {
            let batch = match &mut self.source {
                Source::Csv(rows) => rows.next_batch(&mut self.gate)?,
                Source::Ns3(rows) => rows.next_batch(&mut self.gate)?,
                Source::Capture(rows) => rows.next_batch(&mut self.gate)?,
                Source::Table(table) => table.next_batch(&mut self.gate)?,
            };
            match batch {
                // Every row of it was left out.
                Some(batch) if batch.events.is_empty() => {}
                Some(batch) => return Ok(Some(batch)),
                None => {
                    self.finish()?;
                    return Ok(None);
                }
            }
        }
    }

    fn finish(&mut self) -> Result<(), DataError> {
        self.sha256 = match &mut self.source {
            Source::Csv(rows) => rows.hash().unwrap_or_default().to_owned(),
            Source::Ns3(rows) => rows.hash().unwrap_or_default().to_owned(),
            Source::Capture(rows) => rows.hash().unwrap_or_default().to_owned(),
            Source::Table(table) => table.hash()?,
        };
        Ok(())
    }
}

/// Tells the format of what is not Parquet.
fn format_of(head: &[u8]) -> EventFormat {
    if looks_like_arrow(head) {
        EventFormat::Arrow
    } else if CaptureStart::of(head).is_some() {
        EventFormat::Capture
    } else if looks_like_ns3(head) {
        EventFormat::Ns3
    } else {
        EventFormat::Csv
    }
}

/// Opens what is read from its beginning and is no table of columns.
fn open_stream(
    file: &str,
    path: &Path,
    mut input: TextInput,
    format: EventFormat,
    options: &EventOptions,
    clocks: &MirrorClocks,
) -> Result<Source, DataError> {
    if format == EventFormat::Csv {
        let whole = recorded_name(path);
        if [".pcap", ".pcapng", ".cap"].iter().any(|ending| whole.ends_with(ending)) {
            let problem = "is named like a capture, and does not begin like one";
            return Err(DataError::file(file, problem, "expected pcap or pcapng"));
        }
        let rows = CsvRows::start(file, input)?;
        let rows =
            EventRows::start(file, rows, &options.columns, options.time_unit, options.switch_id)?;
        return Ok(Source::Csv(rows));
    }
    refuse_table_options(file, options)?;
    let no_switches = || DataError::NoSwitches { file: file.to_owned() };
    let specs = options.specs.as_ref().ok_or_else(no_switches)?;
    let (name, maps) = (recorded_name(path), options.maps.clone());
    if format == EventFormat::Ns3 {
        return Ok(Source::Ns3(Box::new(Ns3Rows::start(file, &name, input, maps.ns3, specs))));
    }
    let head = input.peek().map_err(DataError::io(file, "be read"))?;
    let start = CaptureStart::of(head).ok_or_else(|| {
        let expected = "expected a pcap or pcapng capture";
        DataError::file(file, "does not begin like a capture", expected)
    })?;
    let place = CapturePlace {
        switch_id: options.switch_id.unwrap_or_default(),
        port: options.port,
        clocks: clocks.clone(),
    };
    let rows = CaptureRows::start(file, &name, input, start, maps.capture, place, specs)?;
    Ok(Source::Capture(Box::new(rows)))
}

/// Traces and captures have no columns, and times of a known unit.
fn refuse_table_options(file: &str, options: &EventOptions) -> Result<(), DataError> {
    let (given, hint) = if options.time_unit.is_some() {
        ("time_unit", "leave it out")
    } else if !options.columns.own.is_empty() {
        ("features of your own", "they are columns; leave them out")
    } else if options.columns != EventColumns::default() {
        ("column names", "leave them out")
    } else {
        return Ok(());
    };
    let problem = format!("is a trace or capture, not a table, so it takes no {given}");
    Err(DataError::file(file, problem, hint))
}

impl Iterator for EventReader {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.done = !matches!(batch, Some(Ok(_)));
        batch
    }
}
