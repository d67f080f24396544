//! Events in, a labelled trace out: one labeller, whatever the rows go to.

use super::events_source::{Batches, Events};
use super::sinks::{InMemory, Sink};
use crate::PipelineError;
use crate::counts::Counts;
use crate::progress::{Progress, Silent, check};
use crate::settings::TracerSettings;
use crate::traces::LabelledTrace;
use dropcast_collect::{FollowerLabels, Tracer, label_by_optimum};
use dropcast_data::{
    EventBatch, InputNote, InputProvenance, Label, LabelledBatch, SwitchSpecs, TraceColumns,
    TraceMeta,
};
use dropcast_features::FeatureSet;
use dropcast_replay::OptimumReplay;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// What was labelled.
#[derive(Debug, Serialize)]
pub struct Collected<T = PathBuf> {
    /// The trace.
    pub trace: T,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Rows of the input that were left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Rows of the input that are worth knowing about, by what they are (docs/trace.md).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<InputNote, u64>,
}

/// Labels events of switches described by `specs` into one trace: a [`TraceFile`](super::TraceFile) at a path, the same
/// in [even batches](super::EvenTrace), or rows [`InMemory`].
///
/// Up to `max_waiting_rows` rows wait for their label.
///
/// # Errors
/// If settings do not go together, an event is wrong, there is nothing to label, or the trace cannot be written.
pub fn collect<S: Sink>(
    mut events: impl Events,
    specs: SwitchSpecs,
    settings: &TracerSettings,
    max_waiting_rows: usize,
    place: S::Place,
    progress: &dyn Progress,
) -> Result<Collected<S::Trace>, PipelineError> {
    progress.begin("collect");
    let known = Known::of(&events);
    let mut labeller = Labeller::<S>::begin(specs, settings, known, max_waiting_rows, place)?;
    each_batch(&mut events, progress, |events, batch| {
        let name = || names(&events.inputs());
        labeller.push(&batch, name)?;
        check_held(labeller.held_rows(), name)
    })?;
    let mut inputs = events.inputs();
    note_unmatched(&mut inputs, labeller.unmatched_push_outs());
    let labelled = labeller.finish(&inputs, &names(&inputs))?;
    let Some((trace, counts)) = labelled else { return Err(no_arrivals(&inputs)) };
    let (skipped, notes) = totals(&inputs);
    report_notes(&inputs, Path::new(""), progress);
    events.late_remarks().iter().for_each(|rule| progress.note(rule));
    progress.end(&format!("{} rows, {} drops", counts.rows, counts.drops));
    Ok(Collected { trace, counts, skipped, notes })
}

/// Labels events that are in memory. All rows stay there; `name` is what errors call the trace.
///
/// # Errors
/// Those of [`collect`].
pub fn collect_in_memory(
    name: &str,
    events: impl IntoIterator<Item = EventBatch>,
    specs: SwitchSpecs,
    settings: &TracerSettings,
) -> Result<LabelledTrace, PipelineError> {
    let (events, waiting) = (Batches::new(name, events), Tracer::DEFAULT_MAX_WAITING_ROWS);
    collect::<InMemory>(events, specs, settings, waiting, name.to_owned(), &Silent)?.trace.open()
}

/// What events say about more than arrivals.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    push_outs: bool,
    drops: bool,
    marks: bool,
}

impl Known {
    pub(crate) fn of(events: &impl Events) -> Self {
        Known {
            push_outs: events.may_push_out(),
            drops: events.records_drops(),
            marks: events.records_marks(),
        }
    }
}

/// What becomes of virtual LQD's labels.
enum Relabel {
    Nothing,
    /// All rows wait for the optimum's: it knows all arrivals before the first is labelled.
    Optimum {
        held: Vec<LabelledBatch>,
        rows: usize,
    },
    /// Rows wait for their followers; those given out keep their flows or not.
    Followers {
        labels: Box<FollowerLabels>,
        keeps_flows: bool,
    },
}

/// Labels the events of one trace.
pub(crate) struct Labeller<'a, S> {
    specs: SwitchSpecs,
    settings: &'a TracerSettings,
    tracer: Tracer,
    relabel: Relabel,
    counts: Counts,
    sink: S,
}

