//! What happens to rows that are wrong.

use super::check::EventChecker;
use crate::switch::PoolMap;
use crate::tables::BadCell;
use crate::{DataError, Event, InputNote, OnBadRow, RowPlace, SwitchSpecs};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The name of the reason, which does not change (docs/events.md).
    pub reason: &'static str,
    /// How many rows.
    pub rows: u64,
    /// The first, as in an error.
    pub first: String,
}

/// Lets good rows through, and stops at or counts bad ones.
pub(crate) struct Gate {
    file: String,
    on_bad_row: OnBadRow,
    checker: EventChecker,
    pools: PoolMap,
    row: u64,
    events: u64,
    skipped: BTreeMap<&'static str, u64>,
    problems: BTreeMap<&'static str, Problem>,
    notes: BTreeMap<InputNote, u64>,
}

impl Gate {
    pub(crate) fn new(
        file: &str,
        on_bad_row: OnBadRow,
        specs: &SwitchSpecs,
        pools: PoolMap,
    ) -> Self {
        Gate {
            file: file.to_owned(),
            on_bad_row,
            checker: EventChecker::new(specs),
            pools,
            row: 0,
            events: 0,
            skipped: BTreeMap::new(),
            problems: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Moves the event of the next readable row to its pool, and checks it. Returns whether to use it.
    pub(crate) fn admit(
        &mut self,
        event: &mut Event,
        place: Option<RowPlace>,
    ) -> Result<bool, DataError> {
        if let Err(bad) = self.pools.apply(event) {
            return self.unreadable(place, "switch_id", &bad).map(|()| false);
        }
        match self.checker.check(event) {
            Ok(()) => {
                self.row += 1;
                self.events += 1;
                Ok(true)
            }
            Err(bad) => self.refuse(place, bad.field(), bad.reason(), &bad).map(|()| false),
        }
    }

    /// Judges the next row, which could not be read.
    pub(crate) fn unreadable(
        &mut self,
        place: Option<RowPlace>,
        field: &str,
        bad: &BadCell,
    ) -> Result<(), DataError> {
        self.refuse(place, field, bad.reason(), bad)
    }

    /// Rows let through.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Rows left out, by reason.
    pub(crate) fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.iter().map(|(reason, &count)| ((*reason).to_owned(), count)).collect()
    }

    /// Rows left out because they are bad.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.values().cloned().collect()
    }

    /// Counts a row that is used, under `note`, if it `is` so.
    pub(crate) fn note(&mut self, note: InputNote, is: bool) {
        self.note_rows(note, u64::from(is));
    }

    /// Counts rows that are used, under `note`.
    pub(crate) fn note_rows(&mut self, note: InputNote, rows: u64) {
        if rows > 0 {
            *self.notes.entry(note).or_insert(0) += rows;
        }
    }

    /// Passes over the next row: it is good, but not an event of a buffer.
    pub(crate) fn leave_out(&mut self, reason: &'static str) {
        self.row += 1;
        *self.skipped.entry(reason).or_insert(0) += 1;
    }

    /// The input ends within its next row, after `rows` rows; `error` says so.
    pub(crate) fn cut_off(&mut self, error: DataError, rows: u64) -> Result<(), DataError> {
        if self.on_bad_row == OnBadRow::Fail {
            return Err(error);
        }
        // An end within a packet or its compressed data; the note counts the packets before it.
        let reason = InputNote::CutOff.name();
        *self.skipped.entry(reason).or_insert(0) += 1;
        let problem = Problem { reason, rows: 1, first: error.to_string() };
        self.problems.insert(reason, problem);
        self.note_rows(InputNote::CutOff, rows);
        Ok(())
    }

    /// Rows let through that are worth knowing about.
    pub(crate) fn notes(&self) -> BTreeMap<InputNote, u64> {
        self.notes.clone()
    }

    fn refuse(
        &mut self,
        place: Option<RowPlace>,
        field: &str,
        reason: &'static str,
        problem: &dyn std::error::Error,
    ) -> Result<(), DataError> {
        let row = self.row;
        self.row += 1;
        let error = || DataError::Row {
            file: self.file.clone(),
            row,
            place,
            field: field.to_owned(),
            problem: problem.to_string(),
        };
        if self.on_bad_row == OnBadRow::Fail {
            return Err(error());
        }
        *self.skipped.entry(reason).or_insert(0) += 1;
        let first = || Problem { reason, rows: 0, first: error().to_string() };
        self.problems.entry(reason).or_insert_with(first).rows += 1;
        Ok(())
    }
}
