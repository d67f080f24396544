//! Flows, and their records.

use crate::transport::Transport;
use serde::{Deserialize, Serialize};

/// The class of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowClass {
    /// A single flow.
    Single,
    /// An answer to the request with this number.
    Incast(u32),
    /// A part of the collective operation with this number.
    Collective(u32),
}

impl FlowClass {
    /// What its flows are sent over where nothing says it: single ones connect first.
    pub fn connection(self) -> Connection {
        match self {
            FlowClass::Single => Connection::Handshake,
            FlowClass::Incast(_) | FlowClass::Collective(_) => Connection::New,
        }
    }
}

/// What a flow is sent over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// It connects first.
    Handshake,
    /// Open already; nothing was sent over it before.
    New,
    /// One over which an earlier flow from this server to that one was sent with this transport, and which is idle: its window
    /// and estimates are kept. If there is none, a new one.
    Reused,
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
    /// What it is sent over.
    pub connection: Connection,
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
        self.connection == Connection::Handshake && self.transport != Transport::Unresponsive
    }

    /// What flows over one connection share.
    pub(crate) fn ends(&self) -> (u16, u16, Transport) {
        (self.from, self.to, self.transport)
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
