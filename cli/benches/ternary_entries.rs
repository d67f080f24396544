//! Ternary entries of trained forests, with ranges cut into minimal and into naive prefixes.
//!
//! `cargo bench -p dropcast --bench ternary_entries` trains 100 forests for each shape, each on its
//! own generated trace, and prints the mean and extremes of the ratio, as rows of the table in
//! docs/resources.md. Everything is seeded: the numbers are the same everywhere.

use dropcast_arrivals::LeafWorkload;
use dropcast_collect::{CollectError, Tracer, trace};
use dropcast_data::{CollectSettings, SwitchSpecs};
use dropcast_export::TernaryEntries;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, SwitchContext};
use dropcast_train::{FitTask, ForestParams, RunBatch, Split, TrainError, VoteRule, fit};
use std::io::Write;
use std::num::NonZeroUsize;

const FORESTS: usize = 100;

/// Trees, depth, and whether on all features instead of the paper's four.
const SHAPES: [(u16, u8, bool); 5] =
    [(1, 4, false), (4, 4, false), (8, 4, false), (4, 6, false), (4, 4, true)];

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for (trees, depth, all) in SHAPES {
        let features = if all { FeatureSet::all() } else { FeatureSet::paper4() };
        let counts: Vec<TernaryEntries> = (1..)
            .filter_map(|seed| forest(seed, trees, depth, &features))
            .take(FORESTS)
            .map(|forest| TernaryEntries::count(&forest).expect("trained forests are sound"))
            .collect();
        let mean = |of: fn(&TernaryEntries) -> u64| {
            counts.iter().map(|entries| of(entries) as f64).sum::<f64>() / FORESTS as f64
        };
        let shares: Vec<f64> = counts
            .iter()
            .map(|entries| 100.0 * entries.minimised() as f64 / entries.naive() as f64)
            .collect();
        let highest = shares.iter().copied().fold(0.0, f64::max);
        writeln!(
            out,
            "| {trees} x {depth}, {} features | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} % | {highest:.1} % | {:.1} % |",
            features.len(),
            mean(|entries| entries.leaves),
            mean(|entries| entries.naive_prefixes),
            mean(|entries| entries.prefixes),
            mean(TernaryEntries::minimised),
            shares.iter().sum::<f64>() / shares.len() as f64,
            100.0 * mean(|entries| entries.prefixes) / mean(|entries| entries.naive_prefixes),
        )?;
    }
    Ok(())
}

/// A forest trained on 50 ms of a leaf switch's arrivals, if LQD drops any.
fn forest(seed: u64, trees: u16, depth: u8, features: &FeatureSet) -> Option<Forest> {
    let workload = LeafWorkload { duration_ns: 50_000_000, seed, ..LeafWorkload::loaded() };
    let spec = workload.switch_spec().expect("the defaults are valid");
    let tracer = Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), features.clone());
    let arrivals = workload.arrivals().expect("the defaults are valid").map(Ok::<_, CollectError>);
    let rows: Vec<RunBatch> = trace(tracer, arrivals)
        .map(|batch| RunBatch { run: seed, batch: batch.expect("generated events are valid") })
        .collect();
    let params =
        ForestParams { n_estimators: trees, max_depth: depth, seed, ..ForestParams::default() };
    let task = FitTask {
        features: features.clone(),
        params: params.check().expect("valid parameters"),
        split: Split::None,
        vote: VoteRule::F1,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads: NonZeroUsize::MIN,
    };
    match fit(rows.as_slice(), &task) {
        Ok(fitted) => Some(fitted.model.forest),
        Err(TrainError::NoDrops { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}
