//! Measures the trainer for `dev/benches/trainer_vs_peers.py`: prints one line of JSON.
//!
//!     measure fit FOLDER TREES DEPTH [THREADS [SEED]]
//!     measure sweep FOLDER [THREADS]
//!     measure predict FOLDER TREES DEPTH
//!     measure stream ROWS LIMIT_MIB [THREADS]
//!
//! FOLDER holds columns without headers, little-endian: the features `0.u32`, `1.u32` and so on,
//! and `drop.u8`, 0 or 1; `test/` holds test rows in the same form. Times run from columns in
//! memory to a forest.
#![allow(clippy::print_stdout, reason = "it is a command")]

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, ForestScorer, SwitchContext};
use dropcast_train::{
    BatchSource, Batches, Fitted, ForestParams, ForestTask, ReadTask, RunBatch, RunRows, Split,
    TrainingRows, VoteRule, fit_many,
};
use std::convert::Infallible;
use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["fit", folder, trees, depth] => fit(folder, trees, depth, "2", "0"),
        ["fit", folder, trees, depth, threads] => fit(folder, trees, depth, threads, "0"),
        ["fit", folder, trees, depth, threads, seed] => fit(folder, trees, depth, threads, seed),
        ["sweep", folder] => sweep(folder, "2"),
        ["sweep", folder, threads] => sweep(folder, threads),
        ["predict", folder, trees, depth] => predict(folder, trees, depth),
        ["stream", rows, limit_mib] => stream(rows, limit_mib, "2"),
        ["stream", rows, limit_mib, threads] => stream(rows, limit_mib, threads),
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
                features: features.collect(),
                drop: self.drop[rows.clone()].to_vec(),
                ..LabelledBatch::default()
            };
            Ok(RunBatch { run: 1, batch })
        })))
    }

    fn lent(&self) -> Option<Vec<RunRows<'_>>> {
        let features = self.features.iter().map(Vec::as_slice).collect();
        Some(vec![RunRows { run: 1, arrivals: None, features, drop: &self.drop }])
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

/// A line of this process's status, bytes.
fn memory(field: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.trim_start_matches(':').trim().strip_suffix(" kB"));
    Ok(1024 * kib.ok_or_else(|| format!("no {field} in /proc/self/status"))?.parse::<u64>()?)
}

/// Resets the peak; returns the memory in use now.
fn restart_peak() -> Outcome<u64> {
    std::fs::write("/proc/self/clear_refs", "5")?;
    memory("VmRSS")
}

fn f1(forest: &Forest, columns: &Columns) -> Option<f64> {
    let mut row = vec![0; columns.features.len()];
    let mut confusion = dropcast_forest::Confusion::default();
    for (at, &drop) in columns.drop.iter().enumerate() {
        row.iter_mut().zip(&columns.features).for_each(|(value, column)| *value = column[at]);
        confusion.add(drop, forest.predicts_drop(&row));
    }
    confusion.f1()
}

/// CPU time of all threads so far, to hundredths of a second: other programs on the machine do not
/// count.
fn cpu_s() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("no name in /proc/self/stat")?;
    let mut ticks = fields.split(' ').skip(11).map(str::parse::<u64>);
    let (user, system) = ticks.next().zip(ticks.next()).ok_or("no times in /proc/self/stat")?;
    Ok((user? + system?) as f64 / 100.0)
}

