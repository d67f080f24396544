//! How large a fabric, and how long.

use super::figures::{FabricFigure, Vary};
use crate::closed_loop::Experiment;
use crate::fabric_oracle::training_experiment;
use dropcast_simulate::{FabricConfig, Incast, PoissonFlows, TrafficConfig, Transport};

/// Buffer per port and Gbps, bytes (section 4.1).
const BYTES_PER_PORT_GBPS: u32 = 5_120;
/// Rate of every link, Gbps (section 4.1).
const LINK_GBPS: u32 = 10;
/// Base round-trip time, nanoseconds (section 4.1).
const BASE_RTT_NS: u64 = 25_200;

/// The fabric of a figure, how often servers send requests, how long, and what oracles learn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Leaf switches, of 16 servers each.
    pub leaves: u16,
    /// Requests per second of each server.
    pub per_server_hz: f64,
    /// Flows and requests start in this time, nanoseconds.
    pub duration_ns: u64,
    /// Runs of each policy at each point.
    pub runs: u32,
    /// Seed; run `n` adds `n`.
    pub seed: u64,
    /// The run that oracles are trained on.
    pub training: Experiment,
}

impl Scale {
    /// Two leaves, as the artifact's own runs, and 15 times the paper's requests, so that 50 ms hold
    /// about 50 bursts.
    pub fn small() -> Self {
        Scale {
            leaves: 2,
            per_server_hz: 30.0,
            duration_ns: 50_000_000,
            runs: 5,
            seed: 1,
            training: training_experiment(),
        }
    }

    /// The paper's fabric (section 4.1): 256 servers, 16 leaves, 4 spines, 2 requests per second and
    /// server; the paper does not say for how long.
    pub fn paper() -> Self {
        Scale {
            leaves: 16,
            per_server_hz: 2.0,
            duration_ns: 100_000_000,
            runs: 1,
            ..Scale::small()
        }
    }

    /// The conditions of a point of a figure, without policies.
    pub(super) fn experiment(&self, figure: &FabricFigure, point: f64) -> Experiment {
        let pick = |vary, fixed| if figure.vary == vary { point } else { fixed };
        let transport = if figure.is_power_tcp { Transport::PowerTcp } else { Transport::Dctcp };
        let flows =
            PoissonFlows { load: pick(Vary::Load, figure.load), transport, ..Default::default() };
        let incast = Incast {
            burst: pick(Vary::Burst, figure.burst),
            per_server_hz: self.per_server_hz,
            transport,
            ..Incast::default()
        };
        let rtt_ns = match figure.vary {
            Vary::BaseRtt => (point * 1_000.0) as u64,
            Vary::Load | Vary::Burst | Vary::Flips => BASE_RTT_NS,
        };
        Experiment {
            policies: Vec::new(),
            runs: self.runs,
            flow_list: None,
            ns3_seed: None,
            fabric: self.fabric(rtt_ns),
            traffic: TrafficConfig {
                duration_ns: self.duration_ns,
                seed: self.seed,
                flows: vec![flows],
                incasts: vec![incast],
                collectives: Vec::new(),
            },
        }
    }

    fn fabric(&self, base_rtt_ns: u64) -> FabricConfig {
        let plain = FabricConfig::default();
        let bytes = |ports: u16| u32::from(ports) * LINK_GBPS * BYTES_PER_PORT_GBPS;
        FabricConfig {
            leaves: self.leaves,
            leaf_buffer_bytes: bytes(plain.servers + plain.spines),
            spine_buffer_bytes: bytes(self.leaves),
            // A round trip crosses 8 links.
            server_delay_ns: base_rtt_ns / 8,
            uplink_delay_ns: base_rtt_ns / 8,
            sample_interval_ns: 10_000,
            seed: self.seed,
            ..plain
        }
    }
}
