//! Decides the papers' claims for every arrival sequence of small switches under every reading, and
//! prints the smallest counterexample where one fails (`lab/notes/theory.md`).
//!
//! `cargo run --release -p dropcast-lab --example counterexamples -- CLAIM N,B [N,B ...]`,
//! CLAIM one of
//!
//! - `lqd credence lemma1 lemma1-own eta theorem2 perfect`: the paper's claims, under each reading;
//! - `theorem1`: its shortest counterexample of at most 12 packets, under each reading;
//! - `theorem1-all`: linear claims from which it follows for every sequence, if they are found;
//! - `lemma1-half`: FollowLQD <= (N + 1)/2 Credence;
//! - `others`: other policies; `ratios`: the least ratio that holds for each policy;
//! - `changed`: Lemma 1 of changed safeguards and drop criteria; `any`: how they follow any
//!   reference; `robust`: which safeguards alone make a policy N-competitive.
//!
//! States grow fast with N and B: `4,4` takes seconds, `4,6` minutes.
//!
//! A packet is its port and a letter. The prediction: `a` accept, `d` drop; a capital means that
//! OPT takes the packet (`*` and `.` without predictions). For `theorem2`: `t` true negative, `n`
//! false negative, `p` false positive, `P` true positive.

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(dead_code, reason = "the tests use more of the modules it shares with them")]

#[path = "../tests/theory/explore.rs"]
mod explore;
#[path = "../tests/theory/games.rs"]
mod games;
#[path = "../tests/theory/model.rs"]
mod model;
#[path = "../tests/theory/pseudocode.rs"]
mod pseudocode;
#[path = "../tests/theory/reading.rs"]
mod reading;
#[path = "../tests/theory/rivals.rs"]
mod rivals;
#[path = "../tests/theory/safeguards.rs"]
mod safeguards;
#[path = "../tests/theory/theorem_1_lines.rs"]
mod theorem_1_lines;
#[path = "../tests/theory/theorem_1_search.rs"]
mod theorem_1_search;

use explore::{Game, Move, Verdict, decide};
use games::{EtaAtLeastOne, Lemma1, Perfect, Theorem2, Thresholds};
use model::Model;
use reading::{Order, Reading, Share, Victims};
use rivals::{Competitive, Rival};
use safeguards::{ChangedLemma1, FollowsAny, Limit, Safeguard, SafeguardedCompetitive};

/// Maximum packets of a sequence in the search for a counterexample to Theorem 1.
const MOST_OF_THEOREM_1: usize = 12;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let claim = arguments.next().unwrap_or_default();
    for text in arguments {
        let size = text
            .split_once(',')
            .and_then(|(ports, buffer)| Some((ports.parse().ok()?, buffer.parse().ok()?)));
        match size {
            Some(size) => print_claim(&claim, size),
            None => println!("{text}: expected N,B"),
        }
    }
}

fn print_claim(claim: &str, size: (usize, u8)) {
    match claim {
        "others" => print_others(size),
        "ratios" => print_ratios(size),
        "changed" => print_changed(size),
        "any" => print_any(size),
        "robust" => print_robust(size),
        _ => {
            for reading in readings(claim, size) {
                print_under(claim, Model::new(size, reading));
            }
        }
    }
}

/// The readings that can affect a claim.
fn readings(claim: &str, (ports, buffer): (usize, u8)) -> Vec<Reading> {
    let has_safeguard = !matches!(claim, "lqd" | "eta" | "theorem2");
    let shares = if has_safeguard && usize::from(buffer) % ports != 0 {
        vec![Share::Fraction, Share::Floor]
    } else {
        vec![Share::Fraction]
    };
    let with_share = |reading| shares.iter().map(move |&share| Reading { share, ..reading });
    let with_order =
        |reading| [Order::Any, Order::ByPort].map(|order| Reading { order, ..reading });
    Reading::lqds().flat_map(with_share).flat_map(with_order).collect()
}

fn print_under(claim: &str, model: Model) {
    let n = model.ports as i32;
    match claim {
        "lqd" => {
            let game = Competitive { model, rival: Rival::Lqd, scale: (1707, 1000) };
            print(model, "OPT <= 1.707 LQD", &game);
        }
        "credence" => {
            let game = Competitive { model, rival: Rival::Credence, scale: (n, 1) };
            print(model, "OPT <= N Credence, any predictions", &game);
        }
        "lemma1" => {
            let game = Lemma1 { model, thresholds: Thresholds::OfTheRest, scale: (1, 1) };
            print(model, "Lemma 1", &game);
        }
        "lemma1-own" => {
            let game = Lemma1 { model, thresholds: Thresholds::OfAll, scale: (1, 1) };
            print(model, "Lemma 1, FollowLQD with Credence's thresholds", &game);
        }
        "eta" => print(model, "eta >= 1", &EtaAtLeastOne { model }),
        "theorem1" => print_theorem_1(model),
        "theorem1-all" => {
            println!("{} Theorem 1: {:?}", named(model), theorem_1_lines::find(model));
        }
        "lemma1-half" => {
            for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
                let game = Lemma1 { model, thresholds, scale: (n + 1, 2) };
                print(model, &format!("FollowLQD ({thresholds:?}) <= (N + 1)/2 Credence"), &game);
            }
        }
        "theorem2" => {
            for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
                for weight in [n - 1, n, 2 * n, 10 * n] {
                    let game = Theorem2 { model, thresholds, weight };
                    print(model, &format!("FollowLQD ({thresholds:?}) >= TN - {weight} FN"), &game);
                }
            }
        }
        "perfect" => {
            for labels in [model.reading.victims, Victims::Arrival] {
                for (sign, is) in [(1, ">="), (-1, "<=")] {
                    let game = Perfect { model, labels, sign };
                    print(model, &format!("Credence {is} LQD, labels {labels:?}"), &game);
                }
            }
        }
        _ => println!("no claim {claim:?}"),
    }
}

