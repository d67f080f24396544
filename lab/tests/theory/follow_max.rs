//! FollowMax: its queues are the longer ones of two drop-tail switches that share the buffer, so that it
//! transmits at least what each of them does. `lab/notes/theory.md` has the proof.

use crate::explore::decide;
use crate::fifo;
use crate::games::Thresholds;
use crate::model::Model;
use crate::reading::Reading;
use crate::sequence::{Sequence, count, eventful, of_predicted, predicted, readings};
use crate::starvation::guarantees;
use crate::two_references::TwoReferences;
use proptest::prelude::*;

/// For every sequence, however many packets arrive in a slot, and whatever the two accept.
#[test]
fn its_queues_are_the_longer_of_any_two_whose_buffers_add_up_to_its_own() {
    let sizes = [(1, 6), (2, 6), (3, 5), (4, 4)].into_iter();
    for (ports, buffer) in sizes.flat_map(|(ports, most)| (2..=most).map(move |own| (ports, own))) {
        for most_arrivals in [Some(ports as u8), None] {
            let model = Model { most_arrivals, ..Model::new((ports, buffer), Reading::CRATE) };
            for first in 0..=buffer {
                let game = TwoReferences { model, parts: [first, buffer - first] };
                let verdict = decide(&game);
                assert!(verdict.holds(), "{model:?} {first}: {verdict:?}");
            }
            // With one packet more between them it can lack one.
            if ports > 1 {
                let verdict = decide(&TwoReferences { model, parts: [buffer, 1] });
                assert!(verdict.fewest_packets().is_some(), "{model:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn it_transmits_at_least_what_follow_lqd_and_harmonic_do_with_their_parts(
        (sequence, drops) in prop_oneof![eventful(80), predicted(30)],
        reading in readings(),
        part in 0u32..=7,
    ) {
        let part = part.min(sequence.buffer);
        let [of_follow, of_harmonic] = sequence.parts(part);
        let own = sequence.follow_max(reading, &drops, part);
        let follow = fifo::follow_lqd(&of_follow, reading, &drops, Thresholds::OfTheRest);
        prop_assert!(own >= count(&follow));
        prop_assert!(own >= count(&fifo::harmonic(&of_harmonic)));
    }
}

/// LQD over Credence, Credence that pays back, and FollowMax with a quarter for Harmonic, in thousandths.
fn ratios(sequence: &Sequence, drops: &[bool]) -> [usize; 3] {
    let reading = Reading::CRATE;
    let lqd = count(&sequence.lqd(reading));
    let own = [
        sequence.credence(reading, drops),
        count(&sequence.paying_back(reading, drops)),
        sequence.follow_max(reading, drops, sequence.buffer / 4),
    ];
    own.map(|own| 1000 * lqd / own)
}

/// The page's table.
#[test]
fn it_is_bounded_where_the_others_are_not() {
    let [starving, missed, positives, perfect] = guarantees(16, 240).map(|(_, slots)| {
        let (sequence, drops) = of_predicted(16, 240, slots);
        ratios(&sequence, &drops)
    });
    assert_eq!(starving, [7651, 1000, 1004]);
    assert_eq!(missed, [7651, 7651, 1003]);
    assert_eq!(positives, [15_888, 15_888, 1000]);
    assert_eq!(perfect, [1000, 1000, 1149]);
}
