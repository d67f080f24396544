//! The figures of the ABM paper (SIGCOMM 2022, section 4), in the fabric of its artifact.
//!
//! The artifact's scripts run 2 leaves of 32 servers with 8 uplinks, though the paper says 8 leaves; all
//! servers of the other leaf answer a request, single flows begin with 55 segments, acknowledgements have an
//! alpha of 1 (`examples/ABM` of inet-tub/ns3-datacenter).

use super::figures::{Claim, FabricFigure, Panels, Paper, Vary, claim};
use super::observed::UPLINK_GBPS;
use super::scale::Scale;
use crate::closed_loop::{Experiment, NamedPolicy};
use dropcast_fabric::{FabricConfig, Incast, PoissonFlows, TrafficConfig, Transport};
use dropcast_switch::aqm::ecn_threshold::EcnThreshold;
use dropcast_switch::{AqmSpec, PolicySpec};

/// Buffer per port and Gbps, KB, where it does not vary (section 4.1).
const KB_PER_PORT_GBPS: f64 = 9.6;
/// Rate of every link, Gbps.
const LINK_GBPS: f64 = 10.0;
/// Propagation delay of every link, nanoseconds.
const LINK_DELAY_NS: u64 = 10_000;
/// Load of DCTCP beside Cubic, figure 8 (`run-main.sh`).
const DCTCP_LOAD: f64 = 0.1;
/// Queues of figure 8: acknowledgements, Cubic, DCTCP, theta-PowerTCP.
const QUEUES: [(Transport, u8); 3] =
    [(Transport::Cubic, 1), (Transport::Dctcp, 2), (Transport::ThetaPowerTcp, 3)];
/// Queues of each port in figure 12 (`run-interval.sh`).
const QUEUES_OF_FIGURE_12: u8 = 8;

/// ABM and its rivals. The artifact gives acknowledgements, in queue 0, an alpha of 1.
const POLICIES: [(&str, &str); 7] = [
    (ABM, "abm:alpha=[1,0.5]"),
    ("ABM, artifact", "abm:alpha=[1,0.5],first_rtt_alpha=1024,counting=artifact"),
    (DT, "dt:alpha=[1,0.5]"),
    ("FAB", "fab:alpha=[1,0.5]"),
    (DT_8, "dt:alpha=8"),
    (SHARING, "complete-sharing"),
    ("LQD", "lqd"),
];

/// What sizes of requests and loads are compared with, besides: FAB that knows how much a first round trip carries, so
/// DT with ABM's exception and without its counts; and Intelligent Buffer, whose other parameters are the artifact's.
static POLICIES_OF_LOADS_AND_SIZES: [(&str, &str); 9] = {
    let [abm, artifact, dt, fab, dt_8, sharing, lqd] = POLICIES;
    let fab_100 = (FAB_100, "fab:alpha=[1,0.5],first_bytes=100000");
    [abm, artifact, dt, fab, fab_100, (IB, "ib:alpha=[1,0.5]"), dt_8, sharing, lqd]
};

/// What transports are compared with.
static POLICIES_AND_SHARING: [(&str, &str); 5] = {
    let [abm, artifact, dt, _, dt_8, sharing, _] = POLICIES;
    [abm, artifact, dt, dt_8, sharing]
};

/// What numbers of queues are compared with: DT also as the artifact's scripts set it, with less and less for the queues
/// from the fifth on (`examples/ABM/alphas`). Answers to requests are in the last queue.
static POLICIES_BY_QUEUES: [(&str, &str); 6] = {
    let [abm, artifact, dt, _, dt_8, sharing, _] = POLICIES;
    let falling = "dt:alpha=[1,0.5,0.5,0.5,0.125,0.0625,0.03125,0.015625]";
    [abm, artifact, dt, (DT_FALLING, falling), dt_8, sharing]
};

/// What intervals are compared with: DT has no exception for the first round trip.
static POLICIES_BY_INTERVAL: [(&str, &str); 6] = {
    let [abm, artifact, dt, _, dt_8, sharing, _] = POLICIES;
    [abm, artifact, (NO_EXCEPTION, "abm:alpha=[1,0.5],first_rtt_alpha=0.5"), dt, dt_8, sharing]
};

