//! OPT against LQD, Credence and the policies without predictions.

use crate::explore::{Verdict, decide};
use crate::model::Model;
use crate::optimum::optimum;
use crate::reading::{Reading, Ties, Victims};
use crate::rivals::{Competitive, Rival};
use crate::sequence::{count, of_moves, predicted, predictions, readings, sequences, written};
use dropcast_switch::Harmonic;
use proptest::prelude::*;

/// Switches for which a claim about OPT and a policy is decided in well under a second.
pub(crate) const SMALL: [(usize, u8); 13] = [
    (1, 3),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (2, 5),
    (2, 6),
    (2, 8),
    (3, 2),
    (3, 3),
    (3, 4),
    (4, 2),
    (4, 3),
];

fn game(size: (usize, u8), reading: Reading, rival: Rival, scale: (i32, i32)) -> Competitive {
    Competitive { model: Model::new(size, reading), rival, scale }
}

fn assert_holds(size: (usize, u8), reading: Reading, rival: Rival, scale: (i32, i32)) {
    let verdict = decide(&game(size, reading, rival, scale));
    assert!(verdict.holds(), "{size:?} {reading:?} {rival:?} {scale:?}: {verdict:?}");
}

/// Decides that the claim fails and replays the counterexample.
pub(crate) fn assert_fails(size: (usize, u8), reading: Reading, rival: Rival, scale: (i32, i32)) {
    let verdict = decide(&game(size, reading, rival, scale));
    let (sequence, letters) = of_moves(size.0, u32::from(size.1), verdict.counterexample());
    let opt = letters.iter().filter(|letter| "*AD".contains(**letter)).count();
    let predictions = predictions(&letters);
    let transmitted = match rival {
        Rival::Lqd => count(&sequence.lqd(reading)),
        Rival::FollowLqd => sequence.follow_lqd(reading, &vec![false; sequence.len()]),
        Rival::Credence => sequence.credence(reading, &predictions),
        Rival::CompleteSharing => sequence.others()[0].1,
        Rival::CompletePartitioning => sequence.others()[1].1,
        Rival::DynamicThresholds => sequence.others()[2].1,
        Rival::Harmonic => sequence.others()[3].1,
    };
    assert!(optimum(&sequence) >= opt, "{size:?} {rival:?}: OPT can take what is claimed");
    let value = scale.0 * transmitted as i32 - scale.1 * opt as i32;
    assert!(
        matches!(verdict, Verdict::Fails { value: found, .. } if found == value && value < 0),
        "{size:?} {rival:?}: replayed {value}, {verdict:?}"
    );
}

#[test]
fn lqd_is_1_707_competitive_on_small_switches_except_tail_with_a_buffer_of_2() {
    for reading in Reading::lqds() {
        for size in SMALL.into_iter().chain([(2, 12), (3, 6), (4, 4)]) {
            let against_the_arrival = reading.ties != Ties::Own;
            let fails = reading.victims == Victims::Tail && against_the_arrival;
            if fails && size.0 > 1 && size.1 == 2 {
                assert_fails(size, reading, Rival::Lqd, (1707, 1000));
                assert_fails(size, reading, Rival::Lqd, (199, 100));
                assert_holds(size, reading, Rival::Lqd, (2, 1));
            } else {
                assert_holds(size, reading, Rival::Lqd, (1707, 1000));
            }
        }
    }
}

#[test]
fn lqd_that_does_not_count_the_arrival_is_2_competitive_with_a_buffer_of_2() {
    let arrival = Reading { victims: Victims::Arrival, ..Reading::CRATE };
    let loop_of = |slots: usize| {
        let text = format!("0* 0* | 1. 1* {} | 0* 0*", "| 0* 1* ".repeat(slots));
        let (sequence, _) = written(2, 2, &text);
        let lqd = |reading| count(&sequence.lqd(reading));
        (optimum(&sequence), lqd(Reading::CRATE), lqd(arrival))
    };
    assert_eq!(loop_of(7), (19, 11, 19));
    // Each further slot: both ports have a packet to send, and this LQD pushes out one of them.
    assert_eq!(loop_of(107), (219, 111, 219));
}

