//! What happens to rows that are wrong.

use crate::cell::BadCell;
use crate::{DataError, Event, EventChecker, SwitchSpecs};
use std::collections::BTreeMap;

/// What to do with a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// Stop with an error that names it.
    #[default]
    Fail,
    /// Leave it out and count it by reason.
    Skip,
}

/// Lets good rows through, and stops at or counts bad ones.
pub(crate) struct Gate {
    file: String,
    on_bad_row: OnBadRow,
    checker: EventChecker,
    row: u64,
    events: u64,
    skipped: BTreeMap<&'static str, u64>,
}

impl Gate {
    pub(crate) fn new(file: &str, on_bad_row: OnBadRow, specs: &SwitchSpecs) -> Self {
        Gate {
            file: file.to_owned(),
            on_bad_row,
            checker: EventChecker::new(specs),
            row: 0,
            events: 0,
            skipped: BTreeMap::new(),
        }
    }

    /// Checks the next readable row. Returns whether to use it.
    pub(crate) fn admit(&mut self, event: &Event, line: Option<u64>) -> Result<bool, DataError> {
        match self.checker.check(event) {
            Ok(()) => {
                self.row += 1;
                self.events += 1;
                Ok(true)
            }
            Err(bad) => self.refuse(line, bad.field(), bad.reason(), &bad).map(|()| false),
        }
    }

    /// Judges the next row, which could not be read.
    pub(crate) fn unreadable(
        &mut self,
        line: Option<u64>,
        field: &str,
        bad: &BadCell,
    ) -> Result<(), DataError> {
        self.refuse(line, field, bad.reason(), bad)
    }

    /// Rows let through.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Rows left out, by reason.
    pub(crate) fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.iter().map(|(reason, &count)| ((*reason).to_owned(), count)).collect()
    }

    fn refuse(
        &mut self,
        line: Option<u64>,
        field: &str,
        reason: &'static str,
        problem: &dyn std::error::Error,
    ) -> Result<(), DataError> {
        let row = self.row;
        self.row += 1;
        match self.on_bad_row {
            OnBadRow::Skip => {
                *self.skipped.entry(reason).or_insert(0) += 1;
                Ok(())
            }
            OnBadRow::Fail => Err(DataError::Row {
                file: self.file.clone(),
                row,
                line,
                field: field.to_owned(),
                problem: problem.to_string(),
            }),
        }
    }
}
