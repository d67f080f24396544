//! Classes of flows.

use crate::fabric::{Flow, FlowClass};
use serde::{Deserialize, Serialize};

/// Maximum payload of a short flow, bytes.
pub const SHORT_BYTES: u64 = 100_000;
/// Minimum payload of a long flow, bytes.
pub const LONG_BYTES: u64 = 1_000_000;

/// The classes of a [`crate::RunSummary`], without `single`: each flow is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum FlowKind {
    /// [`crate::RunSummary::incast`].
    Incast,
    /// [`crate::RunSummary::short`].
    Short,
    /// [`crate::RunSummary::middle`].
    Middle,
    /// [`crate::RunSummary::long`].
    Long,
    /// [`crate::RunSummary::collective`].
    Collective,
}

impl FlowKind {
    /// That of a flow.
    pub fn of(flow: &Flow) -> Self {
        match (flow.class, flow.size_bytes) {
            (FlowClass::Incast(_), _) => FlowKind::Incast,
            (FlowClass::Collective(_), _) => FlowKind::Collective,
            (FlowClass::Single, ..=SHORT_BYTES) => FlowKind::Short,
            (FlowClass::Single, LONG_BYTES..) => FlowKind::Long,
            (FlowClass::Single, _) => FlowKind::Middle,
        }
    }

    /// Its name, as metrics begin with it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
