//! Against the Credence authors' ns-3 code on the same 2,271 flows.
//!
//! Flows take ns-3's paths. A percentile must be within 20% of ns-3's or, as one timeout more or
//! less moves it by half, within the 95% prediction interval of one more draw over draws of the
//! paths.
#![allow(clippy::print_stderr, clippy::expect_used)]

#[path = "ns3/comparison.rs"]
mod comparison;

use comparison::{CLASSES, POLICIES, Paths, Result, here, kept};
use std::path::{Path, PathBuf};

/// Packets that leaf 0 pushed out in ns-3 under LQD.
const NS3_PUSHED_OUT: f64 = 1_463.0;

const SEEDS: u64 = 5;
/// Student's t for 4 degrees of freedom, 97.5%.
const T: f64 = 2.776;

/// `flows.csv`, the flows, and `fct.csv`, when ns-3 completed them.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ns3")
}

/// The mean, and the half-width of the interval for one more draw.
fn prediction(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    (mean, T * deviation * (1.0 + 1.0 / count).sqrt())
}

fn is_within(share: f64, here: f64, there: f64) -> bool {
    (here - there).abs() <= share * there
}

/// A policy's runs: on ns-3's paths, and on others.
struct Runs {
    same_paths: Result,
    other_paths: Vec<Result>,
}

fn run_all(folder: &Path) -> Vec<Runs> {
    let run = |policy| Runs {
        same_paths: here(folder, policy, Paths::Ns3),
        other_paths: (1..=SEEDS).map(|seed| here(folder, policy, Paths::Drawn(seed))).collect(),
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            POLICIES.map(|(_, policy)| scope.spawn(move || run(policy))).into_iter().collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// The percentiles that differ from ns-3's, each with its numbers; and how many there are.
fn differing(name: &str, runs: &Runs, there: &Result) -> (Vec<String>, usize) {
    let here = runs.same_paths.percentiles();
    let others: Vec<_> = runs.other_paths.iter().map(Result::percentiles).collect();
    let mut wrong = Vec::new();
    for (nth, there) in there.percentiles().into_iter().enumerate() {
        let values: Vec<f64> = others.iter().map(|run| run[nth]).collect();
        let (mean, reach) = prediction(&values);
        if !is_within(0.2, here[nth], there) && (there - mean).abs() > reach {
            let what = (CLASSES[nth / 3], ["p50", "p95", "p99"][nth % 3]);
            wrong.push(format!("{name} {what:?}: {} or {values:?}, not {there}", here[nth]));
        }
    }
    (wrong, here.len())
}

#[test]
fn slowdowns_timeouts_drops_and_the_order_of_policies_are_ns3s() {
    let folder = folder();
    let (mut wrong, mut compared, mut late) = (Vec::new(), 0, Vec::new());
    for ((name, _), runs) in POLICIES.into_iter().zip(run_all(&folder)) {
        let there = kept(&folder, name);
        let (percentiles, count) = differing(name, &runs, &there);
        wrong.extend(percentiles);
        compared += count;
        let here = &runs.same_paths;
        for (timeouts, least_ms) in [(1, 10.0), (2, 20.0)] {
            let (here, there) = (here.taking_ms(least_ms), there.taking_ms(least_ms));
            let says = format!("{name}: {here} flows with {timeouts} timeouts, not {there}");
            assert!(is_within(0.25, here as f64, there as f64), "{says}");
        }
        let difference = here.difference(&there);
        assert!(difference < 0.05, "{name}: flows differ by {difference}");
        let elsewhere = runs.other_paths[0].difference(&there);
        assert!(elsewhere > 2.0 * difference, "{name}: {elsewhere} on other paths");
        if name == "lqd" {
            let dropped = here.dropped as f64;
            assert!(is_within(0.2, dropped, NS3_PUSHED_OUT), "pushed out {dropped}");
        }
        late.push((there.taking_ms(10.0), here.taking_ms(10.0)));
    }
    assert!(100 * wrong.len() <= 3 * compared, "{} of {compared}: {wrong:#?}", wrong.len());
    eprintln!("{} of {compared} percentiles differ: {wrong:#?}", wrong.len());
    // If two policies differ in ns-3 by more than a few late flows, they differ alike here.
    for (there, here) in &late {
        for (other_there, other_here) in &late {
            if *other_there > there + 100 {
                assert!(here < other_here, "late: {late:?}");
            }
        }
    }
}
