//! Packet events from a file, in batches.

use super::format::{EventFormat, EventOptions, Opening};
use super::gate::{Gate, Problem};
use super::rule_use::RuleUse;
use super::source::{EventSource, Seen};
use super::table::EventTable;
use crate::capture::{MirrorClocks, PortCapture, Sight};
use crate::io::{recorded_name, shown};
use crate::switch::{PoolMap, switches_in_footer};
use crate::tables::{Expect, Input, Table};
use crate::{DataError, EventBatch, Frame, InputProvenance, SwitchSpecs};
use std::path::Path;

/// Reads and checks packet events. Yields batches of 1 to 65,536 events in input order; after an
/// error, nothing more. Memory does not grow with the input.
pub struct EventReader {
    file: String,
    name: String,
    specs: SwitchSpecs,
    gate: Gate,
    source: Box<dyn EventSource>,
    sha256: String,
    done: bool,
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
        let expect = if options.format.is_some() { Expect::Text } else { Expect::Anything };
        let name = recorded_name(path);
        match Input::open(path, expect)? {
            Input::Table(table) => EventReader::of_table(file, name, table, &options),
            Input::Text(mut input) => {
                let head = input.peek().map_err(DataError::io(&file, "be read"))?;
                let format = options.format.unwrap_or_else(|| EventFormat::of(head, &name));
                let opening = Opening { file: &file, name: &name, options: &options, clocks };
                let source = (format.open)(input, &opening)?;
                EventReader::start(file, name, source, None, &options)
            }
        }
    }

    /// Events that are in memory.
    ///
    /// # Errors
    /// If a column is missing or of a wrong type, or nothing describes the switches.
    pub fn of_frame(frame: &Frame, options: &EventOptions) -> Result<Self, DataError> {
        let (file, name) = (frame.name().to_owned(), frame.name().to_owned());
        EventReader::of_table(file, name, Table::frame(frame)?, options)
    }

    fn of_table(
        file: String,
        name: String,
        table: Table,
        options: &EventOptions,
    ) -> Result<Self, DataError> {
        let specs = match options.specs {
            None => switches_in_footer(&file, &table)?,
            Some(_) => None,
        };
        let source = Box::new(EventTable::start(&file, table, options)?);
        EventReader::start(file, name, source, specs, options)
    }

    /// `specs` are those that the file describes.
    fn start(
        file: String,
        name: String,
        source: Box<dyn EventSource>,
        specs: Option<SwitchSpecs>,
        options: &EventOptions,
    ) -> Result<Self, DataError> {
        let no_switches = || DataError::NoSwitches { file: file.clone() };
        let specs = options.specs.clone().or(specs).ok_or_else(no_switches)?;
        let pools = PoolMap::new(&options.maps.pool);
        let gate = Gate::new(&file, options.on_bad_row, &specs, pools);
        Ok(EventReader { gate, file, name, specs, source, sha256: String::new(), done: false })
    }

    /// Gives up memory, thread and file; what is known of it stays. It yields nothing more.
    pub(super) fn close(&mut self) {
        self.done = true;
        self.source.close();
    }

    /// What errors call it.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The switches: those given, or those in the file.
    pub fn specs(&self) -> &SwitchSpecs {
        &self.specs
    }

    /// Whether the input can record push-outs, which are about packets that arrived before.
    pub fn may_push_out(&self) -> bool {
        self.source.places().is_some_and(|places| places.drop_reason.is_some())
    }

    /// Whether the input records which packets the real switch dropped, even if it dropped none. An input that
    /// does not say so may still record drops, by the kinds of its events.
    pub fn records_drops(&self) -> bool {
        self.source.records_drops()
    }

    /// The switch and port of all packets, if this is a capture without rules for ports.
    pub(super) fn one_port(&self) -> Option<(u16, u16)> {
        self.source.seen()?.one_port
    }

    /// Whether it is a capture.
    pub(super) fn is_capture(&self) -> bool {
        self.source.seen().is_some()
    }

    /// Of a capture, the interface of each packet of the last batch, and what it says of itself.
    pub(super) fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        self.source.take_sights()
    }

    /// What was read so far of a capture without rules for ports.
    pub(super) fn port_capture(&self) -> Option<PortCapture<'_>> {
        let Seen { one_port, summary } = self.source.seen()?;
        let (_, port) = one_port?;
        Some(PortCapture { file: &self.file, name: &self.name, port, summary })
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
        self.source.rule_uses()
    }

    /// Whether it has no place for real drops: packets without one are not known to be transmitted.
    pub(super) fn lacks_drops(&self) -> bool {
        let has_kinds = self.source.places().is_some_and(|places| places.kind.is_some());
        !has_kinds && !self.records_drops()
    }

    /// How many columns of the user's own each event has.
    pub(super) fn own_columns(&self) -> usize {
        self.source.places().map_or(0, |places| places.own.len())
    }

    /// Whether the input records which packets the real switch marked (ECN).
    pub fn records_marks(&self) -> bool {
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
            match self.source.next_batch(&mut self.gate)? {
                // Every row of it was left out.
                Some(batch) if batch.events.is_empty() => {}
                Some(batch) => return Ok(Some(batch)),
                None => {
                    self.sha256 = self.source.hash()?;
                    return Ok(None);
                }
            }
        }
    }
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
