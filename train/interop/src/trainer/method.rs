//! How a trainer goes about a task.

use super::rows::{FloatRows, Limits};
use dropcast_forest::Tree;
use dropcast_train::FitTask;

/// How a trainer goes about a task.
pub(super) struct Method {
    /// Its crates and their versions.
    pub(super) tool: String,
    /// How many rows it can take.
    pub(super) limits: Limits,
    /// Grows the trees.
    pub(super) grow: fn(FloatRows, &FitTask) -> Result<Vec<Tree>, String>,
}
