//! PRED's figures: points, what the paper says, and what runs.

use super::long_flows::{self, LONG_FLOWS, LongFlows};
use super::one_receiver::{OneReceiver, Sizes};
use super::schemes::{
    AT_100_GBPS, BESIDE_HPCC, BY_PARTS, BY_TIME, CODEL, COUNTED, ECN, ECN_SHARP, IN_QUEUES,
    MARKING, PRED, PRED_40, RANGE, RED, SETTLING, SETTLING_OVER_TIME, WITH_DCQCN,
};
use super::simulated::{LINK_DELAY_NS, RATE_BPS};
use crate::reproduce::fabric::figures::{Claim, FabricFigure, Panels, Paper, Vary};
use dropcast_arrivals::FlowSizeName;
use dropcast_fabric::Transport;

/// A figure and how it is measured.
pub(super) struct Scene {
    pub(super) figure: FabricFigure,
    pub(super) setting: Setting,
    /// What a page says of it.
    pub(super) words: &'static str,
    /// Of a run, nanoseconds.
    pub(super) duration_ns: u64,
}

/// What runs.
pub(super) enum Setting {
    /// Flows without end to one receiver, as many as the point says.
    LongFlows(LongFlows),
    /// One run for all points: the queue before each, or flows as counted in each interval.
    Sampled(LongFlows, f64),
    /// Flows that come and go.
    OneReceiver(OneReceiver),
    /// Queues of one port, as many as the point says.
    Services,
}

const QUEUE: &str = "queue_packets_mean";
const QUEUE_TAIL: &str = "queue_packets_p99";
const RATE: &str = "bottleneck_gbps";
const SMALL_TAIL: &str = "small_fct_us_p99";
const ALL_TAIL: &str = "all_fct_us_p99";
const SMALL: &str = "small_fct_us_mean";
const LARGE: &str = "large_fct_us_mean";
const COUNT: &str = "counted_flows_mean";
const FCT: Panels = Panels::Metrics(&[SMALL_TAIL, SMALL, LARGE, QUEUE]);

const PLAIN: FabricFigure = FabricFigure {
    name: "",
    title: "",
    paper: Paper::Pred,
    policies: &SETTLING,
    vary: Vary::Flows,
    points: &[],
    load: 1.0,
    burst: 0.0,
    transport: Transport::Dctcp,
    panels: Panels::Metrics(&[QUEUE, QUEUE_TAIL, RATE]),
    says: "",
    claims: &[],
};

/// How much less PRED has than a scheme at the highest load, as the paper says or leaves out.
const fn less(
    metric: &'static str,
    policy: &'static str,
    than: &'static str,
    at: f64,
    paper: Option<f64>,
) -> Claim {
    Claim { metric, policy, than, at: Some(at), paper }
}

const LOADS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// The fabric of section 6.3.1.
const LEAF_SPINE: OneReceiver = OneReceiver {
    leaves: 8,
    servers: 16,
    spines: 8,
    rate_bps: RATE_BPS,
    link_delay_ns: 10_000,
    sizes: Sizes::Named(FlowSizeName::Websearch),
    initial_window_segments: 10,
};
const LEAF_SPINE_WORDS: &str = "DCTCP that begins with 10 segments, 8 leaves x 16 servers, 8 spines, 10 Gbps, base RTT 80 us; flows \
     of all other servers to one";
/// That of section 6.3.4.
const AT_100: OneReceiver =
    OneReceiver { rate_bps: 10 * RATE_BPS, link_delay_ns: 1_000, ..LEAF_SPINE };
const AT_100_WORDS: &str = "DCTCP that begins with 10 segments, 8 leaves x 16 servers, 8 spines, 100 Gbps, base RTT 8 us; flows of \
     all other servers to one";
/// Section 3.1: 18 senders, two mixes of sizes. Its load is not given.
const MIX: OneReceiver = OneReceiver {
    leaves: 1,
    servers: 19,
    spines: 0,
    rate_bps: RATE_BPS,
    link_delay_ns: LINK_DELAY_NS,
    sizes: Sizes::Between(3_000, 6_000),
    initial_window_segments: 2,
};
const MIX_WORDS: &str = "DCTCP that begins with 2 segments, 18 senders to one receiver, 10 Gbps, base RTT 80 us, load 80%";
const LONG_WORDS: &str = "DCTCP, 10 Gbps, base RTT 80 us";

