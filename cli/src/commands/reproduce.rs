//! `dropcast reproduce`: figures of the paper.

use super::collect::label;
use super::export::create_folder;
use super::report::measure;
use super::simulate::simulate;
use super::train::{RunFiles, train};
use crate::args::{Fig15Args, Figure, ReportRows, ReproduceArgs};
use crate::config::{CollectConfig, SplitBy, TrainConfig};
use crate::output::{self, Format};
use crate::output_file;
use crate::training::Room;
use dropcast_collect::Tracer;
use dropcast_data::{EventOptions, EventReader, write_atomic};
use dropcast_reports::fig15::{self, Fig15Row};
use dropcast_reports::plot::{LineFigure, Page};
use dropcast_simulate::LeafWorkload;
use dropcast_train::{Share, VoteRule};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReproduceArgs) -> anyhow::Result<()> {
    match &args.figure {
        Figure::Fig14(args) => super::fig14::run(args),
        Figure::Fig15(args) => fig15(args),
    }
}

/// The paper's recipe, and ours: how rows are split and the vote threshold is chosen.
fn recipes(seed: u64) -> [(&'static str, TrainConfig); 2] {
    let base = TrainConfig { max_depth: fig15::DEPTH, seed, ..TrainConfig::default() };
    [
        (
            "paper: random split, vote 0.5",
            TrainConfig {
                split: SplitBy::Random,
                vote: VoteRule::Fixed(Share::HALF),
                ..base.clone()
            },
        ),
        ("ours: split by time, vote chosen for F1", base),
    ]
}

fn fig15(args: &Fig15Args) -> anyhow::Result<()> {
    let names = ["fig15-paper.csv", "fig15-paper.svg", "fig15-ours.csv", "fig15-ours.svg"];
    output_file::check_replaced(&args.output, names)?;
    let data = if args.data.is_empty() {
        create_folder(&args.output)?;
        vec![generated(&args.output, args.seed)?]
    } else {
        args.data.clone()
    };
    let mut rows = Vec::new();
    for (recipe, config) in recipes(args.seed) {
        for trees in fig15::TREES {
            let config = TrainConfig { n_estimators: trees, ..config.clone() };
            let model = train(&RunFiles::of(&data), &config, &Room::default())?.model;
            let report = measure(&model, &data, ReportRows::Unseen)?;
            let eta = report.replay.and_then(|replay| replay.total.eta.packets);
            let metrics = model.metrics.and_then(|metrics| metrics.test);
            if let Some(metrics) = metrics {
                rows.push(Fig15Row { recipe: recipe.to_owned(), trees, metrics, eta });
            }
        }
    }
    create_folder(&args.output)?;
    let mut written = Vec::new();
    for (name, (recipe, _)) in ["fig15-paper", "fig15-ours"].into_iter().zip(recipes(args.seed)) {
        let figure = fig15::figure(&rows, recipe);
        written.extend(write_figure(&figure, &args.output, name, "trees", "score")?);
    }
    print_written(&written)
}

/// Writes a figure as CSV and SVG; returns the paths.
pub(super) fn write_figure(
    figure: &LineFigure,
    folder: &Path,
    name: &str,
    x_name: &str,
    y_name: &str,
) -> anyhow::Result<[PathBuf; 2]> {
    let [csv, svg] = ["csv", "svg"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_atomic(&csv, figure.to_csv(x_name, y_name).as_bytes())?;
    write_atomic(&svg, figure.to_svg(Page::Alone)?.as_bytes())?;
    Ok([csv, svg])
}

pub(super) fn print_written(paths: &[PathBuf]) -> anyhow::Result<()> {
    output::print(Format::Text, &paths, |paths| {
        paths.iter().map(|path| format!("{}\n", path.display())).collect()
    })
}

/// The labelled trace of a generated workload.
fn generated(folder: &Path, seed: u64) -> anyhow::Result<PathBuf> {
    let (events, trace) = (folder.join("events.parquet"), folder.join("trace.parquet"));
    simulate(&LeafWorkload { seed, ..LeafWorkload::default() }, &events)?;
    let reader = EventReader::open(&events, EventOptions::default())?;
    let specs = reader.specs().clone();
    let config = CollectConfig::default();
    label(reader, specs, Tracer::DEFAULT_MAX_WAITING_ROWS, &config, &trace)?;
    Ok(trace)
}
