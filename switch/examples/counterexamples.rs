//! Decides the papers' claims for every arrival sequence of small switches, and prints the
//! smallest counterexample where one fails (`docs/theory.md`).
//!
//! `cargo run --release -p dropcast-switch --example counterexamples -- CLAIM N,B [N,B ...]`,
//! CLAIM one of `lqd credence others lemma1 lemma1-own theorem1 theorem2 perfect ratios`. States grow fast with
//! N and B: `4,4` takes seconds, `4,6` minutes.
//!
//! A packet is its port and a letter. What was predicted: `a` accept, `d` drop; a capital says
//! that OPT takes the packet (`*` and `.` where nothing is predicted). For `theorem2`: `t` true
//! negative, `n` false negative, `p` false positive, `P` true positive.

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(dead_code, reason = "the tests use more of the modules it shares with them")]

#[path = "../tests/theory/explore.rs"]
mod explore;
#[path = "../tests/theory/games.rs"]
mod games;
#[path = "../tests/theory/pseudocode.rs"]
mod pseudocode;

use explore::{Game, Verdict, decide};
use games::{Competitive, Lemma1, Perfect, Rival, Size, Theorem2, Thresholds, Victims};

/// Give up at this many packets: far beyond every counterexample found.
const MOST_PACKETS: usize = 300;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let claim = arguments.next().unwrap_or_default();
    for text in arguments {
        let parsed = text.split_once(',').and_then(|(ports, buffer)| {
            Some(Size { ports: ports.parse().ok()?, buffer: buffer.parse().ok()? })
        });
        match parsed {
            Some(size) => print_claim(&claim, size),
            None => println!("{text}: expected N,B"),
        }
    }
}

fn print_claim(claim: &str, size: Size) {
    let n = size.ports as i32;
    match claim {
        "lqd" => {
            for victims in [Victims::Tail, Victims::Arrival] {
                let game = Competitive { size, rival: Rival::Lqd(victims), scale: (1707, 1000) };
                print(size, &format!("OPT <= 1.707 LQD ({victims:?})"), &game);
            }
        }
        "credence" => {
            let game = Competitive { size, rival: Rival::Credence, scale: (n, 1) };
            print(size, "OPT <= N Credence, any predictions", &game);
        }
        "others" => {
            for rival in OTHERS {
                let game = Competitive { size, rival, scale: (n, 1) };
                print(size, &format!("OPT <= N {rival:?}"), &game);
            }
            let per_mille = (1000.0 * (f64::from(n).ln() + 2.0)) as i32;
            let game = Competitive { size, rival: Rival::Harmonic, scale: (per_mille, 1000) };
            print(size, "OPT <= (ln N + 2) Harmonic", &game);
        }
        "lemma1" | "theorem1" => {
            // OPT >= LQD, so FollowLQD > 1.707 Credence breaks Theorem 1.
            let scale = if claim == "lemma1" { (1, 1) } else { (1707, 1000) };
            let game = Lemma1 { size, thresholds: Thresholds::OfTheRest, scale };
            print(size, claim, &game);
        }
        "lemma1-own" => {
            let game = Lemma1 { size, thresholds: Thresholds::OfAll, scale: (1, 1) };
            print(size, "Lemma 1, FollowLQD with Credence's thresholds", &game);
        }
        "theorem2" => {
            for weight in [n - 1, n, 2 * n, 10 * n] {
                let game = Theorem2 { size, thresholds: Thresholds::OfTheRest, weight };
                print(size, &format!("FollowLQD >= TN - {weight} FN"), &game);
            }
        }
        "perfect" => {
            for (labels, thresholds) in [
                (Victims::Tail, Victims::Tail),
                (Victims::Arrival, Victims::Tail),
                (Victims::Arrival, Victims::Arrival),
            ] {
                for (sign, is) in [(1, ">="), (-1, "<=")] {
                    let game = Perfect { size, labels, thresholds, sign };
                    let claim =
                        format!("Credence {is} LQD, labels {labels:?}, thresholds {thresholds:?}");
                    print(size, &claim, &game);
                }
            }
        }
        "ratios" => print_ratios(size),
        _ => println!("no claim {claim:?}"),
    }
}

const OTHERS: [Rival; 4] = [
    Rival::FollowLqd,
    Rival::CompleteSharing,
    Rival::CompletePartitioning,
    Rival::DynamicThresholds,
];

fn print_ratios(size: Size) {
    let rivals = [Rival::Lqd(Victims::Tail), Rival::Lqd(Victims::Arrival), Rival::Harmonic];
    for rival in rivals.into_iter().chain(OTHERS).chain([Rival::Credence]) {
        let worst = worst(|c| Competitive { size, rival, scale: (c, 100) });
        println!("{} {} OPT <= c {rival:?}: c = {worst:?}", size.ports, size.buffer);
    }
    for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
        let worst = worst(|c| Lemma1 { size, thresholds, scale: (c, 100) });
        println!(
            "{} {} FollowLQD(rest) <= c Credence ({thresholds:?}): c = {worst:?}",
            size.ports, size.buffer
        );
    }
}

/// The smallest c, in hundredths, for which the claim holds.
fn worst<G: Game>(game: impl Fn(i32) -> G) -> Option<f64> {
    let holds = |c| matches!(decide(&game(c), MOST_PACKETS), Verdict::Holds { .. });
    let (mut low, mut high) = (100, 1000);
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = i32::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(f64::from(low) / 100.0)
}

fn print(size: Size, claim: &str, game: &impl Game) {
    print!("N={} B={} {claim}: ", size.ports, size.buffer);
    match decide(game, MOST_PACKETS) {
        Verdict::Holds { states } => println!("holds ({states} states)"),
        Verdict::Open { packets } => println!("open up to {packets} packets"),
        Verdict::Fails { slots, value } => {
            let packets: usize = slots.iter().map(Vec::len).sum();
            let slots: Vec<String> = slots
                .iter()
                .map(|slot| slot.iter().map(|(port, choice)| format!("{port}{choice}")).collect())
                .map(|packets: Vec<String>| packets.join(" "))
                .collect();
            println!("FAILS by {value} with {packets} packets: {}", slots.join(" | "));
        }
    }
}
