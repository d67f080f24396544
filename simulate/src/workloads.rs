//! Closed-loop workloads: which flows start when (`docs/fabric.md`).

mod arrival_times;
mod collective;
mod flow_list;
mod incast;
mod mix;
mod pattern;
mod poisson_flows;

pub use collective::{Collective, CollectiveOperation};
pub use flow_list::{FlowList, FlowListError};
pub use incast::Incast;
pub use mix::{TrafficConfig, TrafficError, TrafficMix};
pub use pattern::Pattern;
pub use poisson_flows::PoissonFlows;

use crate::fabric::{Flow, FlowRecord};

/// Gives a simulation its flows.
pub trait Workload {
    /// The next flow, in order of start.
    fn next_flow(&mut self) -> Option<Flow>;

    /// A flow has ended; `start` gets the flows that follow it. Flows due before `now_ns` start
    /// now.
    fn flow_ended(&mut self, record: &FlowRecord, now_ns: u64, start: &mut Vec<Flow>) {
        let _ = (record, now_ns, start);
    }
}

impl<W: Workload + ?Sized> Workload for Box<W> {
    fn next_flow(&mut self) -> Option<Flow> {
        (**self).next_flow()
    }

    fn flow_ended(&mut self, record: &FlowRecord, now_ns: u64, start: &mut Vec<Flow>) {
        (**self).flow_ended(record, now_ns, start);
    }
}