const COUNTED_FLOWS: LongFlows = LongFlows { counts: true, ..LONG_FLOWS };
/// Section 6.3.5: a round trip of 4 us; two flows, and six more from 20 ms on.
const TWO_AND_SIX: LongFlows = LongFlows {
    rate_bps: 10 * RATE_BPS,
    link_delay_ns: 1_000,
    burst: Some((6, 20_000_000)),
    sample_ns: 1_000,
    bin_ns: 1_000_000,
    ..LONG_FLOWS
};

/// Section D.1: a round trip of 8 us. Flows begin at line rate and nothing pauses them: 20 that began at once would have a queue
/// of 50 MB, whose notifications come too late to stop them.
const DCQCN_FLOWS: LongFlows = LongFlows {
    rate_bps: 4 * RATE_BPS,
    link_delay_ns: 2_000,
    transport: Transport::Dcqcn,
    apart_ns: 1_000_000,
    bin_ns: 1_000_000,
    ..LONG_FLOWS
};

/// Long flows at each point.
const OF_LONG_FLOWS: Scene = Scene {
    figure: PLAIN,
    setting: Setting::LongFlows(LONG_FLOWS),
    words: LONG_WORDS,
    duration_ns: 200_000_000,
};
/// Long flows of DCQCN over time.
const OF_DCQCN: Scene = Scene {
    figure: FabricFigure {
        transport: Transport::Dcqcn,
        policies: &WITH_DCQCN,
        vary: Vary::TimeMs,
        points: &[1.0, 5.0, 10.0, 20.0, 50.0, 100.0],
        panels: Panels::Metrics(&[QUEUE, RATE]),
        ..PLAIN
    },
    setting: Setting::LongFlows(DCQCN_FLOWS),
    words: "DCQCN, 40 Gbps, base RTT 8 us, flows begin a ms apart",
    duration_ns: 100_000_000,
};
/// Loads of the receiver's link.
const OF_LOADS: Scene = Scene {
    figure: FabricFigure {
        vary: Vary::ReceiverLoad,
        points: &LOADS,
        panels: FCT,
        policies: &BY_TIME,
        ..PLAIN
    },
    setting: Setting::OneReceiver(LEAF_SPINE),
    words: LEAF_SPINE_WORDS,
    duration_ns: 1_000_000_000,
};
/// The same at 100 Gbps.
const OF_LOADS_AT_100: Scene = Scene {
    figure: FabricFigure { policies: &AT_100_GBPS, points: &[0.5, 0.8], ..OF_LOADS.figure },
    setting: Setting::OneReceiver(AT_100),
    words: AT_100_WORDS,
    duration_ns: 50_000_000,
};
/// Slopes of RED.
const OF_SLOPES: Scene = Scene {
    figure: FabricFigure {
        policies: &MARKING,
        vary: Vary::Lambda,
        points: &[0.05, 0.2, 0.65, 1.65, 2.0],
        load: 0.8,
        panels: FCT,
        ..PLAIN
    },
    setting: Setting::OneReceiver(MIX),
    words: MIX_WORDS,
    duration_ns: 200_000_000,
};
/// How many flows are counted.
const OF_COUNTS: Scene = Scene {
    figure: FabricFigure {
        policies: &COUNTED,
        vary: Vary::CountingRtts,
        points: &long_flows::COUNTING_RTTS,
        panels: Panels::Metrics(&[COUNT]),
        ..PLAIN
    },
    duration_ns: 50_000_000,
    ..OF_LONG_FLOWS
};
const DATAMINING: OneReceiver =
    OneReceiver { sizes: Sizes::Named(FlowSizeName::Datamining), ..LEAF_SPINE };

