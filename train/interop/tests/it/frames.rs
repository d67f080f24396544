//! Data frames of polars: what comes out is what went in, and what does not fit is an error.

use crate::rows::{rows, task};
use dropcast_interop::frame::{
    FrameError, batches, scan_sweep, scan_traces, training_rows, with_predictions,
};
use dropcast_train::{ForestParams, RunBatch, TrainingRows, fit, fit_many};
use polars::prelude::{
    Column, DataFrame, DataType, IntoColumn, IntoLazy, NamedFrom, ParquetWriter, Series, col, lit,
};
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::slice::from_ref;

const NAMES: [&str; 4] = ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"];

fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

fn frame(rows: &RunBatch) -> DataFrame {
    let features = NAMES.iter().zip(&rows.batch.features);
    let mut columns: Vec<Column> =
        features.map(|(name, values)| Series::new((*name).into(), values).into_column()).collect();
    columns.push(Series::new("drop".into(), &rows.batch.drop).into_column());
    columns.push(Series::new("run".into(), vec![rows.run; rows.batch.len()]).into_column());
    DataFrame::new(rows.batch.len(), columns).unwrap()
}

fn with(frame: &DataFrame, series: Series) -> DataFrame {
    let mut frame = frame.clone();
    frame.with_column(series.into_column()).unwrap();
    frame
}

fn cast(frame: &DataFrame, name: &str, to: &DataType) -> DataFrame {
    with(frame, frame.column(name).unwrap().as_materialized_series().strict_cast(to).unwrap())
}

fn write(frame: &DataFrame, path: &Path) {
    ParquetWriter::new(File::create(path).unwrap()).finish(&mut frame.clone()).unwrap();
}

#[test]
fn a_forest_trained_on_a_frame_is_the_one_trained_on_its_rows() {
    let rows = rows(3_000);
    let task = task(ForestParams::default());
    let expected = fit(from_ref(&rows), &task).unwrap().model.to_json();
    let frame = frame(&rows);
    let other_types = cast(&cast(&frame, "occupancy", &DataType::UInt64), "drop", &DataType::Int32);
    for frame in [&frame, &other_types] {
        let rows = training_rows(frame, task.reading()).unwrap();
        let fitted = fit_many(&rows, &[task.forest()], NonZeroUsize::MIN).unwrap().remove(0);
        assert_eq!(fitted.model.to_json(), expected);
    }
}

#[test]
fn rows_that_were_filtered_out_do_not_train() {
    let kept = frame(&rows(3_000)).lazy().filter(col("occupancy").lt(lit(1_u32 << 31)));
    let kept = kept.collect().unwrap();
    assert!(kept.height() > 1_000 && kept.height() < 2_000);
    let rows: TrainingRows = training_rows(&kept, task(ForestParams::default()).reading()).unwrap();
    let (accepts, drops) = rows.training_rows();
    assert!(accepts > 0 && drops > 0 && accepts + drops < kept.height() as u64);
}

#[test]
fn batches_have_one_run_each_and_arrivals_if_the_frame_has_them() {
    let rows = rows(600);
    let plain = frame(&rows);
    assert_eq!(batches(&plain, &names()).unwrap(), from_ref(&rows));
    let runs: Vec<u64> = (0..600).map(|row| row / 200 % 2).collect();
    let times: Vec<u64> = (0..600).collect();
    let placed =
        with(&with(&plain, Series::new("run".into(), runs)), Series::new("time_ns".into(), times));
    let placed = with(&placed, Series::new("port".into(), vec![3_u32; 600]));
    let placed = with(&placed, Series::new("size_bytes".into(), vec![1_500_i64; 600]));
    let found = batches(&placed, &names()).unwrap();
    let shape: Vec<(u64, usize)> =
        found.iter().map(|batch| (batch.run, batch.batch.len())).collect();
    assert_eq!(shape, [(0, 200), (1, 200), (0, 200)]);
    let arrivals = found[1].batch.arrivals.as_ref().unwrap();
    assert_eq!((arrivals.time_ns[0], arrivals.port[0], arrivals.size_bytes[0]), (200, 3, 1_500));
    assert_eq!((arrivals.switch_id[0], arrivals.queue[0]), (0, 0));
}

