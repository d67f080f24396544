//! Closed-loop workloads: which flows start when (`lab/notes/fabric.md`).

mod arrival_times;
mod collective;
mod flow_list;
mod incast;
mod mix;
mod murmur3;
mod ns3_paths;
mod pattern;
mod poisson_flows;

pub use collective::{Collective, CollectiveOperation};
pub use flow_list::{FlowList, FlowListError};
pub use incast::{AnswerSizes, Connections, Incast};
pub use mix::{TrafficConfig, TrafficError, TrafficMix};
pub use ns3_paths::Ns3PathsError;
pub use pattern::Pattern;
pub use poisson_flows::PoissonFlows;
