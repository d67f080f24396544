//! Runs the flows of the Credence authors' ns-3 code in this fabric, on ns-3's paths, and prints
//! both as a table.
//!
//!     cargo run --release -p dropcast-lab --example against_ns3 -- FOLDER
//!
//! FOLDER holds `flows.csv` and `fct-ns3-*.csv`, of some policies or all.
#![allow(clippy::print_stdout, clippy::expect_used)]

#[path = "../../lab/fabric/tests/ns3/comparison.rs"]
mod comparison;

use comparison::{CLASSES, POLICIES, Paths, Result, here, ns3};
use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("the folder with ns-3's files"));
    println!("Slowdown p50 / p95 / p99; flows that took 10 ms or more, 20 ms or more; the median");
    println!("difference of a flow's completion time\n");
    println!(
        "| policy | | {} | 10 ms | 20 ms | drops of leaf 0 | flow by flow |",
        CLASSES.join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, policy) in POLICIES {
        if !folder.join(format!("fct-ns3-{name}.csv")).exists() {
            continue;
        }
        let there = ns3(&folder, name);
        print_row(name, "ns-3", &there, String::new(), String::new());
        let here = here(&folder, policy, Paths::Ns3);
        let difference = format!("{:.1}%", 100.0 * here.difference(&there));
        print_row("", "here", &here, here.dropped.to_string(), difference);
    }
}

fn print_row(name: &str, source: &str, result: &Result, dropped: String, difference: String) {
    let digits = |value: f64| match value < 100.0 {
        true => format!("{value:.1}"),
        false => format!("{value:.0}"),
    };
    let cells: Vec<_> = result.percentiles().into_iter().map(digits).collect();
    let classes: Vec<_> = cells.chunks(3).map(|class| class.join(" / ")).collect();
    let (one, two) = (result.taking_ms(10.0), result.taking_ms(20.0));
    let classes = classes.join(" | ");
    println!("| {name} | {source} | {classes} | {one} | {two} | {dropped} | {difference} |");
}
