//! `dropcast reproduce`: figures of the paper.

use crate::args::{FabricFigureArgs, Fig14Args, Fig15Args, Figure, FigureScale, ReproduceArgs};
use crate::failure::Failure;
use crate::output::{self, Format};
use dropcast_collect::Tracer;
use dropcast_data::{EventOptions, EventReader, write_atomic};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::collect;
use dropcast_pipeline::files::{check_replaced, create_folder};
use dropcast_pipeline::generate::generate_leaf;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::reproduce::fabric::{self, FabricFigure, Scale};
use dropcast_pipeline::reproduce::fig14::{Fig14Options, Fig14SweepRow, Fig14Traffic};
use dropcast_pipeline::reproduce::{fig14, fig15};
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_reports::plot::{LineFigure, Page};
use dropcast_simulate::LeafWorkload;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReproduceArgs, progress: &dyn Progress) -> Result<(), Failure> {
    match &args.figure {
        Figure::Fig6(args) => fabric_figure("fig6", args, progress),
        Figure::Fig7(args) => fabric_figure("fig7", args, progress),
        Figure::Fig8(args) => fabric_figure("fig8", args, progress),
        Figure::Fig9(args) => fabric_figure("fig9", args, progress),
        Figure::Fig10(args) => fabric_figure("fig10", args, progress),
        Figure::Fig11(args) => fabric_figure("fig11", args, progress),
        Figure::Fig12(args) => fabric_figure("fig12", args, progress),
        Figure::Fig13(args) => fabric_figure("fig13", args, progress),
        Figure::Fig14(args) => fig14(args, progress),
        Figure::Fig15(args) => fig15(args, progress),
    }
}

fn fabric_figure(
    name: &str,
    args: &FabricFigureArgs,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let figure = FabricFigure::named(name).expect("every subcommand is a figure");
    let plain = match args.scale {
        FigureScale::Small => Scale::small(),
        FigureScale::Paper => Scale::paper(),
    };
    let scale = Scale {
        runs: args.runs.unwrap_or(plain.runs),
        duration_ns: args.duration_ms.map_or(plain.duration_ns, |ms| ms.saturating_mul(1_000_000)),
        seed: args.seed,
        ..plain
    };
    let folder = args.output.clone().unwrap_or_else(|| Path::new("runs").join(name));
    create_folder(&folder)?;
    let resources = Resources::default();
    let oracles = fabric::oracles(&scale, &resources, progress)?;
    let measured = fabric::measure(figure, &scale, &oracles, &resources, progress)?;
    let page = dropcast_reports::fabric_figure::page(&measured);
    let mut files = vec![
        (format!("{name}.csv"), dropcast_reports::fabric_figure::csv(&measured)),
        (format!("{name}.md"), page.clone()),
    ];
    let panels = dropcast_reports::fabric_figure::panels(&measured);
    let svg = |(name, panel): (String, LineFigure)| (name + ".svg", panel.to_svg(Page::Alone));
    files.extend(panels.into_iter().map(svg));
    for (name, text) in &files {
        write_atomic(&folder.join(name), text.as_bytes())?;
    }
    output::print_text(&format!("{page}All of it is in {}.\n", folder.display()))
}

fn fig14(args: &Fig14Args, progress: &dyn Progress) -> Result<(), Failure> {
    let traffic =
        Fig14Traffic { bursts_at_once: args.bursts_at_once, slots: args.slots, seed: args.seed };
    let drawn = traffic.case(args.ports, args.buffer, args.bursts_per_slot);
    let drawn = drawn.map_err(PipelineError::from)?;
    create_folder(&args.output)?;
    check_replaced(&args.output, ["fig14.csv", "fig14.svg", "fig14-cases.csv"])?;
    let options =
        Fig14Options { repetitions: args.repetitions, seed: args.seed, ..Fig14Options::default() };
    progress.begin("fig14");
    let measured = fig14::measure(&drawn, &options).map_err(PipelineError::from)?;
    let figure = dropcast_reports::fig14::figure(&measured, &drawn);
    let names = ("flip_probability", "lqd_over_algorithm");
    let [csv, svg] = write_figure(&figure, &args.output, "fig14", names)?;
    let others = traffic.other_cases().map_err(PipelineError::from)?;
    let sweep = fig14::sweep(others, &options).map_err(PipelineError::from)?;
    let cases = args.output.join("fig14-cases.csv");
    write_atomic(&cases, Fig14SweepRow::to_csv(&sweep).as_bytes())?;
    progress.end("one case drawn, others compared");
    print_written(&[csv, svg, cases])
}

fn fig15(args: &Fig15Args, progress: &dyn Progress) -> Result<(), Failure> {
    let names = ["fig15-paper.csv", "fig15-paper.svg", "fig15-ours.csv", "fig15-ours.svg"];
    check_replaced(&args.output, names)?;
    for recipe in fig15::recipes(args.seed) {
        LabelledTraces::open(&args.data, &recipe.settings.features)?;
    }
    create_folder(&args.output)?;
    let data = if args.data.is_empty() {
        vec![generated(&args.output, args.seed, progress)?]
    } else {
        args.data.clone()
    };
    let mut written = Vec::new();
    for (name, recipe) in ["fig15-paper", "fig15-ours"].into_iter().zip(fig15::recipes(args.seed)) {
        let traces = LabelledTraces::open(&data, &recipe.settings.features)?;
        let rows = fig15::measure_recipe(&recipe, &traces, progress)?;
        let figure = dropcast_reports::fig15::figure(&rows, &recipe);
        written.extend(write_figure(&figure, &args.output, name, ("trees", "score"))?);
    }
    print_written(&written)
}

/// Writes a figure as CSV, with these names of its axes, and SVG; returns the paths.
fn write_figure(
    figure: &LineFigure,
    folder: &Path,
    name: &str,
    (x_name, y_name): (&str, &str),
) -> Result<[PathBuf; 2], Failure> {
    let [csv, svg] = ["csv", "svg"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_atomic(&csv, figure.to_csv(x_name, y_name).as_bytes())?;
    write_atomic(&svg, figure.to_svg(Page::Alone).as_bytes())?;
    Ok([csv, svg])
}

fn print_written(paths: &[PathBuf]) -> Result<(), Failure> {
    output::print(Format::Text, &paths, |paths| {
        paths.iter().map(|path| format!("{}\n", path.display())).collect()
    })
}

/// The labelled trace of a generated workload.
fn generated(folder: &Path, seed: u64, progress: &dyn Progress) -> Result<PathBuf, PipelineError> {
    let (events, trace) = (folder.join("events.parquet"), folder.join("trace.parquet"));
    generate_leaf(&LeafWorkload { seed, ..LeafWorkload::default() }, &events, progress)?;
    let reader = EventReader::open(&events, EventOptions::default())?;
    let specs = reader.specs().clone();
    let settings = TracerSettings::default();
    let most_waiting = Tracer::DEFAULT_MAX_WAITING_ROWS;
    collect(reader, specs, &settings, most_waiting, &trace, progress)?;
    Ok(trace)
}
