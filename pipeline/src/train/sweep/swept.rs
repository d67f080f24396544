//! What sweeps find.

use dropcast_train::SweepTable;
use serde::Serialize;

/// What a sweep found.
#[derive(Clone, Debug, Serialize)]
pub struct Swept<C = ()> {
    /// Every row.
    #[serde(flatten)]
    pub table: SweepTable,
    /// What was chosen in the closed loop, if `sweep.toml` has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<C>,
}
