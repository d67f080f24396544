//! From labelled rows and a model to a [`Report`].

use super::calibration::calibration;
use super::curve::curve_section;
use super::distribution::feature_section;
use super::importance::ImportanceSample;
use super::leaf_counts::LeafCounts;
use super::replay_section::{ratio, totals};
use super::score_ranges::score_bins;
use super::value::{
    LabelSection, ModelSection, REPORT_SCHEMA_VERSION, ReplaySection, Report, SwitchSection,
    TraceSection,
};
use super::value_histogram::ValueHistogram;
use dropcast_data::{InputProvenance, LabelledBatch, Outcome, RowOrder, TraceMeta};
use dropcast_export::{ExportError, Origin, Resources};
use dropcast_forest::{ForestScorer, ScoreHistogram};
use dropcast_replay::{Arrival, Replay, ReplayError, ReplayOptions, Replayed};
use dropcast_train::{Model, Part, Provenance};
use std::borrow::Cow;

/// Where a model came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSource {
    /// File name, if it has one.
    pub name: Option<String>,
    /// SHA-256 of its file, lower-case hex.
    pub sha256: Option<String>,
}

/// A labelled trace that is about to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSource {
    /// File name.
    pub name: String,
    /// What it says of itself. Without switches in it, it is not replayed.
    pub meta: TraceMeta,
    /// Names of the features in its batches, in order: at least those of the model. Values in bytes
    /// are on the scale of the model's buffer (`dropcast_forest::scale_to_buffer`).
    pub columns: Vec<String>,
    /// Whether the batches hold only the rows that the model's own split kept for testing.
    pub held_out: bool,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Rows before a trace was named.
    #[error("rows were given before the trace that they belong to")]
    NoTrace,
    /// A trace lacks what the model needs.
    #[error("trace {trace} has no feature {feature}, which the model needs; it has {}", has.join(", "))]
    MissingFeature {
        /// The trace.
        trace: String,
        /// What is missing.
        feature: String,
        /// What there is.
        has: Vec<String>,
    },
    /// A batch whose columns do not fit together.
    #[error("trace {trace}: a batch of {rows} rows has {problem}")]
    UnevenBatch {
        /// The trace.
        trace: String,
        /// Its rows.
        rows: usize,
        /// What does not fit.
        problem: String,
    },
    /// A row that cannot be replayed.
    #[error("trace {trace}, row {row}: {source}")]
    Replay {
        /// The trace.
        trace: String,
        /// The row among those given for the trace, from 0.
        row: u64,
        /// What is wrong.
        source: ReplayError,
    },
}

/// Makes a [`Report`] in one pass over the traces, in bounded memory.
pub struct ReportBuilder<'m> {
    tool: String,
    model: &'m Model,
    source: ModelSource,
    traces: Vec<Trace>,
    /// Of the last trace; none where it cannot be replayed.
    replay: Option<Replay>,
    omitted: Option<String>,
    replayed: Vec<(SwitchSection, Replayed)>,
    scores: ScoreHistogram,
    scorer: ForestScorer,
    leaves: LeafCounts,
    sample: ImportanceSample,
    outcomes: Outcomes,
    features: Vec<(String, [ValueHistogram; 2])>,
}

struct Trace {
    source: TraceSource,
    input: Option<InputProvenance>,
    /// Rows measured.
    rows: u64,
    /// Rows replayed, measured or not.
    replayed: u64,
    /// By feature of the model: its column in the batches.
    model_columns: Vec<usize>,
    /// By column of the batches: its place in `features`.
    places: Vec<usize>,
}

#[derive(Default)]
struct Outcomes {
    pushed_out: u64,
    rejected: u64,
    are_missing: bool,
}

