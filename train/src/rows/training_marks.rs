//! Which rows train, and which of those are drops.

use crate::Part;
use crate::source::RunRows;
use crate::splits::Parts;

/// Marks of neighbouring rows.
#[derive(Clone, Debug)]
pub(crate) struct TrainingMarks {
    /// By row, 1 if it trains, else 0; `None` if all do.
    trains: Option<Vec<u8>>,
    /// The training rows that were dropped, ascending.
    drops: Vec<u32>,
    /// Number of training rows.
    rows: u64,
}

impl TrainingMarks {
    /// The marks of rows that are for `parts`.
    pub(crate) fn new(rows: &RunRows<'_>, parts: &Parts) -> Self {
        match parts {
            Parts::All(Part::Train) => {
                let drops = places(rows.drop);
                TrainingMarks { trains: None, drops, rows: rows.len() as u64 }
            }
            Parts::All(_) => {
                let none = vec![0; rows.len()];
                TrainingMarks { trains: Some(none), drops: Vec::new(), rows: 0 }
            }
            Parts::Each(parts) => {
                let trains = |part: Part| part == Part::Train;
                let both = parts.iter().zip(rows.drop);
                let drops: Vec<bool> = both.map(|(&part, &drop)| drop & trains(part)).collect();
                let drops = places(&drops);
                let trains: Vec<u8> = parts.iter().map(|&part| trains(part).into()).collect();
                let rows = trains.iter().map(|&trains| u64::from(trains)).sum();
                TrainingMarks { trains: Some(trains), drops, rows }
            }
        }
    }

    /// Number of training rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The training rows that were dropped, ascending.
    pub(crate) fn drops(&self) -> &[u32] {
        &self.drops
    }

    /// Calls back with each of the rows' `values`, and 1 if its row trains, else 0.
    pub(crate) fn each(&self, values: &[u32], mut visit: impl FnMut(u32, u8)) {
        match &self.trains {
            None => values.iter().for_each(|&value| visit(value, 1)),
            Some(trains) => {
                values.iter().zip(trains).for_each(|(&value, &trains)| visit(value, trains));
            }
        }
    }
}

/// The indices of true `flags`, fast if they are rare.
fn places(flags: &[bool]) -> Vec<u32> {
    const AT_ONCE: usize = 32;
    let mut places = Vec::new();
    for (first, flags) in (0..).step_by(AT_ONCE).zip(flags.chunks(AT_ONCE)) {
        if flags.iter().fold(false, |any, flag| any | flag) {
            places.extend((first..).zip(flags).filter(|&(_, flag)| *flag).map(|(at, _)| at));
        }
    }
    places
}
