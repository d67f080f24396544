//! What a figure varies, what it shows, and what its paper says of it; those of the Credence paper.

use dropcast_fabric::Transport;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricFigure {
    /// Its name, such as `fig6`.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Whose it is.
    pub paper: Paper,
    /// Its policies, by what it calls them.
    pub policies: &'static [(&'static str, &'static str)],
    /// What varies.
    pub vary: Vary,
    /// Its values.
    pub points: &'static [f64],
    /// Load of websearch, where it does not vary.
    pub load: f64,
    /// Burst of incasts, as a share of the buffer, where it does not vary.
    pub burst: f64,
    /// How flows are sent, where one transport sends all.
    pub transport: Transport,
    /// What is drawn.
    pub panels: Panels,
    /// What the paper says in words.
    pub says: &'static str,
    /// What it says in numbers.
    pub claims: &'static [Claim],
}

/// The papers whose figures are measured in the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Credence (NSDI 2024).
    Credence,
    /// ABM (SIGCOMM 2022).
    Abm,
    /// PRED (NSDI 2025); its policies are AQMs.
    Pred,
    /// Smartbuf (IWQoS 2021).
    Smartbuf,
}

/// What varies along a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vary {
    /// Load of websearch, as a share of the uplinks' rate.
    Load,
    /// Burst, as a share of the buffer.
    Burst,
    /// Base round-trip time, microseconds.
    BaseRtt,
    /// Probability with which predictions are flipped.
    Flips,
    /// Load of Cubic, as a share of the uplinks' rate, beside other transports.
    CubicLoad,
    /// Buffer per port and Gbps, KB.
    BufferPerPort,
    /// Queues of each port.
    QueuesPerPort,
    /// Base round-trip times between two measurements of ABM.
    UpdateRtts,
    /// Flows to one receiver.
    Flows,
    /// Time since the start, milliseconds.
    TimeMs,
    /// Load of the receiver's link.
    ReceiverLoad,
    /// Slope of the marking probability, 1/MB.
    Lambda,
    /// Interval in which flows are counted, base RTTs.
    CountingRtts,
}

/// What a figure draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panels {
    /// Each of these numbers of [`super::RunNumbers`] against what varies.
    Metrics(&'static [&'static str]),
    /// The distribution of slowdowns at each point.
    Cdf,
}

/// A number of the paper: how much less `metric` is under `policy` than under `than`, as a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The metric.
    pub metric: &'static str,
    /// Which policy has less.
    pub policy: &'static str,
    /// Than which.
    pub than: &'static str,
    /// At which point; the mean over all points unless given.
    pub at: Option<f64>,
    /// What the paper says; none for a comparison that it leaves out.
    pub paper: Option<f64>,
}

/// A number of a paper.
pub(super) const fn claim(
    metric: &'static str,
    policy: &'static str,
    than: &'static str,
    at: Option<f64>,
    paper: f64,
) -> Claim {
    Claim { metric, policy, than, at, paper: Some(paper) }
}

/// A comparison with a policy that needs no oracle, which the paper leaves out.
const fn beside(metric: &'static str, than: &'static str) -> Claim {
    Claim { metric, policy: CREDENCE, than, at: None, paper: None }
}

const CREDENCE: &str = "Credence, level4";
const INCAST: &str = "incast_slowdown_p95";
const SHORT: &str = "short_slowdown_p95";
const LONG: &str = "long_slowdown_p95";
/// The share behind a percentile that stands at a step: at 5% the p95 jumps to a timeout.
const LATE: &str = "incast_over_10_ms";
/// What figure 6d shows; section 4.1 announces the 99th percentile.
const OCCUPANCY: &str = "leaf_occupancy_p9999";
const METRICS: Panels = Panels::Metrics(&[INCAST, LATE, SHORT, LONG, OCCUPANCY]);

const LOADS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
const BURSTS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// Policies of the Credence paper, and what needs no oracle. DT and ABM have the parameters of the artifact's runs;
/// acknowledgements are in queue 0. The alpha of 8 is what production switches ship.
static POLICIES: [(&str, &str); 8] = [
    ("LQD", "lqd"),
    ("Complete Sharing", "complete-sharing"),
    ("DT, alpha 8", "dt:alpha=[64,8]"),
    ("Untrained rule", "oracle:base=dt:alpha=[64,16]"),
    ("Credence, level4", "credence:model=level4"),
    ("Credence, paper4", "credence:model=paper4"),
    ("DT", "dt:alpha=[64,0.5]"),
    ("ABM", "abm:alpha=[64,0.5],first_rtt_alpha=1024,counting=artifact"),
];

const PLAIN: FabricFigure = FabricFigure {
    name: "",
    title: "",
    paper: Paper::Credence,
    policies: &POLICIES,
    vary: Vary::Load,
    points: &[],
    load: 0.4,
    burst: 0.5,
    transport: Transport::Dctcp,
    panels: METRICS,
    says: "",
    claims: &[],
};

