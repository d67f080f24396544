//! Trains a forest on the labelled arrivals of a switch, and measures it on rows that it has not seen.
//!
//! `cargo run --release -p dropcast-examples --bin train-forest`

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_collect::{Tracer, trace};
use dropcast_data::{CollectSettings, EventOptions, EventReader, read_switches};
use dropcast_features::FeatureSet;
use dropcast_forest::SwitchContext;
use dropcast_train::{FitTask, ForestParams, RunBatch, SplitSettings, VoteRule, fit};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let specs = read_switches(Path::new("data/samples/leaf.toml"))?;
    let options = EventOptions { specs: Some(specs.clone()), ..Default::default() };
    let events = EventReader::open(Path::new("data/samples/leaf-events.parquet"), options)?;
    let tracer = Tracer::new(specs, CollectSettings::default(), FeatureSet::level4());
    let batches = trace(tracer, events.map(|batch| batch.map_err(Box::<dyn Error>::from)));
    let rows: Vec<RunBatch> = batches
        .map(|batch| Ok(RunBatch { run: 1, batch: batch? }))
        .collect::<Result<_, Box<dyn Error>>>()?;

    let task = FitTask {
        features: FeatureSet::level4(),
        params: ForestParams { max_depth: 3, ..ForestParams::default() }.check()?,
        split: SplitSettings::default().check()?.choose(&rows[..], 4)?.split,
        vote: VoteRule::F1,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads: std::thread::available_parallelism()?,
    };
    let model = fit(&rows[..], &task)?.model;
    let metrics = model.metrics.ok_or("it was measured")?;
    let f1 = metrics.test.and_then(|test| test.f1).ok_or("no drop to predict")?;
    println!("{} trees, F1 {f1:.2}", model.forest.trees.len());
    Ok(())
}
