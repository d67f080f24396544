//! The closed loop: senders, links and shared-buffer switches of a leaf-spine fabric, packet by
//! packet (`lab/notes/fabric.md`).
//!
//! [`FabricConfig`] describes a fabric and is checked into a [`Fabric`]; a [`Workload`] gives flows;
//! a [`Simulation`] runs them, reports events to a [`FabricObserver`] and ends with an [`SimulationOutcome`]. One
//! thread, integer nanoseconds, one seed: the same input gives the same bytes.

mod config;
mod episode;
mod event_queue;
mod fitting_flow;
mod flow;
mod flow_settings;
mod flow_state;
mod hash;
mod network;
mod outcome;
mod packet;
mod server;
mod simulation;
mod sink;
mod switch;
mod topology;
mod workload;

pub use config::{Fabric, FabricConfig, FabricError, OnFull, Paths};
pub use episode::{DecisionInterval, Decisions, EndedFlows, Episode, EpisodeError, Next};
pub use event_queue::EventQueue;
pub use flow::{Connection, Flow, FlowClass, FlowRecord};
pub use outcome::SimulationOutcome;
pub use simulation::{FlowError, Simulation};
pub use sink::{
    DroppedPacket, FabricDropReason, FabricObserver, Occupancy, PacketEvents, Telemetry, Unwatched,
};
pub use workload::Workload;