pub(super) static SCENES: [Scene; 17] = [
    Scene {
        figure: FabricFigure {
            name: "pred-settling",
            title: "Queue and throughput of long flows to one receiver",
            points: &[2.0, 5.0, 10.0, 16.0, 20.0],
            says: "FCS keeps the queue as long for 20 flows as for 2, RED does not; PRED's is shorter than FCS's, at full \
                   throughput",
            ..OF_LONG_FLOWS.figure
        },
        ..OF_LONG_FLOWS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-settling-time",
            title: "Mean queue in the 10 ms before, 16 long flows to one receiver",
            policies: &SETTLING_OVER_TIME,
            vary: Vary::TimeMs,
            points: &[10.0, 20.0, 50.0, 100.0, 150.0, 200.0],
            panels: Panels::Metrics(&[QUEUE]),
            says: "PRED lowers the queue from 25 to 15 packets, FCS alone stays at 23",
            ..OF_LONG_FLOWS.figure
        },
        // The paper's 16 to 1 (section 6.3.2).
        setting: Setting::Sampled(LONG_FLOWS, 16.0),
        ..OF_LONG_FLOWS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig4a",
            title: "RED's slope, flows of 3 to 6 KB",
            says: "with a steeper slope the p99 of completion times grows",
            ..OF_SLOPES.figure
        },
        ..OF_SLOPES
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig4b",
            title: "RED's slope, flows of 30 to 600 KB",
            panels: Panels::Metrics(&[ALL_TAIL, SMALL_TAIL, QUEUE]),
            says: "with a steeper slope the p99 of completion times falls",
            ..OF_SLOPES.figure
        },
        setting: Setting::OneReceiver(OneReceiver {
            sizes: Sizes::Between(30_000, 600_000),
            ..MIX
        }),
        duration_ns: 1_000_000_000,
        ..OF_SLOPES
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig13",
            title: "Websearch, marking by time and by length",
            says: "PRED's p99 of small flows is 68% below ECN#'s and 80% below CoDel's at 90%, large flows take 4.6 to 12.5% \
                   longer",
            claims: &[
                less(SMALL_TAIL, PRED, ECN_SHARP, 0.9, Some(0.677)),
                less(SMALL_TAIL, PRED, CODEL, 0.9, Some(0.79)),
                less(SMALL_TAIL, PRED_40, ECN_SHARP, 0.9, None),
                less(SMALL_TAIL, PRED_40, CODEL, 0.9, None),
                less(SMALL_TAIL, PRED_40, ECN, 0.9, None),
                less(LARGE, PRED, ECN_SHARP, 0.9, Some(-0.125)),
                less(LARGE, PRED, CODEL, 0.9, Some(-0.046)),
                less(LARGE, PRED_40, ECN_SHARP, 0.9, None),
            ],
            ..OF_LOADS.figure
        },
        ..OF_LOADS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig14",
            title: "Websearch, PRED and its parts",
            policies: &BY_PARTS,
            says: "PRED and FCS are better than RED, QLA alone is not",
            claims: &[
                less(SMALL_TAIL, PRED, RED, 0.9, None),
                less(SMALL_TAIL, PRED_40, RED, 0.9, None),
                less(SMALL_TAIL, "Only FCS", RED, 0.9, None),
                less(SMALL_TAIL, "Only QLA", RED, 0.9, None),
            ],
            ..OF_LOADS.figure
        },
        ..OF_LOADS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig18",
            title: "100 Gbps, data mining",
            says: "PRED's p99 of small flows is 48% below RED's and 66% below CoDel's at 80%, its mean 52 and 75%",
            claims: &[
                less(SMALL_TAIL, PRED, RED, 0.8, Some(0.48)),
                less(SMALL_TAIL, PRED, CODEL, 0.8, Some(0.66)),
                less(SMALL_TAIL, PRED, "CoDel, a tenth of the times", 0.8, None),
                less(SMALL_TAIL, PRED, ECN, 0.8, None),
                less(SMALL, PRED, RED, 0.8, Some(0.52)),
                less(SMALL, PRED, CODEL, 0.8, Some(0.75)),
            ],
            ..OF_LOADS_AT_100.figure
        },
        setting: Setting::OneReceiver(OneReceiver {
            sizes: Sizes::Named(FlowSizeName::Datamining),
            ..AT_100
        }),
        duration_ns: 200_000_000,
        ..OF_LOADS_AT_100
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig19",
            title: "Two long flows, six more from 20 ms on: the ms before",
            policies: &BESIDE_HPCC,
            vary: Vary::TimeMs,
            points: &[1.0, 5.0, 20.0, 21.0, 22.0, 30.0, 40.0],
            panels: Panels::Metrics(&[QUEUE, "queue_packets_most", RATE]),
            says: "HPCC keeps a queue of almost zero and 93% throughput; PRED's queue falls from 20 to 15 packets at full \
                   throughput, and moves less at 20 ms",
            ..PLAIN
        },
        setting: Setting::Sampled(TWO_AND_SIX, 2.0),
        words: "DCTCP where no transport is named, 100 Gbps, base RTT 4 us",
        duration_ns: 40_000_000,
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig21a",
            title: "Long flows of DCQCN to one receiver",
            vary: Vary::Flows,
            points: &[2.0, 5.0, 10.0, 16.0, 20.0],
            panels: Panels::Metrics(&[QUEUE, QUEUE_TAIL, RATE]),
            says: "the queue of RED grows with the flows, with lambda 0.2 and with 2; PRED's does not",
            ..OF_DCQCN.figure
        },
        ..OF_DCQCN
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig21b",
            title: "Two long flows of DCQCN, the ms before",
            says: "PRED is close to RED with lambda 0.2",
            ..OF_DCQCN.figure
        },
        setting: Setting::Sampled(DCQCN_FLOWS, 2.0),
        ..OF_DCQCN
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig21c",
            title: "20 long flows of DCQCN, the ms before",
            says: "PRED is close to RED with lambda 2",
            ..OF_DCQCN.figure
        },
        setting: Setting::Sampled(DCQCN_FLOWS, 20.0),
        ..OF_DCQCN
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig22",
            title: "Data mining, marking by time and by length",
            says: "PRED's p99 of small flows is 58% below ECN#'s and 86% below CoDel's at 90%, large flows take 6.3 to 8% longer",
            claims: &[
                less(SMALL_TAIL, PRED, ECN_SHARP, 0.9, Some(0.585)),
                less(SMALL_TAIL, PRED, CODEL, 0.9, Some(0.856)),
                less(SMALL_TAIL, PRED_40, ECN_SHARP, 0.9, None),
                less(SMALL_TAIL, PRED_40, CODEL, 0.9, None),
                less(SMALL_TAIL, PRED_40, ECN, 0.9, None),
                less(LARGE, PRED, ECN_SHARP, 0.9, Some(-0.08)),
                less(LARGE, PRED, ECN, 0.9, Some(-0.063)),
            ],
            ..OF_LOADS.figure
        },
        setting: Setting::OneReceiver(DATAMINING),
        ..OF_LOADS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig23",
            title: "100 Gbps, websearch",
            says: "PRED's p99 of small flows is 27% below RED's and 59% below CoDel's at 80%, its mean 52 and 75%",
            claims: &[
                // 142 us, where RED has 171: 17%, not 27.
                less(SMALL_TAIL, PRED, RED, 0.8, Some(0.27)),
                less(SMALL_TAIL, PRED, CODEL, 0.8, Some(0.59)),
                less(SMALL_TAIL, PRED, "CoDel, a tenth of the times", 0.8, None),
                less(SMALL_TAIL, PRED, ECN, 0.8, None),
                less(SMALL, PRED, RED, 0.8, Some(0.52)),
                less(SMALL, PRED, CODEL, 0.8, Some(0.75)),
            ],
            ..OF_LOADS_AT_100.figure
        },
        ..OF_LOADS_AT_100
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig24",
            title: "Long flows in queues with weights of 2 : 1 : 1, and small flows",
            policies: &IN_QUEUES,
            points: &[1.0, 2.0, 3.0],
            panels: Panels::Metrics(&[
                "flow_1_gbps",
                "flow_2_gbps",
                "flow_3_gbps",
                SMALL_TAIL,
                SMALL,
            ]),
            says: "9.6, then 6.42 and 3.18, then 4.82, 2.40 and 2.40 Gbit/s with PRED, which is like ECN# and better than TCN \
                   for small flows",
            ..PLAIN
        },
        setting: Setting::Services,
        words: "DCTCP that begins with 10 segments, 10 Gbps, base RTT 80 us; a long flow in each queue, small flows of 3 to \
                60 KB, 1% of the link in each",
        duration_ns: 200_000_000,
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig25a",
            title: "Flows as counted, of 18 long flows",
            says: "18 from 1.25 RTTs on",
            ..OF_COUNTS.figure
        },
        setting: Setting::Sampled(COUNTED_FLOWS, 18.0),
        ..OF_COUNTS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig25b",
            title: "Flows as counted, of 36 long flows",
            says: "36 from 1.25 RTTs on",
            ..OF_COUNTS.figure
        },
        setting: Setting::Sampled(COUNTED_FLOWS, 36.0),
        ..OF_COUNTS
    },
    Scene {
        figure: FabricFigure {
            name: "pred-fig27",
            title: "The range of what PRED may set",
            policies: &RANGE,
            points: &[2.0, 8.0, 16.0, 32.0, 48.0, 64.0],
            says: "up to 32 flows the steepest slope loses throughput; beyond, none holds the queue",
            ..OF_LONG_FLOWS.figure
        },
        ..OF_LONG_FLOWS
    },
];
