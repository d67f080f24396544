//! Which devices of an ns-3 simulation are which ports (`docs/ns3-ascii.md`).

use serde::Deserialize;
use std::collections::BTreeMap;

/// `[ns3]` of a switch description file. By default node N is switch N and its device D is port D.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ns3Map {
    /// The nodes that are switches; by default those that are described.
    pub nodes: Option<Vec<u32>>,
    /// Devices and their ports. If there are any, other devices are left out.
    pub port: Vec<Ns3Port>,
    /// Bytes of headers that ns-3 does not know how large they are, by name.
    pub header_bytes: BTreeMap<String, u32>,
}

/// A device of a node and the port that it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ns3Port {
    /// Number of the node.
    pub node: u32,
    /// Number of the device within the node.
    pub device: u32,
    /// Number of the switch.
    #[serde(default)]
    pub switch: u16,
    /// Number of the port.
    pub port: u16,
    /// Number of the queue within the port.
    #[serde(default)]
    pub queue: u8,
}
