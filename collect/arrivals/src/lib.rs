//! Generated arrivals at shared-buffer switches, which no sender's reaction changes (`docs/workloads.md`).
//!
//! [`LeafWorkload`] generates the arrivals of a leaf switch, [`FabricWorkload`] those of all switches
//! of a leaf-spine fabric, [`BurstTraffic`] those of the Credence paper's slotted experiment
//! (Figure 14). [`FlowSizes`] holds the published flow-size distributions.
//!
//! A generator reads no file and no clock; the same parameters and seed give the same packets, one
//! at a time, in memory that does not grow with the length of the trace.
//!
//! ```
//! use dropcast_arrivals::LeafWorkload;
//!
//! // Every arrival at a leaf switch in 2 ms, in order of time.
//! let workload = LeafWorkload { duration_ns: 2_000_000, seed: 7, ..LeafWorkload::default() };
//! let arrivals: Vec<_> = workload.arrivals()?.flat_map(|batch| batch.events).collect();
//! assert!(arrivals.len() > 1_000 && arrivals.is_sorted_by_key(|event| event.time_ns));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod traffic;

pub use arrivals::LeafArrivals;
pub use bursts::{BurstTraffic, Slots};
pub use fabric::FabricWorkload;
pub use fabric_arrivals::FabricArrivals;
pub use flow_sizes::{FlowSizeChoice, FlowSizeName, FlowSizes, FlowSizesError};
pub use leaf::{LeafWorkload, WorkloadError};
pub use rng::{StreamPurpose, numbered_stream, stream};
pub use traffic::path_of;
