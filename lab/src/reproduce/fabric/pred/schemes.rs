//! The schemes of PRED's figures, with the paper's parameters: what each is called, and its AQM.

use super::long_flows::{EQUATION, EQUATION_2_OVER_P};

pub(super) const ECN: &str = "ECN, 70 packets";
pub(super) const PRED: &str = "PRED";
pub(super) const PRED_40: &str = "PRED, T_QLA 40 RTTs, T_FCS 5 RTTs";
pub(super) const RED: &str = "RED, lambda 0.2";
pub(super) const CODEL: &str = "CoDel";
pub(super) const ECN_SHARP: &str = "ECN#";

/// RED's slope is PRED's for two flows (section 6.2); ECN's threshold is the paper's 70 packets.
const RED_AQM: &str = "red:min_bytes=15000,max_bytes=500000,max_probability=0.097";
const ECN_AQM: &str = "ecn:threshold_bytes=105000";
/// In a nanosecond there is one flow.
const ONLY_QLA: (&str, &str) = ("Only QLA", "pred:flows_ns=1");

/// T_QLA is 5 base RTTs where nothing else is said.
pub(super) static SETTLING: [(&str, &str); 13] = [
    (PRED, "pred"),
    ("PRED, T_QLA 20 RTTs", "pred:trial_ns=1600000"),
    ("PRED, T_QLA 40 RTTs", "pred:trial_ns=3200000"),
    (PRED_40, "pred:trial_ns=3200000,flows_ns=400000"),
    ("Only FCS", "pred:trial_ns=0"),
    ("Only FCS, T_FCS 5 RTTs", "pred:trial_ns=0,flows_ns=400000"),
    ("Only FCS, root of N", "pred:trial_ns=0,lambda=0.2,flows_function=root-n"),
    ("Only FCS, N squared", "pred:trial_ns=0,lambda=0.05,flows_function=n-squared"),
    ONLY_QLA,
    (RED, RED_AQM),
    (ECN, ECN_AQM),
    EQUATION,
    EQUATION_2_OVER_P,
];
pub(super) static SETTLING_OVER_TIME: [(&str, &str); 9] = {
    let [a, b, c, d, e, f, _, _, g, h, i, _, _] = SETTLING;
    [a, b, c, d, e, f, g, h, i]
};

/// The extremes of what PRED may set (section D.6); the paper gives no largest lambda.
pub(super) static RANGE: [(&str, &str); 4] = [
    ("lambda 0.05", "pred:trial_ns=0,lambda=0.05"),
    ("lambda 2", "pred:trial_ns=0,lambda=2.0"),
    ("PRED, T_QLA 40 RTTs", "pred:trial_ns=3200000"),
    ("each packet marked", "ecn:threshold_bytes=0"),
];

pub(super) static COUNTED: [(&str, &str); 2] = [(PRED, "pred"), (ECN, ECN_AQM)];

/// Rivals with the paper's parameters (section 6.3.1).
pub(super) static BY_TIME: [(&str, &str); 6] = [
    (PRED, "pred"),
    (PRED_40, "pred:trial_ns=3200000,flows_ns=400000"),
    (ECN, ECN_AQM),
    (ECN_SHARP, "ecn-sharp"),
    (CODEL, "codel"),
    ("TCN", "tcn"),
];
pub(super) static BY_PARTS: [(&str, &str); 5] =
    [BY_TIME[0], BY_TIME[1], ("Only FCS", "pred:trial_ns=0"), ONLY_QLA, (RED, RED_AQM)];

/// At 100 Gbps the base RTT is 8 us. The paper says nothing of its rivals' times there: they are as at 10 Gbps, or a
/// tenth. ECN's 70 packets stay, a tenth of the time.
pub(super) static AT_100_GBPS: [(&str, &str); 8] = [
    (PRED, "pred"),
    (PRED_40, "pred:trial_ns=320000,flows_ns=40000"),
    (RED, RED_AQM),
    (ECN, ECN_AQM),
    (ECN_SHARP, "ecn-sharp"),
    ("ECN#, a tenth of the times", "ecn-sharp:instant_ns=8000,target_ns=1000,interval_ns=15000"),
    (CODEL, "codel"),
    ("CoDel, a tenth of the times", "codel:target_ns=1000,interval_ns=15000"),
];

/// T_QLA and T_FCS in base RTTs of 4 us. HPCC and PowerTCP need no marks.
pub(super) static BESIDE_HPCC: [(&str, &str); 6] = [
    (PRED, "pred"),
    (PRED_40, "pred:trial_ns=160000,flows_ns=20000"),
    ("Only FCS", "pred:trial_ns=0"),
    (RED, RED_AQM),
    ("HPCC", "hpcc none"),
    ("PowerTCP", "power-tcp none"),
];

/// T_QLA and T_FCS in base RTTs of 8 us; the last is what the DCQCN paper recommends (its figure 14).
pub(super) static WITH_DCQCN: [(&str, &str); 6] = [
    (PRED, "pred"),
    (PRED_40, "pred:trial_ns=320000,flows_ns=40000"),
    ("Only FCS", "pred:trial_ns=0"),
    (RED, RED_AQM),
    ("RED, lambda 2", "red:min_bytes=15000,max_bytes=500000,max_probability=0.97"),
    ("RED, the DCQCN paper's", "red:min_bytes=5000,max_bytes=200000,max_probability=0.01"),
];

/// TCN's threshold is that of section D.4.
pub(super) static IN_QUEUES: [(&str, &str); 5] = [
    BY_TIME[0],
    (ECN_SHARP, "ecn-sharp"),
    ("TCN", "tcn:threshold_ns=150000"),
    (CODEL, "codel"),
    (ECN, ECN_AQM),
];

pub(super) static MARKING: [(&str, &str); 1] = [("RED", "red:min_bytes=15000,max_bytes=500000")];
