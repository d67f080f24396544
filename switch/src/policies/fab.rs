//! Flow-aware buffer sharing (Apostolaki, Vanbever and Ghobadi, "FAB: Toward Flow-aware Buffer
//! Sharing on Programmable Switches", Workshop on Buffer Sizing 2019).

use super::dynamic_thresholds::{decide_below, free_bytes};
use crate::about::{About, PolicyParameters, Sees};
use crate::alphas::is_alpha;
use crate::flow_table::flow_table;
use crate::{Alphas, Buffer, BuildError, Decision, Packet, Policy};
use dropcast_features::FlowTable;
use serde::{Deserialize, Serialize};

/// Dynamic Thresholds with a larger `alpha` for the first bytes of a flow, so that short flows are
/// accepted when long ones are not.
///
/// A flow becomes new again after a silence, and where another flow took its slot in the table of flows. Packets of
/// unknown flows are first packets if they are flagged as of the first round-trip time.
#[derive(Clone, Debug)]
pub struct Fab {
    parameters: FabParameters,
    flows: FlowTable<Flow>,
    /// Whether the packet that arrived last is among the first of its flow.
    is_first: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    bytes: u64,
    seen_ns: u64,
}

/// Parameters of [`Fab`]. The defaults are those of the ABM authors' comparison (ABM, section 4.1,
/// and their ns-3 code).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FabParameters {
    /// By queue within a port.
    pub alpha: Alphas,
    /// For the first bytes of a flow.
    pub first_alpha: f64,
    /// A packet is among the first if its flow has sent fewer bytes than this, including the
    /// packet.
    pub first_bytes: u64,
    /// A flow is new after a silence longer than this, nanoseconds.
    pub window_ns: u64,
    /// Slots of the flow table; a power of two.
    pub flows: usize,
}

impl Default for FabParameters {
    fn default() -> Self {
        FabParameters {
            alpha: Alphas::try_from(0.5).expect("0.5 is positive"),
            first_alpha: 1024.0,
            first_bytes: 15 * 1400,
            window_ns: 5_000_000,
            flows: 8192,
        }
    }
}

impl PolicyParameters for FabParameters {
    fn about(&self) -> About<'_> {
        About { title: "FAB", pushes_out: false, sees: Sees::Flows, model: None, base: None }
    }
}

impl FabParameters {
    /// The policy.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn policy(&self) -> Result<Fab, BuildError> {
        if !is_alpha(self.first_alpha) {
            return Err(BuildError::parameter("first_alpha", "expected a positive number"));
        }
        let flows = flow_table(self.flows)?;
        Ok(Fab { parameters: self.clone(), flows, is_first: false })
    }
}

impl Fab {
    /// Counts a packet of a flow and returns whether it is among the flow's first.
    fn count(&mut self, packet: &Packet, now: u64) -> bool {
        let flow = self.flows.flow(packet.flow_hash);
        if now.saturating_sub(flow.seen_ns) > self.parameters.window_ns {
            flow.bytes = 0;
        }
        flow.bytes += u64::from(packet.size_bytes);
        flow.seen_ns = now;
        flow.bytes < self.parameters.first_bytes
    }
}

impl Policy for Fab {
    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.is_first = match packet.flow_hash {
            0 => packet.is_first_rtt(),
            _ => self.count(packet, now),
        };
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let alpha = if self.is_first {
            self.parameters.first_alpha
        } else {
            self.parameters.alpha.at(packet.queue % buffer.queues_per_port())
        };
        decide_below(buffer, packet, alpha * free_bytes(buffer))
    }
}
