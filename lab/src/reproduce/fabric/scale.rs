//! How large a fabric, and how long.

use super::figures::{FabricFigure, Vary};
use crate::closed_loop::Experiment;
use dropcast_fabric::{FabricConfig, Incast, PoissonFlows, TrafficConfig};

/// Buffer per port and Gbps, bytes (section 4.1).
const BYTES_PER_PORT_GBPS: u32 = 5_120;
/// Rate of every link, Gbps (section 4.1).
const LINK_GBPS: u32 = 10;
/// Propagation delay of every link, nanoseconds (section 4.1). The paper's round-trip time of 25.2 us is eight
/// of them and a packet's transmission; bandwidth-delay products have the eight alone, as in the artifact.
const LINK_DELAY_NS: u64 = 3_000;
/// Links of a round trip.
const LINKS: f64 = 8.0;

/// The fabric of a figure, how often servers send requests, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Leaf switches.
    pub leaves: u16,
    /// Servers of each leaf.
    pub servers: u16,
    /// Spine switches.
    pub spines: u16,
    /// Requests per second of each server.
    pub per_server_hz: f64,
    /// Flows and requests start in this time, nanoseconds.
    pub duration_ns: u64,
    /// Runs of each policy at each point.
    pub runs: u32,
    /// Seed; run `n` adds `n`.
    pub seed: u64,
    /// DCTCP begins in slow start, single flows with at most 10 segments.
    pub slow_start: bool,
}

/// Linux's initial window, RFC 6928, segments.
const SLOW_START_SEGMENTS: u32 = 10;

impl Scale {
    /// Two leaves, as the artifact's own runs, and 15 times the paper's requests, so that 50 ms hold
    /// about 50 bursts.
    pub fn small() -> Self {
        Scale {
            leaves: 2,
            servers: 16,
            spines: 4,
            per_server_hz: 30.0,
            duration_ns: 50_000_000,
            runs: 5,
            seed: 1,
            slow_start: false,
        }
    }

    /// The paper's fabric (section 4.1): 256 servers, 16 leaves, 4 spines, 2 requests per second and
    /// server; the paper does not say for how long.
    pub fn paper() -> Self {
        Scale { leaves: 16, per_server_hz: 2.0, duration_ns: 100_000_000, ..Scale::small() }
    }

    /// The fabric, whose flows begin as this scale says.
    pub(super) fn begins(&self, fabric: FabricConfig) -> FabricConfig {
        if !self.slow_start {
            return fabric;
        }
        let initial_window_segments = fabric.initial_window_segments.min(SLOW_START_SEGMENTS);
        FabricConfig { dctcp_slow_start: true, initial_window_segments, ..fabric }
    }

    /// The conditions of a point of a figure of the Credence paper, without policies.
    pub(super) fn experiment(&self, figure: &FabricFigure, point: f64) -> Experiment {
        let pick = |vary, fixed| if figure.vary == vary { point } else { fixed };
        let transport = figure.transport;
        let flows =
            PoissonFlows { load: pick(Vary::Load, figure.load), transport, ..Default::default() };
        let incast = Incast {
            burst: pick(Vary::Burst, figure.burst),
            per_server_hz: self.per_server_hz,
            transport,
            ..Incast::artifact()
        };
        let link_delay_ns = match figure.vary {
            Vary::BaseRtt => (point * 1_000.0 / LINKS) as u64,
            Vary::Load
            | Vary::Burst
            | Vary::Flips
            | Vary::CubicLoad
            | Vary::BufferPerPort
            | Vary::QueuesPerPort
            | Vary::UpdateRtts
            | Vary::Flows
            | Vary::TimeMs
            | Vary::ReceiverLoad
            | Vary::Lambda
            | Vary::CountingRtts => LINK_DELAY_NS,
        };
        Experiment {
            policies: Vec::new(),
            runs: self.runs,
            fabric: self.fabric(link_delay_ns),
            traffic: TrafficConfig {
                duration_ns: self.duration_ns,
                seed: self.seed,
                flows: vec![flows],
                incasts: vec![incast],
                collectives: Vec::new(),
            },
            ..Experiment::default()
        }
    }

    fn fabric(&self, link_delay_ns: u64) -> FabricConfig {
        let plain = FabricConfig::artifact();
        let bytes = |ports: u16| u32::from(ports) * LINK_GBPS * BYTES_PER_PORT_GBPS;
        FabricConfig {
            leaves: self.leaves,
            servers: self.servers,
            spines: self.spines,
            leaf_buffer_bytes: bytes(self.servers + self.spines),
            spine_buffer_bytes: bytes(self.leaves),
            server_delay_ns: link_delay_ns,
            uplink_delay_ns: link_delay_ns,
            sample_interval_ns: 10_000,
            seed: self.seed,
            ..plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_fabric::Fabric;

    /// With the paper's links an answer to a request for half a buffer has a packet more than a base RTT
    /// carries. That packet is scheduled, and ABM may reject it.
    #[test]
    fn an_answer_is_longer_than_the_bandwidth_delay_product() {
        let figure = FabricFigure::named("fig6").expect("a figure");
        for scale in [Scale::small(), Scale::paper()] {
            let experiment = scale.experiment(figure, 0.4);
            let (plain, incast) = (experiment.fabric.clone(), &experiment.traffic.incasts[0]);
            let fabric = Fabric::try_from(plain.clone()).expect("valid");
            assert_eq!((fabric.base_rtt_ns(), fabric.bandwidth_delay_bytes()), (24_000, 30_000));
            let burst_bytes = incast.burst * f64::from(plain.leaf_buffer_bytes);
            let answer_bytes = (burst_bytes / f64::from(incast.fan_in)).ceil() as u32;
            let sent_before_the_last =
                (answer_bytes - 1) / plain.segment_bytes * plain.segment_bytes;
            assert!(u64::from(sent_before_the_last) >= fabric.bandwidth_delay_bytes());
            assert!(scale.runs > 1, "percentiles of one run have no range");
        }
    }

    /// The artifact's scripts vary the links' delay, and flip predictions with these probabilities.
    #[test]
    fn points_are_the_artifacts() {
        let points = |name| FabricFigure::named(name).expect("a figure").points;
        let delay_ns = |&point: &f64| {
            let figure = FabricFigure::named("fig9").expect("a figure");
            Scale::small().experiment(figure, point).fabric.uplink_delay_ns
        };
        let delays_ns: Vec<u64> = points("fig9").iter().map(delay_ns).collect();
        assert_eq!(delays_ns, [1_000, 2_000, 3_000, 4_000, 8_000]);
        assert_eq!(points("fig10"), [0.0, 0.001, 0.005, 0.01, 0.05, 0.1]);
    }
}
