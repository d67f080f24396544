//! Events from delimited text.

use super::columns::{EventColumns, EventPlaces};
use super::gate::Gate;
use crate::cell::{BadCell, Cell, excerpt};
use crate::csv::{CsvRow, CsvRows};
use crate::parquet_table::BATCH_ROWS;
use crate::{DataError, Event, EventBatch, EventKind};

/// The events of a text.
pub(crate) struct EventRows {
    rows: CsvRows,
    places: EventPlaces,
}

impl EventRows {
    pub(crate) fn start(
        file: &str,
        rows: CsvRows,
        columns: &EventColumns,
    ) -> Result<Self, DataError> {
        let places = columns.locate(file, rows.header())?;
        Ok(EventRows { rows, places })
    }

    /// The next good events; `None` after the last.
    pub(crate) fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let mut events = Vec::with_capacity(BATCH_ROWS);
        let expected = self.rows.header().len();
        while events.len() < BATCH_ROWS {
            let Some(row) = self.rows.next_row()? else { break };
            let read = read_event(&row, expected, &self.places);
            let line = Some(self.rows.line_number());
            match read {
                Ok(event) if gate.admit(&event, line)? => events.push(event),
                Ok(_) => {}
                Err((field, bad)) => gate.unreadable(line, field, &bad)?,
            }
        }
        Ok((!events.is_empty()).then_some(EventBatch { events }))
    }

    /// The hash of the file, known after the last event.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.rows.hash()
    }
}

fn read_event(
    row: &CsvRow<'_>,
    expected: usize,
    places: &EventPlaces,
) -> Result<Event, (&'static str, BadCell)> {
    if row.len() != expected {
        return Err(("fields", BadCell::FieldCount { got: row.len(), expected }));
    }
    Ok(Event {
        time_ns: read(row, "time_ns", Some(places.time_ns), 0)?,
        switch_id: read(row, "switch_id", places.switch_id, 0)?,
        port: read(row, "port", Some(places.port), 0)?,
        queue: read(row, "queue", places.queue, 0)?,
        size_bytes: read(row, "size_bytes", Some(places.size_bytes), 0)?,
        kind: match places.kind {
            Some(place) => read_kind(row.field(place)).map_err(|bad| ("kind", bad))?,
            None => EventKind::Arrival,
        },
        flow_hash: read(row, "flow_hash", places.flow_hash, 0)?,
        flags: read(row, "flags", places.flags, 0)?,
    })
}

fn read<T: Cell>(
    row: &CsvRow<'_>,
    field: &'static str,
    place: Option<usize>,
    absent: T,
) -> Result<T, (&'static str, BadCell)> {
    place.map_or(Ok(absent), |place| row.read(place).map_err(|bad| (field, bad)))
}

fn read_kind(text: &[u8]) -> Result<EventKind, BadCell> {
    const ARRIVAL: [&str; 4] = ["arrival", "arrive", "enq", "enqueue"];
    const DEPARTURE: [&str; 4] = ["departure", "depart", "deq", "dequeue"];
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return EventKind::from_text(text);
    }
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    if ARRIVAL.iter().any(|word| is(word)) {
        Ok(EventKind::Arrival)
    } else if DEPARTURE.iter().any(|word| is(word)) {
        Ok(EventKind::Departure)
    } else {
        let expected = "0, 1, arrival or departure";
        Err(BadCell::NotANumber { text: excerpt(text), expected })
    }
}
