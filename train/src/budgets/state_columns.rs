//! States arranged by feature, for the search over forests.

use super::states::{ForestStates, StateCounts};

/// The states of [`ForestStates`], numbered in their order.
pub(super) struct StateColumns<'s> {
    states: &'s ForestStates,
    /// By state.
    rows: Vec<StateCounts>,
    /// By feature and state, how many possible thresholds lie below.
    cells: Vec<Vec<u16>>,
    /// By feature, the states by ascending cell.
    by_cell: Vec<Vec<u32>>,
    /// Whether there are validation rows to choose on; otherwise training rows are used.
    validates: bool,
}

impl<'s> StateColumns<'s> {
    pub(super) fn new(states: &'s ForestStates) -> Self {
        let rows: Vec<StateCounts> = states.iter().map(|(_, counts)| *counts).collect();
        let column = |feature: usize| states.iter().map(|(state, _)| state[feature]).collect();
        let cells: Vec<Vec<u16>> = (0..states.features().len()).map(column).collect();
        let by_cell = cells.iter().map(|cells| {
            let mut sorted: Vec<u32> = (0..cells.len() as u32).collect();
            sorted.sort_by_key(|&state| cells[state as usize]);
            sorted
        });
        let by_cell = by_cell.collect();
        let validates = rows.iter().any(|counts| counts.validation != [0, 0]);
        StateColumns { states, rows, cells, by_cell, validates }
    }

    /// The names of the features.
    pub(super) fn features(&self) -> &'s [String] {
        self.states.features()
    }

    /// The possible thresholds of a feature, ascending.
    pub(super) fn thresholds(&self, feature: u16) -> &'s [u32] {
        self.states.thresholds(usize::from(feature))
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows of each state.
    pub(super) fn rows(&self) -> &[StateCounts] {
        &self.rows
    }

    /// The rows of a state that are used for choosing, by class.
    pub(super) fn chosen(&self, state: u32) -> [u64; 2] {
        let counts = &self.rows[state as usize];
        if self.validates { counts.validation } else { counts.train }
    }

    /// Whether a state's value of a feature is at most the feature's threshold number `threshold`.
    pub(super) fn is_left(&self, state: u32, feature: u16, threshold: u16) -> bool {
        self.cells[usize::from(feature)][state as usize] <= threshold
    }

    /// The states between two threshold numbers of a feature.
    pub(super) fn between(&self, feature: u16, a: u16, b: u16) -> &[u32] {
        let (low, high) = (a.min(b), a.max(b));
        let (cells, sorted) =
            (&self.cells[usize::from(feature)], &self.by_cell[usize::from(feature)]);
        let first = sorted.partition_point(|&state| cells[state as usize] <= low);
        let end = sorted.partition_point(|&state| cells[state as usize] <= high);
        &sorted[first..end]
    }
}
