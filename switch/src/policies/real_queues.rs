//! The features of a switch's own queues.

use crate::Packet;
use crate::virtual_lqd::history;
use dropcast_data::SwitchSpec;
use dropcast_features::{BufferView, FeatureSet, History};
use serde::{Deserialize, Serialize};

/// Which queues a predictor's features describe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureSource {
    /// Virtual LQD's, as in labelled rows.
    #[default]
    VirtualLqd,
    /// The switch's own, as in the authors' ns-3 code.
    RealQueues,
}

/// Features of the switch's own queues, and the memory behind them.
#[derive(Clone, Debug)]
pub(crate) struct RealQueues {
    features: FeatureSet,
    history: History,
    values: Vec<u32>,
}

impl RealQueues {
    /// Those of an empty switch; `time_constant_ns` takes the place of the base RTT in their definitions.
    pub(crate) fn new(spec: &SwitchSpec, features: FeatureSet, time_constant_ns: u64) -> Self {
        RealQueues {
            history: history(spec, &features, time_constant_ns),
            values: vec![0; features.len()],
            features,
        }
    }

    /// A packet arrives at `now`, once.
    pub(crate) fn arrives(&mut self, packet: &Packet, now: u64) {
        self.history.flow_arrives(packet.flow_hash, now);
    }

    /// The features of a packet that arrives, before it is added.
    pub(crate) fn observe(&mut self, buffer: &impl BufferView, packet: &Packet) -> &[u32] {
        self.features.observe(buffer, &self.history, packet.queue, &mut self.values);
        &self.values
    }

    /// A packet arrived at `now` and was added or dropped; `buffer` is the state after that.
    pub(crate) fn settled(&mut self, buffer: &impl BufferView, packet: &Packet, now: u64) {
        self.history.arrived(buffer, packet.queue, packet.size_bytes, now);
    }

    /// A packet left `queue` at `time`; `buffer` is the state after that.
    pub(crate) fn departed(&mut self, buffer: &impl BufferView, queue: usize, time: u64) {
        self.history.removed(buffer, queue, time);
    }
}
