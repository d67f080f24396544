//! Flows: what a workload asks for, and what became of it.

use crate::transport::Transport;
use serde::{Deserialize, Serialize};

/// What a flow belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowClass {
    /// A flow of its own: it connects first and begins with the configured window.
    Single,
    /// An answer to the request with this number. It is connected beforehand and begins with a
    /// window of the whole flow, as in the Credence artifact.
    Incast(u32),
    /// A part of the collective operation with this number; connected beforehand.
    Collective(u32),
}

/// A flow that is to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When, nanoseconds.
    pub start_ns: u64,
    /// The server that sends; servers are numbered leaf by leaf.
    pub from: u16,
    /// The server that receives, another one.
    pub to: u16,
    /// Payload, bytes; above 0.
    pub size_bytes: u64,
    /// What it belongs to.
    pub class: FlowClass,
    /// How it is sent.
    pub transport: Transport,
    /// The queue of its data at each port; 0 is that of acknowledgements if there are several.
    pub queue: u8,
}

/// What became of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// Its number, in order of start.
    pub id: u64,
    /// What was asked for.
    pub flow: Flow,
    /// Flow completion time: from its start to the arrival of its last byte, nanoseconds. None: it
    /// did not complete, because the simulation ended or because an unresponsive sender lost a
    /// packet.
    pub fct_ns: Option<u64>,
    /// Base round-trip time plus the time of its payload at the server's rate, nanoseconds, as in
    /// the Credence artifact.
    pub ideal_fct_ns: u64,
    /// Payload that arrived, bytes.
    pub received_bytes: u64,
    /// Times that a retransmission timer went off, the handshake's included.
    pub timeouts: u32,
    /// Segments sent again.
    pub retransmissions: u32,
}

impl FlowRecord {
    /// Completion time over the ideal one; none if the flow did not complete.
    pub fn slowdown(&self) -> Option<f64> {
        self.fct_ns.map(|fct_ns| fct_ns as f64 / self.ideal_fct_ns as f64)
    }
}
