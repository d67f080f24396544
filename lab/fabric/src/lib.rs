//! Buffer-sharing policies in a fabric whose senders react (`lab/notes/fabric.md`).
//!
//! A [`Simulation`] runs a [`Fabric`]'s servers, links and switches packet by packet, with senders
//! that react to delays, marks and losses; a [`Workload`] gives it flows, a [`FabricObserver`] observes it, a
//! [`Summarizer`] measures what became of flows and queues.

mod fabric;
mod summary;
mod transport;
mod workloads;

pub use fabric::{
    Connection, DecisionInterval, Decisions, DroppedPacket, EndedFlows, Episode, EpisodeError,
    EventQueue, Fabric, FabricConfig, FabricDropReason, FabricError, FabricObserver, Flow,
    FlowClass, FlowError, FlowRecord, Next, Occupancy, OnFull, PacketEvents, Paths, Simulation,
    SimulationOutcome, Telemetry, Unwatched, Workload,
};
pub use summary::{
    Better, BucketSummary, ClassSummary, FlowKind, Innocents, Interval, LONG_BYTES, Metric,
    MetricUnit, Percentiles, RunSummary, SHORT_BYTES, SizeBucket, SizeBuckets, Summarizer,
    largest_discovery, p_value, paired_difference, quantile,
};
pub use transport::{CongestionControl, Feedback, Hop, Recovery, Ticks, Transport, Tuning, Window};
pub use workloads::{
    AnswerSizes, Collective, CollectiveOperation, Connections, FlowList, FlowListError, Incast,
    Ns3PathsError, Pattern, PoissonFlows, TrafficConfig, TrafficError, TrafficMix,
};