/// Figures 6 to 13 of the Credence paper.
pub static FIGURES: [FabricFigure; 8] = [
    FabricFigure {
        name: "fig6",
        title: "Loads of websearch, bursts of 50% of the buffer, DCTCP",
        points: &LOADS,
        says: "Credence performs close to LQD; DT and ABM cannot absorb the bursts; ABM penalizes \
               long flows as load increases",
        claims: &[
            claim(INCAST, CREDENCE, "DT", None, 0.9550),
            claim(INCAST, CREDENCE, "ABM", None, 0.9553),
            beside(INCAST, "Complete Sharing"),
            beside(INCAST, "DT, alpha 8"),
            claim(LONG, CREDENCE, "ABM", None, 0.2849),
            claim(LONG, CREDENCE, "ABM", Some(0.8), 0.4934),
            beside(LONG, "DT, alpha 8"),
            claim(OCCUPANCY, "DT", CREDENCE, None, 0.0377),
            claim(OCCUPANCY, "ABM", CREDENCE, None, 0.1868),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "fig7",
        title: "Bursts, websearch at 40%, DCTCP",
        vary: Vary::Burst,
        points: &BURSTS,
        says: "At small bursts DT and ABM are similar to Credence; as bursts grow, Credence \
               outperforms them for incast flows",
        claims: &[
            claim(INCAST, CREDENCE, "DT", None, 0.95),
            claim(INCAST, CREDENCE, "ABM", None, 0.9692),
            beside(INCAST, "Complete Sharing"),
            beside(INCAST, "DT, alpha 8"),
            claim(LONG, CREDENCE, "ABM", None, 0.1202),
            beside(LONG, "DT, alpha 8"),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "fig8",
        title: "Bursts, websearch at 40%, PowerTCP",
        vary: Vary::Burst,
        points: &BURSTS,
        transport: Transport::PowerTcp,
        says: "Even with advanced congestion control Credence outperforms DT and ABM for incast \
               flows and for long flows",
        claims: &[
            claim(INCAST, CREDENCE, "DT", None, 0.9327),
            claim(INCAST, CREDENCE, "ABM", None, 0.9336),
            beside(INCAST, "Complete Sharing"),
            beside(INCAST, "DT, alpha 8"),
            claim(LONG, CREDENCE, "DT", None, 0.0331),
            claim(LONG, CREDENCE, "ABM", None, 0.1735),
            claim(LONG, CREDENCE, "DT", Some(1.0), 0.0549),
            claim(LONG, CREDENCE, "ABM", Some(1.0), 0.2409),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "fig9",
        title: "Base round-trip times, websearch at 40%, bursts of 50%, DCTCP",
        vary: Vary::BaseRtt,
        // The artifact's links have 1, 2, 3, 4 and 8 us.
        points: &[8.0, 16.0, 24.0, 32.0, 64.0],
        says: "ABM is sensitive to the RTT: similar to Credence at high RTTs, far worse at low ones",
        claims: &[
            claim(INCAST, CREDENCE, "ABM", Some(8.0), 0.9773),
            Claim { paper: None, ..claim(INCAST, CREDENCE, "ABM", Some(64.0), 0.0) },
            beside(INCAST, "Complete Sharing"),
            beside(INCAST, "DT, alpha 8"),
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "fig10",
        title: "Flipped predictions, websearch at 40%, bursts of 50%, DCTCP",
        vary: Vary::Flips,
        points: &[0.0, 0.001, 0.005, 0.01, 0.05, 0.1],
        says: "Credence is close to LQD up to a flip probability of 0.005, diverges at 0.01 and is \
               significantly worse at 0.1",
        claims: &[
            Claim { paper: None, ..claim(INCAST, "LQD", CREDENCE, Some(0.001), 0.0) },
            Claim { paper: None, ..claim(INCAST, "LQD", CREDENCE, Some(0.01), 0.0) },
            Claim { paper: None, ..claim(INCAST, "LQD", CREDENCE, Some(0.1), 0.0) },
        ],
        ..PLAIN
    },
    FabricFigure {
        name: "fig11",
        title: "Slowdowns by burst, websearch at 40%, DCTCP",
        vary: Vary::Burst,
        points: &[0.25, 0.5, 0.75, 1.0],
        panels: Panels::Cdf,
        says: "the distributions behind figure 7",
        ..PLAIN
    },
    FabricFigure {
        name: "fig12",
        title: "Slowdowns by load, bursts of 50% of the buffer, DCTCP",
        points: &LOADS,
        panels: Panels::Cdf,
        says: "the distributions behind figure 6",
        ..PLAIN
    },
    FabricFigure {
        name: "fig13",
        title: "Slowdowns by burst, websearch at 40%, PowerTCP",
        vary: Vary::Burst,
        points: &[0.25, 0.5, 0.75, 1.0],
        transport: Transport::PowerTcp,
        panels: Panels::Cdf,
        says: "the distributions behind figure 8",
        ..PLAIN
    },
];

impl FabricFigure {
    /// The figure of the Credence paper of this name.
    pub fn named(name: &str) -> Option<&'static FabricFigure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }
}

impl Vary {
    /// What it is, with its unit.
    pub fn label(self) -> &'static str {
        match self {
            Vary::Load => "load, % of the uplinks",
            Vary::Burst => "burst, % of the buffer",
            Vary::BaseRtt => "base RTT, us",
            Vary::Flips => "probability that a prediction is flipped",
            Vary::CubicLoad => "load of Cubic, % of the uplinks",
            Vary::BufferPerPort => "buffer, KB per port per Gbps",
            Vary::QueuesPerPort => "queues of each port",
            Vary::UpdateRtts => "base RTTs between updates",
            Vary::Flows => "flows",
            Vary::TimeMs => "time, ms",
            Vary::ReceiverLoad => "load, % of the receiver's link",
            Vary::Lambda => "lambda, 1/MB",
            Vary::CountingRtts => "T_FCS, base RTTs",
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Vary::Load => "load",
            Vary::Burst => "burst",
            Vary::BaseRtt => "base_rtt_us",
            Vary::Flips => "flip_probability",
            Vary::CubicLoad => "cubic_load",
            Vary::BufferPerPort => "kb_per_port_gbps",
            Vary::QueuesPerPort => "queues_per_port",
            Vary::UpdateRtts => "update_rtts",
            Vary::Flows => "flows",
            Vary::TimeMs => "time_ms",
            Vary::ReceiverLoad => "receiver_load",
            Vary::Lambda => "lambda_per_mb",
            Vary::CountingRtts => "counting_rtts",
        }
    }
}
