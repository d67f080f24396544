//! The parts that rows belong to.

use serde::{Deserialize, Serialize};

/// A switch of a run.
pub type RunSwitch = (u64, u16);

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunTime {
    /// The run.
    pub run: u64,
    /// Time of the run, nanoseconds.
    pub time_ns: u64,
}

/// The part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Trees grow from its rows.
    Train,
    /// Vote thresholds and forests are chosen on it. Without validation rows, training rows are
    /// used.
    Validation,
    /// The model is measured on it.
    Test,
    /// Left out, as a guard between the other parts.
    Gap,
}

/// The part of a switch's rows in a split by switch.
pub(super) fn part_of_switch(switch: u16, test: &[u16], validation: &[u16]) -> Part {
    if test.contains(&switch) {
        Part::Test
    } else if validation.contains(&switch) {
        Part::Validation
    } else {
        Part::Train
    }
}

impl Part {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Part::Train => "training",
            Part::Validation => "validation",
            Part::Test => "test",
            Part::Gap => "left-out",
        }
    }
}
