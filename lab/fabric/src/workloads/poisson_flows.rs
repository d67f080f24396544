//! Independent flows with sizes from a distribution.

use super::arrival_times::ArrivalTimes;
use super::pattern::{Ends, Pattern};
use crate::fabric::{Connection, Fabric, Flow, FlowClass};
use crate::transport::Transport;
use dropcast_arrivals::{FlowSizeChoice, FlowSizes};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Flows from every server, as a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoissonFlows {
    /// Payload offered, as a share of the rate between leaves and spines (of the servers' links if
    /// there is one leaf, of the receivers' links if receivers are named or drawn).
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
    /// Flows per second in the whole fabric: `load` times the links' rates, divided by the mean
    /// size.
    fn per_second(&self, fabric: &Fabric, sizes: &FlowSizes, ends: &Ends) -> f64 {
        let config = fabric.config();
        let server_bps = config.server_rate_bps as f64;
        let (links, link_bps) = match (ends, config.leaves) {
            (Ends::FanIns(receivers), _) => (receivers.len() as f64, server_bps),
            _ if self.pattern == Pattern::OneReceiver => (1.0, server_bps),
            (_, 1) => (f64::from(fabric.servers()), server_bps),
            _ => (f64::from(fabric.servers()), server_bps / fabric.oversubscription()),
        };
        self.load * links * link_bps / (8.0 * sizes.mean_bytes())
    }
}

/// Running Poisson flows.
#[derive(Clone, Debug)]
pub(crate) struct FlowSource {
    times: ArrivalTimes,
    sizes: FlowSizes,
    ends: Ends,
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
        let ends = Ends::new(flows.pattern, fabric, &mut rng);
        let per_second = flows.per_second(fabric, &sizes, &ends);
        Some(FlowSource {
            times: ArrivalTimes::new(per_second, end_ns, &mut rng)?,
            sizes,
            ends,
            transport: flows.transport,
            queue: flows.queue,
            rng,
        })
    }

    pub(crate) fn next(&mut self) -> Option<Flow> {
        let start_ns = self.times.next(&mut self.rng)?;
        let (from, to) = self.ends.draw(&mut self.rng);
        Some(Flow {
            start_ns,
            from,
            to,
            size_bytes: self.sizes.sample(&mut self.rng).max(1),
            class: FlowClass::Single,
            connection: Connection::Handshake,
            transport: self.transport,
            queue: self.queue,
            spines: None,
        })
    }
}
