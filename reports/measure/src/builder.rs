//! From labelled rows and a model to a [`Report`].

use super::calibration::calibration;
use super::curve::curve_section;
use super::distribution::feature_section;
use super::drift::DriftSection;
use super::gain::{BestAlpha, GainSection};
use super::importance::ImportanceSample;
use super::leaf_counts::LeafCounts;
use super::model_replay::ModelReplay;
use super::one_comparison::OneComparison;
use super::outside::OutsideCounts;
use super::replay_section::ratio;
use super::score_intervals::EpisodeScores;
use super::score_ranges::score_bins;
use super::source::{ModelSource, TraceSource};
use super::value::{
    LabelSection, ModelSection, PredictionSection, REPORT_SCHEMA_VERSION, Report, TraceSection,
};
use super::value_histogram::ValueHistogram;
use super::verdict::{AskedPolicies, Judge};
use dropcast_data::{InputProvenance, LabelledBatch, Outcome};
use dropcast_export::{ExportError, Origin};
use dropcast_forest::ScoreHistogram;
use dropcast_pipeline::ReportError;
use dropcast_pipeline::resources::Resources;
use dropcast_train::{DataOrigin, Part, Provenance, TrainedModel};
use std::borrow::Cow;

/// Makes a [`Report`] in one pass over the traces, in bounded memory.
pub struct ReportBuilder<'m> {
    tool: String,
    model: &'m TrainedModel,
    source: ModelSource,
    traces: Vec<Trace>,
    replay: ModelReplay<'m>,
    /// None once it is known that nothing is replayed.
    judge: Option<Judge>,
    /// As long as there is a judge.
    intervals: EpisodeScores,
    scores: ScoreHistogram,
    leaves: LeafCounts,
    sample: ImportanceSample,
    outside: OutsideCounts,
    outcomes: Outcomes,
    features: Vec<(String, [ValueHistogram; 2])>,
}

struct Trace {
    source: TraceSource,
    input: Option<InputProvenance>,
    /// Rows measured.
    rows: u64,
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
    pub fn new(tool: impl Into<String>, model: &'m TrainedModel, source: ModelSource) -> Self {
        let judge = judge_beside((model, &source), &AskedPolicies::default());
        ReportBuilder {
            tool: tool.into(),
            model,
            source,
            traces: Vec::new(),
            replay: ModelReplay::new(model),
            judge: Some(judge),
            intervals: EpisodeScores::default(),
            scores: ScoreHistogram::new(model.forest.trees.len()),
            leaves: LeafCounts::new(&model.forest),
            sample: ImportanceSample::new(model.forest.features.len()),
            outside: OutsideCounts::new(model),
            outcomes: Outcomes::default(),
            features: Vec::new(),
        }
    }

    /// Replays these policies, too.
    #[must_use]
    pub fn with_policies(self, policies: &AskedPolicies) -> Self {
        let judge = judge_beside((self.model, &self.source), policies);
        ReportBuilder { judge: Some(judge), ..self }
    }

    /// The batches that follow belong to this trace. Its switches begin with empty buffers.
    ///
    /// # Errors
    /// If the trace lacks a feature of the model.
    pub fn begin_trace(&mut self, source: TraceSource) -> Result<(), ReportError> {
        let model_columns = source.places_of(&self.model.features.names())?;
        let columns = source.columns.iter();
        let places = columns.map(|column| place(&mut self.features, column)).collect();
        self.replay.begin_trace(source.clone())?;
        match (&mut self.judge, &source.meta.switches) {
            (Some(judge), Some(specs)) if source.why_not_replayed().is_none() => {
                judge.begin_trace(&source.name, &source.meta, specs)?;
            }
            _ => self.judge = None,
        }
        self.traces.push(Trace { source, input: None, rows: 0, model_columns, places });
        Ok(())
    }

    /// Replays nothing, for this reason (for example, the rows are a sample).
    pub fn omit_replay(&mut self, reason: impl Into<String>) {
        self.replay.omit(reason);
        self.judge = None;
    }

    /// The next rows of the trace, all of them measured.
    ///
    /// # Errors
    /// If no trace was begun, the batch's columns do not fit together, or a row cannot be
    /// replayed.
    pub fn add(&mut self, batch: &LabelledBatch) -> Result<(), ReportError> {
        self.add_measured(batch, &vec![true; batch.len()])
    }

