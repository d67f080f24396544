//! Observation 1: FollowLQD is at least (N+1)/2-competitive.

use crate::explore::{Verdict, decide};
use crate::games::{Competitive, Rival, Size};
use crate::optimum::optimum;
use crate::sequence::{Sequence, count};
use dropcast_switch::Victim;

/// The proof's sequence: fill queue 0 to `B`; then, over and over, one packet to each port (to
/// port 0 first) and, a slot later, `N` to port 0.
fn sequence(ports: usize, buffer: u8, cycles: usize) -> Sequence {
    let burst = vec![0; ports];
    let each: Vec<usize> = (0..ports).collect();
    // Each slot adds up to N packets and sends one; the last one ends with B packets.
    let slots_to_fill = (usize::from(buffer) - 1).div_ceil(ports - 1);
    let mut slots = vec![burst.clone(); slots_to_fill];
    for _ in 0..cycles {
        slots.push(each.clone());
        slots.push(burst.clone());
    }
    Sequence { ports, buffer, slots }
}

fn transmitted(sequence: &Sequence) -> (usize, usize) {
    let nothing = vec![false; sequence.len()];
    (count(&sequence.lqd(Victim::Tail)), sequence.follow_lqd(Victim::Tail, &nothing))
}

#[test]
fn a_cycle_transmits_2_packets_of_follow_lqd_and_n_plus_1_of_lqd() {
    for (ports, buffer) in [(2, 4), (3, 6), (4, 8), (8, 16), (16, 48)] {
        let (lqd, follow) = transmitted(&sequence(ports, buffer, 50));
        let (lqd_later, follow_later) = transmitted(&sequence(ports, buffer, 150));
        assert_eq!(follow_later - follow, 2 * 100, "N = {ports}");
        assert_eq!(lqd_later - lqd, (ports + 1) * 100, "N = {ports}");
    }
}

#[test]
fn the_ratio_of_opt_approaches_half_of_n_plus_1() {
    for (ports, buffer) in [(2, 4), (3, 6), (4, 6)] {
        let ratio = |cycles| {
            let sequence = sequence(ports, buffer, cycles);
            optimum(&sequence) as f64 / transmitted(&sequence).1 as f64
        };
        let limit = (ports as f64 + 1.0) / 2.0;
        let gaps = [10, 100, 1000].map(|cycles| (limit - ratio(cycles)).abs());
        assert!(gaps[1] < gaps[0] / 5.0 && gaps[2] < gaps[1] / 5.0, "N = {ports}: {gaps:?}");
        assert!(gaps[2] < 0.01, "N = {ports}: {gaps:?}");
    }
}

/// More than the paper claims: on these switches no sequence is worse than the observation's.
#[test]
fn half_of_n_plus_1_is_exact_on_small_switches() {
    for (ports, buffer) in [(2, 2), (2, 3), (2, 4), (2, 6), (3, 2), (3, 3), (3, 4)] {
        let holds = |scale| {
            let game = Competitive { size: Size { ports, buffer }, rival: Rival::FollowLqd, scale };
            matches!(decide(&game, 300), Verdict::Holds { .. })
        };
        let n = ports as i32;
        assert!(holds((n + 1, 2)), "N = {ports}, B = {buffer}");
        assert!(!holds((50 * (n + 1) - 1, 100)), "N = {ports}, B = {buffer}");
    }
}
