//! A changed Credence keeps the promises of Lemmas 1 and 2, and so of Theorem 1: its queues follow
//! those of FollowLQD without the positives, and its safeguard accepts while fewer than `B/N`
//! packets are held. `docs/theory.md` has the proof; here it is tested on all sequences of small
//! switches and on random ones.

use crate::competitiveness::SMALL;
use crate::explore::decide;
use crate::model::Model;
use crate::optimum::optimum;
use crate::reading::Reading;
use crate::safeguards::{ChangedLemma1, FollowsAny, Limit, Safeguard, SafeguardedCompetitive};
use crate::sequence::{
    count, labels, of_moves, of_predicted, predicted, predictions, readings, sequences,
};
use crate::starvation::starvation;
use proptest::prelude::*;

fn lemma_1(
    size: (usize, u8),
    reading: Reading,
    limit: Limit,
    safeguard: Safeguard,
) -> ChangedLemma1 {
    ChangedLemma1 { model: Model::new(size, reading), limit, safeguard }
}

#[test]
fn it_keeps_lemma_1_under_every_reading() {
    for reading in Reading::lqds_and_shares() {
        for size in SMALL.into_iter().chain([(3, 6), (4, 4)]) {
            let game = lemma_1(size, reading, Limit::Reference, Safeguard::Occupancy);
            let verdict = decide(&game);
            assert!(verdict.holds(), "{size:?} {reading:?}: {verdict:?}");
        }
    }
}

/// Stronger than Lemma 1: it transmits at least as much as any drop-tail policy whose queues it
/// follows.
#[test]
fn it_keeps_up_with_any_drop_tail_policy() {
    let sizes = (1..=20).map(|buffer| (2, buffer));
    let sizes = sizes.chain((1..=13).map(|buffer| (3, buffer)));
    for size in sizes.chain((1..=10).map(|buffer| (4, buffer))) {
        let model = Model::new(size, Reading::CRATE);
        let verdict = decide(&FollowsAny { model, safeguard: Safeguard::Occupancy });
        assert!(verdict.holds(), "{size:?}: {verdict:?}");
        // Credence's own safeguard does so if N divides B.
        if usize::from(size.1) % size.0 == 0 {
            let verdict = decide(&FollowsAny { model, safeguard: Safeguard::Longest });
            assert!(verdict.holds(), "{size:?}: {verdict:?}");
        }
    }
}

#[test]
fn credences_own_safeguard_is_too_large_where_n_does_not_divide_b() {
    for size in [(3, 4), (3, 7), (4, 5), (4, 6)] {
        let model = Model::new(size, Reading::CRATE);
        let verdict = decide(&FollowsAny { model, safeguard: Safeguard::Longest });
        assert!(verdict.fewest_packets().is_some(), "{size:?}");
    }
}

/// A share of the buffer in total is enough for Lemma 2, whatever the policy does otherwise.
#[test]
fn its_safeguard_alone_makes_any_policy_n_competitive() {
    for size in SMALL.into_iter().chain([(2, 12), (3, 6), (4, 4)]) {
        let model = Model::new(size, Reading::CRATE);
        for safeguard in Safeguard::ALL {
            let verdict = decide(&SafeguardedCompetitive { model, safeguard });
            let fewest = (safeguard == Safeguard::Never).then_some(1);
            assert_eq!(verdict.fewest_packets(), fewest, "{size:?} {safeguard:?}");
        }
    }
}

/// Less is not enough: with LQD's queues as thresholds, of all packets or of the rest, each
/// safeguard that makes it N-competitive breaks Lemma 1.
#[test]
fn other_safeguards_with_thresholds_fail() {
    for reading in Reading::lqds() {
        for size in [(2, 2), (2, 3), (2, 4), (3, 3), (3, 4)] {
            for limit in [Limit::Thresholds, Limit::ThresholdsOfTheRest] {
                for safeguard in [Safeguard::Longest, Safeguard::Own, Safeguard::Occupancy] {
                    let verdict = decide(&lemma_1(size, reading, limit, safeguard));
                    let slots = verdict.counterexample();
                    // The changed Credence that pays back survives the same sequence.
                    let (sequence, letters) = of_moves(size.0, u32::from(size.1), slots);
                    let drops = predictions(&letters);
                    let followed = sequence.follow_lqd(reading, &drops);
                    assert!(sequence.paying_back(reading, &drops) >= followed);
                }
            }
        }
    }
}

#[test]
fn it_does_not_starve() {
    for (ports, buffer) in [(3, 6), (8, 56), (16, 240)] {
        let slots = starvation(ports, buffer, 100);
        let (sequence, drops) = of_predicted(ports, buffer as u32, slots);
        let followed = sequence.follow_lqd(Reading::CRATE, &drops);
        let paying_back = sequence.paying_back(Reading::CRATE, &drops);
        assert!(paying_back >= followed, "{ports},{buffer}: {paying_back} < {followed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn it_keeps_lemma_1_and_lemma_2(
        (sequence, drops) in predicted(30),
        reading in readings(),
    ) {
        let paying_back = sequence.paying_back(reading, &drops);
        prop_assert!(paying_back >= sequence.follow_lqd(reading, &drops));
        if reading.share.is_above(0, sequence.ports as u32, sequence.buffer) {
            prop_assert!(optimum(&sequence) <= sequence.ports * paying_back);
        }
    }

    #[test]
    fn with_perfect_predictions_it_transmits_at_least_what_lqd_does(
        sequence in sequences(40),
        reading in readings(),
    ) {
        let lqd = sequence.lqd(reading);
        prop_assert!(sequence.paying_back(reading, &labels(&lqd)) >= count(&lqd));
    }
}