fn print_theorem_1(model: Model) {
    for (eta_of_1_or_more, which) in [(false, "any eta"), (true, "eta >= 1")] {
        print!("{} Theorem 1, {which}: ", named(model));
        match theorem_1_search::shortest(model, MOST_OF_THEOREM_1, eta_of_1_or_more) {
            Some((slots, counts)) => println!("FAILS, {counts:?}: {}", written(&slots)),
            None => println!("no counterexample of up to {MOST_OF_THEOREM_1} packets"),
        }
    }
}

fn print_others(size: (usize, u8)) {
    let model = Model::new(size, Reading::CRATE);
    for rival in OTHERS {
        let game = Competitive { model, rival, scale: (model.ports as i32, 1) };
        print(model, &format!("OPT <= N {rival:?}"), &game);
    }
    let per_mille = (1000.0 * ((model.ports as f64).ln() + 2.0)) as i32;
    let game = Competitive { model, rival: Rival::Harmonic, scale: (per_mille, 1000) };
    print(model, "OPT <= (ln N + 2) Harmonic", &game);
}

const OTHERS: [Rival; 4] = [
    Rival::FollowLqd,
    Rival::CompleteSharing,
    Rival::CompletePartitioning,
    Rival::DynamicThresholds,
];

/// Rows of the page's table of ratios.
fn print_ratios(size: (usize, u8)) {
    let model = Model::new(size, Reading::CRATE);
    let arrival = Model::new(size, Reading { victims: Victims::Arrival, ..Reading::CRATE });
    let of = |model, rival| worst(|c| Competitive { model, rival, scale: (c, 100) });
    let mut row = vec![of(model, Rival::Lqd), of(arrival, Rival::Lqd)];
    let rest = [
        Rival::FollowLqd,
        Rival::Credence,
        Rival::CompleteSharing,
        Rival::CompletePartitioning,
        Rival::DynamicThresholds,
        Rival::Harmonic,
    ];
    row.extend(rest.map(|rival| of(model, rival)));
    for thresholds in [Thresholds::OfTheRest, Thresholds::OfAll] {
        row.push(worst(|c| Lemma1 { model, thresholds, scale: (c, 100) }));
    }
    let cells: Vec<String> = row.into_iter().map(in_hundredths).collect();
    println!("| {}, {} | {} |", size.0, size.1, cells.join(" | "));
}

fn in_hundredths(ratio: Option<i32>) -> String {
    ratio.map_or("none".to_owned(), |c| format!("{:.2}", f64::from(c) / 100.0))
}

/// The smallest c, in hundredths, for which the claim holds; `None` if it fails for 10.
///
/// # Panics
/// If a ratio could not be decided.
fn worst<G: Game>(game: impl Fn(i32) -> G) -> Option<i32> {
    let fails = |c| decide(&game(c)).fewest_packets().is_some();
    let (mut low, mut high) = (100, 1000);
    if fails(high) {
        return None;
    }
    while low < high {
        let middle = i32::midpoint(low, high);
        if fails(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(low)
}

fn print_changed(size: (usize, u8)) {
    for limit in [Limit::Thresholds, Limit::ThresholdsOfTheRest, Limit::Reference] {
        for safeguard in Safeguard::ALL {
            let verdicts = Reading::lqds().map(|reading| {
                let model = Model::new(size, reading);
                decide(&ChangedLemma1 { model, limit, safeguard })
            });
            let verdicts: Vec<String> = verdicts.map(|verdict| short(&verdict)).collect();
            println!("{size:?} Lemma 1, {limit:?}, {safeguard:?}: {}", verdicts.join(" "));
        }
    }
}

fn print_any(size: (usize, u8)) {
    let model = Model::new(size, Reading::CRATE);
    for safeguard in Safeguard::ALL {
        let game = FollowsAny { model, safeguard };
        print(model, &format!("{safeguard:?} follows any reference"), &game);
    }
}

fn print_robust(size: (usize, u8)) {
    for share in [Share::Fraction, Share::Floor] {
        let model = Model::new(size, Reading { share, ..Reading::CRATE });
        for safeguard in Safeguard::ALL {
            let game = SafeguardedCompetitive { model, safeguard };
            print(model, &format!("OPT <= N any policy with {safeguard:?}"), &game);
        }
    }
}

fn short(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds { .. } => "holds".to_owned(),
        Verdict::NotDecided { .. } => "undecided".to_owned(),
        Verdict::Fails { .. } => format!("fails@{}", verdict.fewest_packets().unwrap_or(0)),
    }
}

fn named(Model { ports, buffer, reading, .. }: Model) -> String {
    let Reading { victims, ties, share, order } = reading;
    format!("N={ports} B={buffer} {victims:?} {ties:?} {share:?} {order:?}")
}

fn print(model: Model, claim: &str, game: &impl Game) {
    print!("{} {claim}: ", named(model));
    match decide(game) {
        Verdict::Holds { states } => println!("holds ({states} states)"),
        Verdict::NotDecided { packets } => println!("not decided with {packets} packets"),
        Verdict::Fails { slots, value } => {
            let packets: usize = slots.iter().map(Vec::len).sum();
            println!("FAILS by {} with {packets} packets: {}", -value, written(&slots));
        }
    }
}

fn written(slots: &[Vec<Move>]) -> String {
    let slot = |slot: &Vec<Move>| {
        slot.iter().map(|(port, choice)| format!("{port}{choice}")).collect::<Vec<_>>().join(" ")
    };
    slots.iter().map(slot).collect::<Vec<_>>().join(" | ")
}
