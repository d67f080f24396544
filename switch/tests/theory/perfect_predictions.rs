//! With perfect predictions Credence transmits what LQD does, if the safeguard's `B/N` is whole.

use crate::competitiveness::SMALL;
use crate::explore::{Verdict, decide};
use crate::games::{Perfect, Size, Victims};
use crate::sequence::{Sequence, count, labels, sequences, written};
use dropcast_switch::Victim;
use proptest::prelude::*;

fn verdict(size: (usize, u8), labels: Victims, thresholds: Victims, sign: i32) -> Verdict {
    let (ports, buffer) = size;
    decide(&Perfect { size: Size { ports, buffer }, labels, thresholds, sign }, 40)
}

/// What LQD and Credence transmit, Credence with LQD's labels.
fn transmitted(sequence: &Sequence, labels_by: Victim, thresholds: Victim) -> (usize, usize) {
    let lqd = sequence.lqd(labels_by);
    (count(&lqd), sequence.credence(thresholds, &labels(&lqd)))
}

#[test]
fn credence_equals_lqd_on_every_sequence_where_n_divides_b() {
    let more = [(2, 10), (3, 6), (3, 9), (4, 4)];
    for size in SMALL.into_iter().chain(more) {
        if usize::from(size.1) % size.0 != 0 {
            continue;
        }
        for victims in [Victims::Tail, Victims::Arrival] {
            for sign in [1, -1] {
                let verdict = verdict(size, victims, victims, sign);
                assert!(matches!(verdict, Verdict::Holds { .. }), "{size:?} {victims:?} {sign}");
            }
        }
    }
}

#[test]
fn the_safeguard_costs_a_packet_where_n_does_not_divide_b() {
    let text = "0a 0a | 0a 1a 1a | 0d 1a 1a | 0a 0a";
    let (sequence, _) = written(3, 4, text);
    assert_eq!(transmitted(&sequence, Victim::Tail, Victim::Tail), (9, 8));
    let fails =
        [(2, 3), (2, 5), (3, 2), (3, 4), (3, 5), (3, 7), (4, 3), (4, 5)].map(|size| match verdict(
            size,
            Victims::Tail,
            Victims::Tail,
            1,
        ) {
            Verdict::Fails { slots, .. } => Some(slots.iter().map(Vec::len).sum::<usize>()),
            _ => None,
        });
    assert_eq!(fails, [None, None, None, Some(10), None, None, None, Some(10)]);
}

#[test]
fn the_safeguard_gains_a_packet_where_the_buffer_is_below_n() {
    let (sequence, _) = written(3, 2, "0d 1a 1a | 0d 1a");
    assert_eq!(transmitted(&sequence, Victim::Tail, Victim::Tail), (3, 4));
}

#[test]
fn labels_of_another_lqd_than_the_thresholds_cost_packets() {
    // Smallest where the buffer is at least N.
    let (sequence, _) = written(2, 2, "0a 0a | 1a 1d | 0a 0a");
    assert_eq!(transmitted(&sequence, Victim::Arrival, Victim::Tail), (5, 4));
    // Smallest.
    let (sequence, _) = written(3, 2, "0a 1a 1d | 0a 0a");
    assert_eq!(transmitted(&sequence, Victim::Arrival, Victim::Tail), (4, 3));
    let fewest = |size| match verdict(size, Victims::Arrival, Victims::Tail, 1) {
        Verdict::Fails { slots, .. } => Some(slots.iter().map(Vec::len).sum::<usize>()),
        _ => None,
    };
    assert_eq!([(2, 2), (3, 2), (2, 4)].map(fewest), [Some(6), Some(5), None]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn credence_with_perfect_predictions_equals_lqd(sequence in sequences(40), times in 1u8..=6) {
        let buffer = sequence.ports as u8 * times;
        let sequence = Sequence { buffer, ..sequence };
        for victim in [Victim::Tail, Victim::Arrival] {
            let (lqd, credence) = transmitted(&sequence, victim, victim);
            prop_assert_eq!(lqd, credence);
        }
    }
}
