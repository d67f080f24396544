//! The metadata of a labelled trace: the JSON in its footer (`docs/trace.md`).

use crate::{CollectSettings, InputProvenance, Pause, RowOrder, SwitchSpecs};
use serde::{Deserialize, Serialize};

/// Version of the labelled trace format.
pub const TRACE_SCHEMA_VERSION: u32 = 1;

/// Name of the moving average of the Credence authors' ns-3 code (`docs/features.md`).
pub const AVERAGE_NS3_TRUNC: &str = "ns3-trunc";

/// The metadata of a labelled trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceMeta {
    /// Version of the format.
    pub schema_version: u32,
    /// Name and version of the tool that wrote it; empty if unknown.
    pub tool_version: String,
    /// The order of the rows.
    pub order: RowOrder,
    /// The switches; absent if unknown.
    pub switches: Option<SwitchSpecs>,
    /// Names of the feature columns, in column order.
    pub features: Vec<String>,
    /// Name of the definition of the moving averages; absent if unknown.
    pub average: Option<String>,
    /// How the labels were made; absent if unknown.
    pub collect: Option<CollectSettings>,
    /// The files that it was made from.
    pub inputs: Vec<InputProvenance>,
    /// When queues were paused, in order of their beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
}

impl TraceMeta {
    /// The metadata of a trace in arrival order that `tool_version` writes, with these features and
    /// the authors' moving average. The caller fills in settings and inputs.
    pub fn new(
        tool_version: impl Into<String>,
        switches: SwitchSpecs,
        features: Vec<String>,
    ) -> Self {
        TraceMeta {
            schema_version: TRACE_SCHEMA_VERSION,
            tool_version: tool_version.into(),
            order: RowOrder::Arrival,
            switches: Some(switches),
            features,
            average: Some(AVERAGE_NS3_TRUNC.to_owned()),
            collect: None,
            inputs: Vec::new(),
            pauses: Vec::new(),
        }
    }

    /// The metadata of a trace that has none.
    pub fn unknown(order: RowOrder, features: Vec<String>) -> Self {
        TraceMeta {
            schema_version: TRACE_SCHEMA_VERSION,
            tool_version: String::new(),
            order,
            switches: None,
            features,
            average: None,
            collect: None,
            inputs: Vec::new(),
            pauses: Vec::new(),
        }
    }
}
