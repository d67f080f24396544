//! What is wrong with a list of flows.

/// What is wrong with a list of flows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowListError {
    /// It cannot be read.
    #[error("flow list: {0}")]
    Read(#[from] std::io::Error),
    /// The header lacks a column.
    #[error("flow list: there is no column {0:?} in the header")]
    NoColumn(&'static str),
    /// The header has a column twice, or one that is nearly known.
    #[error("flow list: column {name:?} {problem}")]
    Column {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A line has more or fewer cells than the header.
    #[error("flow list: line {line}: has {cells} cells, the header has {columns}")]
    Cells {
        /// The line, from 1.
        line: usize,
        /// Its cells.
        cells: usize,
        /// The header's.
        columns: usize,
    },
    /// A line is not a valid flow.
    #[error("flow list: line {line}: {column}: {problem}")]
    Field {
        /// Line number, from 1.
        line: usize,
        /// The column at fault.
        column: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A line as a whole is wrong.
    #[error("flow list: line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
}
