//! Lemma 1: Credence(sigma) >= LQD(sigma) / eta, that is, Credence transmits at least what
//! FollowLQD does of sigma minus the predicted positives. It fails.

use crate::explore::{Verdict, decide};
use crate::fifo;
use crate::games::{Lemma1, Thresholds};
use crate::model::Model;
use crate::reading::{Order, Reading, Share, Ties, Victims};
use crate::sequence::{Sequence, count, of_moves, predictions, written_predictions};

fn verdict(
    size: (usize, u8),
    reading: Reading,
    thresholds: Thresholds,
    scale: (i32, i32),
) -> Verdict {
    decide(&Lemma1 { model: Model::new(size, reading), thresholds, scale })
}

/// What FollowLQD transmits without the positives.
fn follow(sequence: &Sequence, reading: Reading, drops: &[bool], thresholds: Thresholds) -> usize {
    match thresholds {
        Thresholds::OfTheRest => sequence.follow_lqd(reading, drops),
        Thresholds::OfAll => count(&fifo::follow_lqd(sequence, reading, drops, thresholds)),
    }
}

/// Decides that it fails, replays the counterexample; returns its packets.
fn assert_fails(
    size: (usize, u8),
    reading: Reading,
    thresholds: Thresholds,
    scale: (i32, i32),
) -> usize {
    let verdict = verdict(size, reading, thresholds, scale);
    let (sequence, letters) = of_moves(size.0, u32::from(size.1), verdict.counterexample());
    let drops = predictions(&letters);
    let credence = sequence.credence(reading, &drops) as i32;
    let value =
        scale.0 * credence - scale.1 * follow(&sequence, reading, &drops, thresholds) as i32;
    assert!(
        matches!(verdict, Verdict::Fails { value: found, .. } if found == value && value < 0),
        "{size:?} {reading:?}: replayed {value}, {verdict:?}"
    );
    sequence.len()
}

/// What LQD, FollowLQD without the positives, and Credence transmit.
fn transmitted(sequence: &Sequence, reading: Reading, drops: &[bool]) -> [usize; 3] {
    [
        count(&sequence.lqd(reading)),
        sequence.follow_lqd(reading, drops),
        sequence.credence(reading, drops),
    ]
}

#[test]
fn lemma_1_fails_under_every_reading_at_every_size_but_1_port_or_a_buffer_of_1() {
    for reading in Reading::lqds_and_shares() {
        for order in [Order::Any, Order::ByPort] {
            let reading = Reading { order, ..reading };
            for size in (1..=4).flat_map(|ports| (1..=5).map(move |buffer| (ports, buffer))) {
                let has_safeguard = reading.share.is_above(0, size.0 as u32, u32::from(size.1));
                if size.0 == 1 || (size.1 == 1 && has_safeguard) {
                    let verdict = verdict(size, reading, Thresholds::OfTheRest, (1, 1));
                    assert!(verdict.holds(), "{size:?} {reading:?}: {verdict:?}");
                } else if size.1 > 1 {
                    assert_fails(size, reading, Thresholds::OfTheRest, (1, 1));
                }
            }
        }
    }
}

#[test]
fn it_fails_with_6_packets_whatever_the_ties() {
    let (sequence, drops) = written_predictions(2, 3, "0a 0a | 0a 0a | 1d 0a");
    for reading in Reading::lqds_and_shares() {
        assert_eq!(transmitted(&sequence, reading, &drops), [5, 5, 4], "{reading:?}");
        assert_eq!(assert_fails((2, 3), reading, Thresholds::OfTheRest, (1, 1)), 6);
    }
}

/// Queue 0 at `B - 1`, then `1d 0a`: the threshold of queue 0 falls for a packet that is dropped.
#[test]
fn the_pattern_works_for_all_ports_and_buffers() {
    for ports in [2, 3, 4, 8, 16] {
        for buffer in [3, 4, 5, 6, 17, 240] {
            let mut slots = Vec::new();
            let mut held = 0;
            while held < buffer - 1 {
                let packets = ports.min(buffer - held);
                slots.push(vec![0; packets]);
                held += packets - 1;
            }
            let mut drops = vec![false; slots.iter().map(Vec::len).sum()];
            slots.push(vec![1, 0]);
            drops.extend([true, false]);
            let sequence = Sequence { ports, buffer: buffer as u32, slots };
            for reading in Reading::lqds_and_shares() {
                let [lqd, follow, credence] = transmitted(&sequence, reading, &drops);
                assert_eq!(follow, credence + 1, "{ports},{buffer} {reading:?}");
                assert_eq!(lqd, follow, "{ports},{buffer} {reading:?}");
            }
        }
    }
}

