//! The byte table, read by `dropcast-runtime` itself, without tools.

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::{Answers, Program, VerifyError};
use dropcast_runtime::Table;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let (path, _) = emitted.file("dct")?;
    let bytes = fs::read(&path).map_err(io_error(&path, "be read"))?;
    let table = Loaded { file: path.display().to_string(), bytes };
    table.table()?;
    Ok(vec![Box::new(table)])
}

/// Nanoseconds per prediction. Each row's address depends, as far as compiler and processor know,
/// on the previous prediction, which measures latency. Rows are timed in short runs, each taking
/// its median over all passes, so other load on the machine affects few of them.
fn median_ns(rows: &[Vec<u32>], predict: impl Fn(&[u32]) -> bool) -> Option<f64> {
    const PASSES: usize = 21;
    const RUN_ROWS: usize = 4096;
    let features = rows.first().map(Vec::len).filter(|&features| features > 0)?;
    let flat = rows.concat();
    let runs: Vec<&[u32]> = flat.chunks(RUN_ROWS * features).collect();
    let mut times_ns = vec![[0.0; PASSES]; runs.len()];
    for pass in 0..PASSES {
        for (run, times_ns) in runs.iter().zip(&mut times_ns) {
            let start = Instant::now();
            let mut at = 0;
            while let Some(row) = run.get(at..at + features) {
                at += features + black_box(usize::from(predict(row))) / 2;
            }
            times_ns[pass] = start.elapsed().as_secs_f64() * 1e9;
        }
    }
    let median = |times_ns: &mut [f64; PASSES]| {
        times_ns.sort_by(f64::total_cmp);
        times_ns[PASSES / 2]
    };
    Some(times_ns.iter_mut().map(median).sum::<f64>() / rows.len() as f64)
}

struct Loaded {
    file: String,
    bytes: Vec<u8>,
}

impl Loaded {
    fn table(&self) -> Result<Table<'_>, VerifyError> {
        Table::parse(&self.bytes).map_err(|error| VerifyError::BadFile {
            file: self.file.clone(),
            problem: error.to_string(),
        })
    }
}

impl Program for Loaded {
    fn name(&self) -> &str {
        concat!("dropcast-runtime ", env!("CARGO_PKG_VERSION"))
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let table = self.table()?;
        Ok(Answers {
            scores: Some(rows.iter().map(|row| table.score(row)).collect()),
            drops: Some(rows.iter().map(|row| table.predicts_drop(row)).collect()),
        })
    }

    fn time_ns(&mut self, rows: &[Vec<u32>]) -> Result<Option<f64>, VerifyError> {
        let table = self.table()?;
        Ok(median_ns(rows, |row| table.predicts_drop(row)))
    }
}
