//! Traffic for shared-buffer switches, open and closed loop.
//!
//! Open loop (`docs/workloads.md`): [`LeafWorkload`] generates the arrivals of a leaf switch,
//! [`FabricWorkload`] those of all switches of a leaf-spine fabric, [`BurstTraffic`] those of the
//! Credence paper's slotted experiment (Figure 14). No sender reacts to a queue or a loss.
//!
//! [`FlowSizes`] holds the published flow-size distributions.

mod flow_sizes;
mod open_loop;
mod rng;

pub use flow_sizes::{FlowSizeChoice, FlowSizeName, FlowSizes, FlowSizesError};
pub use open_loop::{
    BurstTraffic, FabricArrivals, FabricWorkload, LeafArrivals, LeafWorkload, Slots, WorkloadError,
};