impl<'a, S: Sink> Labeller<'a, S> {
    /// Opens the place of the trace.
    ///
    /// # Errors
    /// If settings do not go together, or nothing can be written there.
    pub(crate) fn begin(
        specs: SwitchSpecs,
        settings: &'a TracerSettings,
        known: Known,
        max_waiting_rows: usize,
        place: S::Place,
    ) -> Result<Self, PipelineError> {
        settings.check()?;
        let (collect, Known { push_outs, drops, marks }) = (settings.collect(), known);
        // A new setting is a question to this function.
        let &TracerSettings { departures: _, victim: _, strict_fit: _, label, flows, ref features } =
            settings;
        let (computed, own) = features.split_own();
        // Columns are in the order of docs/features.md wherever they go.
        let mut computed = computed.features().to_vec();
        computed.sort_unstable();
        let computed = FeatureSet::from_iter(computed);
        let mut meta = TraceMeta::new(
            concat!("dropcast ", env!("CARGO_PKG_VERSION")),
            specs.clone(),
            [computed.names(), own.names()].concat(),
        );
        meta.collect = Some(collect);
        let columns = TraceColumns { ecn_mark: marks, flows, ..TraceColumns::default() };
        let sink = S::open(place, meta, columns)?;
        let mut tracer = Tracer::new(specs.clone(), collect, computed)
            .with_own(own.len())
            .with_max_waiting_rows(max_waiting_rows);
        if push_outs {
            tracer = tracer.with_push_outs();
        }
        if drops {
            tracer = tracer.with_real_drops();
        }
        if marks {
            tracer = tracer.with_ecn_marks();
        }
        if flows || label == Label::Follows {
            tracer = tracer.with_flows();
        }
        let relabel = match label {
            Label::Lqd => Relabel::Nothing,
            Label::Opt => Relabel::Optimum { held: Vec::new(), rows: 0 },
            Label::Follows => Relabel::Followers {
                labels: Box::new(FollowerLabels::new(specs.clone())),
                keeps_flows: flows,
            },
        };
        Ok(Labeller { specs, settings, tracer, relabel, counts: Counts::default(), sink })
    }

    /// Labels the next events, which errors call `name`.
    ///
    /// # Errors
    /// If one is wrong, too many rows wait, or rows cannot be written.
    pub(crate) fn push(
        &mut self,
        batch: &EventBatch,
        name: impl Fn() -> String,
    ) -> Result<(), PipelineError> {
        let rows = self.tracer.push(batch);
        let rows = rows.map_err(|error| PipelineError::from(error).in_file(name()))?;
        match &mut self.relabel {
            Relabel::Nothing => self.write(rows),
            Relabel::Optimum { held, rows: held_rows } => {
                *held_rows += rows.len();
                held.push(rows);
                Ok(())
            }
            Relabel::Followers { labels, .. } => {
                let known = labels.push(rows);
                known.into_iter().try_for_each(|rows| self.write(rows))
            }
        }
    }

    fn write(&mut self, mut rows: LabelledBatch) -> Result<(), PipelineError> {
        if let Relabel::Followers { keeps_flows: false, .. } = self.relabel
            && let Some(arrivals) = &mut rows.arrivals
        {
            arrivals.flows = None;
        }
        self.counts.add_rows(&rows);
        self.sink.write(rows)
    }

    /// Rows that wait for their label.
    pub(crate) fn waiting_rows(&self) -> usize {
        let followed = match &self.relabel {
            Relabel::Followers { labels, .. } => labels.len(),
            Relabel::Nothing | Relabel::Optimum { .. } => 0,
        };
        self.tracer.waiting_rows() + followed
    }

    /// Rows that wait for the optimum's labels.
    pub(crate) fn held_rows(&self) -> usize {
        match &self.relabel {
            Relabel::Optimum { rows, .. } => rows + self.waiting_rows(),
            Relabel::Nothing | Relabel::Followers { .. } => 0,
        }
    }

    /// As [`Tracer::unmatched_push_outs`].
    pub(crate) fn unmatched_push_outs(&self) -> u64 {
        self.tracer.unmatched_push_outs()
    }

