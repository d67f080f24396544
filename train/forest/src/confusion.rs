//! The confusion matrix and the scores derived from it.

use serde::{Deserialize, Serialize};

/// Predictions counted by truth. Positive means drop.
///
/// Scores are `None` where their denominator is 0. Their definitions are those of the Credence
/// paper (NSDI '24), appendix C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confusion {
    /// Drops predicted as drops.
    pub tp: u64,
    /// Accepted packets predicted as drops.
    pub fp: u64,
    /// Accepted packets predicted as accepted.
    pub tn: u64,
    /// Drops predicted as accepted.
    #[serde(rename = "fn")]
    pub fn_: u64,
}

impl Confusion {
    /// Counts one prediction.
    pub fn add(&mut self, drops: bool, predicted: bool) {
        match (drops, predicted) {
            (true, true) => self.tp += 1,
            (false, true) => self.fp += 1,
            (false, false) => self.tn += 1,
            (true, false) => self.fn_ += 1,
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Confusion) {
        self.tp += other.tp;
        self.fp += other.fp;
        self.tn += other.tn;
        self.fn_ += other.fn_;
    }

    /// Number of predictions.
    pub fn total(&self) -> u64 {
        self.tp + self.fp + self.tn + self.fn_
    }

    /// Share of correct predictions.
    pub fn accuracy(&self) -> Option<f64> {
        ratio(self.tp + self.tn, self.total())
    }

    /// Share of drops among predicted drops.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.tp, self.tp + self.fp)
    }

    /// Share of predicted drops among drops.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.tp, self.tp + self.fn_)
    }

    /// Harmonic mean of precision and recall, `2 TP / (2 TP + FP + FN)`.
    pub fn f1(&self) -> Option<f64> {
        ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn_)
    }

    /// Theorem 2's formula for the error `eta` of these predictions in a switch of `ports` ports,
    /// `(TN + FP) / (TN - min((N - 1) FN, TN))` (Credence paper). The theorem calls it an upper bound, and
    /// fails: `eta` can exceed it (`lab/notes/theory.md`).
    pub fn eta_bound(&self, ports: u16) -> Option<f64> {
        ratio(self.tn + self.fp, self.eta_denominator(ports))
    }

    /// The denominator of [`Confusion::eta_bound`].
    pub fn eta_denominator(&self, ports: u16) -> u64 {
        let lost = u64::from(ports.saturating_sub(1)).saturating_mul(self.fn_);
        self.tn.saturating_sub(lost)
    }
}

fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_matrix_worked_by_hand() {
        let matrix = Confusion { tp: 3, fp: 1, tn: 94, fn_: 2 };
        assert_eq!(matrix.accuracy(), Some(0.97));
        assert_eq!(matrix.precision(), Some(0.75));
        assert_eq!(matrix.recall(), Some(0.6));
        assert_eq!(matrix.f1(), Some(6.0 / 9.0));
        assert_eq!(matrix.eta_bound(20), Some(95.0 / (94.0 - 38.0)));
        assert_eq!(matrix.eta_bound(1), Some(95.0 / 94.0), "one port has nothing to share");
    }

    #[test]
    fn scores_without_a_denominator_are_absent() {
        let none = Confusion::default();
        assert_eq!(none.accuracy(), None);
        assert_eq!(none.f1(), None);
        let silent = Confusion { tp: 0, fp: 0, tn: 90, fn_: 10 };
        assert_eq!(silent.precision(), None);
        assert_eq!(silent.recall(), Some(0.0));
        assert_eq!(silent.eta_bound(10), None, "9 * 10 missed drops use up all 90");
        assert_eq!(silent.eta_bound(9), Some(9.0));
    }
}
