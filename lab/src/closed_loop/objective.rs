//! What is chosen by.

use super::PolicyRuns;
use dropcast_fabric::{Better, Interval, Metric, paired_difference};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of [`Metric::all`], to be made better.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Objective {
    metric: String,
}

/// A text that names no metric to choose by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown objective {name:?}; known are {known}")]
pub struct UnknownObjective {
    name: String,
    known: String,
}

impl Objective {
    /// The metric's name.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// How much better a policy does than another, run by run, in units of the metric; none if no
    /// run defines it under both.
    pub(super) fn gain(&self, of: &PolicyRuns, than: &PolicyRuns, seed: u64) -> Option<Interval> {
        let [of, than] = [of, than].map(|runs| runs.metric(&self.metric));
        match Metric::named(&self.metric).map(|metric| metric.better) {
            Some(Better::More) => paired_difference(&of, &than, seed),
            Some(Better::Less | Better::Neither) | None => paired_difference(&than, &of, seed),
        }
    }
}

impl Default for Objective {
    /// The share of incast flows that meet a timeout.
    fn default() -> Self {
        Objective { metric: "incast_over_10_ms".to_owned() }
    }
}

impl FromStr for Objective {
    type Err = UnknownObjective;

    fn from_str(text: &str) -> Result<Self, UnknownObjective> {
        let directed = Metric::all().into_iter().filter(|metric| metric.better != Better::Neither);
        let known: Vec<String> = directed.map(|metric| metric.name).collect();
        if known.iter().any(|name| name == text) {
            return Ok(Objective { metric: text.to_owned() });
        }
        Err(UnknownObjective { name: text.to_owned(), known: known.join(", ") })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)
    }
}

impl TryFrom<String> for Objective {
    type Error = UnknownObjective;

    fn try_from(text: String) -> Result<Self, UnknownObjective> {
        text.parse()
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> String {
        objective.metric
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_fabric::RunSummary;

    #[test]
    fn a_gain_is_positive_where_the_metric_is_better() {
        let runs = |goodput: f64, drop_share: f64| PolicyRuns {
            policy: String::new(),
            runs: vec![
                RunSummary {
                    goodput_bps: Some(goodput),
                    drop_share: Some(drop_share),
                    ..RunSummary::default()
                };
                2
            ],
        };
        let gain = |objective: &str| {
            let objective: Objective = objective.parse().unwrap();
            objective.gain(&runs(5.0, 1.0), &runs(3.0, 3.0), 1).map(|interval| interval.mean)
        };
        assert_eq!((gain("goodput_bps"), gain("drop_share")), (Some(2.0), Some(2.0)));
        assert_eq!(gain("short_slowdown_p99"), None);
        assert!("p99".parse::<Objective>().is_err() && "long_flows".parse::<Objective>().is_err());
        assert_eq!(Objective::default().metric().parse(), Ok(Objective::default()));
    }
}
