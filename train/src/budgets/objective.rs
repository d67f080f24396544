//! The objective of a squeezed forest.

use crate::votes::VoteRule;
use dropcast_forest::{Confusion, ScoreHistogram};

/// The objective of a squeezed forest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetObjective {
    /// The best F1 of any vote threshold.
    F1,
    /// The average precision.
    AveragePrecision,
    /// The lowest bound on `eta` of any vote threshold, in a switch of `ports` ports.
    EtaBound {
        /// The number of ports.
        ports: u16,
    },
    /// The lowest cost of wrong predictions of any vote threshold.
    Cost {
        /// Cost of an accepted packet that is predicted to be dropped.
        false_drop: f64,
        /// Cost of a drop that is predicted to be accepted.
        false_accept: f64,
    },
}

impl BudgetObjective {
    /// The objective of a forest whose vote threshold is chosen by `vote`: the bound or the cost if
    /// `vote` uses one, else the average precision. The best F1 of a thousand forests, on the rows
    /// that chose it, is partly luck; average precision measures the ranking at every threshold.
    pub fn for_vote(vote: VoteRule, ports: Option<u16>) -> Self {
        match (vote, ports) {
            (VoteRule::EtaBound, Some(ports)) => BudgetObjective::EtaBound { ports },
            (VoteRule::Cost { false_drop, false_accept }, _) => {
                BudgetObjective::Cost { false_drop, false_accept }
            }
            _ => BudgetObjective::AveragePrecision,
        }
    }

    /// The value of scores; higher is better, undefined is worst.
    pub fn value(self, scores: &ScoreHistogram) -> f64 {
        let best = |of: &dyn Fn(&Confusion) -> Option<f64>| {
            let values = scores.operating_points().into_iter().filter_map(|d| of(&d.confusion));
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        match self {
            BudgetObjective::F1 => best(&|confusion| confusion.f1()),
            BudgetObjective::AveragePrecision => {
                scores.average_precision().unwrap_or(f64::NEG_INFINITY)
            }
            BudgetObjective::EtaBound { ports } => {
                best(&|confusion| confusion.eta_bound(ports).map(|eta| 1.0 / eta))
            }
            BudgetObjective::Cost { false_drop, false_accept } => best(&|confusion| {
                Some(-(confusion.fp as f64 * false_drop + confusion.fn_ as f64 * false_accept))
            }),
        }
    }
}
