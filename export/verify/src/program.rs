//! Programs that answer rows.

use crate::VerifyError;
use serde::Serialize;

/// A program built from emitted files that answers rows.
pub trait Program {
    /// Its variant and tool, such as `tables, gcc 14.2 -O2`. Unique among the programs of a target.
    fn name(&self) -> &str;

    /// How its answers are computed.
    fn evidence(&self) -> Evidence {
        Evidence::Executed
    }

    /// Number of instructions, if it is for a virtual machine.
    fn instructions(&self) -> Option<u64> {
        None
    }

    /// Its answers to `rows`, in order. The rows are as long as the forest has features. May be
    /// called many times; a million rows must take seconds.
    ///
    /// # Errors
    /// If it cannot be run, or does not answer every row.
    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError>;

    /// Nanoseconds of one prediction on this machine: the median over many passes over `rows`, each
    /// prediction starting after the last one ends; `None` if meaningless.
    ///
    /// # Errors
    /// If it cannot be run.
    fn time_ns(&mut self, rows: &[Vec<u32>]) -> Result<Option<f64>, VerifyError> {
        let _ = rows;
        Ok(None)
    }
}

/// How a program computes its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The emitted code was built by a tool made for it, and run.
    Executed,
    /// The emitted files were only read back by dropcast itself, which shows that they hold the
    /// forest, not that a device would understand them. Never a pass.
    ParsedBack,
}

/// A program's answers to rows, in order. One of the two may be missing, not both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Scores.
    pub scores: Option<Vec<u32>>,
    /// Decisions: whether a drop is predicted.
    pub drops: Option<Vec<bool>>,
}
