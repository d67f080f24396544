//! Independent flows with sizes from a distribution.

use super::arrival_times::ArrivalTimes;
use super::pattern::{Partners, Pattern};
use crate::fabric::{Fabric, Flow, FlowClass};
use crate::flow_sizes::{FlowSizeChoice, FlowSizes};
use crate::transport::Transport;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Flows from every server, as a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoissonFlows {
    /// Payload offered, as a share of the rate between leaves and spines (of the servers' links if
    /// there is one leaf).
    pub load: f64,
    /// Their sizes.
    pub sizes: FlowSizeChoice,
    /// Their destination.
    pub pattern: Pattern,
    /// How they are sent.
    pub transport: Transport,
    /// The queue of their data.
    pub queue: u8,
}

impl Default for PoissonFlows {
    fn default() -> Self {
        PoissonFlows {
            load: 0.4,
            sizes: FlowSizeChoice::default(),
            pattern: Pattern::default(),
            transport: Transport::default(),
            queue: 1,
        }
    }
}

impl PoissonFlows {
    /// Flows per second in the whole fabric: `load` times the links' rate, divided by the mean
    /// size.
    pub(crate) fn per_second(&self, fabric: &Fabric, sizes: &FlowSizes) -> f64 {
        let config = fabric.config();
        let servers = f64::from(fabric.servers());
        let server_bps = match config.leaves {
            1 => config.server_rate_bps as f64,
            _ => config.server_rate_bps as f64 / fabric.oversubscription(),
        };
        self.load * servers * server_bps / (8.0 * sizes.mean_bytes())
    }
}

/// Running Poisson flows.
#[derive(Clone, Debug)]
pub(crate) struct FlowSource {
    times: ArrivalTimes,
    sizes: FlowSizes,
    partners: Partners,
    transport: Transport,
    queue: u8,
    rng: ChaCha8Rng,
}

impl FlowSource {
    /// `None` if the load is 0.
    pub(crate) fn new(
        flows: &PoissonFlows,
        sizes: FlowSizes,
        fabric: &Fabric,
        end_ns: u64,
        mut rng: ChaCha8Rng,
    ) -> Option<Self> {
        let per_second = flows.per_second(fabric, &sizes);
        Some(FlowSource {
            times: ArrivalTimes::new(per_second, end_ns, &mut rng)?,
            sizes,
            partners: Partners::new(flows.pattern, fabric),
            transport: flows.transport,
            queue: flows.queue,
            rng,
        })
    }

    pub(crate) fn next(&mut self) -> Option<Flow> {
        let start_ns = self.times.next(&mut self.rng)?;
        let from = self.rng.random_range(0..self.partners.all_servers());
        Some(Flow {
            start_ns,
            from,
            to: self.partners.draw(from, &mut self.rng),
            size_bytes: self.sizes.sample(&mut self.rng).max(1),
            class: FlowClass::Single,
            transport: self.transport,
            queue: self.queue,
            spines: None,
        })
    }
}
