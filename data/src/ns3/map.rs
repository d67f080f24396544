//! Which devices of an ns-3 simulation are which ports (`docs/ns3-ascii.md`).

use super::headers::has_known_size;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// `[ns3]` of a switch description file. By default node N is switch N and its device D is port D.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ns3Map {
    /// The nodes that are switches; by default the described ones.
    pub nodes: Option<Vec<u32>>,
    /// Devices and their ports. If there are any, other devices are left out.
    pub port: Vec<Ns3Port>,
    /// Bytes of headers that ns-3 does not know how large they are, by name.
    pub header_bytes: BTreeMap<String, u32>,
}

impl Ns3Map {
    /// What is said twice, or for nothing.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.nodes.is_some() && !self.port.is_empty() {
            let problem =
                "nodes is not used where [[ns3.port]] lists devices; leave one of them out";
            return Some(format!("[ns3] {problem}"));
        }
        if let Some(known) = self.header_bytes.keys().find(|name| has_known_size(name)) {
            let problem = "is a header whose size is known; leave it out";
            return Some(format!("[ns3.header_bytes] {known} {problem}"));
        }
        let (mut devices, mut queues) = (BTreeSet::new(), BTreeSet::new());
        self.port.iter().find_map(|&Ns3Port { node, device, switch, port, queue }| {
            if !devices.insert((node, device)) {
                let problem = format!("device {device} of node {node} twice; it is one port");
                return Some(format!("[[ns3.port]] lists {problem}"));
            }
            let is_taken = !queues.insert((switch, port, queue));
            let place = format!("queue {queue} of port {port} of switch {switch}");
            is_taken
                .then(|| format!("[[ns3.port]] gives {place} two devices; a queue is one device"))
        })
    }
}

/// A device of a node and the port that it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_twice_is_found() {
        let problem = |text: &str| toml::from_str::<Ns3Map>(text).unwrap().problem();
        let device = "{ node = 2, device = 3, port = 0 }";
        let other = "{ node = 2, device = 4, port = 0, queue = 1 }";
        assert_eq!(problem(&format!("port = [{device}, {other}]")), None);
        assert_eq!(problem("nodes = [1]"), None);
        let twice = problem(&format!("port = [{device}, {other}, {device}]")).unwrap();
        assert!(twice.contains("lists device 3 of node 2 twice"), "{twice}");
        let same = "{ node = 5, device = 3, port = 0 }";
        let taken = problem(&format!("port = [{device}, {same}]")).unwrap();
        assert!(taken.contains("gives queue 0 of port 0 of switch 0 two devices"), "{taken}");
        let known = problem("header_bytes = { 'ns3::PppHeader' = 4 }").unwrap();
        assert!(known.contains("ns3::PppHeader is a header whose size is known"), "{known}");
        let both = problem(&format!("nodes = [1]\nport = [{device}]")).unwrap();
        assert!(both.contains("nodes is not used"), "{both}");
    }
}
