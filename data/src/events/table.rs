//! Events from Parquet or Arrow IPC.

use super::columns::EventPlaces;
use super::format::EventOptions;
use super::gate::Gate;
use super::rule_use::RuleUse;
use super::source::{EventSource, Seen};
use super::time_unit::TimeUnit;
use super::{kind, time};
use crate::capture::Sight;
use crate::tables::{BadCell, BadCells, Cell, Table, TableBatches, read_column};
use crate::trace::TRACE_KEY;
use crate::{DataError, Event, EventBatch, EventKind, InputNote};
use arrow_array::RecordBatch;

/// The events of a table.
pub(crate) struct EventTable {
    batches: TableBatches,
    places: EventPlaces,
    time_unit: Option<TimeUnit>,
    /// The switch of events without a column for it.
    absent_switch_id: u16,
}

impl EventSource for EventTable {
    fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError> {
        let Some(batch) = self.batches.next_batch()? else { return Ok(None) };
        let mut bad = BadCells::default();
        let (mut events, rounded) = self.read_events(&batch, &mut bad);
        let own = self.read_own(&batch, &events, &mut bad);
        let mut kept_own = Vec::new();
        let mut bad = bad.into_rows().peekable();
        let mut row = 0;
        let mut stopped = Ok(());
        events.retain_mut(|event| {
            let this = row;
            row += 1;
            if stopped.is_err() {
                return false;
            }
            let judged = match bad.next_if(|(bad_row, _)| *bad_row == this) {
                Some((_, (field, cell))) => gate.unreadable(None, &field, &cell).map(|()| false),
                None => gate.admit(event, None).inspect(|&admitted| {
                    gate.note(InputNote::RoundedTime, admitted && rounded[this]);
                }),
            };
            let admitted = judged.unwrap_or_else(|error| {
                stopped = Err(error);
                false
            });
            if admitted {
                kept_own.extend(own.iter().map(|column| column[this]));
            }
            admitted
        });
        stopped.map(|()| Some(EventBatch { events, own: kept_own }))
    }

    fn close(&mut self) {
        self.batches.close();
    }

    fn hash(&mut self) -> Result<String, DataError> {
        self.batches.hash()
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

impl EventTable {
    pub(crate) fn start(
        file: &str,
        table: Table,
        options: &EventOptions,
    ) -> Result<Self, DataError> {
        if table.metadata(TRACE_KEY).is_some() {
            let hint = "give the events that it was made of";
            return Err(DataError::file(file, "is a labelled trace, not packet events", hint));
        }
        let places = options.columns.locate(file, table.columns())?;
        let time_unit = options.time_unit;
        if let Some(hint) = time::refusal(table.data_type(places.time_ns), time_unit) {
            return Err(table.wrong_type(places.time_ns, hint));
        }
        let mut integers = places.all();
        integers.retain(|&root| root != places.time_ns);
        for words in [places.kind, places.drop_reason] {
            if words.is_some_and(|root| kind::can_hold(table.data_type(root))) {
                integers.retain(|&root| Some(root) != words);
            }
        }
        table.require_integers(&integers)?;
        let batches = table.read(places.all())?;
        Ok(EventTable {
            batches,
            places,
            time_unit,
            absent_switch_id: options.switch_id.unwrap_or_default(),
        })
    }

    /// The events of a batch, and which of their times are rounded.
    fn read_events(&self, batch: &RecordBatch, bad: &mut BadCells) -> (Vec<Event>, Vec<bool>) {
        let EventPlaces {
            time_ns,
            switch_id,
            port,
            queue,
            size_bytes,
            flow_hash,
            flags,
            ecn_mark,
            ..
        } = self.places;
        let (time_ns, rounded) =
            time::read_times(self.batches.column(batch, time_ns), self.time_unit, bad);
        let switch_id: Vec<u16> = match switch_id {
            Some(_) => self.read(batch, "switch_id", switch_id, bad),
            None => vec![self.absent_switch_id; batch.num_rows()],
        };
        let port: Vec<u16> = self.read(batch, "port", Some(port), bad);
        let queue: Vec<u8> = self.read(batch, "queue", queue, bad);
        let kind = self.read_kinds(batch, bad);
        let is_packet = |row: usize| kind[row].has_packet();
        let size_bytes = self.read_where(batch, "size_bytes", Some(size_bytes), is_packet, bad);
        let flow_hash: Vec<u64> = self.read(batch, "flow_hash", flow_hash, bad);
        let flags: Vec<u8> = self.read(batch, "flags", flags, bad);
        let mark_place = ecn_mark;
        let needs_mark = |row: usize| kind[row] == EventKind::Arrival;
        let ecn_mark: Vec<bool> = self.read_where(batch, "ecn_mark", ecn_mark, needs_mark, bad);
        let events = (0..batch.num_rows())
            .map(|row| Event {
                time_ns: time_ns[row],
                flow_hash: flow_hash[row],
                size_bytes: size_bytes[row],
                switch_id: switch_id[row],
                port: port[row],
                queue: queue[row],
                kind: kind[row],
                flags: kind::with_mark(flags[row], mark_place.map(|_| ecn_mark[row])),
            })
            .collect();
        (events, rounded)
    }

    /// The user's own columns. Only arrivals need values: elsewhere null is 0.
    fn read_own(&self, batch: &RecordBatch, events: &[Event], bad: &mut BadCells) -> Vec<Vec<u32>> {
        let is_arrival = |row: usize| events[row].kind.is_arrival();
        let own = self.places.own.iter();
        own.map(|(name, place)| self.read_where(batch, name, Some(*place), is_arrival, bad))
            .collect()
    }

    /// As [`read`](Self::read), but rows that do not need a value may have none: then it is the filler.
    fn read_where<T: Cell>(
        &self,
        batch: &RecordBatch,
        field: &str,
        place: Option<usize>,
        is_needed: impl Fn(usize) -> bool,
        bad: &mut BadCells,
    ) -> Vec<T> {
        let mut of_column = BadCells::default();
        let column = self.read(batch, field, place, &mut of_column);
        for (row, (field, cell)) in of_column.into_rows() {
            if is_needed(row) || !matches!(cell, BadCell::Empty(_)) {
                bad.note(row, &field, cell);
            }
        }
        column
    }

    /// What happened to the packets, with the reasons of drops.
    fn read_kinds(&self, batch: &RecordBatch, bad: &mut BadCells) -> Vec<EventKind> {
        let mut kinds = match self.places.kind {
            Some(place) => kind::read_kinds(self.batches.column(batch, place), bad),
            None => vec![EventKind::Arrival; batch.num_rows()],
        };
        if let Some(place) = self.places.drop_reason {
            let reasons = kind::read_reasons(self.batches.column(batch, place), bad);
            for (row, (kind, reason)) in kinds.iter_mut().zip(reasons).enumerate() {
                match kind::with_reason(*kind, reason) {
                    Ok(with_reason) => *kind = with_reason,
                    Err(cell) => bad.note(row, "drop_reason", cell),
                }
            }
        }
        kinds
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
