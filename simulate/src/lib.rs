//! Traffic for shared-buffer switches (`docs/workloads.md`).
//!
//! [`LeafWorkload`] generates the arrivals of a leaf switch, [`FabricWorkload`] those of all
//! switches of a leaf-spine fabric, [`BurstTraffic`] those of the Credence paper's slotted
//! experiment (Figure 14), and [`FlowSizes`] holds the flow-size distributions. Everything is open loop: no sender reacts to a queue or a loss. A workload reads
//! no file and no clock; the same parameters and seed give the same packets, one at a time, in
//! memory that does not grow with the length of the trace.

mod arrivals;
mod bursts;
mod fabric;
mod fabric_arrivals;
mod fabric_sources;
mod flow_sizes;
mod ingress;
mod leaf;
mod poisson;
mod rng;
mod senders;
mod sources;
mod tournament;
mod traffic;

pub use arrivals::LeafArrivals;
pub use bursts::{BurstTraffic, Slots};
pub use fabric::FabricWorkload;
pub use fabric_arrivals::FabricArrivals;
pub use flow_sizes::{FlowSizeChoice, FlowSizeName, FlowSizes, FlowSizesError};
pub use leaf::{LeafWorkload, WorkloadError};