    /// The next rows of the trace, and whether each is measured; the others only take room in the
    /// buffers of the replay.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_measured(
        &mut self,
        batch: &LabelledBatch,
        measured: &[bool],
    ) -> Result<(), ReportError> {
        // It refuses rows that do not fit.
        let model_rows = self.replay.add(batch, measured)?;
        let judge = self.judge.as_mut();
        let replayed = judge.map(|judge| judge.replay(batch, measured)).transpose()?;
        match (&mut self.judge, replayed) {
            (Some(judge), Some(replayed)) if model_rows.predicted.len() == batch.len() => {
                judge.count(batch, replayed, Some(&model_rows));
                let trace = self.traces.last().and_then(|of| of.source.meta.switches.as_ref());
                if let Some(specs) = trace {
                    self.intervals.add(batch, measured, &model_rows, specs);
                }
            }
            _ => self.judge = None,
        }
        let mut batch = Cow::Borrowed(batch);
        if measured.contains(&false) {
            batch.to_mut().retain(measured);
        }
        self.count(&batch);
        Ok(())
    }

    /// Counts the measured rows, except for their replay.
    fn count(&mut self, batch: &LabelledBatch) {
        let place = self.traces.len() as u64;
        let Some(trace) = self.traces.last_mut() else { return };
        let run = trace.source.run.unwrap_or(place);
        let columns = trace.columns_of_model(batch);
        self.outside.add(&columns);
        let scores = self.leaves.add(&self.model.forest, &columns, &batch.drop);
        for (row, (&score, &dropped)) in scores.iter().zip(&batch.drop).enumerate() {
            self.scores.add(score, dropped);
            self.sample.add(run, trace.rows + row as u64, &columns, row, dropped);
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
        self.replay.end_trace();
        if let Some(judge) = &mut self.judge {
            judge.end_trace();
        }
        self.intervals.end_trace();
        if let Some(trace) = self.traces.last_mut() {
            trace.input = Some(input);
        }
    }

    /// The report on all rows so far.
    pub fn finish(self) -> Report {
        let forest = &self.model.forest;
        let (replay, by_switch) = match self.replay.finish() {
            Ok((section, by_switch)) => (Ok(section), Some(by_switch)),
            Err(reason) => (Err(reason), None),
        };
        let intervals = self.judge.is_some().then(|| self.intervals.finish());
        let decreases = self.leaves.gini_decrease(forest);
        let verdict =
            self.judge.zip(by_switch).map(|(judge, by_switch)| judge.finish_beside(by_switch));
        let total = replay.as_ref().ok().map(|replay| &replay.total);
        let best_alpha = verdict.as_ref().and_then(|verdict| verdict.rivals.best_alpha());
        let best_alpha = best_alpha.map(|best| BestAlpha { alpha: best.alpha, sent: best.sent });
        let gain = total.and_then(|total| GainSection::new(total, best_alpha));
        let one_comparison = verdict.as_ref().zip(total).and_then(OneComparison::new);
        let resources = table_resources(self.model);
        let confusion = self.scores.confusion(forest.vote_threshold);
        let metrics = self.model.metrics.as_ref();
        let outside = self.outside.finish();
        Report {
            schema_version: REPORT_SCHEMA_VERSION,
            tool: self.tool,
            model: model_section(self.model, self.source),
            labels: self.outcomes.section(&self.scores),
            prediction: PredictionSection::new(confusion, intervals),
            drift: metrics.map(|metrics| DriftSection::new(metrics, &confusion)),
            outside_omitted: outside.as_ref().err().cloned(),
            outside: outside.ok(),
            curve: curve_section(&self.scores, forest),
            score_histogram: score_bins(&self.scores),
            calibration: calibration(&self.scores),
            importance: self.sample.section(forest, &decreases),
            features: self.features.iter().map(feature_section).collect(),
            verdict,
            one_comparison,
            traces: self.traces.into_iter().map(|trace| trace.section(self.model)).collect(),
            gain,
            replay_omitted: replay.as_ref().err().cloned(),
            replay: replay.ok(),
            resources_omitted: resources.as_ref().err().map(ToString::to_string),
            resources: resources.ok(),
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

impl Trace {
    /// The columns of the model's features.
    fn columns_of_model<'b>(&self, batch: &'b LabelledBatch) -> Vec<&'b [u32]> {
        self.model_columns.iter().map(|&column| batch.features[column].as_slice()).collect()
    }

    fn section(self, model: &TrainedModel) -> TraceSection {
        let in_training_data = match (&self.input, &model.provenance) {
            _ if self.source.held_out => Some(false),
            (Some(input), Some(Provenance { data, split, .. })) => {
                // Models of earlier builds have other numbers of runs.
                let is_same = |origin: &&DataOrigin| {
                    self.source.run == Some(origin.run) || origin.sha256 == input.sha256
                };
                let mut same = data.iter().filter(is_same);
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

/// What a verdict is made by, with these policies and the model among its rivals.
fn judge_beside((model, source): (&TrainedModel, &ModelSource), policies: &AskedPolicies) -> Judge {
    let named = (model, source.name.as_deref());
    Judge::beside_model(Resources::default().threads(), policies, named)
}

fn model_section(model: &TrainedModel, source: ModelSource) -> ModelSection {
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
        imported: model.imported.clone(),
        training_rows_known: model.provenance.is_some(),
        metrics: model.metrics.clone(),
        provenance: model.provenance.clone(),
    }
}

/// Counted, not measured: a report has nothing that depends on a machine.
fn table_resources(model: &TrainedModel) -> Result<dropcast_export::TableResources, ExportError> {
    // Of the origin only the features matter to what is counted.
    let unknown = "0".repeat(64);
    dropcast_export::TableResources::new(&model.forest, &Origin::of_model(model, "model", &unknown))
}
