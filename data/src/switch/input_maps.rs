//! Which parts of an input belong to which switch, port and queue.

use super::pool_map::Pool;
use crate::capture::CaptureMap;
use crate::ns3::Ns3Map;
use serde::{Deserialize, Serialize};

/// The tables `[ns3]`, `[capture]` and `[[pool]]` of a switch description file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputMaps {
    /// Devices of an ns-3 simulation.
    pub ns3: Ns3Map,
    /// Packets of captures.
    pub capture: CaptureMap,
    /// Switches with several buffers.
    pub pool: Vec<Pool>,
}
