//! Labelled traces, predictions and sweeps as data frames of polars.
//!
//! [`scan_traces`] and [`scan_sweep`] give lazy frames: filter, join and sum up, and only the
//! columns and rows that are needed are read. [`training_rows`] takes a frame back, so that a forest
//! can be trained on what is left of it, and [`with_predictions`] asks a forest about its rows.
//!
//! ```no_run
//! use dropcast_interop::frame::{scan_traces, training_rows, with_predictions};
//! # use dropcast_train::{ForestTask, ReadTask, fit_many};
//! # use polars::prelude::{IntoLazy, col, lit};
//! # use std::num::NonZeroUsize;
//! # fn example(reading: ReadTask, forest: ForestTask) -> Result<(), Box<dyn std::error::Error>> {
//! let trace = scan_traces(&["trace.parquet"])?;
//! let busy = trace.filter(col("occupancy").gt(lit(500_000))).collect()?;
//! let rows = training_rows(&busy, reading)?;
//! let fitted = fit_many(&rows, &[forest], NonZeroUsize::MIN)?.remove(0);
//! let predicted = with_predictions(busy, &fitted.model.forest)?;
//! let missed = predicted.lazy().filter(col("drop").and(col("predicted_drop").not()));
//! # Ok(())
//! # }
//! ```
//!
//! polars opens the files, when a frame is collected.

mod columns;
mod error;

pub use error::FrameError;
pub use polars::prelude::DataFrame;

use columns::{flags, has, integers, integers_or_zero};
use dropcast_data::{ArrivalColumns, DropReason, FlowColumns, LabelledBatch, Outcome};
use dropcast_forest::{Forest, ForestScorer};
use dropcast_train::{ReadTask, RunBatch, TrainingRows};
use polars::prelude::{
    Column, LazyFrame, NamedFrom, PlRefPath, ScanArgsParquet, Series, UnionArgs, concat, lit,
};
use std::path::Path;

/// The column of the run of each row.
pub const RUN: &str = "run";

/// The column of what the real switch did (`docs/trace.md`).
const REAL_DROP: &str = "real_drop";

/// The column of what the real switch marked (`docs/trace.md`).
const ECN_MARK: &str = "ecn_mark";

/// The column of a hash of each packet's flow (`docs/trace.md`).
const FLOW_HASH: &str = "flow_hash";

/// The column of whether a packet is of its flow's first round-trip time (`docs/trace.md`).
const FIRST_RTT: &str = "first_rtt";

/// Most rows of a batch: a pass over the rows copies one at a time.
const BATCH_ROWS: usize = 1 << 18;

/// The rows of labelled traces in Parquet (`docs/trace.md`), one file after the other, with a column
/// `run` before them: the place of the file among `paths`, from 0.
///
/// # Errors
/// If a file cannot be read or has no labels. That columns differ between files is found out when
/// the frame is collected.
pub fn scan_traces<P: AsRef<Path>>(paths: &[P]) -> Result<LazyFrame, FrameError> {
    let scan = |(run, path): (u64, &P)| {
        let columns = [lit(run).alias(RUN), polars::prelude::all().as_expr()];
        Ok(scan(path.as_ref(), &["drop"])?.select(columns))
    };
    let frames = (0..).zip(paths).map(scan).collect::<Result<Vec<LazyFrame>, FrameError>>()?;
    Ok(concat(frames, UnionArgs::default())?)
}

/// The rows of a sweep (`docs/sweep.md`), from its folder: one for each forest, with its
/// configuration, scores and size.
///
/// # Errors
/// If there is no `rows.parquet` in the folder that a sweep wrote.
pub fn scan_sweep(folder: &Path) -> Result<LazyFrame, FrameError> {
    scan(&folder.join("rows.parquet"), &["features", "vote_threshold", "pareto"])
}

/// A file's rows; it must have these columns.
fn scan(path: &Path, columns: &[&str]) -> Result<LazyFrame, FrameError> {
    let path = PlRefPath::try_from_path(path)?;
    let mut frame = LazyFrame::scan_parquet(path, ScanArgsParquet::default())?;
    let schema = frame.collect_schema()?;
    match columns.iter().find(|name| !schema.contains(name)) {
        Some(name) => Err(FrameError::missing(name, schema.iter_names())),
        None => Ok(frame),
    }
}

