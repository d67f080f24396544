//! With perfect predictions Credence transmits what LQD does, if the safeguard's `B/N` is whole or
//! rounded down.

use crate::competitiveness::SMALL;
use crate::explore::{Verdict, decide};
use crate::games::Perfect;
use crate::model::Model;
use crate::reading::{Reading, Share, Ties, Victims};
use crate::sequence::{Sequence, count, labels, of_moves, readings, sequences, written};
use proptest::prelude::*;

fn verdict(size: (usize, u8), labels: Victims, reading: Reading, sign: i32) -> Verdict {
    decide(&Perfect { model: Model::new(size, reading), labels, sign })
}

fn assert_equal(size: (usize, u8), reading: Reading) {
    for sign in [1, -1] {
        let verdict = verdict(size, reading.victims, reading, sign);
        assert!(verdict.holds(), "{size:?} {reading:?} {sign}: {verdict:?}");
    }
}

/// Decides that Credence does not transmit at least (`sign` 1) or at most (-1) what LQD does, and
/// replays the counterexample; returns its packets.
fn assert_differs(size: (usize, u8), labels_by: Victims, reading: Reading, sign: i32) -> usize {
    let verdict = verdict(size, labels_by, reading, sign);
    let (sequence, letters) = of_moves(size.0, u32::from(size.1), verdict.counterexample());
    let (lqd, credence) = transmitted(&sequence, labels_by, reading);
    let truth = labels(&sequence.lqd(Reading { victims: labels_by, ..reading }));
    assert!(letters.iter().zip(truth).all(|(&letter, drop)| (letter == 'd') == drop));
    let value = sign * (credence as i32 - lqd as i32);
    assert!(
        matches!(verdict, Verdict::Fails { value: found, .. } if found == value && value < 0),
        "{size:?} {reading:?}: replayed {value}, {verdict:?}"
    );
    sequence.len()
}

/// What LQD and Credence transmit, Credence with LQD's labels.
fn transmitted(sequence: &Sequence, labels_by: Victims, reading: Reading) -> (usize, usize) {
    let lqd = sequence.lqd(Reading { victims: labels_by, ..reading });
    (count(&lqd), sequence.credence(reading, &labels(&lqd)))
}

#[test]
fn credence_equals_lqd_on_every_sequence_where_n_divides_b_or_the_share_is_rounded_down() {
    for reading in Reading::lqds_and_shares() {
        let more = [(2, 10), (3, 5), (3, 6), (3, 9), (4, 4), (4, 5), (4, 6)];
        for size in SMALL.into_iter().chain(more) {
            if usize::from(size.1) % size.0 == 0 || reading.share == Share::Floor {
                assert_equal(size, reading);
            }
        }
    }
}

#[test]
fn a_fraction_that_n_does_not_divide_costs_or_gains_a_packet() {
    for reading in Reading::lqds() {
        for size in [(2, 3), (2, 5), (3, 5), (3, 8), (4, 7)] {
            assert_equal(size, reading);
        }
        for (size, packets) in [((3, 4), 10), ((4, 5), 10), ((4, 6), 13)] {
            assert_eq!(
                assert_differs(size, reading.victims, reading, 1),
                packets,
                "{size:?} {reading:?}"
            );
        }
        for size in [(3, 4), (4, 5), (4, 6)] {
            assert_differs(size, reading.victims, reading, -1);
        }
        // One packet less, also where ties go against the arriving packet's queue.
        let text = if reading.ties == Ties::High {
            "0a 0a | 0a 1a 1a | 1d 0a 2a | 0a 1a"
        } else {
            "0a 0a | 0a 1a 1a | 0d 1a 2a | 0a 0a"
        };
        let (sequence, _) = written(3, 4, text);
        assert_eq!(transmitted(&sequence, reading.victims, reading), (9, 8), "{reading:?}");
    }
    let transmitted = |ports, buffer, text| {
        let (sequence, _) = written(ports, buffer, text);
        transmitted(&sequence, Victims::Tail, Reading::CRATE)
    };
    assert_eq!(transmitted(3, 4, "0a 0a | 0a 1a 1a | 0d 1a 1a | 0a 0a"), (9, 8));
    assert_eq!(transmitted(3, 4, "0a 0a | 0a 1a 1a | 0d 1a 1a | 1a | 0a 0d 1a"), (10, 11));
    assert_eq!(transmitted(3, 2, "0d 1a 1a | 0d 1a"), (3, 4));
}

#[test]
fn labels_of_another_lqd_than_the_thresholds_cost_packets() {
    let tail = Reading::CRATE;
    // Smallest where the buffer is at least N.
    let (sequence, _) = written(2, 2, "0a 0a | 1a 1d | 0a 0a");
    assert_eq!(transmitted(&sequence, Victims::Arrival, tail), (5, 4));
    assert_eq!(assert_differs((2, 2), Victims::Arrival, tail, 1), 6);
    // Smallest.
    let (sequence, _) = written(3, 2, "0a 1a 1d | 0a 0a");
    assert_eq!(transmitted(&sequence, Victims::Arrival, tail), (4, 3));
    assert_eq!(assert_differs((3, 2), Victims::Arrival, tail, 1), 5);
    let verdict = verdict((2, 4), Victims::Arrival, tail, 1);
    assert!(verdict.holds(), "{verdict:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn credence_with_perfect_predictions_equals_lqd(
        sequence in sequences(40),
        times in 1u32..=6,
        reading in readings(),
    ) {
        let buffer = sequence.ports as u32 * times;
        let sequence = Sequence { buffer, ..sequence };
        let (lqd, credence) = transmitted(&sequence, reading.victims, reading);
        prop_assert_eq!(lqd, credence);
    }
}
