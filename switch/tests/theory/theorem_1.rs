//! Theorem 1: OPT <= min(1.707 eta, N) Credence. It fails.

use crate::fifo;
use crate::games::Thresholds;
use crate::model::Model;
use crate::optimum::optimum;
use crate::reading::{Order, Reading, Ties, Victims};
use crate::sequence::{Sequence, count, of_moves, of_predicted, predictions, written_predictions};
use crate::starvation::starvation;
use crate::theorem_1_search::{Counts, shortest};

fn counts(sequence: &Sequence, reading: Reading, drops: &[bool]) -> Counts {
    Counts {
        opt: optimum(sequence) as u32,
        lqd: count(&sequence.lqd(reading)) as u32,
        follow: sequence.follow_lqd(reading, drops) as u32,
        credence: sequence.credence(reading, drops) as u32,
    }
}

/// Searches for a counterexample and replays it; returns its packets.
fn assert_found(size: (usize, u8), reading: Reading, most: usize, eta_of_1: bool) -> usize {
    let found = shortest(Model::new(size, reading), most, eta_of_1);
    let (slots, found) = found.expect("a counterexample");
    let (sequence, letters) = of_moves(size.0, u32::from(size.1), &slots);
    let replayed = counts(&sequence, reading, &predictions(&letters));
    assert!(replayed.opt >= found.opt, "{size:?} {reading:?}");
    assert_eq!(Counts { opt: found.opt, ..replayed }, found, "{size:?} {reading:?}");
    assert!(replayed.refutes_theorem_1());
    sequence.len()
}

/// The strongest: eta tends to 1, LQD / Credence to (N + 1)/2.
#[test]
fn credence_starves_with_eta_near_1() {
    // LQD, FollowLQD without the positives, and Credence.
    let numbers = |ports, buffer, rounds, reading| {
        let slots = starvation(ports, buffer, rounds);
        assert!(slots.iter().all(|slot| slot.len() <= ports), "the model's limit");
        let (sequence, drops) = of_predicted(ports, buffer as u32, slots);
        let follow = sequence.follow_lqd(reading, &drops);
        // As the proof reads it, with the thresholds of all packets, eta is the same.
        let of_all = fifo::follow_lqd(&sequence, reading, &drops, Thresholds::OfAll);
        assert_eq!(count(&of_all), follow, "{ports},{buffer} {reading:?}");
        [count(&sequence.lqd(reading)), follow, sequence.credence(reading, &drops)]
    };
    for reading in Reading::lqds_and_shares() {
        for (ports, buffer) in [(3, 6), (4, 12), (5, 20), (8, 56), (8, 64)] {
            let first = numbers(ports, buffer, 10, reading);
            let later = numbers(ports, buffer, 30, reading);
            let each_round = [0, 1, 2].map(|k| (later[k] - first[k]) / 20);
            assert_eq!(each_round, [ports + 1, ports + 1, 2], "{ports},{buffer} {reading:?}");
            // FollowLQD lacks exactly the packets that the safeguard accepted, forever.
            assert_eq!(later[0] - later[1], ports - 1, "{ports},{buffer} {reading:?}");
        }
    }
    let [lqd, follow, credence] = numbers(16, 240, 1000, Reading::CRATE);
    assert_eq!([lqd, follow, credence], [17_255, 17_240, 2_255]);
}

#[test]
fn it_fails_where_every_port_can_hold_a_packet() {
    // By port index, for any ties; N = B gives (2N - 1)/N.
    let (sequence, drops) = written_predictions(4, 4, "1a 1a 1a 1a | 0d 1a 2d 3d | 1a | 1a");
    let (ten, ten_drops) = written_predictions(4, 4, "0a 0a 1d 1d | 2d 3d 0a 0a");
    for reading in Reading::lqds() {
        let found = counts(&sequence, reading, &drops);
        assert_eq!(found, Counts { opt: 7, lqd: 7, follow: 7, credence: 4 }, "{reading:?}");
        assert!(found.refutes_theorem_1());
        // Shorter, and needs its ties.
        let refutes = counts(&ten, reading, &ten_drops).refutes_theorem_1();
        let needs = reading.victims == Victims::Arrival || reading.ties != Ties::Other;
        assert!(needs || !refutes, "{reading:?}");
    }
    let found = counts(&ten, Reading::CRATE, &ten_drops);
    assert_eq!(found, Counts { opt: 6, lqd: 6, follow: 4, credence: 2 });
}

#[test]
fn at_3_ports_and_a_buffer_of_3_it_fails_with_9_packets() {
    let (sequence, drops) = written_predictions(3, 3, "0a 0a 0a | 2d 1d 1d | 2d 0a 0a");
    let found = counts(&sequence, Reading::CRATE, &drops);
    assert_eq!(found, Counts { opt: 7, lqd: 6, follow: 5, credence: 3 });
    assert!(found.refutes_theorem_1());
    assert_eq!(assert_found((3, 3), Reading::CRATE, 9, false), 9);
}

#[test]
fn at_2_ports_and_a_buffer_of_2_it_fails_for_tail_with_ties_by_port() {
    let (sequence, drops) = written_predictions(2, 2, "1a 1a | 0d 1a | 0d 1d | 0a 0a");
    for reading in Reading::lqds() {
        let by_port = matches!(reading.ties, Ties::Low | Ties::High);
        if reading.victims == Victims::Tail && by_port {
            assert_eq!(assert_found((2, 2), reading, 8, true), 8, "{reading:?}");
        } else {
            // Decides nothing beyond 9 packets.
            assert!(shortest(Model::new((2, 2), reading), 9, false).is_none(), "{reading:?}");
        }
        let found = counts(&sequence, reading, &drops);
        let is_refuted = found == Counts { opt: 7, lqd: 5, follow: 5, credence: 4 };
        assert_eq!(found.refutes_theorem_1(), is_refuted, "{reading:?} {found:?}");
    }
    let low_by_port = Reading { order: Order::ByPort, ..Reading::CRATE };
    assert_eq!(assert_found((2, 2), low_by_port, 8, true), 8);
}