/// Bins and splits the rows of a frame for training ([`dropcast_train::fit_many`]).
///
/// The features of `task` and `drop` must be there, integers of 32 bits and Boolean (or 0 and 1).
/// Other columns are used where they are: `run`, 0 if there is none; `time_ns`, `port` and
/// `size_bytes` (with `switch_id` and `queue`, 0 if absent), which splits by time and switch need.
/// A row's randomness is a function of its run, its switch and its place: for a random split among
/// all rows of these, for a bootstrap sample among the training rows of its class.
///
/// # Errors
/// [`FrameError`] where a column is missing, of another type, has a null or a value beyond its
/// range, and what [`TrainingRows::read`] refuses.
pub fn training_rows(frame: &DataFrame, task: ReadTask) -> Result<TrainingRows, FrameError> {
    let batches = batches(frame, &task.features.names())?;
    Ok(TrainingRows::read(&batches[..], task)?)
}

/// The frame's rows as labelled batches, each of one run, with the given features.
///
/// # Errors
/// As [`training_rows`], but for the training's own.
pub fn batches(frame: &DataFrame, features: &[String]) -> Result<Vec<RunBatch>, FrameError> {
    let runs: Vec<u64> = integers_or_zero(frame, RUN)?;
    let mut batches = Vec::new();
    let mut begin = 0;
    for same in runs.chunk_by(|one, next| one == next) {
        for part in same.chunks(BATCH_ROWS) {
            let rows = frame.slice(begin, part.len());
            begin += part.len() as i64;
            batches.push(RunBatch { run: part[0], batch: batch(&rows, features)? });
        }
    }
    Ok(batches)
}

fn batch(frame: &DataFrame, features: &[String]) -> Result<LabelledBatch, FrameError> {
    let columns = features.iter().map(|name| integers(frame, name));
    let is_placed = ["time_ns", "port", "size_bytes"].iter().all(|name| has(frame, name));
    Ok(LabelledBatch {
        arrivals: is_placed.then(|| arrivals(frame)).transpose()?,
        features: columns.collect::<Result<_, _>>()?,
        drop: flags(frame, "drop")?,
        outcome: has(frame, "outcome").then(|| outcomes(frame)).transpose()?,
        real_drop: has(frame, REAL_DROP).then(|| real_drops(frame)).transpose()?,
        ecn_mark: has(frame, ECN_MARK).then(|| flags(frame, ECN_MARK)).transpose()?,
    })
}

fn outcomes(frame: &DataFrame) -> Result<Vec<Outcome>, FrameError> {
    let known = |code: u8| {
        let column = "outcome".to_owned();
        Outcome::from_code(code).ok_or(FrameError::Range { column, value: code.into() })
    };
    integers(frame, "outcome")?.into_iter().map(known).collect()
}

fn real_drops(frame: &DataFrame) -> Result<Vec<Option<DropReason>>, FrameError> {
    let known = |code: u8| {
        let column = REAL_DROP.to_owned();
        let unknown = FrameError::Range { column, value: code.into() };
        if code == 0 { Ok(None) } else { DropReason::from_code(code).map(Some).ok_or(unknown) }
    };
    integers(frame, REAL_DROP)?.into_iter().map(known).collect()
}

fn arrivals(frame: &DataFrame) -> Result<ArrivalColumns, FrameError> {
    Ok(ArrivalColumns {
        time_ns: integers(frame, "time_ns")?,
        switch_id: integers_or_zero(frame, "switch_id")?,
        port: integers(frame, "port")?,
        queue: integers_or_zero(frame, "queue")?,
        size_bytes: integers(frame, "size_bytes")?,
        flows: has(frame, FLOW_HASH).then(|| flows(frame)).transpose()?,
    })
}

fn flows(frame: &DataFrame) -> Result<FlowColumns, FrameError> {
    let first_rtt = match has(frame, FIRST_RTT) {
        true => flags(frame, FIRST_RTT)?,
        false => vec![false; frame.height()],
    };
    Ok(FlowColumns { hash: integers(frame, FLOW_HASH)?, first_rtt })
}

