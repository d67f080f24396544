//! Traffic for shared-buffer switches, open and closed loop.
//!
//! Open loop (`docs/workloads.md`): [`LeafWorkload`] generates the arrivals of a leaf switch,
//! [`FabricWorkload`] those of all switches of a leaf-spine fabric, [`BurstTraffic`] those of the
//! Credence paper's slotted experiment (Figure 14). No sender reacts to a queue or a loss.
//!
//! Closed loop (`docs/fabric.md`): a [`Simulation`] runs a [`Fabric`]'s servers, links and switches
//! packet by packet, with senders that react; a [`Workload`] gives it flows, a [`Sink`] observes
//! it.
//!
//! [`FlowSizes`] holds the published flow-size distributions.
//!
//! ```
//! use dropcast_simulate::LeafWorkload;
//!
//! // Open loop: every arrival at a leaf switch in 2 ms, in order of time.
//! let workload = LeafWorkload { duration_ns: 2_000_000, seed: 7, ..LeafWorkload::default() };
//! let arrivals: Vec<_> = workload.arrivals()?.flat_map(|batch| batch.events).collect();
//! assert!(arrivals.len() > 1_000 && arrivals.is_sorted_by_key(|event| event.time_ns));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fabric;
mod flow_sizes;
mod open_loop;
mod rng;
mod summary;
mod transport;
mod workloads;

pub use fabric::{
    DecisionInterval, Decisions, DroppedPacket, EndedFlows, Episode, EpisodeError, EventQueue,
    Fabric, FabricConfig, FabricDropReason, FabricError, Flow, FlowClass, FlowError, FlowRecord,
    Next, Occupancy, OnFull, PacketEvents, Paths, Simulation, SimulationOutcome, Sink, Telemetry,
    Unwatched,
};
pub use flow_sizes::{FlowSizeChoice, FlowSizeName, FlowSizes, FlowSizesError};
pub use open_loop::{
    BurstTraffic, FabricArrivals, FabricWorkload, LeafArrivals, LeafWorkload, Slots, WorkloadError,
};
pub use summary::{
    Better, BucketSummary, ClassSummary, FlowKind, Innocents, Interval, LONG_BYTES, Metric,
    MetricUnit, Percentiles, RunSummary, SHORT_BYTES, SizeBucket, SizeBuckets, Summarizer,
    largest_discovery, p_value, paired_difference, quantile,
};
pub use transport::{CongestionControl, Hop, Recovery, Told, Transport, Tuning, Window};
pub use workloads::{
    Collective, CollectiveOperation, FlowList, FlowListError, Incast, Ns3PathsError, Pattern,
    PoissonFlows, TrafficConfig, TrafficError, TrafficMix, Workload,
};
