//! Events from tables: Parquet, and frames in memory.

use super::columns::{EventColumns, EventPlaces};
use super::gate::{Gate, ROUNDED_TIME};
use super::{kind, time};
use crate::cell::{BadCells, Cell, read_column};
use crate::column_table::{ColumnBatches, ColumnTable};
use crate::{DataError, Event, EventBatch, EventKind, TimeUnit};
use arrow_array::RecordBatch;

/// The events of a table.
pub(crate) struct EventTable {
    batches: ColumnBatches,
    places: EventPlaces,
    time_unit: Option<TimeUnit>,
}

impl EventTable {
    pub(crate) fn start(
        file: &str,
        table: ColumnTable,
        columns: &EventColumns,
        time_unit: Option<TimeUnit>,
    ) -> Result<Self, DataError> {
        let places = columns.locate(file, table.columns())?;
        if let Some(hint) = time::refusal(table.data_type(places.time_ns), time_unit) {
            return Err(table.wrong_type(places.time_ns, hint));
        }
        let mut integers = places.all();
        integers.retain(|&root| root != places.time_ns);
        if places.kind.is_some_and(|root| kind::can_hold(table.data_type(root))) {
            integers.retain(|&root| Some(root) != places.kind);
        }
        table.require_integers(&integers)?;
        let batches = table.read(places.all())?;
        Ok(EventTable { batches, places, time_unit })
    }

    /// The next good events, perhaps none; `None` after the last.
    pub(crate) fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let Some(batch) = self.batches.next_batch()? else { return Ok(None) };
        let mut bad = BadCells::default();
        let (mut events, rounded) = self.read_events(&batch, &mut bad);
        let mut bad = bad.into_rows().peekable();
        let mut row = 0;
        let mut stopped = Ok(());
        events.retain(|event| {
            let this = row;
            row += 1;
            if stopped.is_err() {
                return false;
            }
            let judged = match bad.next_if(|(bad_row, _)| *bad_row == this) {
                Some((_, (field, cell))) => gate.unreadable(None, &field, &cell).map(|()| false),
                None => gate.admit(event, None).inspect(|&admitted| {
                    gate.note(ROUNDED_TIME, admitted && rounded[this]);
                }),
            };
            judged.unwrap_or_else(|error| {
                stopped = Err(error);
                false
            })
        });
        stopped.map(|()| Some(EventBatch { events }))
    }

    /// The events of a batch, and which of their times are rounded.
    fn read_events(&self, batch: &RecordBatch, bad: &mut BadCells) -> (Vec<Event>, Vec<bool>) {
        let EventPlaces { time_ns, switch_id, port, queue, size_bytes, kind, flow_hash, flags } =
            self.places;
        let (time_ns, rounded) =
            time::read_times(self.batches.column(batch, time_ns), self.time_unit, bad);
        let switch_id: Vec<u16> = self.read(batch, "switch_id", switch_id, bad);
        let port: Vec<u16> = self.read(batch, "port", Some(port), bad);
        let queue: Vec<u8> = self.read(batch, "queue", queue, bad);
        let size_bytes: Vec<u32> = self.read(batch, "size_bytes", Some(size_bytes), bad);
        let kind: Vec<EventKind> = match kind {
            Some(place) => kind::read_kinds(self.batches.column(batch, place), bad),
            None => vec![EventKind::Arrival; batch.num_rows()],
        };
        let flow_hash: Vec<u64> = self.read(batch, "flow_hash", flow_hash, bad);
        let flags: Vec<u8> = self.read(batch, "flags", flags, bad);
        let events = (0..batch.num_rows())
            .map(|row| Event {
                time_ns: time_ns[row],
                flow_hash: flow_hash[row],
                size_bytes: size_bytes[row],
                switch_id: switch_id[row],
                port: port[row],
                queue: queue[row],
                kind: kind[row],
                flags: flags[row],
            })
            .collect();
        (events, rounded)
    }

    /// A column; all fillers, which are zero, where the file does not have it.
    fn read<T: Cell>(
        &self,
        batch: &RecordBatch,
        field: &str,
        place: Option<usize>,
        bad: &mut BadCells,
    ) -> Vec<T> {
        match place {
            Some(place) => read_column(self.batches.column(batch, place), field, bad),
            None => vec![T::FILLER; batch.num_rows()],
        }
    }
}
