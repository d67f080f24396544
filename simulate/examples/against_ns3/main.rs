//! Runs the flows of the Credence authors' ns-3 code in this fabric and prints both slowdowns as a
//! table.
//!
//!     cargo run --release -p dropcast-simulate --example against_ns3 -- FOLDER [SEEDS]
//!
//! FOLDER holds `flows.csv` and `fct-ns3-*.csv`.
#![allow(clippy::print_stdout, clippy::expect_used)]

mod comparison;

use comparison::{CLASSES, NS3_PUSHED_OUT, POLICIES, Result, here, ns3};
use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("the folder with ns-3's files"));
    let seeds = arguments.next().map_or(5, |seeds| seeds.parse().expect("a number of seeds"));
    println!("Slowdown p50 / p95 / p99; here: mean over {seeds} seeds (least to most)\n");
    println!("| policy | | {} | incast late | dropped at leaf 0 |", CLASSES.join(" | "));
    println!("|---|---|---|---|---|---|---|");
    for (name, policy) in POLICIES {
        let there = ns3(&folder, name);
        let pushed = if name == "lqd" { NS3_PUSHED_OUT.to_string() } else { String::new() };
        print_row(name, "ns-3", &[there], Some(pushed));
        let runs: Vec<Result> = (1..=seeds).map(|seed| here(&folder, policy, seed)).collect();
        print_row("", "here", &runs, None);
    }
}

fn print_row(name: &str, source: &str, runs: &[Result], dropped: Option<String>) {
    let percentiles: Vec<Vec<f64>> = runs.iter().map(Result::percentiles).collect();
    let cell = |nth: usize| spread(percentiles.iter().map(|run| run[nth]));
    let classes: Vec<String> =
        (0..3).map(|class| [0, 1, 2].map(|p| cell(3 * class + p)).join(" / ")).collect();
    let late = spread(runs.iter().map(|run| 100.0 * run.late));
    let dropped = dropped.unwrap_or_else(|| spread(runs.iter().map(|run| run.dropped as f64)));
    println!("| {name} | {source} | {} | {late}% | {dropped} |", classes.join(" | "));
}

fn spread(values: impl Iterator<Item = f64> + Clone) -> String {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let (least, most) = values.fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(v), m.max(v)));
    let digits = if mean >= 100.0 { 0 } else { 1 };
    if count == 1.0 {
        return format!("{mean:.digits$}");
    }
    format!("{mean:.digits$} ({least:.digits$} to {most:.digits$})")
}
