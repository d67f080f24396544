//! Against the Credence authors' ns-3 code on the same 2,271 flows. Its files are too large to ship:
//! this runs where `DROPCAST_SHARED_FLOWS` names the folder with them or `../../shared/flows` is
//! there, says that it is skipped elsewhere, and then passes.
//!
//! The paths of flows depend in ns-3 on port numbers that are not recorded. So each number is measured
//! over seeds of the paths, and ns-3's, which is one draw, is to lie within 20% of the mean or within
//! the 95% prediction interval of one more draw.
#![allow(clippy::print_stderr, clippy::expect_used)]

#[path = "../examples/against_ns3/comparison.rs"]
mod comparison;

use comparison::{CLASSES, NS3_PUSHED_OUT, POLICIES, Result, here, ns3};
use std::path::{Path, PathBuf};

const SEEDS: u64 = 5;
/// Student's t for 4 degrees of freedom, 97.5%.
const T: f64 = 2.776;

fn shared() -> Option<PathBuf> {
    let folder = match std::env::var_os("DROPCAST_SHARED_FLOWS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/flows"),
    };
    let folder = folder.join("websearch80-incast75");
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The mean, and how far from it one more draw may lie.
fn prediction(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    (mean, T * deviation * (1.0 + 1.0 / count).sqrt())
}

fn is_close(there: f64, values: &[f64]) -> bool {
    let (mean, reach) = prediction(values);
    (there - mean).abs() <= (0.2 * there).max(reach)
}

#[test]
fn slowdowns_drops_and_the_order_of_policies_are_ns3s() {
    let Some(folder) = shared() else { return };
    let mut wrong = Vec::new();
    let mut late = Vec::new();
    for (name, policy) in POLICIES {
        let there = ns3(&folder, name);
        let runs: Vec<Result> = (1..=SEEDS).map(|seed| here(&folder, policy, seed)).collect();
        let here: Vec<Vec<f64>> = runs.iter().map(Result::percentiles).collect();
        for (nth, value) in there.percentiles().into_iter().enumerate() {
            let values: Vec<f64> = here.iter().map(|run| run[nth]).collect();
            if !is_close(value, &values) {
                let percentile = ["p50", "p95", "p99"][nth % 3];
                wrong.push(format!(
                    "{name} {} {percentile}: {value} or {values:?}",
                    CLASSES[nth / 3]
                ));
            }
        }
        let shares: Vec<f64> = runs.iter().map(|run| run.late).collect();
        let (mean, _) = prediction(&shares);
        if !is_close(there.late, &shares) {
            wrong.push(format!("{name} late: {} or {shares:?}", there.late));
        }
        late.push((there.late, mean));
        if name == "lqd" {
            let dropped: Vec<f64> = runs.iter().map(|run| run.dropped as f64).collect();
            let (mean, _) = prediction(&dropped);
            let share = mean / NS3_PUSHED_OUT;
            assert!((0.8..1.2).contains(&share), "pushed out {dropped:?}, not {NS3_PUSHED_OUT}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Where ns-3 tells two policies apart by more than a few late flows, so does the fabric.
    for (there, here) in &late {
        for (other_there, other_here) in &late {
            if other_there - there > 0.05 {
                assert!(here < other_here, "late: {late:?}");
            }
        }
    }
}
