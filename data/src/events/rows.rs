//! Events from delimited text.

use super::columns::{EventColumns, EventPlaces};
use super::file_kind::FileKind;
use super::format::{EventFormat, Opening};
use super::gate::Gate;
use super::kind::{read_kind, read_reason, with_mark, with_reason};
use super::rule_use::RuleUse;
use super::source::{EventSource, Opened, Seen};
use super::time::read_time;
use super::time_unit::TimeUnit;
use crate::capture::Sight;
use crate::io::TextInput;
use crate::tables::{BATCH_ROWS, BadCell, Cell, CsvRow, CsvRows};
use crate::trace::is_artifact;
use crate::{DataError, Event, EventBatch, EventKind, InputNote, RowPlace};

/// The events of a text.
pub(crate) struct EventRows {
    rows: CsvRows,
    places: EventPlaces,
    time_unit: Option<TimeUnit>,
    /// The switch of events without a column for it.
    absent_switch_id: u16,
}

pub(super) const FORMAT: EventFormat =
    EventFormat { name: "csv", looks_like: |_, _| true, open, describe };

fn open(input: TextInput, opening: &Opening<'_>) -> Opened {
    let &Opening { file, options, .. } = opening;
    let rows = CsvRows::start(file, input)?;
    let places = options.columns.locate(file, rows.header()).map_err(|error| {
        if !is_artifact(rows.header()) {
            return error;
        }
        let hint = "give it to train or report as --data";
        DataError::file(file, "is a labelled trace, not packet events", hint)
    })?;
    let (time_unit, absent_switch_id) = (options.time_unit, options.switch_id.unwrap_or_default());
    Ok(Box::new(EventRows { rows, places, time_unit, absent_switch_id }))
}

fn describe(input: TextInput, file: &str, columns: &EventColumns) -> Result<FileKind, DataError> {
    let rows = match CsvRows::start(file, input) {
        Ok(rows) => rows,
        // Text without a table, or no text.
        Err(DataError::File { problem, hint, .. }) => {
            return Ok(FileKind::Unknown { problem: format!("{problem}; {hint}") });
        }
        Err(error) => return Err(error),
    };
    let header = rows.header().to_vec();
    if is_artifact(&header) {
        return Ok(FileKind::ArtifactCsv { columns: header });
    }
    Ok(match columns.are_in(file, &header)? {
        Ok(()) => FileKind::EventCsv { columns: header },
        Err(problem) => FileKind::Unknown { problem },
    })
}

impl EventSource for EventRows {
    fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let mut batch = EventBatch::new(Vec::with_capacity(BATCH_ROWS));
        let expected = self.rows.header().len();
        while batch.events.len() < BATCH_ROWS {
            let Some(row) = self.rows.next_row()? else { break };
            let read = read_event(&row, expected, &self.places, self.time_unit).and_then(|event| {
                batch.own.extend(read_own(&row, &self.places, event.0.kind)?);
                Ok(event)
            });
            let line = Some(RowPlace::Line(self.rows.line_number()));
            match read {
                Ok((mut event, rounded)) => {
                    if self.places.switch_id.is_none() {
                        event.switch_id = self.absent_switch_id;
                    }
                    if gate.admit(&mut event, line)? {
                        gate.note(InputNote::RoundedTime, rounded);
                        batch.events.push(event);
                    }
                }
                Err((field, bad)) => gate.unreadable(line, &field, &bad)?,
            }
            batch.own.truncate(batch.events.len() * self.places.own.len());
        }
        Ok((!batch.events.is_empty()).then_some(batch))
    }

    fn close(&mut self) {
        self.rows.close();
    }

    fn hash(&mut self) -> Result<String, DataError> {
        Ok(self.rows.hash().unwrap_or_default().to_owned())
    }

    fn places(&self) -> Option<&EventPlaces> {
        Some(&self.places)
    }

    fn records_drops(&self) -> bool {
        self.places.drop_reason.is_some()
    }

    fn rule_uses(&self) -> Vec<RuleUse> {
        Vec::new()
    }

    fn seen(&self) -> Option<Seen<'_>> {
        None
    }

    fn take_sights(&mut self) -> Vec<(u32, Sight)> {
        Vec::new()
    }
}

/// An event, and whether its time is rounded.
fn read_event(
    row: &CsvRow<'_>,
    expected: usize,
    places: &EventPlaces,
    time_unit: Option<TimeUnit>,
) -> Result<(Event, bool), (String, BadCell)> {
    if row.len() != expected {
        return Err(("fields".to_owned(), BadCell::FieldCount { got: row.len(), expected }));
    }
    let time = read_time(row.field(places.time_ns), time_unit)
        .map_err(|bad| ("time_ns".to_owned(), bad))?;
    let kind = read_kind_and_reason(row, places)?;
    let needs_mark = |place: &usize| kind == EventKind::Arrival || !row.field(*place).is_empty();
    let mark_place = places.ecn_mark.filter(needs_mark);
    let size_place = (kind.has_packet() || !row.field(places.size_bytes).is_empty())
        .then_some(places.size_bytes);
    let event = Event {
        time_ns: time.time_ns,
        switch_id: read(row, "switch_id", places.switch_id, 0)?,
        port: read(row, "port", Some(places.port), 0)?,
        queue: read(row, "queue", places.queue, 0)?,
        size_bytes: read(row, "size_bytes", size_place, 0)?,
        kind,
        flow_hash: read(row, "flow_hash", places.flow_hash, 0)?,
        flags: with_mark(
            read(row, "flags", places.flags, 0)?,
            places.ecn_mark.map(|_| read(row, "ecn_mark", mark_place, false)).transpose()?,
        ),
    };
    Ok((event, time.rounded))
}

fn read_kind_and_reason(
    row: &CsvRow<'_>,
    places: &EventPlaces,
) -> Result<EventKind, (String, BadCell)> {
    let kind = match places.kind {
        Some(place) => read_kind(row.field(place)).map_err(|bad| ("kind".to_owned(), bad))?,
        None => EventKind::Arrival,
    };
    let Some(place) = places.drop_reason else { return Ok(kind) };
    read_reason(row.field(place))
        .and_then(|reason| with_reason(kind, reason))
        .map_err(|bad| ("drop_reason".to_owned(), bad))
}

fn read<T: Cell>(
    row: &CsvRow<'_>,
    field: &str,
    place: Option<usize>,
    absent: T,
) -> Result<T, (String, BadCell)> {
    place.map_or(Ok(absent), |place| row.read(place).map_err(|bad| (field.to_owned(), bad)))
}

/// The values of the user's own columns. Only arrivals need them: elsewhere an empty one is 0.
fn read_own(
    row: &CsvRow<'_>,
    places: &EventPlaces,
    kind: EventKind,
) -> Result<Vec<u32>, (String, BadCell)> {
    let needs = |place: usize| kind.is_arrival() || !row.field(place).is_empty();
    let value = |(name, place): &(String, usize)| {
        read(row, name, Some(*place).filter(|&place| needs(place)), 0)
    };
    places.own.iter().map(value).collect()
}
