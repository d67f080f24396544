//! Theorem 2: eta <= (TN + FP) / (TN - min((N-1) FN, TN)). It fails.

use crate::competitiveness::SMALL;
use crate::explore::{Verdict, decide};
use crate::games::{Size, Theorem2, Thresholds};
use crate::sequence::{Sequence, count, labels, predicted, written};
use dropcast_switch::Victim;
use proptest::prelude::*;

/// `eta` and its bound as numerator and denominator.
#[derive(Debug, PartialEq, Eq)]
struct Error {
    eta: (usize, usize),
    bound: (usize, usize),
    false_negatives: usize,
}

impl Error {
    fn of(sequence: &Sequence, predictions: &[bool]) -> Self {
        let truth = labels(&sequence.lqd(Victim::Tail));
        let how_many = |drop, predicted| {
            truth.iter().zip(predictions).filter(|&(&t, &p)| (t, p) == (drop, predicted)).count()
        };
        let (tn, fp, fn_) = (how_many(false, false), how_many(false, true), how_many(true, false));
        let lqd = truth.len() - count(&truth);
        assert_eq!(lqd, tn + fp, "argument (i) of the proof");
        let weighted = (sequence.ports - 1) * fn_;
        Error {
            eta: (lqd, sequence.follow_lqd(Victim::Tail, predictions)),
            bound: (tn + fp, tn - weighted.min(tn)),
            false_negatives: fn_,
        }
    }

    /// Whether `eta <= bound`; a bound with denominator 0 says nothing.
    fn is_bounded(&self) -> bool {
        self.bound.1 == 0 || self.eta.0 * self.bound.1 <= self.bound.0 * self.eta.1
    }
}

fn written_predictions(ports: usize, buffer: u8, text: &str) -> (Sequence, Vec<bool>) {
    let (sequence, letters) = written(ports, buffer, text);
    let truth = labels(&sequence.lqd(Victim::Tail));
    let claimed: Vec<bool> = letters.iter().map(|&letter| "nP".contains(letter)).collect();
    assert_eq!(truth, claimed, "the letters say what LQD drops");
    (sequence, letters.iter().map(|&letter| "pP".contains(letter)).collect())
}

fn verdict((ports, buffer): (usize, u8), weight: usize) -> Verdict {
    let size = Size { ports, buffer };
    let thresholds = Thresholds::OfTheRest;
    decide(&Theorem2 { size, thresholds, weight: weight as i32 }, 60)
}

#[test]
fn theorem_2_fails_with_9_packets_at_2_ports_and_a_buffer_of_3() {
    let (sequence, predictions) = written_predictions(2, 3, "0t 0t | 0t 0t | 0n 1t | 1t 1t | 0t");
    let error = Error::of(&sequence, &predictions);
    // eta = 1.333, its bound 1.143.
    assert_eq!(error, Error { eta: (8, 6), bound: (8, 7), false_negatives: 1 });
    assert!(!error.is_bounded());
}

#[test]
fn this_is_the_smallest() {
    let mut fewest = Vec::new();
    for size in SMALL {
        match verdict(size, size.0 - 1) {
            Verdict::Fails { slots, .. } => {
                fewest.push((slots.iter().map(Vec::len).sum::<usize>(), size));
            }
            verdict => assert!(matches!(verdict, Verdict::Holds { .. }), "{size:?} {verdict:?}"),
        }
    }
    fewest.sort_unstable();
    assert_eq!(fewest[..2], [(9, (2, 3)), (11, (2, 4))]);
    // With a buffer of 1 or 2 it holds, for every sequence.
    assert!(fewest.iter().all(|(_, (_, buffer))| *buffer > 2));
}

#[test]
fn one_false_negative_can_cost_any_number_of_packets() {
    let cycles = |n: usize| {
        let text = format!("0t 0t | 0n 1t 2p {} | 1t 1t 1t", "| 1t 1t 0t | 0t 1t | 0t ".repeat(n));
        let (sequence, predictions) = written_predictions(3, 3, &text);
        Error::of(&sequence, &predictions)
    };
    for n in [2, 10, 100] {
        let tn = 6 * n + 6;
        let error = cycles(n);
        assert_eq!(error.bound, (tn + 1, tn - 2));
        assert_eq!(error.eta, (tn + 1, tn - n - 1));
        assert_eq!(error.false_negatives, 1);
    }
}

#[test]
fn at_2_ports_theorem_2_holds_with_n_in_place_of_n_minus_1() {
    for buffer in 1..=6 {
        assert!(matches!(verdict((2, buffer), 2), Verdict::Holds { .. }), "{buffer}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The proof's case without false negatives is sound.
    #[test]
    fn without_false_negatives_eta_is_its_bound((sequence, predictions) in predicted(30)) {
        let truth = labels(&sequence.lqd(Victim::Tail));
        let predictions: Vec<bool> =
            predictions.iter().zip(truth).map(|(&predicted, truth)| predicted || truth).collect();
        let error = Error::of(&sequence, &predictions);
        prop_assert_eq!(error.eta, error.bound);
    }

    #[test]
    fn theorem_2_holds_with_a_buffer_of_2((sequence, predictions) in predicted(12)) {
        let sequence = Sequence { buffer: 2, ..sequence };
        prop_assert!(Error::of(&sequence, &predictions).is_bounded());
    }
}
