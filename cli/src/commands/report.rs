//! `dropcast report`.

use super::export::read_model;
use crate::args::{ReportArgs, ReportRows};
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use crate::traces::{TraceFile, TraceFiles};
use dropcast_data::{TraceMeta, sha256, write_atomic};
use dropcast_features::FeatureSet;
use dropcast_pipeline::report::{ModelSource, Report, ReportBuilder, TraceSource};
use dropcast_train::{Model, Part, RunBatch, Split, rows_to_replay};
use std::path::{Path, PathBuf};

/// What a report shows by label whether the model looks at it or not, where the trace has it.
const DESCRIBED: [&str; 2] = ["queue_length", "occupancy"];

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.output {
        output_file::check(path, [&args.model].into_iter().chain(&args.data))?;
    }
    let report = report(&args.model, &args.data, args.rows)?;
    let text = args.format.exporter().export(&report)?;
    match &args.output {
        Some(path) => write_atomic(path, text.as_bytes())?,
        None => output::print_text(&text)?,
    }
    Ok(())
}

/// Measures the model at `path` on traces.
pub(crate) fn report(path: &Path, data: &[PathBuf], rows: ReportRows) -> anyhow::Result<Report> {
    let (model, text) = read_model(path)?;
    let source = ModelSource {
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        sha256: Some(sha256(text.as_bytes())),
    };
    measure_named(&model, source, data, rows)
}

/// Measures a model that is in no file.
pub(crate) fn measure(model: &Model, data: &[PathBuf], rows: ReportRows) -> anyhow::Result<Report> {
    measure_named(model, ModelSource::default(), data, rows)
}

fn measure_named(
    model: &Model,
    source: ModelSource,
    data: &[PathBuf],
    rows: ReportRows,
) -> anyhow::Result<Report> {
    let stage = Stage::begin("report");
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
    let mut builder = ReportBuilder::new(tool, model, source);
    for files in TraceFiles::open_for(data, model)?.one_by_one() {
        add_trace(&mut builder, model, &files, rows, &stage)?;
    }
    let report = builder.finish();
    stage.end("scored and replayed");
    Ok(report)
}

fn add_trace(
    builder: &mut ReportBuilder<'_>,
    model: &Model,
    files: &TraceFiles,
    rows: ReportRows,
    stage: &Stage,
) -> anyhow::Result<()> {
    let TraceFile { origin, meta, path, .. } = &files.files[0];
    if let (Some(ours), Some(models)) = (files.time_constant_ns()?, model.switch.base_rtt_ns)
        && ours != models
    {
        return Err(UserError(format!(
            "{}: its averages and projections have a time constant of {ours} ns (the base RTT), the model was \
             trained on {models} ns; use a trace with that base RTT, or another model",
            path.display()
        ))
        .into());
    }
    let seen = match rows {
        ReportRows::All => None,
        ReportRows::Unseen => split_of(model, origin.run),
    };
    let (split, seed, part) = match &seen {
        Some((split, seed)) => (*split, *seed, Part::Test),
        None => (&Split::None, 0, Part::Train),
    };
    let features = features_to_read(model, meta);
    let files = files.with_features(features.clone());
    builder.begin_trace(TraceSource {
        name: origin.name.clone(),
        meta: meta.clone(),
        columns: features.names(),
        held_out: seen.is_some(),
    })?;
    if split.is_random() {
        builder.omit_replay(format!(
            "the test rows of {}, split at random, are not consecutive arrivals",
            origin.name
        ));
    }
    for rows in rows_to_replay(&files, features.len(), split, seed, part)? {
        let (RunBatch { batch, .. }, is_of_part) = rows?;
        stage.advance(batch.len());
        builder.add_measured(&batch, &is_of_part)?;
    }
    builder.end_trace(files.files[0].read.take());
    Ok(())
}

/// The features of the model, and those of the trace that every report describes by label.
fn features_to_read(model: &Model, meta: &TraceMeta) -> FeatureSet {
    let has = |name: &&str| meta.features.iter().any(|feature| feature == name);
    let described = DESCRIBED.into_iter().filter(has).filter_map(|name| name.parse().ok());
    model.features.features().iter().copied().chain(described).collect()
}

/// How the rows of a run were divided when the model was made, if it was made from that run.
///
/// `None` too where the model was trained on every row of the run: there are no others.
fn split_of(model: &Model, run: u64) -> Option<(&Split, u64)> {
    let provenance = model.provenance.as_ref()?;
    let is_known = provenance.data.iter().any(|origin| origin.run == run);
    let seed = provenance.parameters.get().random_state;
    let split = &provenance.split;
    (is_known && tests(split, run)).then_some((split, seed))
}

/// Whether a split keeps rows of a run for testing.
fn tests(split: &Split, run: u64) -> bool {
    match split {
        Split::None => false,
        Split::Runs { test, .. } => test.contains(&run),
        Split::Only { of, .. } => tests(of, run),
        _ => true,
    }
}