const ABM: &str = "ABM";
const DT_FALLING: &str = "DT, alphas of the artifact";
const NO_EXCEPTION: &str = "ABM, no exception";
const DT: &str = "DT";
const DT_8: &str = "DT, alpha 8";
const SHARING: &str = "Complete Sharing";
const FAB_100: &str = "FAB, first 100 KB";
const IB: &str = "IB";

const INCAST: &str = "incast_slowdown_p99";
const SHORT: &str = "short_slowdown_p99";
const LATE: &str = "incast_over_10_ms";
const OCCUPANCY: &str = "leaf_occupancy_p99";
const CUBIC_SHORT: &str = "cubic_short_slowdown_p99";
const DCTCP_SHORT: &str = "dctcp_short_slowdown_p99";
const THETA_INCAST: &str = "theta-power-tcp_incast_slowdown_p99";
const LONG: &str = "long_slowdown_p50";

/// A comparison with a rival that the paper leaves out, or gives no number for.
const fn beside(metric: &'static str, than: &'static str) -> Claim {
    Claim { metric, policy: ABM, than, at: None, paper: None }
}

const PLAIN: FabricFigure = FabricFigure {
    name: "",
    title: "",
    paper: Paper::Abm,
    policies: &POLICIES,
    vary: Vary::Load,
    points: &[],
    load: 0.4,
    burst: 0.3,
    transport: Transport::Cubic,
    panels: Panels::Metrics(&[INCAST, LATE, SHORT, OCCUPANCY, UPLINK_GBPS]),
    says: "",
    claims: &[],
};

const BURSTS: [f64; 5] = [0.125, 0.25, 0.375, 0.5, 0.75];

const BY_TRANSPORT: FabricFigure = FabricFigure {
    policies: &POLICIES_AND_SHARING,
    vary: Vary::Burst,
    points: &BURSTS,
    panels: Panels::Metrics(&[INCAST, LATE]),
    ..PLAIN
};

const BY_QUEUES: FabricFigure = FabricFigure {
    policies: &POLICIES_BY_QUEUES,
    vary: Vary::QueuesPerPort,
    points: &[2.0, 4.0, 5.0, 6.0, 8.0],
    burst: 0.25,
    panels: Panels::Metrics(&[INCAST, LATE, OCCUPANCY]),
    ..PLAIN
};

const BY_BUFFER: FabricFigure = FabricFigure {
    vary: Vary::BufferPerPort,
    points: &[9.6, 8.0, 7.0, 6.0, 5.12, 3.44],
    burst: 0.25,
    panels: Panels::Metrics(&[INCAST, LATE]),
    ..PLAIN
};

