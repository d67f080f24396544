//! A model measured on labelled traces.

use super::sent_at_votes::SentAtVotes;
use super::verdict::AskedPolicies;
use super::{ModelSource, Report, ReportBuilder, TraceSource};
use dropcast_data::TraceMeta;
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces};
use dropcast_train::{DataOrigin, Part, ReplayRows, Split, TrainedModel, rows_to_replay};
use std::path::PathBuf;

/// Which rows a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ReportRows {
    /// Of rows that the model was trained on, in whatever file, those that its split kept for
    /// testing, if it kept any there; all rows of other files.
    #[default]
    Unseen,
    /// Every row, those it was trained on too.
    All,
}

/// What a report shows by label whether the model looks at it or not, where the trace has it.
const DESCRIBED: [&str; 2] = ["queue_length", "occupancy"];

/// Measures the model of a file on trace files. Policies that are asked for are replayed, too.
///
/// # Errors
/// If a trace cannot be read, or does not go with the model, or a policy needs a model of its own.
pub fn measure_file(
    file: &ModelFile,
    data: &[PathBuf],
    rows: ReportRows,
    asked: &AskedPolicies,
    progress: &dyn Progress,
) -> Result<Report, PipelineError> {
    let source = ModelSource {
        name: file.path.file_name().map(|name| name.to_string_lossy().into_owned()),
        sha256: Some(file.sha256.clone()),
    };
    let traces = LabelledTraces::open_for(data, &file.model)?;
    measure(&file.model, source, &traces, rows, asked, progress)
}

/// Measures a model on open traces, which are scaled to its buffer.
///
/// # Errors
/// If a trace cannot be read, or does not go with the model.
pub fn measure(
    model: &TrainedModel,
    source: ModelSource,
    traces: &LabelledTraces,
    rows: ReportRows,
    asked: &AskedPolicies,
    progress: &dyn Progress,
) -> Result<Report, PipelineError> {
    let asked = &asked.with_oracles()?;
    progress.begin("report");
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
    let mut builder = ReportBuilder::new(tool, model, source).with_policies(asked);
    for (trace, shown) in traces.one_by_one().zip(traces.names()) {
        add_trace(&mut builder, model, (&trace, shown), rows, progress)?;
    }
    let mut report = builder.finish();
    let mut votes = SentAtVotes::new(&report, &model.forest);
    for trace in traces.one_by_one() {
        check(progress)?;
        let (split, seed, part) = measured_part(model, &trace.traces()[0], rows)?;
        votes.add(&trace, (split, seed, part))?;
    }
    votes.set(&mut report);
    progress.end("scored and replayed");
    Ok(report)
}

fn add_trace(
    builder: &mut ReportBuilder<'_>,
    model: &TrainedModel,
    (one, shown): (&LabelledTraces, String),
    rows: ReportRows,
    progress: &dyn Progress,
) -> Result<(), PipelineError> {
    let trace = &one.traces()[0];
    trace.check_label()?;
    let LabelledTrace { meta, name, .. } = trace;
    if let (Some(ours), Some(models)) = (one.time_constant_ns()?, model.switch.base_rtt_ns)
        && ours != models
    {
        let problem = format!(
            "its averages and projections have a time constant of {ours} ns (the base RTT), the \
             model was trained on {models} ns; use a trace with that base RTT, or another model"
        );
        return Err(PipelineError::unfit(name, problem));
    }
    let (split, seed, part) = measured_part(model, trace, rows)?;
    let features = features_to_read(model, meta);
    let one = one.with_features(features.clone());
    builder.begin_trace(TraceSource {
        name: shown.clone(),
        meta: meta.clone(),
        columns: features.names(),
        run: Some(trace.origin.run),
        held_out: part == Part::Test,
    })?;
    if split.is_random() {
        builder.omit_replay(format!(
            "the test rows of {shown}, split at random, are not consecutive arrivals"
        ));
    }
    for rows in rows_to_replay(&one, features.len(), split, seed, vec![part])? {
        let ReplayRows { rows, are_of_part, .. } = rows?;
        progress.advance(rows.batch.len());
        check(progress)?;
        builder.add_measured(&rows.batch, &are_of_part)?;
    }
    builder.end_trace(one.traces()[0].provenance());
    Ok(())
}

/// Which rows of a trace are measured: a part of a split with a seed.
fn measured_part<'m>(
    model: &'m TrainedModel,
    trace: &LabelledTrace,
    rows: ReportRows,
) -> Result<(&'m Split, u64, Part), PipelineError> {
    let unseen = match rows {
        ReportRows::All => None,
        ReportRows::Unseen => split_of(model, trace)?,
    };
    Ok(unseen.map_or((&Split::None, 0, Part::Train), |(split, seed)| (split, seed, Part::Test)))
}

/// The features of the model, and those of the trace that every report describes by label.
fn features_to_read(model: &TrainedModel, meta: &TraceMeta) -> FeatureSet {
    let has = |name: &&str| meta.features.iter().any(|feature| feature == name);
    let described = DESCRIBED.into_iter().filter(has).filter_map(|name| name.parse().ok());
    model.features.features().iter().copied().chain(described).collect()
}

/// How the rows of a trace were divided when the model was made, if it was made from them.
///
/// `None` too where the model was trained on every row: there are no others.
fn split_of<'m>(
    model: &'m TrainedModel,
    trace: &LabelledTrace,
) -> Result<Option<(&'m Split, u64)>, PipelineError> {
    let Some(provenance) = &model.provenance else { return Ok(None) };
    let DataOrigin { run, sha256, .. } = &trace.origin;
    if !provenance.data.iter().any(|origin| origin.run == *run) {
        if provenance.data.iter().any(|origin| origin.sha256 == *sha256) {
            let problem = "trained the model in an earlier build of dropcast, which numbered traces by their \
                           files, so which rows were kept for testing is not known; train the model again, or \
                           report on all rows";
            return Err(PipelineError::unfit(&trace.name, problem));
        }
        return Ok(None);
    }
    let seed = provenance.parameters.get().seed;
    let split = &provenance.split;
    Ok(tests(split, *run).then_some((split, seed)))
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