#[test]
fn predictions_are_columns() {
    let rows = rows(2_000);
    let forest = fit(from_ref(&rows), &task(ForestParams::default())).unwrap().model.forest;
    let predicted = with_predictions(frame(&rows), &forest).unwrap();
    let scores = predicted.column("score").unwrap().u32().unwrap();
    let drops = predicted.column("predicted_drop").unwrap().bool().unwrap();
    for row in 0..2_000 {
        let values: Vec<u32> = rows.batch.features.iter().map(|column| column[row]).collect();
        assert_eq!(scores.get(row), Some(forest.score(&values)));
        assert_eq!(drops.get(row), Some(forest.predicts_drop(&values)));
    }
    let again = with_predictions(predicted.clone(), &forest).unwrap();
    assert_eq!(again, predicted);
}

#[test]
fn what_does_not_fit_names_its_column() {
    let good = frame(&rows(300));
    let fault = |frame: &DataFrame| batches(frame, &names()).unwrap_err();
    let text = |frame: &DataFrame| fault(frame).to_string();

    let missing = fault(&good.drop("occupancy").unwrap());
    assert!(
        matches!(&missing, FrameError::Missing { column, columns }
        if column == "occupancy" && columns.len() == 5),
        "{missing}"
    );
    let floats = fault(&cast(&good, "avg_occupancy", &DataType::Float64));
    assert!(
        matches!(&floats, FrameError::Type { column, found: DataType::Float64, .. }
        if column == "avg_occupancy"),
        "{floats}"
    );
    assert!(text(&cast(&good, "drop", &DataType::String)).contains("\"drop\" is of type"));

    let of = |values: Vec<Option<i64>>| with(&good, Series::new("occupancy".into(), values));
    let mut values = vec![Some(1_i64); 300];
    values[7] = None;
    let null = fault(&of(values.clone()));
    assert!(
        matches!(&null, FrameError::Null { column, count: 1 } if column == "occupancy"),
        "{null}"
    );
    for wrong in [-1, 1 << 32] {
        values[7] = Some(wrong);
        let out = fault(&of(values.clone()));
        assert!(
            matches!(&out, FrameError::Range { column, value }
            if column == "occupancy" && *value == i128::from(wrong)),
            "{out}"
        );
    }
    let labels = with(&good, Series::new("drop".into(), vec![2_u32; 300]));
    assert!(text(&labels).contains("column \"drop\" has the value 2"), "{}", text(&labels));
    let none = with(&good, Series::new("drop".into(), vec![false; 300]));
    let task = task(ForestParams::default()).reading();
    assert!(matches!(training_rows(&none, task), Err(FrameError::Train(_))));
    assert!(
        with_predictions(
            good.drop("occupancy").unwrap(),
            &fit(from_ref(&rows(600)), &crate::rows::task(ForestParams::default()))
                .unwrap()
                .model
                .forest
        )
        .is_err()
    );
}

#[test]
fn files_are_scanned_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.parquet", "b.parquet"].map(|name| folder.path().join(name));
    let (first, second) =
        (frame(&rows(400)).drop("run").unwrap(), frame(&rows(100)).drop("run").unwrap());
    write(&first, &paths[0]);
    write(&second, &paths[1]);
    let scanned = scan_traces(&paths).unwrap().collect().unwrap();
    assert_eq!(scanned.get_column_names()[0], "run");
    let found = batches(&scanned, &names()).unwrap();
    let shape: Vec<(u64, usize)> =
        found.iter().map(|batch| (batch.run, batch.batch.len())).collect();
    assert_eq!(shape, [(0, 400), (1, 100)]);
    assert_eq!(scanned.drop("run").unwrap().slice(400, 100), second);

    write(&first.drop("drop").unwrap(), &paths[1]);
    assert!(
        matches!(scan_traces(&paths), Err(FrameError::Missing { column, .. }) if column == "drop")
    );
    assert!(matches!(scan_traces(&[folder.path().join("c")]), Err(FrameError::Polars(_))));
    assert!(matches!(scan_sweep(folder.path()), Err(FrameError::Polars(_))));
    write(&first, &folder.path().join("rows.parquet"));
    assert!(matches!(scan_sweep(folder.path()), Err(FrameError::Missing { .. })));
}
