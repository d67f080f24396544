//! The settings of flows, and how a flow begins.

use super::config::Fabric;
use super::flow::{Flow, FlowClass};
use super::flow_state::{FlowState, Framing, Path};
use super::hash::hash;
use crate::transport::{CongestionControl, Kept, Sender, Transport, Tuning};
use dropcast_arrivals::path_of;

/// Makes a new flow's congestion control.
pub(super) type MakeControl = Box<dyn Fn(&Tuning) -> Box<dyn CongestionControl + Send> + Send>;

/// The settings of flows.
pub(super) struct FlowSettings {
    pub(super) fabric: Fabric,
    pub(super) unresponsive_gap_ns: f64,
    /// In place of a transport's own.
    pub(super) control: Option<(Transport, MakeControl)>,
}

impl FlowSettings {
    pub(super) fn state(
        &self,
        id: u64,
        flow: Flow,
        kept: Option<(Kept, Path)>,
        tuning: &Tuning,
        now_ns: u64,
    ) -> FlowState {
        let config = self.fabric.config();
        let segments = flow.size_bytes.div_ceil(u64::from(config.segment_bytes)) as u32;
        let initial = match flow.class {
            FlowClass::Incast(_) | FlowClass::Collective(_) if config.whole_answers => segments,
            _ => config.initial_window_segments,
        };
        let hashes = (hash(config.seed, id, 0), hash(config.seed, id, 1));
        let spine = |hash| if config.spines == 0 { 0 } else { path_of(hash, config.spines) };
        let drawn = || Path { hashes, spines: (spine(hashes.0), spine(hashes.1)) };
        let path = kept.as_ref().map_or_else(drawn, |(_, path)| *path);
        let sender = if let Some((kept, _)) = kept {
            let slowly = config.slow_start_after_idle.then_some(initial.into());
            Sender::resume(kept, flow.size_bytes, slowly, tuning, now_ns)
        } else {
            let control = match &self.control {
                Some((of, make)) if *of == flow.transport => make(tuning),
                _ => flow.transport.control(tuning),
            };
            Sender::new(control, flow.size_bytes, initial.into(), tuning)
        };
        let framing = Framing {
            path: Path { spines: flow.spines.unwrap_or(path.spines), ..path },
            header_bytes: config.header_bytes,
            data_queue: flow.queue,
            unscheduled_bytes: self.fabric.bandwidth_delay_bytes(),
        };
        let ideal_fct_ns = self.fabric.ideal_fct_ns(&flow);
        FlowState::new(id, flow, sender, segments, ideal_fct_ns, framing)
    }
}
