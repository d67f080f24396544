//! Why a data frame cannot be used.

use dropcast_train::TrainError;
use polars::prelude::{DataType, PlSmallStr, PolarsError};

/// Why a data frame cannot be read or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A required column is missing.
    #[error("has no column {column:?}; it has {}", .columns.join(", "))]
    Missing {
        /// The column.
        column: String,
        /// Those that are there.
        columns: Vec<String>,
    },
    /// A column has a wrong type.
    #[error("column {column:?} is of type {found:?}, expected {expected}")]
    Type {
        /// The column.
        column: String,
        /// Its type.
        found: DataType,
        /// What it should be.
        expected: &'static str,
    },
    /// A column has no value somewhere.
    #[error("column {column:?} has {count} nulls; fill them or leave these rows out")]
    Null {
        /// The column.
        column: String,
        /// How many values are not there.
        count: usize,
    },
    /// A value is out of range for its column.
    #[error("column {column:?} has the value {value}, which is out of range (docs/trace.md)")]
    Range {
        /// The column.
        column: String,
        /// The value.
        value: i128,
    },
    /// Polars failed, for example because a file does not exist.
    #[error(transparent)]
    Polars(#[from] PolarsError),
    /// No forest can be trained on these rows.
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl FrameError {
    /// That `column` is not among `columns`.
    pub(super) fn missing<'a>(
        column: &str,
        columns: impl IntoIterator<Item = &'a PlSmallStr>,
    ) -> Self {
        let columns = columns.into_iter().map(PlSmallStr::to_string).collect();
        FrameError::Missing { column: column.to_owned(), columns }
    }
}
