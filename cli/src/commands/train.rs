//! `dropcast train`.

use crate::args::TrainArgs;
use crate::config::TrainConfig;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::traces::TraceFiles;
use dropcast_data::write_atomic;
use dropcast_train::{FitTask, Fitted, Metrics, PartMetrics, Split, fit};
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(crate) fn run(args: &TrainArgs) -> anyhow::Result<()> {
    output_file::check(&args.output, args.data.iter().chain(&args.test))?;
    let fitted = train(&args.data, &args.test, &args.settings, args.threads)?;
    write_atomic(&args.output, fitted.model.to_json().as_bytes())?;
    output::print(args.format, &fitted.model.metrics, |metrics| {
        let written = format!("model: {}", args.output.display());
        metrics.as_ref().map_or(written.clone(), |metrics| format!("{}{written}\n", text(metrics)))
    })
}

/// Trains on `data`; measures on what the split keeps, or on `test` if there is any.
pub(crate) fn train(
    data: &[PathBuf],
    test: &[PathBuf],
    config: &TrainConfig,
    threads: Option<NonZeroUsize>,
) -> anyhow::Result<Fitted> {
    let params = config.params()?;
    let stage = Stage::begin("train");
    let paths: Vec<PathBuf> = data.iter().chain(test).cloned().collect();
    let source = TraceFiles::open(&paths, &config.features)?;
    let split = if test.is_empty() {
        config.split()?
    } else {
        let test = source.files[data.len()..].iter().map(|file| file.origin.run).collect();
        Split::Runs { test }
    };
    let task = FitTask {
        features: config.features.clone(),
        params,
        split,
        vote: config.vote,
        switch: source.switch_context(),
        data: source.origins(),
        threads: threads.unwrap_or_else(available_threads),
    };
    let fitted = fit(&source, &task).map_err(|error| source.explain(error))?;
    stage.end(&format!("{} trees of depth {}", config.n_estimators, config.max_depth));
    Ok(fitted)
}

fn available_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The metrics as a table.
pub(crate) fn text(metrics: &Metrics) -> String {
    let mut text =
        "rows        drops  precision  recall      F1  avg. precision  1/eta bound\n".to_owned();
    text.push_str(&line("train", &metrics.train));
    if let Some(test) = &metrics.test {
        text.push_str(&line("test", test));
    }
    text
}

fn line(name: &str, part: &PartMetrics) -> String {
    let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    format!(
        "{name:5} {:>10} {:>10} {:>7} {:>7} {:>15} {:>12}   ({} rows)\n",
        part.drops,
        score(part.precision),
        score(part.recall),
        score(part.f1),
        score(part.average_precision),
        score(part.eta_bound.map(|eta| 1.0 / eta)),
        part.rows
    )
}