/// Smaller ones, that need their ties.
#[test]
fn the_smallest_counterexamples_depend_on_ties() {
    for reading in Reading::lqds() {
        // With ties against the arriving packet, tail keeps it only for queue 0 at the longest.
        let is_other = reading.victims == Victims::Tail && reading.ties == Ties::Other;
        let fewest = |size| assert_fails(size, reading, Thresholds::OfTheRest, (1, 1));
        let expected = if is_other { [4, 5] } else { [3, 4] };
        assert_eq!([fewest((3, 2)), fewest((2, 2))], expected, "{reading:?}");

        let (sequence, drops) = written_predictions(2, 2, "0a 0a | 1d 0a");
        let [lqd, follow, credence] = transmitted(&sequence, reading, &drops);
        let fails = !is_other && (reading.victims, reading.ties) != (Victims::Tail, Ties::High);
        assert_eq!((lqd, follow, credence), (3, 3, if fails { 2 } else { 3 }), "{reading:?}");

        let (sequence, drops) = written_predictions(3, 2, "0a 1d 0a");
        let [_, follow, credence] = transmitted(&sequence, reading, &drops);
        assert_eq!((follow, credence), (2, if fails { 1 } else { 2 }), "{reading:?}");
    }
}

#[test]
#[ignore = "slow"]
fn the_worst_ratio_of_lemma_1_on_small_switches() {
    for reading in Reading::lqds() {
        for (size, worst) in [((2, 2), 150), ((2, 3), 150), ((2, 4), 150), ((3, 3), 200)] {
            for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
                let verdict = verdict(size, reading, thresholds, (worst, 100));
                assert!(verdict.holds(), "{size:?} {reading:?} {thresholds:?}: {verdict:?}");
                assert_fails(size, reading, thresholds, (worst - 1, 100));
            }
        }
    }
}

/// The proof's reading, in which both have the same thresholds: the safeguard alone costs two
/// packets for the one it gives.
#[test]
fn the_safeguard_can_cost_more_than_it_gives() {
    let (sequence, drops) = written_predictions(2, 2, "0d 0a | 0a 1a | 0a");
    for reading in Reading::lqds() {
        let follow = follow(&sequence, reading, &drops, Thresholds::OfAll);
        assert_eq!((sequence.credence(reading, &drops), follow), (3, 4), "{reading:?}");
        assert_eq!(sequence.follow_lqd(reading, &drops), 4, "{reading:?}");
        assert_eq!(assert_fails((2, 2), reading, Thresholds::OfAll, (1, 1)), 5, "{reading:?}");
    }
}

/// Rounded down to 0 there is no safeguard, and in the proof's reading Lemma 1 holds.
#[test]
fn without_safeguard_and_with_the_same_thresholds_it_holds() {
    for reading in Reading::lqds() {
        for size in [(3, 2), (4, 2), (4, 3)] {
            let reading = Reading { share: Share::Floor, ..reading };
            let verdict = verdict(size, reading, Thresholds::OfAll, (1, 1));
            assert!(verdict.holds(), "{size:?} {reading:?}: {verdict:?}");
        }
    }
}

/// What remains of Lemma 1: FollowLQD transmits at most (N+1)/2 times as much as Credence, with either
/// thresholds.
#[test]
fn credence_transmits_two_out_of_n_plus_1_of_follow_lqd() {
    for size in [(2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3)] {
        for reading in Reading::lqds() {
            // The largest take seconds: ties are varied at the others.
            let is_large = [(3, 4), (4, 3), (2, 6)].contains(&size);
            if is_large && reading != Reading::CRATE {
                continue;
            }
            for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
                let verdict = verdict(size, reading, thresholds, (size.0 as i32 + 1, 2));
                assert!(verdict.holds(), "{size:?} {reading:?} {thresholds:?}: {verdict:?}");
            }
        }
    }
    // With the thresholds of the rest: `--example counterexamples -- lemma1-half 4,4`.
    let verdict = verdict((4, 4), Reading::CRATE, Thresholds::OfAll, (5, 2));
    assert!(verdict.holds(), "{verdict:?}");
}