    /// Ends the events, which came from `inputs`; errors call them `name`. Returns the trace and its counts; none,
    /// and no trace is written, if nothing arrived.
    ///
    /// # Errors
    /// If nothing drains a switch, or the trace cannot be written.
    pub(crate) fn finish(
        mut self,
        inputs: &[InputProvenance],
        name: &impl Display,
    ) -> Result<Option<(S::Trace, Counts)>, PipelineError> {
        if let Some(switch_id) = self.tracer.undrained() {
            let problem = format!(
                "has no departures of switch {switch_id}, so nothing would drain its queues; set departures to \
                 line-rate"
            );
            return Err(PipelineError::unfit(name, problem));
        }
        let pauses = self.tracer.pauses();
        let none = Tracer::new(self.specs.clone(), self.settings.collect(), FeatureSet::none());
        let last = std::mem::replace(&mut self.tracer, none).finish();
        let rest = match &mut self.relabel {
            Relabel::Nothing => vec![last],
            Relabel::Optimum { held, .. } => {
                held.push(last);
                label_by_optimum(held, &self.specs, &self.settings.collect(), &pauses);
                std::mem::take(held)
            }
            Relabel::Followers { labels, .. } => {
                let mut rest = labels.push(last);
                rest.extend(labels.finish());
                let has_rows = self.counts.rows > 0 || rest.iter().any(|rows| !rows.is_empty());
                if has_rows && !labels.knows_flows() {
                    let problem = "has no packet's flow, so what follows is not known; label events with \
                                   flow_hash";
                    return Err(PipelineError::unfit(name, problem));
                }
                rest
            }
        };
        rest.into_iter().try_for_each(|rows| self.write(rows))?;
        let Labeller { mut counts, sink, .. } = self;
        if counts.rows == 0 {
            return Ok(None);
        }
        counts.pauses = pauses.len() as u64;
        Ok(Some((sink.finish(inputs.to_vec(), pauses)?, counts)))
    }
}

/// Refuses more rows than the optimum can know; errors call the events `name`.
pub(crate) fn check_held(rows: usize, name: impl Fn() -> String) -> Result<(), PipelineError> {
    let most = OptimumReplay::MOST_ARRIVALS;
    if rows <= most {
        return Ok(());
    }
    let problem = format!("opt keeps all arrivals in memory, at most {most}; label a shorter time");
    Err(PipelineError::setting("label", problem).in_file(name()))
}

/// Notes push-outs whose packet is not known. Which of several inputs they are in, the tracer does not know:
/// the first has the note.
pub(crate) fn note_unmatched(inputs: &mut [InputProvenance], unmatched: u64) {
    if let Some(first) = inputs.first_mut().filter(|_| unmatched > 0) {
        first.notes.insert(InputNote::UnmatchedPushOut, unmatched);
    }
}

/// Notes what is worth knowing about inputs; messages name them in `folder`, which may be empty. What is known of all inputs
/// together names none.
pub(crate) fn report_notes(inputs: &[InputProvenance], folder: &Path, progress: &dyn Progress) {
    for input in inputs {
        let file = folder.join(&input.name);
        for (note, rows) in &input.notes {
            let is_of_all = inputs.len() > 1 && note.is_of_all_inputs();
            progress.input_note((!is_of_all).then_some(&file), *note, *rows);
        }
    }
}

/// The error of events without arrivals.
pub(crate) fn no_arrivals(inputs: &[InputProvenance]) -> PipelineError {
    let problem = "has no arrivals that can be used, so there is nothing to label";
    PipelineError::unfit(names(inputs), format!("{problem}{}", left_out(inputs)))
}

/// How messages name the inputs.
fn names(inputs: &[InputProvenance]) -> String {
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    names.join(", ")
}

/// Notes how events are read, and gives each batch of them to `label`, until the work is cancelled.
pub(crate) fn each_batch<E: Events>(
    events: &mut E,
    progress: &dyn Progress,
    mut label: impl FnMut(&E, EventBatch) -> Result<(), PipelineError>,
) -> Result<(), PipelineError> {
    events.remarks().iter().for_each(|remark| progress.note(remark));
    while let Some(batch) = events.next() {
        check(progress)?;
        let batch = batch?;
        progress.advance(batch.events.len());
        label(events, batch)?;
    }
    Ok(())
}

/// Rows that were left out, by reason, and those worth knowing about, of all inputs.
pub(crate) fn totals<'a>(
    inputs: impl IntoIterator<Item = &'a InputProvenance>,
) -> (BTreeMap<String, u64>, BTreeMap<InputNote, u64>) {
    let (mut skipped, mut notes) = (BTreeMap::new(), BTreeMap::new());
    for input in inputs {
        add_counts(&mut skipped, &input.skipped);
        add_counts(&mut notes, &input.notes);
    }
    (skipped, notes)
}

pub(crate) fn add_counts<T: Ord + Clone>(sum: &mut BTreeMap<T, u64>, counts: &BTreeMap<T, u64>) {
    for (what, rows) in counts {
        *sum.entry(what.clone()).or_insert(0) += rows;
    }
}

/// Why rows were left out, where that is all that can be said.
pub(crate) fn left_out(inputs: &[InputProvenance]) -> String {
    let reasons: Vec<String> =
        totals(inputs).0.iter().map(|(why, rows)| format!("{rows} {why}")).collect();
    if reasons.is_empty() { String::new() } else { format!("; left out: {}", reasons.join(", ")) }
}