/// Figures of the paper that are measured.
pub static FIGURES: [FabricFigure; 12] = [
    FabricFigure {
        name: "abm-fig6",
        title: "Loads of websearch, requests of 30% of the buffer, Cubic",
        policies: &POLICIES_OF_LOADS_AND_SIZES,
        points: &[0.2, 0.4, 0.6, 0.8],
        says: "ABM has lower tails than DT, FAB, Complete Sharing and IB for incast and short flows, with less buffer \
               and as much throughput",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.2), 0.126),
            claim(INCAST, ABM, DT, Some(0.4), 0.9012),
            claim(INCAST, ABM, DT, Some(0.8), 0.94),
            claim(SHORT, ABM, DT, Some(0.2), 0.307),
            claim(SHORT, ABM, DT, Some(0.8), 0.76),
            claim(SHORT, ABM, SHARING, Some(0.2), 0.385),
            claim(INCAST, ABM, IB, Some(0.2), 0.126),
            claim(INCAST, ABM, IB, Some(0.4), 0.9012),
            claim(INCAST, ABM, IB, Some(0.8), 0.94),
            claim(SHORT, ABM, IB, Some(0.2), 0.289),
            claim(SHORT, ABM, IB, Some(0.8), 0.76),
            claim(OCCUPANCY, ABM, IB, None, 0.542),
            claim(OCCUPANCY, ABM, DT, None, 0.542),
            claim(OCCUPANCY, ABM, SHARING, None, 0.689),
            beside(INCAST, SHARING),
            beside(INCAST, DT_8),
            beside(INCAST, "LQD"),
            beside(INCAST, FAB_100),
            beside(SHORT, DT_8),
            beside(SHORT, FAB_100),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "abm-fig7",
        title: "Sizes of requests, websearch at 40%, Cubic",
        policies: &POLICIES_OF_LOADS_AND_SIZES,
        vary: Vary::Burst,
        points: &BURSTS,
        says: "ABM has lower tails for incast and short flows at every size of request",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.125), 0.39),
            claim(INCAST, ABM, "FAB", Some(0.125), 0.33),
            claim(INCAST, ABM, SHARING, Some(0.125), 0.54),
            claim(INCAST, ABM, DT, Some(0.5), 0.751),
            claim(INCAST, ABM, IB, Some(0.125), 0.39),
            claim(INCAST, ABM, IB, Some(0.5), 0.751),
            claim(SHORT, ABM, DT, None, 0.418),
            beside(INCAST, SHARING),
            beside(INCAST, DT_8),
            beside(INCAST, "LQD"),
            beside(INCAST, FAB_100),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "abm-fig8",
        title: "Cubic with DCTCP (10%) and requests of 30% of the buffer by theta-PowerTCP, each in its own queue",
        vary: Vary::CubicLoad,
        points: &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        panels: Panels::Metrics(&[CUBIC_SHORT, DCTCP_SHORT, THETA_INCAST]),
        says: "under DT the tails of DCTCP and theta-PowerTCP grow with the load of Cubic; under ABM they do not, and \
               are up to 90.92% lower",
        claims: &[
            claim(THETA_INCAST, ABM, DT, Some(0.6), 0.9092),
            Claim { at: Some(0.6), ..beside(THETA_INCAST, DT_8) },
            Claim { at: Some(0.6), ..beside(THETA_INCAST, SHARING) },
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "abm-fig9a",
        title: "Sizes of requests, websearch at 40%, Cubic",
        says: "ABM's p99 of incast flows is 39.1% below DT's at requests of 12.5% of the buffer, 88% at 37.5%",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.125), 0.391),
            claim(INCAST, ABM, DT, Some(0.375), 0.88),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_TRANSPORT
    },
    FabricFigure {
        name: "abm-fig9b",
        title: "Sizes of requests, websearch at 40%, DCTCP",
        transport: Transport::Dctcp,
        says: "ABM's p99 of incast flows is 10.3% below DT's at requests of 12.5% of the buffer, 88% at 37.5%",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.125), 0.103),
            claim(INCAST, ABM, DT, Some(0.375), 0.88),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_TRANSPORT
    },
    FabricFigure {
        name: "abm-fig9c",
        title: "Sizes of requests, websearch at 40%, TIMELY",
        transport: Transport::Timely,
        says: "ABM gains nothing over DT at requests of 12.5% of the buffer, 33.3% at 37.5%",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.125), 0.0),
            claim(INCAST, ABM, DT, Some(0.375), 0.333),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_TRANSPORT
    },
    FabricFigure {
        name: "abm-fig9d",
        title: "Sizes of requests, websearch at 40%, PowerTCP",
        transport: Transport::PowerTcp,
        says: "ABM gains nothing over DT up to requests of 37.5% of the buffer, 76% at 50%",
        claims: &[
            claim(INCAST, ABM, DT, Some(0.375), 0.0),
            claim(INCAST, ABM, DT, Some(0.5), 0.76),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_TRANSPORT
    },
    FabricFigure {
        name: "abm-fig10a",
        title: "Queues of each port, websearch at 40%, requests of a quarter of the buffer, Cubic",
        says: "ABM's p99 of incast flows stays low as the queues increase, 88.9% below DT's with 5 queues and 92.6% with 8",
        claims: &[
            claim(INCAST, ABM, DT, Some(5.0), 0.889),
            claim(INCAST, ABM, DT, Some(8.0), 0.926),
            Claim { at: Some(8.0), ..beside(INCAST, DT_FALLING) },
            Claim { at: Some(8.0), ..beside(INCAST, DT_8) },
            Claim { at: Some(8.0), ..beside(INCAST, SHARING) },
        ],
        ..BY_QUEUES
    },
    FabricFigure {
        name: "abm-fig10b",
        title: "Queues of each port, websearch at 40%, requests of a quarter of the buffer, DCTCP",
        transport: Transport::Dctcp,
        says: "ABM and DT are similar up to 4 queues; with 5 ABM's p99 of incast flows is 88.9% below DT's, with 8 92.6%",
        claims: &[
            claim(INCAST, ABM, DT, Some(4.0), 0.1),
            claim(INCAST, ABM, DT, Some(5.0), 0.889),
            claim(INCAST, ABM, DT, Some(8.0), 0.926),
            Claim { at: Some(8.0), ..beside(INCAST, DT_FALLING) },
            Claim { at: Some(8.0), ..beside(INCAST, DT_8) },
            Claim { at: Some(8.0), ..beside(INCAST, SHARING) },
        ],
        ..BY_QUEUES
    },
    FabricFigure {
        name: "abm-fig11a",
        title: "Buffers, websearch at 40%, requests of a quarter of the largest buffer, DCTCP",
        transport: Transport::Dctcp,
        says: "ABM's p99 of incast flows stays low down to 3.44 KB per port per Gbps, DT's grows tenfold at 7 KB",
        claims: &[
            claim(INCAST, ABM, DT, Some(3.44), 0.96),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_BUFFER
    },
    FabricFigure {
        name: "abm-fig11b",
        title: "Buffers, websearch at 40%, requests of a quarter of the largest buffer, PowerTCP",
        transport: Transport::PowerTcp,
        says: "ABM's p99 of incast flows stays low down to 3.44 KB per port per Gbps, DT's grows at 5.12 KB",
        claims: &[
            claim(INCAST, ABM, DT, Some(3.44), 0.92),
            beside(INCAST, DT_8),
            beside(INCAST, SHARING),
        ],
        ..BY_BUFFER
    },
    FabricFigure {
        name: "abm-fig12",
        title: "Round trips between updates, 8 queues of each port, requests of 75% of the buffer, Cubic",
        policies: &POLICIES_BY_INTERVAL,
        vary: Vary::UpdateRtts,
        points: &[1.0, 10.0, 100.0, 1_000.0, 10_000.0],
        burst: 0.75,
        panels: Panels::Metrics(&[SHORT, LATE, LONG]),
        says: "at the p99.9 of short flows ABM is 84.05% below DT if it updates every 10 RTTs, 44.78% at 100, and like DT \
               from 1,000 on; the median of long flows stays",
        claims: &[
            claim(SHORT, ABM, DT, Some(10.0), 0.8405),
            claim(SHORT, ABM, DT, Some(100.0), 0.4478),
            claim(SHORT, ABM, DT, Some(1_000.0), 0.0),
            claim(LONG, ABM, DT, None, 0.0),
            Claim { policy: NO_EXCEPTION, at: Some(1.0), ..beside(SHORT, DT) },
            Claim { at: Some(1.0), ..beside(SHORT, DT_8) },
            Claim { at: Some(1.0), ..beside(SHORT, SHARING) },
        ],
        ..PLAIN
    },
];

/// The policy at a point of a figure that varies how often ABM measures.
pub(super) fn update_every(policy: &mut NamedPolicy, base_rtts: f64) {
    if let PolicySpec::Abm(own) = &mut policy.spec {
        own.update_ns = Some((base_rtts * (8 * LINK_DELAY_NS) as f64) as u64);
        policy.label = format!("{},update_rtts={base_rtts}", policy.label);
    }
}

/// The artifact's two leaves; ten times its requests, so that 50 ms hold about 64.
pub fn small() -> Scale {
    Scale { leaves: 2, servers: 32, spines: 8, per_server_hz: 20.0, ..Scale::small() }
}

/// The paper's 256 servers, and the artifact's 2 requests per second and server.
pub fn paper() -> Scale {
    Scale { leaves: 8, per_server_hz: 2.0, duration_ns: 100_000_000, ..small() }
}

/// The conditions of a point of a figure, without policies.
pub(super) fn experiment(scale: &Scale, figure: &FabricFigure, point: f64) -> Experiment {
    let pick = |vary, fixed| if figure.vary == vary { point } else { fixed };
    let kb_per_port_gbps = pick(Vary::BufferPerPort, KB_PER_PORT_GBPS);
    let is_mixed = figure.vary == Vary::CubicLoad;
    let queues_per_port = match figure.vary {
        Vary::CubicLoad => 4,
        Vary::QueuesPerPort => point as u8,
        Vary::UpdateRtts => QUEUES_OF_FIGURE_12,
        _ => 2,
    };
    let queue_of = |transport| {
        let own = QUEUES.iter().find(|(other, _)| *other == transport);
        own.filter(|_| is_mixed).map_or(1, |(_, queue)| *queue)
    };
    let flows =
        |transport, load, queue| PoissonFlows { load, transport, queue, ..PoissonFlows::default() };
    let of_incasts = if is_mixed { Transport::ThetaPowerTcp } else { figure.transport };
    // Each flow has one of the data queues at random; so has each request in figure 12. In figure 10 requests have the
    // last one (`abm-evaluation-nprio.cc`).
    let data_queues = 1..queues_per_port;
    let of_requests = match figure.vary {
        Vary::UpdateRtts => data_queues.clone(),
        Vary::QueuesPerPort => queues_per_port - 1..queues_per_port,
        _ => queue_of(of_incasts)..queue_of(of_incasts) + 1,
    };
    let incast = |queue| Incast {
        // A request has the same bytes whatever the buffer is.
        burst: pick(Vary::Burst, figure.burst) * KB_PER_PORT_GBPS / kb_per_port_gbps,
        fan_in: scale.servers,
        per_server_hz: scale.per_server_hz / of_requests.len() as f64,
        transport: of_incasts,
        queue,
        ..Incast::artifact()
    };
    let flows = if is_mixed {
        let of = |transport, load| flows(transport, load, queue_of(transport));
        vec![of(Transport::Cubic, point), of(Transport::Dctcp, DCTCP_LOAD)]
    } else {
        let load = pick(Vary::Load, figure.load) / data_queues.len() as f64;
        data_queues.map(|queue| flows(figure.transport, load, queue)).collect()
    };
    Experiment {
        policies: Vec::new(),
        runs: scale.runs,
        fabric: fabric(scale, kb_per_port_gbps, queues_per_port),
        traffic: TrafficConfig {
            duration_ns: scale.duration_ns,
            seed: scale.seed,
            flows,
            incasts: of_requests.clone().map(incast).collect(),
            collectives: Vec::new(),
        },
        ..Experiment::default()
    }
}

fn fabric(scale: &Scale, kb_per_port_gbps: f64, queues_per_port: u8) -> FabricConfig {
    let plain = FabricConfig::artifact();
    let bytes = |ports: u16| (f64::from(ports) * LINK_GBPS * kb_per_port_gbps * 1e3) as u32;
    // 65 packets.
    let threshold_bytes = 65 * (plain.segment_bytes + plain.header_bytes);
    FabricConfig {
        leaves: scale.leaves,
        servers: scale.servers,
        spines: scale.spines,
        leaf_buffer_bytes: bytes(scale.servers + scale.spines),
        spine_buffer_bytes: bytes(scale.leaves),
        server_delay_ns: LINK_DELAY_NS,
        uplink_delay_ns: LINK_DELAY_NS,
        queues_per_port,
        aqm: AqmSpec::Ecn(EcnThreshold { threshold_bytes, ..EcnThreshold::default() }),
        initial_window_segments: 55,
        sample_interval_ns: 10_000,
        seed: scale.seed,
        ..plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_fabric::Fabric;

    /// Section 4.1: base RTT 80 us, 4 : 1, 3.84 MB for 40 ports; an answer of figure 6 has 36 KB, which all leave in
    /// the first round trip, the paper's unscheduled packets.
    #[test]
    fn the_fabric_is_the_artifacts() {
        let figure = &FIGURES[0];
        for scale in [small(), paper()] {
            let experiment = experiment(&scale, figure, 0.4);
            let plain = experiment.fabric.clone();
            let fabric = Fabric::try_from(experiment.fabric).expect("valid");
            assert_eq!((fabric.base_rtt_ns(), fabric.bandwidth_delay_bytes()), (80_000, 100_000));
            assert_eq!(fabric.oversubscription(), 4.0);
            assert_eq!(plain.leaf_buffer_bytes, 3_840_000);
            let incast = &experiment.traffic.incasts[0];
            let answer_bytes = incast.burst * 3_840_000.0 / f64::from(incast.fan_in);
            assert!((35_999.0..36_001.0).contains(&answer_bytes));
        }
    }

    #[test]
    fn requests_keep_their_bytes_as_the_buffer_shrinks() {
        let figure = FIGURES.iter().find(|figure| figure.name == "abm-fig11a").expect("a figure");
        let bytes = |point: f64| {
            let Experiment { fabric, traffic, .. } = experiment(&small(), figure, point);
            traffic.incasts[0].burst * f64::from(fabric.leaf_buffer_bytes)
        };
        for &point in figure.points {
            assert!((bytes(point) - 960_000.0).abs() < 1.0, "{point}: {}", bytes(point));
        }
    }

    /// Figure 8 separates the transports.
    #[test]
    fn each_transport_of_figure_8_has_its_queue() {
        let figure = FIGURES.iter().find(|figure| figure.name == "abm-fig8").expect("a figure");
        let Experiment { fabric, traffic, .. } = experiment(&small(), figure, 0.6);
        let single = traffic.flows.iter().map(|flows| (flows.transport, flows.queue, flows.load));
        let single: Vec<_> = single.collect();
        assert_eq!(single, [(Transport::Cubic, 1, 0.6), (Transport::Dctcp, 2, 0.1)]);
        let incast = &traffic.incasts[0];
        assert_eq!((incast.transport, incast.queue), (Transport::ThetaPowerTcp, 3));
        assert_eq!(fabric.queues_per_port, 4);
    }

    /// Figures 10 and 12 spread the same load over all queues but that of acknowledgements. Requests have the last queue, or
    /// each.
    #[test]
    fn queues_share_the_load() {
        for (name, point, requests) in [("abm-fig10a", 8.0, 7..=7), ("abm-fig12", 10.0, 1..=7)] {
            let figure = FIGURES.iter().find(|figure| figure.name == name).expect("a figure");
            let Experiment { fabric, traffic, .. } = experiment(&small(), figure, point);
            assert_eq!(fabric.queues_per_port, 8);
            let load: f64 = traffic.flows.iter().map(|flows| flows.load).sum();
            let hz: f64 = traffic.incasts.iter().map(|incast| incast.per_server_hz).sum();
            assert!((load - 0.4).abs() < 1e-9 && (hz - 20.0).abs() < 1e-9, "{load}, {hz}");
            let queues: Vec<u8> = traffic.flows.iter().map(|flows| flows.queue).collect();
            assert_eq!(queues, [1, 2, 3, 4, 5, 6, 7]);
            let queues: Vec<u8> = traffic.incasts.iter().map(|incast| incast.queue).collect();
            assert_eq!(queues, requests.collect::<Vec<u8>>());
        }
    }

    /// 1 to 10,000 round trips of 80 us; DT has no interval.
    #[test]
    fn figure_12_varies_how_often_abm_measures() {
        let mut policies = ["abm", "dt"].map(|name| name.parse::<NamedPolicy>().expect("known"));
        policies.iter_mut().for_each(|policy| update_every(policy, 10.0));
        assert_eq!(policies[0].spec, "abm:update_ns=800000".parse().expect("known"));
        assert_eq!(policies[1], "dt".parse().expect("known"));
    }
}
