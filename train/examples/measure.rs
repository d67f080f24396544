//! Measures the trainer for `benches/trainer_vs_peers.py`: prints one line of JSON.
//!
//!     measure fit FOLDER TREES DEPTH [THREADS]
//!     measure sweep FOLDER [THREADS]
//!     measure predict FOLDER TREES DEPTH
//!     measure stream ROWS LIMIT_MB [THREADS]
//!
//! FOLDER holds columns without headers, little-endian: `0.u32`, `1.u32` and so on, the features,
//! and `drop.u8`, 0 or 1; the same under `test/`. Times are of columns in memory to a forest.
#![allow(clippy::print_stdout, reason = "it is a command")]

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_train::{
    BatchSource, Batches, Fitted, Forest, ForestParams, ForestTask, ReadTask, RunBatch, Split,
    SwitchContext, TrainingRows, VoteRule, fit_many,
};
use std::convert::Infallible;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["fit", folder, trees, depth] => fit(folder, trees, depth, "2"),
        ["fit", folder, trees, depth, threads] => fit(folder, trees, depth, threads),
        ["sweep", folder] => sweep(folder, "2"),
        ["sweep", folder, threads] => sweep(folder, threads),
        ["predict", folder, trees, depth] => predict(folder, trees, depth),
        _ => Err("see the beginning of measure.rs".into()),
    }
}

/// Columns in memory.
struct Columns {
    features: Vec<Vec<u32>>,
    drop: Vec<bool>,
}

impl Columns {
    fn read(folder: &Path) -> Outcome<Self> {
        let read = |name: &str| std::fs::read(folder.join(name));
        let mut features = Vec::new();
        while let Ok(bytes) = read(&format!("{}.u32", features.len())) {
            let (words, _) = bytes.as_chunks();
            features.push(words.iter().copied().map(u32::from_le_bytes).collect());
        }
        let drop = read("drop.u8")?.into_iter().map(|byte| byte != 0).collect();
        Ok(Columns { features, drop })
    }
}

const BATCH_ROWS: usize = 1 << 16;

impl BatchSource for Columns {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        let rows = self.drop.len();
        Ok(Box::new((0..rows).step_by(BATCH_ROWS).map(move |from| {
            let rows = from..rows.min(from + BATCH_ROWS);
            let features = self.features.iter().map(|column| column[rows.clone()].to_vec());
            let batch = LabelledBatch {
                arrivals: None,
                features: features.collect(),
                drop: self.drop[rows.clone()].to_vec(),
                outcome: None,
            };
            Ok(RunBatch { run: 1, batch })
        })))
    }
}

fn features(count: usize) -> Outcome<FeatureSet> {
    Ok(FeatureSet::try_from(FeatureSet::all().names()[..count].to_vec())?)
}

fn forest_task(count: usize, trees: u16, depth: u8) -> Outcome<ForestTask> {
    let params = ForestParams { n_estimators: trees, max_depth: depth, ..ForestParams::default() };
    Ok(ForestTask { features: features(count)?, params: params.check()?, vote: VoteRule::F1 })
}

fn read_task(count: usize, threads: NonZeroUsize) -> Outcome<ReadTask> {
    Ok(ReadTask {
        features: features(count)?,
        split: Split::None,
        seed: 0,
        max_bins: 255,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads,
    })
}

/// The most memory this process has had, bytes.
fn peak_bytes() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no VmHWM")?;
    Ok(1024 * kib.trim().parse::<u64>()?)
}

fn f1(forest: &Forest, columns: &Columns) -> Option<f64> {
    let mut row = vec![0; columns.features.len()];
    let mut confusion = dropcast_train::Confusion::default();
    for (at, &drop) in columns.drop.iter().enumerate() {
        row.iter_mut().zip(&columns.features).for_each(|(value, column)| *value = column[at]);
        confusion.add(drop, forest.predicts_drop(&row));
    }
    confusion.f1()
}

fn fit(folder: &str, trees: &str, depth: &str, threads: &str) -> Outcome<()> {
    let threads = threads.parse()?;
    let columns = Columns::read(Path::new(folder))?;
    let task = forest_task(columns.features.len(), trees.parse()?, depth.parse()?)?;
    let before = peak_bytes()?;
    let start = Instant::now();
    let rows = TrainingRows::read(&columns, read_task(columns.features.len(), threads)?)?;
    let read_s = start.elapsed().as_secs_f64();
    let fitted = fit_many(&rows, &[task], threads)?;
    let total_s = start.elapsed().as_secs_f64();
    let peak = peak_bytes()? - before;
    let forest = &fitted[0].model.forest;
    let test = Columns::read(&Path::new(folder).join("test"))?;
    let f1 = f1(forest, &test).unwrap_or(f64::NAN);
    println!(
        "{{\"seconds\": {total_s:.4}, \"read_seconds\": {read_s:.4}, \"f1\": {f1:.4}, \
         \"peak_bytes\": {peak}}}"
    );
    Ok(())
}

fn sweep(folder: &str, threads: &str) -> Outcome<()> {
    let threads = threads.parse()?;
    let columns = Columns::read(Path::new(folder))?;
    let count = columns.features.len();
    let mut tasks = Vec::new();
    for trees in [1, 2, 4, 8, 16, 32, 64, 128] {
        for depth in 1..=8 {
            tasks.push(forest_task(count, trees, depth)?);
        }
    }
    let rows = TrainingRows::read(&columns, read_task(count, threads)?)?;
    let timed = |tasks: &[ForestTask]| -> Outcome<(f64, Vec<Fitted>)> {
        let start = Instant::now();
        let fitted = fit_many(&rows, tasks, threads)?;
        Ok((start.elapsed().as_secs_f64(), fitted))
    };
    let (largest_s, _) = timed(&tasks[tasks.len() - 1..])?;
    let (all_s, fitted) = timed(&tasks)?;
    println!(
        "{{\"configurations\": {}, \"all_seconds\": {all_s:.3}, \"largest_seconds\": {largest_s:.3}}}",
        fitted.len()
    );
    Ok(())
}

fn predict(_folder: &str, _trees: &str, _depth: &str) -> Outcome<()> {
    Err("not yet".into())
}