/// Labelled batches as a frame: `run`, `time_ns`, `switch_id`, `port`, `queue` and `size_bytes` where
/// the batches have them, a column for each of `features`, `outcome` (its code in `docs/trace.md`)
/// where they have it, `drop`, `ecn_mark`, `flow_hash` and `first_rtt` where they have it, and `real_drop` where some
/// batch has real drops. [`batches`] reads it back.
///
/// # Errors
/// [`FrameError`] if columns are not equally long: only some batches have arrivals, outcomes or marks, or
/// they have other features.
pub fn to_frame(batches: &[RunBatch], features: &[String]) -> Result<DataFrame, FrameError> {
    let all = || batches.iter().map(|rows| &rows.batch);
    let rows: usize = all().map(LabelledBatch::len).sum();
    let runs: Vec<u64> =
        batches.iter().flat_map(|rows| std::iter::repeat_n(rows.run, rows.batch.len())).collect();
    let mut columns = vec![column(RUN, runs)];
    if all().any(|batch| batch.arrivals.is_some()) {
        let arrivals = || all().filter_map(|batch| batch.arrivals.as_ref());
        columns.extend([
            column("time_ns", joined(arrivals().map(|all| &all.time_ns))),
            column("switch_id", joined(arrivals().map(|all| &all.switch_id))),
            column("port", joined(arrivals().map(|all| &all.port))),
            column("queue", joined(arrivals().map(|all| &all.queue))),
            column("size_bytes", joined(arrivals().map(|all| &all.size_bytes))),
        ]);
    }
    for (place, name) in features.iter().enumerate() {
        columns.push(column(name, joined(all().filter_map(|batch| batch.features.get(place)))));
    }
    if all().any(|batch| batch.outcome.is_some()) {
        let outcomes = all().filter_map(|batch| batch.outcome.as_ref()).flatten();
        columns
            .push(column("outcome", outcomes.map(|&outcome| outcome as u8).collect::<Vec<u8>>()));
    }
    columns.push(column("drop", joined(all().map(|batch| &batch.drop))));
    if all().any(|batch| batch.ecn_mark.is_some()) {
        columns.push(column(ECN_MARK, joined(all().filter_map(|batch| batch.ecn_mark.as_ref()))));
    }
    let flows = || all().filter_map(|batch| batch.arrivals.as_ref()?.flows.as_ref());
    if flows().next().is_some() {
        columns.push(column(FLOW_HASH, joined(flows().map(|flows| &flows.hash))));
        columns.push(column(FIRST_RTT, joined(flows().map(|flows| &flows.first_rtt))));
    }
    if all().any(|batch| batch.real_drop.is_some()) {
        let codes = all().flat_map(|batch| match &batch.real_drop {
            Some(reasons) => reasons.iter().map(|reason| reason.map_or(0, |r| r as u8)).collect(),
            None => vec![0; batch.len()],
        });
        columns.push(column(REAL_DROP, codes.collect::<Vec<u8>>()));
    }
    Ok(DataFrame::new(rows, columns)?)
}

fn column<T>(name: &str, values: T) -> Column
where
    Series: NamedFrom<T, [<T as IntoIterator>::Item]>,
    T: IntoIterator,
{
    Column::from(Series::new(name.into(), values))
}

fn joined<'a, T: Copy + 'a>(columns: impl Iterator<Item = &'a Vec<T>>) -> Vec<T> {
    columns.flatten().copied().collect()
}

/// The frame with two more columns: `score` (UInt32), the sum of the weights of the leaves a row is
/// in, and `predicted_drop` (Boolean), whether that is above the vote threshold. Columns of these
/// names are replaced.
///
/// # Errors
/// [`FrameError`] where a feature of the forest is no column of integers of 32 bits without nulls.
pub fn with_predictions(mut frame: DataFrame, forest: &Forest) -> Result<DataFrame, FrameError> {
    let columns = forest.features.iter().map(|name| integers(&frame, name));
    let columns = columns.collect::<Result<Vec<Vec<u32>>, FrameError>>()?;
    let scores = ForestScorer::new(forest).score_columns(&columns);
    let is_drop: Vec<bool> = scores.iter().map(|&score| score > forest.vote_threshold).collect();
    frame.with_column(Column::from(Series::new("score".into(), scores)))?;
    frame.with_column(Column::from(Series::new("predicted_drop".into(), is_drop)))?;
    Ok(frame)
}
