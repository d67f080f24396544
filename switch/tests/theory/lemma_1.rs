//! Lemma 1: Credence(sigma) >= LQD(sigma) / eta, that is, Credence transmits at least what
//! FollowLQD does of sigma minus the predicted positives. It fails; so does Theorem 1.

use crate::explore::{Verdict, decide};
use crate::games::{Lemma1, Size, Thresholds};
use crate::optimum::optimum;
use crate::pseudocode::{
    credence_arrival, departures, follow_lqd_arrival, update_threshold_arrival,
    update_threshold_departures,
};
use crate::sequence::{Sequence, count, predicted, written};
use dropcast_switch::Victim;
use proptest::prelude::*;

fn verdict((ports, buffer): (usize, u8), thresholds: Thresholds, scale: (i32, i32)) -> Verdict {
    decide(&Lemma1 { size: Size { ports, buffer }, thresholds, scale }, 60)
}

fn packets(verdict: &Verdict) -> Option<usize> {
    match verdict {
        Verdict::Fails { slots, .. } => Some(slots.iter().map(Vec::len).sum()),
        _ => None,
    }
}

/// What OPT, LQD, FollowLQD without the positives, and Credence transmit.
fn transmitted(sequence: &Sequence, predictions: &[bool]) -> [usize; 4] {
    [
        optimum(sequence),
        count(&sequence.lqd(Victim::Tail)),
        sequence.follow_lqd(Victim::Tail, predictions),
        sequence.credence(Victim::Tail, predictions),
    ]
}

fn written_predictions(ports: usize, buffer: u8, text: &str) -> (Sequence, Vec<bool>) {
    let (sequence, letters) = written(ports, buffer, text);
    (sequence, letters.into_iter().map(|letter| letter == 'd').collect())
}

#[test]
fn lemma_1_fails_with_4_packets_at_2_ports_and_a_buffer_of_2() {
    let (sequence, predictions) = written_predictions(2, 2, "0a 0a | 1d 0a");
    // eta = 3/3 = 1, and yet LQD/Credence = 3/2.
    assert_eq!(transmitted(&sequence, &predictions), [3, 3, 3, 2]);
    // It does not depend on which of LQD's packets is the victim.
    assert_eq!(count(&sequence.lqd(Victim::Arrival)), 3);
    assert_eq!(sequence.follow_lqd(Victim::Arrival, &predictions), 3);
    assert_eq!(sequence.credence(Victim::Arrival, &predictions), 2);
}

#[test]
fn lemma_1_and_theorem_1_fail_with_3_packets_where_the_buffer_is_below_n() {
    let (sequence, predictions) = written_predictions(3, 2, "0a 1d 0a");
    // eta = 2/2 = 1: the bound of Theorem 1 is min(1.707, 3), OPT/Credence = 2.
    assert_eq!(transmitted(&sequence, &predictions), [2, 2, 2, 1]);
}

#[test]
fn theorem_1_fails_where_every_port_can_hold_a_packet() {
    let (sequence, predictions) = written_predictions(4, 4, "0a 0a 1d 1d | 2d 3d 0a 0a");
    let [opt, lqd, follow, credence] = transmitted(&sequence, &predictions);
    assert_eq!([opt, lqd, follow, credence], [6, 6, 4, 2]);
    // OPT/Credence > 1.707 eta, in integers.
    assert!(1000 * opt * follow > 1707 * lqd * credence);
}

#[test]
fn these_are_the_smallest() {
    let all = (1..=4).flat_map(|ports| (1..=5).map(move |buffer| (ports, buffer)));
    let mut fewest = Vec::new();
    for size in all {
        let verdict = verdict(size, Thresholds::OfTheRest, (1, 1));
        assert_eq!(matches!(verdict, Verdict::Holds { .. }), size.0 == 1 || size.1 == 1);
        fewest.extend(packets(&verdict).map(|packets| (packets, size.0, size.1)));
    }
    fewest.sort_unstable();
    assert_eq!(fewest[..3], [(3, 3, 2), (3, 4, 2), (4, 2, 2)]);
    let theorem_1 = |size| packets(&verdict(size, Thresholds::OfTheRest, (1707, 1000)));
    assert_eq!([(3, 2), (3, 3), (4, 4)].map(theorem_1), [Some(3), Some(10), Some(8)]);
}

#[test]
fn the_worst_ratio_of_lemma_1_on_small_switches() {
    for (size, worst) in [((2, 2), 150), ((2, 3), 150), ((2, 4), 150), ((3, 3), 200)] {
        for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
            let holds = |c| {
                matches!(
                    decide(
                        &Lemma1 {
                            size: Size { ports: size.0, buffer: size.1 },
                            thresholds,
                            scale: (c, 100)
                        },
                        300,
                    ),
                    Verdict::Holds { .. }
                )
            };
            assert!(holds(worst) && !holds(worst - 1), "{size:?} {thresholds:?}");
        }
    }
}

/// Credence and, on the packets that are not predicted to be dropped, FollowLQD with the
/// thresholds of all packets; packets transmitted.
fn with_the_same_thresholds(
    sequence: &Sequence,
    predictions: &[bool],
    has_safeguard: bool,
) -> (usize, usize) {
    let mut thresholds = vec![0; sequence.ports];
    let (mut credence, mut follow) = (thresholds.clone(), thresholds.clone());
    let (mut sent, mut slot) = ((0, 0), 0);
    for (at, packet) in sequence.packets() {
        for _ in slot..at {
            update_threshold_departures(&mut thresholds);
            departures(&mut credence);
            departures(&mut follow);
        }
        slot = at;
        let (i, buffer) = (packet.queue, sequence.buffer);
        let drop = predictions[packet.id as usize];
        update_threshold_arrival(&mut thresholds, buffer, i);
        let by_credence = if has_safeguard {
            credence_arrival(&mut credence, &thresholds, buffer, i, drop)
        } else {
            // Algorithm 1 without lines 5 to 9.
            !drop && follow_lqd_arrival(&mut credence, &thresholds, buffer, i)
        };
        let by_follow = !drop && follow_lqd_arrival(&mut follow, &thresholds, buffer, i);
        sent.0 += usize::from(by_credence);
        sent.1 += usize::from(by_follow);
    }
    sent
}

#[test]
fn the_safeguard_can_cost_more_than_it_gives() {
    let (sequence, predictions) = written_predictions(2, 2, "0d 0a | 0a 1a | 0a");
    assert_eq!(with_the_same_thresholds(&sequence, &predictions, true), (3, 4));
    assert_eq!(with_the_same_thresholds(&sequence, &predictions, false), (4, 4));
    assert_eq!(packets(&verdict((2, 2), Thresholds::OfAll, (1, 1))), Some(5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn without_safeguard_and_with_the_same_thresholds_it_is_an_equality(
        (sequence, predictions) in predicted(30),
    ) {
        let (credence, follow) = with_the_same_thresholds(&sequence, &predictions, false);
        prop_assert_eq!(credence, follow);
    }

    /// What is left of Lemma 1: FollowLQD transmits at most (N+1)/2 times what Credence does.
    #[test]
    fn not_refuted_credence_transmits_two_out_of_n_plus_1_of_follow_lqd(
        (sequence, predictions) in predicted(30),
    ) {
        let follow = sequence.follow_lqd(Victim::Tail, &predictions);
        let credence = sequence.credence(Victim::Tail, &predictions);
        prop_assert!(2 * follow <= (sequence.ports + 1) * credence);
    }
}
