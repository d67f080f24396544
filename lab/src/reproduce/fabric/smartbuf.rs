//! Figures of the Smartbuf paper (IWQoS 2021, section IV), in its fabric with fewer leaves.
//!
//! The paper has 20 leaves of 20 servers and 10 spines, 4 MB of buffer, a round trip of 80 us, DCTCP, short flows of 1
//! to 32 KB and long ones of 1 to 10 MB, which make 80% of the load. It does not say how large its incasts are, nor how
//! often they come. Here a request for 30% of the buffer is answered by the 20 servers of another leaf.

use super::figures::{Claim, FabricFigure, Panels, Paper, Vary};
use super::scale::Scale;
use crate::closed_loop::Experiment;
use dropcast_arrivals::FlowSizeChoice;
use dropcast_fabric::{FabricConfig, Incast, PoissonFlows, TrafficConfig};
use dropcast_switch::AqmSpec;
use dropcast_switch::aqm::ecn_threshold::EcnThreshold;

/// A round trip of 80 us has eight links.
const LINK_DELAY_NS: u64 = 10_000;
const BUFFER_BYTES: u32 = 4_000_000;
/// Shares of the load (section IV-A).
const SHORT_SHARE: f64 = 0.2;
/// Sizes of short and long flows, bytes: the paper names the ends.
const SHORT_BYTES: [u64; 2] = [1_000, 32_000];
const LONG_BYTES: [u64; 2] = [1_000_000, 10_000_000];

const SMARTBUF: &str = "Smartbuf";
const LEARN_FIRST: &str = "Smartbuf, a learning phase first";
const AT_LEAST_DT: &str = "Smartbuf, at least DT's threshold";
/// All flows that are no part of an incast and at most 100 kB, and the answers.
const INCAST: &str = "incast_slowdown_p99";
const SHORT: &str = "short_slowdown_p99";
const LATE: &str = "incast_over_10_ms";
const LONG: &str = "long_slowdown_p50";

/// The paper's rivals but EDT, of which we have no text, and what it leaves out.
static POLICIES: [(&str, &str); 10] = [
    (SMARTBUF, "smartbuf"),
    (LEARN_FIRST, "smartbuf:reading=learn-first"),
    (AT_LEAST_DT, "smartbuf:reading=at-least-dt"),
    ("Complete Partitioning", "complete-partitioning"),
    // RTT C / sqrt(N) for a single flow, the largest that it can be (section IV-B).
    ("parts of RTT x C", "complete-partitioning:queue_bytes=100000"),
    ("Complete Sharing", "complete-sharing"),
    ("DT, alpha 1", "dt:alpha=1"),
    ("FAB", "fab:alpha=1"),
    ("DT, alpha 8", "dt:alpha=8"),
    ("LQD", "lqd"),
];

/// K, the known bursts that a limit averages.
static NEIGHBOURS: [(&str, &str); 5] = [
    ("K = 1", "smartbuf:neighbours=1"),
    ("K = 2", "smartbuf:neighbours=2"),
    ("K = 3", "smartbuf"),
    ("K = 5", "smartbuf:neighbours=5"),
    ("DT, alpha 1", "dt:alpha=1"),
];

/// Sigma: a queue is in a burst from 1/sigma of the buffer on.
static SIGMAS: [(&str, &str); 5] = [
    ("sigma = 2.5", "smartbuf:sigma=2.5"),
    ("sigma = 5", "smartbuf"),
    ("sigma = 10", "smartbuf:sigma=10"),
    ("sigma = 20", "smartbuf:sigma=20"),
    ("DT, alpha 1", "dt:alpha=1"),
];

const PLAIN: FabricFigure = FabricFigure {
    name: "",
    title: "",
    paper: Paper::Smartbuf,
    policies: &POLICIES,
    vary: Vary::Load,
    points: &[0.2, 0.4, 0.6, 0.8],
    load: 0.8,
    burst: 0.3,
    transport: dropcast_fabric::Transport::Dctcp,
    panels: Panels::Metrics(&[INCAST, LATE, SHORT, LONG]),
    says: "",
    claims: &[],
};

const fn beside(metric: &'static str, than: &'static str, paper: Option<f64>) -> Claim {
    Claim { metric, policy: SMARTBUF, than, at: Some(0.8), paper }
}

/// Figures of the paper that are measured.
pub static FIGURES: [FabricFigure; 3] = [
    FabricFigure {
        name: "smartbuf-fig3",
        title: "Loads, requests of 30% of the buffer",
        says: "Smartbuf's p99 is below that of all others at every load, by a factor of 8 at high load",
        claims: &[
            beside(INCAST, "DT, alpha 1", Some(0.875)),
            beside(INCAST, "Complete Sharing", Some(0.875)),
            beside(INCAST, "DT, alpha 8", None),
            beside(INCAST, "LQD", None),
            Claim { policy: LEARN_FIRST, ..beside(INCAST, "DT, alpha 1", None) },
            Claim { policy: AT_LEAST_DT, ..beside(INCAST, "DT, alpha 1", None) },
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig5",
        title: "Known bursts that a limit averages",
        policies: &NEIGHBOURS,
        points: &[0.8],
        says: "K = 3 is enough",
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig6",
        title: "Sigma, load 80%",
        policies: &SIGMAS,
        points: &[0.8],
        says: "larger sigma is better, from 2.5 to 5 on it is enough",
        ..PLAIN
    },
];

/// 4 of the paper's 20 leaves; the oversubscription stays. 20 ms hold 32 requests.
pub fn scale() -> Scale {
    Scale {
        leaves: 4,
        servers: 20,
        spines: 10,
        per_server_hz: 20.0,
        duration_ns: 20_000_000,
        ..Scale::small()
    }
}

/// The conditions of a point of a figure, without policies.
pub(super) fn experiment(scale: &Scale, figure: &FabricFigure, point: f64) -> Experiment {
    let load = if figure.vary == Vary::Load { point } else { figure.load };
    let flows = |share: f64, [least, most]: [u64; 2]| PoissonFlows {
        load: load * share,
        sizes: FlowSizeChoice::Points(vec![(least - 1, 0.0), (most, 1.0)]),
        ..PoissonFlows::default()
    };
    let incast = Incast {
        burst: figure.burst,
        fan_in: scale.servers,
        per_server_hz: scale.per_server_hz,
        ..Incast::artifact()
    };
    let plain = FabricConfig::artifact();
    // 65 packets, as DCTCP's paper has for 10 Gbps.
    let threshold_bytes = 65 * (plain.segment_bytes + plain.header_bytes);
    Experiment {
        policies: Vec::new(),
        runs: scale.runs,
        fabric: scale.begins(FabricConfig {
            leaves: scale.leaves,
            servers: scale.servers,
            spines: scale.spines,
            leaf_buffer_bytes: BUFFER_BYTES,
            spine_buffer_bytes: BUFFER_BYTES,
            server_delay_ns: LINK_DELAY_NS,
            uplink_delay_ns: LINK_DELAY_NS,
            aqm: AqmSpec::Ecn(EcnThreshold { threshold_bytes, ..EcnThreshold::default() }),
            sample_interval_ns: 10_000,
            seed: scale.seed,
            ..plain
        }),
        traffic: TrafficConfig {
            duration_ns: scale.duration_ns,
            seed: scale.seed,
            flows: vec![flows(SHORT_SHARE, SHORT_BYTES), flows(1.0 - SHORT_SHARE, LONG_BYTES)],
            incasts: vec![incast],
            collectives: Vec::new(),
        },
        ..Experiment::default()
    }
}