impl<'m> ReportBuilder<'m> {
    /// A report on `model` by `tool` (name and version).
    pub fn new(tool: impl Into<String>, model: &'m Model, source: ModelSource) -> Self {
        ReportBuilder {
            tool: tool.into(),
            model,
            source,
            traces: Vec::new(),
            replay: None,
            omitted: None,
            replayed: Vec::new(),
            scores: ScoreHistogram::new(model.forest.trees.len()),
            scorer: ForestScorer::new(&model.forest),
            leaves: LeafCounts::new(&model.forest),
            sample: ImportanceSample::new(model.forest.features.len()),
            outcomes: Outcomes::default(),
            features: Vec::new(),
        }
    }

    /// The batches that follow belong to this trace. Its switches begin with empty buffers.
    ///
    /// # Errors
    /// If the trace lacks a feature of the model.
    pub fn begin_trace(&mut self, source: TraceSource) -> Result<(), BuildError> {
        self.end_replay();
        let columns = &source.columns;
        let column_of = |feature: &String| {
            columns.iter().position(|column| column == feature).ok_or_else(|| {
                let (trace, has) = (source.name.clone(), columns.clone());
                BuildError::MissingFeature { trace, feature: feature.clone(), has }
            })
        };
        let features = self.model.features.names();
        let model_columns = features.iter().map(column_of).collect::<Result<_, _>>()?;
        let places = columns.iter().map(|column| place(&mut self.features, column)).collect();
        self.omitted = self.omitted.take().or_else(|| why_not_replayed(&source));
        if self.omitted.is_none() {
            self.replay = new_replay(&source.meta);
        }
        self.traces.push(Trace {
            source,
            input: None,
            rows: 0,
            replayed: 0,
            model_columns,
            places,
        });
        Ok(())
    }

    /// No part of the report replays arrivals, for this reason: say, the rows are a sample.
    pub fn omit_replay(&mut self, reason: impl Into<String>) {
        self.omitted = self.omitted.take().or(Some(reason.into()));
        self.replay = None;
    }

    /// The next rows of the trace, all of them measured.
    ///
    /// # Errors
    /// If no trace was begun, the batch's columns do not fit together, or a row cannot be
    /// replayed.
    pub fn add(&mut self, batch: &LabelledBatch) -> Result<(), BuildError> {
        self.add_measured(batch, &vec![true; batch.len()])
    }

