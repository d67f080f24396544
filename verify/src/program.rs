//! Something built that answers rows.

use crate::VerifyError;
use serde::Serialize;

/// Something that was built from emitted files and answers rows.
pub trait Program {
    /// What was built by what, in a few words: `tables, gcc 14.2 -O2`. Tells the programs of one
    /// target apart.
    fn name(&self) -> &str;

    /// How its answers come about.
    fn evidence(&self) -> Evidence {
        Evidence::Executed
    }

    /// How many instructions of a virtual machine it has; none if it is not for one.
    fn instructions(&self) -> Option<u64> {
        None
    }

    /// Its answers to `rows`, in their order. The rows are as long as the forest has features.
    /// May be called many times; a million rows must take seconds.
    ///
    /// # Errors
    /// If it cannot be run, or does not answer every row.
    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError>;

    /// Nanoseconds that one prediction takes here, the median over many passes over `rows`, each
    /// of which begins when the one before has ended; none where that says nothing.
    ///
    /// # Errors
    /// If it cannot be run.
    fn time_ns(&mut self, rows: &[Vec<u32>]) -> Result<Option<f64>, VerifyError> {
        let _ = rows;
        Ok(None)
    }
}

/// How a program's answers come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The emitted code was built by a tool made for it, and run.
    Executed,
    /// The emitted files were only read back by dropcast itself, which shows that they hold the
    /// forest, not that a device would understand them. Never a pass.
    ParsedBack,
}

/// What a program says of rows, in their order. One of the two may be missing, not both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Scores.
    pub scores: Option<Vec<u32>>,
    /// Decisions: whether a drop is predicted.
    pub drops: Option<Vec<bool>>,
}