fn fit(folder: &str, trees: &str, depth: &str, threads: &str, seed: &str) -> Outcome<()> {
    let threads = threads.parse()?;
    let columns = Columns::read(Path::new(folder))?;
    let mut task = forest_task(columns.features.len(), trees.parse()?, depth.parse()?)?;
    let seed = seed.parse()?;
    task.params = ForestParams { seed, ..task.params.get().clone() }.check()?;
    let before = restart_peak()?;
    let (start, cpu) = (Instant::now(), cpu_s()?);
    let rows = TrainingRows::read(&columns, read_task(columns.features.len(), threads)?)?;
    let read_s = start.elapsed().as_secs_f64();
    let fitted = fit_many(&rows, &[task], threads)?;
    let total_s = start.elapsed().as_secs_f64();
    let cpu_s = cpu_s()? - cpu;
    let peak = memory("VmHWM")?.saturating_sub(before);
    let forest = &fitted[0].model.forest;
    let test = Columns::read(&Path::new(folder).join("test"))?;
    let f1 = f1(forest, &test).unwrap_or(f64::NAN);
    println!(
        "{{\"seconds\": {total_s:.4}, \"read_seconds\": {read_s:.4}, \"f1\": {f1:.4}, \
         \"cpu_seconds\": {cpu_s:.2}, \"peak_bytes\": {peak}}}"
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

/// Rows generated as they are read, many more than fit into memory.
struct Made {
    rows: u64,
}

impl BatchSource for Made {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        let rows = self.rows;
        Ok(Box::new((0..rows).step_by(BATCH_ROWS).map(move |from| {
            let mut batch = LabelledBatch { features: vec![Vec::new(); 4], ..Default::default() };
            for row in from..rows.min(from + BATCH_ROWS as u64) {
                // Weyl sequences: spread out and cheap to generate.
                let random =
                    |nth: u64| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ nth << 33) >> 40) as u32;
                let occupancy = random(1) % 1_000_000;
                let queue = ((u64::from(occupancy) * u64::from(random(2))) >> 24) as u32;
                let values =
                    [queue, queue / 2 + random(3) % 60_000, occupancy, random(4) % 900_000];
                for (column, value) in batch.features.iter_mut().zip(values) {
                    column.push(value);
                }
                batch.drop.push(occupancy > 950_000 && queue > 300_000 && random(5) % 4 > 0);
            }
            Ok(RunBatch { run: 1, batch })
        })))
    }
}

/// A forest of 4 trees of depth 4 on generated rows, with a limit on rows in memory.
fn stream(rows: &str, limit_mib: &str, threads: &str) -> Outcome<()> {
    let (made, threads) = (Made { rows: rows.parse()? }, threads.parse()?);
    let limit_bytes = limit_mib.parse::<u64>()? << 20;
    let file = Box::new(tempfile::tempfile_in(".")?);
    let before = restart_peak()?;
    let start = Instant::now();
    let rows = TrainingRows::read_spilling(&made, read_task(4, threads)?, limit_bytes, file)?;
    let read_s = start.elapsed().as_secs_f64();
    fit_many(&rows, &[forest_task(4, 4, 4)?], threads)?;
    let fit_s = start.elapsed().as_secs_f64() - read_s;
    let peak_mib = (memory("VmHWM")?.saturating_sub(before)) >> 20;
    println!(
        "{{\"rows\": {}, \"read_seconds\": {read_s:.2}, \"fit_seconds\": {fit_s:.2}, \
         \"peak_mib\": {peak_mib}, \"spilled_mib\": {}}}",
        made.rows,
        rows.spilled_bytes() >> 20
    );
    Ok(())
}

/// Rows per second on one core, the fastest of several passes.
fn predict(folder: &str, trees: &str, depth: &str) -> Outcome<()> {
    let columns = Columns::read(Path::new(folder))?;
    let count = columns.features.len();
    let task = forest_task(count, trees.parse()?, depth.parse()?)?;
    let threads = std::thread::available_parallelism()?;
    let rows = TrainingRows::read(&columns, read_task(count, threads)?)?;
    let forest = fit_many(&rows, &[task], threads)?.remove(0).model.forest;
    drop(rows);
    let scorer = ForestScorer::new(&forest);
    // Short passes: the fastest ran undisturbed.
    let rows = columns.drop.len().min(1 << 19);
    let rate = |work: &dyn Fn() -> Vec<u32>| {
        let pass = |_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64()
        };
        rows as f64 / (0..200).map(pass).fold(f64::INFINITY, f64::min)
    };
    let values: Vec<&[u32]> = columns.features.iter().map(|column| &column[..rows]).collect();
    let raw = rate(&|| scorer.score_columns(&values));
    let binned = scorer.binned().map(|binned| {
        let values = values.iter().enumerate();
        let bins: Vec<Vec<u8>> = values.map(|(at, values)| binned.bin(at, values)).collect();
        rate(&|| binned.score_columns(&bins))
    });
    let binned = binned.map_or("null".to_owned(), |rate| format!("{rate:.0}"));
    println!("{{\"raw_rows_per_s\": {raw:.0}, \"binned_rows_per_s\": {binned}}}");
    Ok(())
}