    /// The next rows of the trace, and whether each is measured; the others only take room in the
    /// switches that are replayed.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_measured(
        &mut self,
        batch: &LabelledBatch,
        measured: &[bool],
    ) -> Result<(), BuildError> {
        self.traces.last().ok_or(BuildError::NoTrace)?.check(batch)?;
        self.replay(batch, measured)?;
        let mut batch = Cow::Borrowed(batch);
        if measured.contains(&false) {
            batch.to_mut().retain(measured);
        }
        self.count(&batch);
        Ok(())
    }

    fn replay(&mut self, batch: &LabelledBatch, counted: &[bool]) -> Result<(), BuildError> {
        let Some(trace) = self.traces.last_mut() else { return Err(BuildError::NoTrace) };
        let (Some(replay), Some(arrivals)) = (&mut self.replay, &batch.arrivals) else {
            if self.replay.take().is_some() {
                let name = &trace.source.name;
                let reason =
                    format!("trace {name} does not say when and where its packets arrived");
                self.omitted = self.omitted.take().or(Some(reason));
            }
            return Ok(());
        };
        let scores = self.scorer.score_columns(&trace.columns_of_model(batch));
        for (row, &score) in scores.iter().enumerate() {
            let arrival = Arrival {
                time_ns: arrivals.time_ns[row],
                switch_id: arrivals.switch_id[row],
                port: arrivals.port[row],
                queue: arrivals.queue[row],
                size_bytes: arrivals.size_bytes[row],
                dropped: batch.drop[row],
                predicted: score > self.model.forest.vote_threshold,
                counted: counted[row],
            };
            replay.arrive(&arrival).map_err(|source| trace.bad_row(row, source))?;
        }
        trace.replayed += batch.len() as u64;
        Ok(())
    }

    /// Everything about measured rows but their replay.
    fn count(&mut self, batch: &LabelledBatch) {
        let at = self.traces.len() as u64;
        let Some(trace) = self.traces.last_mut() else { return };
        let columns = trace.columns_of_model(batch);
        let scores = self.leaves.add(&self.model.forest, &columns, &batch.drop);
        for (row, (&score, &dropped)) in scores.iter().zip(&batch.drop).enumerate() {
            self.scores.add(score, dropped);
            self.sample.add(at, trace.rows + row as u64, &columns, row, dropped);
        }
        for (column, &place) in batch.features.iter().zip(&trace.places) {
            for (&value, &dropped) in column.iter().zip(&batch.drop) {
                self.features[place].1[usize::from(dropped)].add(value);
            }
        }
        trace.rows += batch.len() as u64;
        self.outcomes.add(batch);
    }

    /// The trace has no more rows; this is the file that they were in.
    pub fn end_trace(&mut self, input: InputProvenance) {
        self.end_replay();
        if let Some(trace) = self.traces.last_mut() {
            trace.input = Some(input);
        }
    }

    /// The report on all rows so far.
    pub fn finish(mut self) -> Report {
        self.end_replay();
        let forest = &self.model.forest;
        let replay = if self.omitted.is_some() { None } else { replay_section(self.replayed) };
        let none = || "there are no arrivals".to_owned();
        let replay_omitted =
            self.omitted.or_else(|| if replay.is_none() { Some(none()) } else { None });
        let decreases = self.leaves.gini_decrease(forest);
        let resources = resources(self.model);
        Report {
            schema_version: REPORT_SCHEMA_VERSION,
            tool: self.tool,
            model: model_section(self.model, self.source),
            labels: self.outcomes.section(&self.scores),
            prediction: self.scores.confusion(forest.vote_threshold).into(),
            curve: curve_section(&self.scores, forest),
            score_histogram: score_bins(&self.scores),
            calibration: calibration(&self.scores),
            importance: self.sample.section(forest, &decreases),
            features: self.features.iter().map(feature_section).collect(),
            traces: self.traces.into_iter().map(|trace| trace.section(self.model)).collect(),
            replay,
            replay_omitted,
            resources_omitted: resources.as_ref().err().map(ToString::to_string),
            resources: resources.ok(),
        }
    }

    fn end_replay(&mut self) {
        let (Some(replay), Some(trace)) = (self.replay.take(), self.traces.last()) else { return };
        let collect = trace.source.meta.collect.unwrap_or_default();
        for (switch_id, replayed) in replay.finish() {
            let section = SwitchSection {
                trace: self.traces.len() - 1,
                switch_id,
                ports: replayed.ports,
                victim: collect.victim,
                strict_fit: collect.strict_fit,
                results: totals([&replayed].into_iter()),
            };
            self.replayed.push((section, replayed));
        }
    }
}

/// The place of a feature's histograms, new ones if it has none yet.
fn place(features: &mut Vec<(String, [ValueHistogram; 2])>, name: &str) -> usize {
    features.iter().position(|feature| feature.0 == name).unwrap_or_else(|| {
        features.push((name.to_owned(), Default::default()));
        features.len() - 1
    })
}

fn why_not_replayed(source: &TraceSource) -> Option<String> {
    let name = &source.name;
    if source.meta.order == RowOrder::Departure {
        return Some(format!(
            "the rows of {name} are in order of departure; a replay needs them in order of arrival"
        ));
    }
    let is_unknown = source.meta.switches.is_none();
    is_unknown.then(|| format!("trace {name} does not describe its switch"))
}

fn new_replay(meta: &TraceMeta) -> Option<Replay> {
    meta.switches.clone().map(|switches| Replay::new(switches, ReplayOptions::of(meta)))
}

