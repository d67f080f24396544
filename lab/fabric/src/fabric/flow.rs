//! Flows, and their records.

use crate::transport::Transport;
use serde::{Deserialize, Serialize};

/// The class of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowClass {
    /// A single flow: it connects first and begins with the configured window.
    Single,
    /// An answer to the request with this number. It is already connected and begins with a window
    /// of the whole flow, as in the Credence artifact.
    Incast(u32),
    /// A part of the collective operation with this number; already connected.
    Collective(u32),
}

/// A flow to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// When, nanoseconds.
    pub start_ns: u64,
    /// The sending server; servers are numbered leaf by leaf.
    pub from: u16,
    /// The receiving server, a different one.
    pub to: u16,
    /// Payload, bytes; above 0.
    pub size_bytes: u64,
    /// Its class.
    pub class: FlowClass,
    /// How it is sent.
    pub transport: Transport,
    /// The queue of its data at each port; 0 is that of acknowledgements if there are several.
    pub queue: u8,
    /// The spines of its packets and of its acknowledgements; `None`: a hash of flow and seed picks
    /// them.
    pub spines: Option<(u16, u16)>,
}

impl Flow {
    /// Whether it shakes hands before it sends.
    pub fn connects(&self) -> bool {
        self.class == FlowClass::Single && self.transport != Transport::Unresponsive
    }
}

/// The record of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// Its number, in order of start.
    pub id: u64,
    /// The flow.
    pub flow: Flow,
    /// Flow completion time: from its start to the arrival of its last byte, nanoseconds. `None` if
    /// it did not complete, because the simulation ended or an unresponsive sender lost a packet.
    pub fct_ns: Option<u64>,
    /// A lower bound of its completion time, nanoseconds ([`super::Fabric::ideal_fct_ns`]).
    pub ideal_fct_ns: u64,
    /// Payload that arrived, bytes.
    pub received_bytes: u64,
    /// Retransmission timeouts, including the handshake's.
    pub timeouts: u32,
    /// Segments sent again.
    pub retransmissions: u32,
}

impl FlowRecord {
    /// Completion time over the ideal one, at least 1; `None` if the flow did not complete.
    pub fn slowdown(&self) -> Option<f64> {
        self.fct_ns.map(|fct_ns| fct_ns as f64 / self.ideal_fct_ns as f64)
    }
}
