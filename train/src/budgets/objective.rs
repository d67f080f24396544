//! What a squeezed forest shall be good at.

use crate::votes::VoteRule;
use dropcast_forest::{Confusion, ScoreHistogram};

/// What a squeezed forest shall be good at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
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
        /// Of an accepted packet that is predicted to be dropped.
        false_drop: f64,
        /// Of a drop that is predicted to be accepted.
        false_accept: f64,
    },
}

impl Objective {
    /// What a forest shall be good at whose vote threshold is chosen by `vote`: what the bound or
    /// the cost says, else the average precision. The best F1 of a thousand forests on the rows
    /// that chose it is luck in part; a ranking is measured at every threshold.
    pub fn of(vote: VoteRule, ports: Option<u16>) -> Self {
        match (vote, ports) {
            (VoteRule::EtaBound, Some(ports)) => Objective::EtaBound { ports },
            (VoteRule::Cost { false_drop, false_accept }, _) => {
                Objective::Cost { false_drop, false_accept }
            }
            _ => Objective::AveragePrecision,
        }
    }

    /// How good scores are; higher is better, and what is undefined is worst.
    pub fn value(self, scores: &ScoreHistogram) -> f64 {
        let best = |of: &dyn Fn(&Confusion) -> Option<f64>| {
            let values = scores.operating_points().into_iter().filter_map(|d| of(&d.confusion));
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        match self {
            Objective::F1 => best(&|confusion| confusion.f1()),
            Objective::AveragePrecision => scores.average_precision().unwrap_or(f64::NEG_INFINITY),
            Objective::EtaBound { ports } => {
                best(&|confusion| confusion.eta_bound(ports).map(|eta| 1.0 / eta))
            }
            Objective::Cost { false_drop, false_accept } => best(&|confusion| {
                Some(-(confusion.fp as f64 * false_drop + confusion.fn_ as f64 * false_accept))
            }),
        }
    }
}
