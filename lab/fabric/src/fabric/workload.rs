//! What gives a simulation its flows.

use super::flow::{Flow, FlowRecord};

/// Gives a simulation its flows.
pub trait Workload {
    /// The next flow, in order of start.
    fn next_flow(&mut self) -> Option<Flow>;

    /// A flow is over; `start` gets the flows that follow from it. Those that should have started
    /// before `now_ns` start now.
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
