//! A report in a few numbers, each with a name: what monitoring watches (`docs/report.md`).

use super::Report;
use super::verdict::{AdviceDecision, Conclusion, Verdict};

/// A number of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Its name, which does not change.
    pub name: &'static str,
    /// What it is, with its unit, in one line.
    pub meaning: &'static str,
    /// Its value; none where it is not defined or not known.
    pub value: Option<f64>,
}

/// What is measured: a verdict, or a model's report with its verdict.
#[derive(Clone, Copy, Debug)]
pub enum ReportOrVerdict<'a> {
    /// Without a model.
    Verdict(&'a Verdict),
    /// Of a model.
    Report(&'a Report),
}

type Value = fn(&Facts<'_>) -> Option<f64>;

/// The measure of whether the others can be trusted.
pub(super) const TRUSTED: &str = "trusted";

/// Measures that had another name: that, and their name now.
pub(super) const RENAMED: [(&str, &str); 4] = [
    ("drops", "lqd_drops"),
    ("drop_share", "lqd_drop_share"),
    ("own_drops", "switch_drops"),
    ("alpha_gain", "advised_gain"),
];

/// Every measure, in the order in which they are shown.
const MEASURES: [(&str, &str, Value); 18] = [
    (
        TRUSTED,
        "1, or 0 if a check failed: then the other numbers are not those of this switch",
        |facts| Some(f64::from(u8::from(facts.verdict?.is_trusted()))),
    ),
    ("arrivals", "packets that arrive", |facts| facts.arrived().map(exact)),
    ("switch_drops", "packets that the switch's own policy drops in the replay", |facts| {
        Some(exact(facts.verdict?.counts.own.packets))
    }),
    ("real_drops", "packets that the switch reports to drop", |facts| {
        Some(exact(facts.verdict?.counts.real?.packets))
    }),
    ("avoidable_drops", "packets that the switch reports to drop and LQD transmits", |facts| {
        Some(exact(facts.verdict?.counts.only_real?.packets))
    }),
    ("lqd_drops", "packets that LQD drops", |facts| facts.drops().map(exact)),
    ("lqd_drop_share", "packets that LQD drops, as a share of arrivals", |facts| {
        share(facts.drops()?, facts.arrived()?)
    }),
    ("episodes", "episodes of congestion at LQD", |facts| {
        Some(exact(facts.verdict?.congestion.episodes))
    }),
    ("peak_occupancy", "the most that LQD's buffer holds, as a share of it", |facts| {
        Some(facts.verdict?.occupancy?.peak)
    }),
    (
        "advised_gain",
        "bytes that the advised policy saves over all arrivals; 0 to keep what the switch has, not known while undecided",
        |facts| {
            let advice = &facts.verdict?.advice;
            match advice.decision {
                AdviceDecision::Keep => Some(0.0),
                AdviceDecision::Set => Some(advice.advised()?.gain.bytes as f64),
                AdviceDecision::Undecided | AdviceDecision::None => None,
            }
        },
    ),
    (
        "potential",
        "bytes that a perfect oracle transmits more than the best policy without one",
        |facts| match facts.verdict?.conclusion {
            Conclusion::NothingDropped => Some(0.0),
            Conclusion::NoOracleNeeded { more_bytes, .. } => Some(0.0 - exact(more_bytes)),
            Conclusion::OracleCouldGain { bytes, .. } => Some(exact(bytes)),
        },
    ),
    ("gain", "bytes that Credence with the model transmits more than the best alpha", |facts| {
        Some(facts.report?.gain?.best_alpha?.gain.bytes as f64)
    }),
    (
        "gain_over_no_oracle",
        "bytes that Credence with the model transmits more than without predictions",
        |facts| Some(facts.report?.gain?.always_accept.bytes as f64),
    ),
    ("precision", "share of the model's predicted drops that are drops", |facts| {
        facts.report?.prediction.precision
    }),
    ("recall", "share of the drops that the model predicts", |facts| {
        facts.report?.prediction.recall
    }),
    ("f1", "F1 of the model", |facts| facts.report?.prediction.f1),
    (
        "drift",
        "powers of two between the share of predicted drops now and after training",
        |facts| Some(facts.report?.drift?.predicted_log2?.abs()),
    ),
    (
        "outside",
        "the share of rows outside the range of a feature in training, of the feature that has most",
        |facts| {
            let shares = facts.report?.outside.as_ref()?.iter().filter_map(|feature| feature.share);
            shares.max_by(f64::total_cmp)
        },
    ),
];

struct Facts<'a> {
    verdict: Option<&'a Verdict>,
    report: Option<&'a Report>,
}

impl ReportOrVerdict<'_> {
    /// Every measure.
    pub fn measures(self) -> Vec<Measure> {
        let facts = match self {
            ReportOrVerdict::Verdict(verdict) => Facts { verdict: Some(verdict), report: None },
            ReportOrVerdict::Report(report) => {
                Facts { verdict: report.verdict.as_ref(), report: Some(report) }
            }
        };
        let measure =
            |(name, meaning, value): (_, _, Value)| Measure { name, meaning, value: value(&facts) };
        MEASURES.into_iter().map(measure).collect()
    }

    /// The verdict, if arrivals were replayed.
    pub fn verdict(&self) -> Option<&Verdict> {
        match self {
            ReportOrVerdict::Verdict(verdict) => Some(verdict),
            ReportOrVerdict::Report(report) => report.verdict.as_ref(),
        }
    }
}

impl Measure {
    /// The name of each.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MEASURES.into_iter().map(|(name, ..)| name)
    }
}

impl Facts<'_> {
    fn arrived(&self) -> Option<u64> {
        let of_report = || self.report.map(|report| report.labels.rows);
        self.verdict.map(|verdict| verdict.arrived.packets).or_else(of_report)
    }

    fn drops(&self) -> Option<u64> {
        let of_report = || self.report.map(|report| report.labels.drops);
        self.verdict.map(|verdict| verdict.dropped.packets).or_else(of_report)
    }
}

/// Counts of packets and bytes are below 2^53 in any trace that can be read.
fn exact(count: u64) -> f64 {
    count as f64
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| exact(part) / exact(whole))
}
