//! Why a model cannot be measured on traces.

use dropcast_replay::{ForestReplayError, ReplayError};

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Rows before a trace was named.
    #[error("rows were given before their trace was begun")]
    NoTrace,
    /// A trace lacks what the model needs.
    #[error("trace {trace} has no feature {feature}, which the model needs; it has {}", has.join(", "))]
    MissingFeature {
        /// The trace.
        trace: String,
        /// What is missing.
        feature: String,
        /// What there is.
        has: Vec<String>,
    },
    /// A batch whose columns do not fit together.
    #[error("trace {trace}: a batch of {rows} rows has {problem}")]
    UnevenBatch {
        /// The trace.
        trace: String,
        /// Its rows.
        rows: usize,
        /// What does not fit.
        problem: String,
    },
    /// A row that cannot be replayed.
    #[error("trace {trace}, row {row}: {source}")]
    Replay {
        /// The trace.
        trace: String,
        /// The row among those given for the trace, from 0.
        row: u64,
        /// What is wrong.
        source: ReplayError,
    },
    /// A policy that a switch of a trace cannot have.
    #[error("trace {trace}: policy {policy}: {source}")]
    Policy {
        /// The trace.
        trace: String,
        /// The policy, as its user names it.
        policy: String,
        /// What is wrong.
        source: dropcast_switch::BuildError,
    },
    /// A trace on which thresholds cannot be replayed.
    #[error("trace {trace}: {source}")]
    Levels {
        /// The trace.
        trace: String,
        /// What is wrong.
        source: ForestReplayError,
    },
}
