//! Open-loop traffic: packets that arrive independently of the network (`docs/workloads.md`).
//!
//! No sender reacts to a queue or a loss. A generator reads no file and no clock; the same
//! parameters and seed give the same packets, one at a time, in memory that does not grow with the
//! length of the trace.

mod arrivals;
mod bursts;
mod fabric;
mod fabric_arrivals;
mod fabric_sources;
mod ingress;
mod leaf;
mod poisson;
mod senders;
mod sources;
mod traffic;

pub use arrivals::LeafArrivals;
pub use bursts::{BurstTraffic, Slots};
pub use fabric::FabricWorkload;
pub use fabric_arrivals::FabricArrivals;
pub use leaf::{LeafWorkload, WorkloadError};
pub(crate) use traffic::path_of;