/// Ties do not matter to a policy with arbitrary predictions: they only move thresholds.
#[test]
fn credence_is_n_competitive_for_any_predictions_and_every_sequence_of_small_switches() {
    for size in SMALL.into_iter().chain([(3, 5)]) {
        let readings = Reading::lqds_and_shares().filter(|_| size != (3, 5));
        for reading in readings.chain([Reading::CRATE]) {
            // Rounded down to 0 the safeguard accepts nothing.
            if reading.share.is_above(0, size.0 as u32, u32::from(size.1)) {
                assert_holds(size, reading, Rival::Credence, (size.0 as i32, 1));
            } else {
                assert_fails(size, reading, Rival::Credence, (size.0 as i32, 1));
            }
        }
    }
}

#[test]
fn n_is_the_best_bound_for_credence() {
    for reading in Reading::lqds() {
        for size in [(2, 2), (2, 4)] {
            assert_fails(size, reading, Rival::Credence, (100 * size.0 as i32 - 1, 100));
        }
    }
    for size in [(2, 6), (3, 3)] {
        assert_fails(size, Reading::CRATE, Rival::Credence, (100 * size.0 as i32 - 1, 100));
    }
}

#[test]
fn complete_sharing_and_follow_lqd_are_n_competitive_on_small_switches() {
    for size in SMALL {
        assert_holds(size, Reading::CRATE, Rival::CompleteSharing, (size.0 as i32, 1));
        for reading in Reading::lqds() {
            assert_holds(size, reading, Rival::FollowLqd, (size.0 as i32, 1));
        }
    }
}

#[test]
fn partitioning_and_dynamic_thresholds_are_n_competitive_where_a_port_gets_a_packet() {
    for size in SMALL.into_iter().filter(|&(ports, buffer)| usize::from(buffer) >= ports) {
        let scale = (size.0 as i32, 1);
        assert_holds(size, Reading::CRATE, Rival::CompletePartitioning, scale);
        assert_holds(size, Reading::CRATE, Rival::DynamicThresholds, scale);
    }
    // With less than one packet per port it accepts nothing.
    assert_fails((3, 2), Reading::CRATE, Rival::CompletePartitioning, (1000, 1));
}

#[test]
fn harmonic_keeps_its_bound_except_where_its_parts_round_down() {
    // 1000 (ln N + 2), rounded down.
    let bound = |ports: usize| (1000.0 * ((ports as f64).ln() + 2.0)) as i32;
    for size in SMALL.into_iter().filter(|&(ports, buffer)| usize::from(buffer) >= ports) {
        assert_holds(size, Reading::CRATE, Rival::Harmonic, (bound(size.0), 1000));
    }
    // 4 ports, buffer 2: 2 / (25/12) < 1 packet, it accepts nothing.
    assert_fails((4, 2), Reading::CRATE, Rival::Harmonic, (1000, 1));
    // 4 ports, buffer 4: a queue may hold 4 / (25/12) = 1.92 packets, that is 1; OPT takes 4.
    let (sequence, _) = written(4, 4, "0* 0* 0* 0*");
    let transmitted = count(&sequence.replay(|_| true, Harmonic::default()));
    assert_eq!((optimum(&sequence), transmitted, bound(4)), (4, 1, 3386));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn opt_is_at_most_1_707_lqd(sequence in sequences(12), reading in readings()) {
        let own = Reading { ties: Ties::Own, ..reading };
        // Tail may fail with a buffer of 2, but for ties to the arriving packet's queue.
        let may_fail = reading.victims == Victims::Tail && sequence.buffer == 2;
        let reading = if may_fail { own } else { reading };
        prop_assert!(1000 * optimum(&sequence) <= 1707 * count(&sequence.lqd(reading)));
    }

    #[test]
    fn opt_is_at_most_n_credence_for_any_predictions(
        (sequence, predictions) in predicted(12),
        reading in readings(),
    ) {
        if reading.share.is_above(0, sequence.ports as u32, sequence.buffer) {
            let credence = sequence.credence(reading, &predictions);
            prop_assert!(optimum(&sequence) <= sequence.ports * credence);
        }
    }

    #[test]
    fn opt_is_at_most_n_times_what_the_others_transmit(sequence in sequences(12)) {
        let optimum = optimum(&sequence);
        for (policy, transmitted) in sequence.others() {
            // Parts of less than one packet accept nothing.
            let has_parts = sequence.buffer as usize >= sequence.ports;
            if policy == "complete sharing" || policy == "dynamic thresholds" || has_parts {
                prop_assert!(optimum <= sequence.ports * transmitted, "{policy}");
            }
        }
    }
}
