//! OPT against LQD, Credence and the policies without predictions.

use crate::explore::{Verdict, decide};
use crate::games::{Competitive, Rival, Size, Victims};
use crate::optimum::optimum;
use crate::sequence::{count, predicted, sequences, written};
use dropcast_switch::{Harmonic, Victim};
use proptest::prelude::*;

/// Switches for which a claim about OPT and one policy is decided in well under a second.
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

fn verdict((ports, buffer): (usize, u8), rival: Rival, scale: (i32, i32)) -> Verdict {
    decide(&Competitive { size: Size { ports, buffer }, rival, scale }, 300)
}

fn holds(size: (usize, u8), rival: Rival, scale: (i32, i32)) -> bool {
    matches!(verdict(size, rival, scale), Verdict::Holds { .. })
}

#[test]
fn lqd_is_1_707_competitive_for_every_sequence_of_small_switches() {
    for size in SMALL.into_iter().chain([(2, 12), (3, 6), (4, 4)]) {
        assert!(holds(size, Rival::Lqd(Victims::Arrival), (1707, 1000)), "{size:?}");
        let tail = holds(size, Rival::Lqd(Victims::Tail), (1707, 1000));
        assert_eq!(tail, size.0 == 1 || size.1 != 2, "{size:?}");
    }
}

#[test]
fn lqd_that_does_not_count_the_arrival_is_2_competitive_with_a_buffer_of_2() {
    let loop_of = |slots: usize| {
        let text = format!("0* 0* | 1. 1* {} | 0* 0*", "| 0* 1* ".repeat(slots));
        let (sequence, _) = written(2, 2, &text);
        let lqd = |victim| count(&sequence.lqd(victim));
        (optimum(&sequence), lqd(Victim::Tail), lqd(Victim::Arrival))
    };
    assert_eq!(loop_of(7), (19, 11, 19));
    // Each further slot: both ports have a packet to send, and this LQD pushes out one of them.
    assert_eq!(loop_of(107), (219, 111, 219));
    for size in [(2, 2), (3, 2), (4, 2)] {
        assert!(holds(size, Rival::Lqd(Victims::Tail), (2, 1)), "{size:?}");
        assert!(!holds(size, Rival::Lqd(Victims::Tail), (199, 100)), "{size:?}");
    }
}

#[test]
fn credence_is_n_competitive_for_any_predictions_and_every_sequence_of_small_switches() {
    for size in SMALL.into_iter().chain([(3, 5)]) {
        assert!(holds(size, Rival::Credence, (size.0 as i32, 1)), "{size:?}");
    }
}

#[test]
fn n_is_the_best_bound_for_credence() {
    for size in [(2, 2), (2, 4), (2, 6), (3, 3)] {
        assert!(!holds(size, Rival::Credence, (100 * size.0 as i32 - 1, 100)), "{size:?}");
    }
}

#[test]
fn complete_sharing_and_follow_lqd_are_n_competitive_on_small_switches() {
    for size in SMALL {
        assert!(holds(size, Rival::CompleteSharing, (size.0 as i32, 1)), "{size:?}");
        assert!(holds(size, Rival::FollowLqd, (size.0 as i32, 1)), "{size:?}");
    }
}

#[test]
fn partitioning_and_dynamic_thresholds_are_n_competitive_where_a_port_gets_a_packet() {
    for size in SMALL.into_iter().filter(|&(ports, buffer)| usize::from(buffer) >= ports) {
        assert!(holds(size, Rival::CompletePartitioning, (size.0 as i32, 1)), "{size:?}");
        assert!(holds(size, Rival::DynamicThresholds, (size.0 as i32, 1)), "{size:?}");
    }
    // With less than one packet per port it accepts nothing.
    assert!(!holds((3, 2), Rival::CompletePartitioning, (1000, 1)));
}

#[test]
fn harmonic_keeps_its_bound_except_where_its_parts_round_down() {
    // 1000 (ln N + 2), rounded down.
    let bound = |ports: usize| (1000.0 * ((ports as f64).ln() + 2.0)) as i32;
    for size in SMALL.into_iter().filter(|&(ports, buffer)| usize::from(buffer) >= ports) {
        assert!(holds(size, Rival::Harmonic, (bound(size.0), 1000)), "{size:?}");
    }
    // 4 ports, buffer 2: 2 / (25/12) < 1 packet, it accepts nothing.
    assert!(!holds((4, 2), Rival::Harmonic, (1000, 1)));
    // 4 ports, buffer 4: a queue may hold 4 / (25/12) = 1.92 packets, that is 1; OPT takes 4.
    let (sequence, _) = written(4, 4, "0* 0* 0* 0*");
    let transmitted = count(&sequence.replay(|_| true, Harmonic::default()));
    assert_eq!((optimum(&sequence), transmitted, bound(4)), (4, 1, 3386));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn opt_is_at_most_1_707_lqd(sequence in sequences(12)) {
        let optimum = optimum(&sequence);
        prop_assert!(1000 * optimum <= 1707 * count(&sequence.lqd(Victim::Arrival)));
        if sequence.buffer > 2 {
            prop_assert!(1000 * optimum <= 1707 * count(&sequence.lqd(Victim::Tail)));
        }
    }

    #[test]
    fn opt_is_at_most_n_credence_for_any_predictions((sequence, predictions) in predicted(12)) {
        let optimum = optimum(&sequence);
        for victim in [Victim::Tail, Victim::Arrival] {
            prop_assert!(optimum <= sequence.ports * sequence.credence(victim, &predictions));
        }
    }

    #[test]
    fn opt_is_at_most_n_times_what_the_others_transmit(sequence in sequences(12)) {
        let optimum = optimum(&sequence);
        for (policy, transmitted) in sequence.others() {
            // Parts of less than one packet accept nothing.
            let has_parts = usize::from(sequence.buffer) >= sequence.ports;
            if policy == "complete sharing" || policy == "dynamic thresholds" || has_parts {
                prop_assert!(optimum <= sequence.ports * transmitted, "{policy}");
            }
        }
    }
}