impl Trace {
    /// The columns of the model's features.
    fn columns_of_model<'b>(&self, batch: &'b LabelledBatch) -> Vec<&'b [u32]> {
        self.model_columns.iter().map(|&column| batch.features[column].as_slice()).collect()
    }

    fn check(&self, batch: &LabelledBatch) -> Result<(), BuildError> {
        let rows = batch.len();
        let uneven = |problem: String| {
            Err(BuildError::UnevenBatch { trace: self.source.name.clone(), rows, problem })
        };
        let (columns, expected) = (batch.features.len(), self.source.columns.len());
        if columns != expected {
            return uneven(format!("{columns} feature columns, expected {expected}"));
        }
        let arrivals = batch.arrivals.iter().flat_map(|arrivals| {
            [
                arrivals.time_ns.len(),
                arrivals.switch_id.len(),
                arrivals.port.len(),
                arrivals.queue.len(),
                arrivals.size_bytes.len(),
            ]
        });
        let outcomes = batch.outcome.iter().map(Vec::len);
        let mut lengths = batch.features.iter().map(Vec::len).chain(arrivals).chain(outcomes);
        match lengths.find(|&length| length != rows) {
            Some(length) => uneven(format!("a column of {length}")),
            None => Ok(()),
        }
    }

    fn bad_row(&self, row: usize, source: ReplayError) -> BuildError {
        let row = self.replayed + row as u64;
        BuildError::Replay { trace: self.source.name.clone(), row, source }
    }

    fn section(self, model: &Model) -> TraceSection {
        let in_training_data = match (&self.input, &model.provenance) {
            _ if self.source.held_out => Some(false),
            (Some(input), Some(Provenance { data, split, .. })) => {
                let mut same = data.iter().filter(|origin| origin.sha256 == input.sha256);
                let trains = |run| split.part_of_run(run).is_none_or(|part| part == Part::Train);
                Some(same.any(|origin| trains(origin.run)))
            }
            _ => None,
        };
        TraceSection {
            name: self.source.name,
            input: self.input,
            rows: self.rows,
            held_out: self.source.held_out,
            in_training_data,
            meta: self.source.meta,
        }
    }
}

impl Outcomes {
    fn add(&mut self, batch: &LabelledBatch) {
        let Some(outcomes) = &batch.outcome else {
            self.are_missing |= !batch.is_empty();
            return;
        };
        let count = |of| outcomes.iter().filter(|outcome| **outcome == of).count() as u64;
        self.pushed_out += count(Outcome::PushedOut);
        self.rejected += count(Outcome::Rejected);
    }

    fn section(&self, scores: &ScoreHistogram) -> LabelSection {
        let (transmitted, drops) = scores.totals();
        let rows = transmitted + drops;
        LabelSection {
            rows,
            drops,
            drop_share: ratio(drops, rows),
            pushed_out: (!self.are_missing).then_some(self.pushed_out),
            rejected: (!self.are_missing).then_some(self.rejected),
        }
    }
}

fn model_section(model: &Model, source: ModelSource) -> ModelSection {
    let trees = model.forest.trees.len();
    ModelSection {
        name: source.name,
        sha256: source.sha256,
        features: model.features.names(),
        trees,
        depth: model.forest.depth(),
        vote_threshold: model.forest.vote_threshold,
        max_score: u32::try_from(255 * trees).unwrap_or(u32::MAX),
        switch: model.switch.clone(),
        metrics: model.metrics.clone(),
        provenance: model.provenance.clone(),
    }
}

/// Counted, not measured: a report has nothing that depends on a machine.
fn resources(model: &Model) -> Result<Resources, ExportError> {
    // Of the origin only the features matter to what is counted.
    let unknown = "0".repeat(64);
    Resources::new(&model.forest, &Origin::of_model(model, "model", &unknown))
}

fn replay_section(replayed: Vec<(SwitchSection, Replayed)>) -> Option<ReplaySection> {
    if replayed.is_empty() {
        return None;
    }
    Some(ReplaySection {
        time_model: "continuous".to_owned(),
        dynamic_thresholds_alpha: ReplayOptions::default().alpha,
        total: totals(replayed.iter().map(|(_, replayed)| replayed)),
        switches: replayed.into_iter().map(|(section, _)| section).collect(),
    })
}
