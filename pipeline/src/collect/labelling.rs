//! Events in, a labelled trace out.

use super::counts::Counts;
use super::events_source::Events;
use super::switch_pieces::{EvenTrace, PieceEvents, SwitchPiece};
use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::settings::TracerSettings;
use crate::traces::LabelledTrace;
use dropcast_collect::{Tracer, label_by_optimum};
use dropcast_data::{
    Departures, EventBatch, EventKind, Expert, Frame, InputNote, InputProvenance, LabelledBatch,
    Pause, SwitchSpecs, TraceColumns, TraceMeta, TraceReader, TraceWriter, trace_frame,
};
use dropcast_replay::OptimumReplay;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was labelled.
#[derive(Debug, Default, Serialize)]
pub struct Collected {
    /// The trace.
    pub trace: PathBuf,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Rows of the input that were left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Rows of the input that are worth knowing about, by what they are (docs/trace.md).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<InputNote, u64>,
}

/// Labels events of switches described by `specs`, and writes the trace to `path`.
///
/// Up to `max_waiting_rows` rows wait for their label.
///
/// # Errors
/// If an event is wrong, there is nothing to label, or the trace cannot be written.
pub fn collect(
    events: impl Events,
    specs: SwitchSpecs,
    settings: &TracerSettings,
    max_waiting_rows: usize,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Collected, PipelineError> {
    let columns = ToldBeside::of(&events, settings).columns();
    let mut writer = TraceWriter::create_with(path, &meta_of(&specs, settings), columns)?;
    let labelling = Labelling { specs, settings, max_waiting_rows, progress };
    let (collected, read) = labelling.label(events, |rows| Ok(writer.write(&rows)?))?;
    writer.set_inputs(read.inputs);
    writer.set_pauses(read.pauses)?;
    writer.finish()?;
    Ok(Collected { trace: path.to_owned(), ..collected })
}

/// As [`collect`], for one piece of one switch. The trace has the same bytes as when
/// [`join_pieces`] makes it of smaller pieces.
///
/// # Errors
/// Those of [`collect`].
pub fn collect_piece(
    events: impl Events,
    specs: SwitchSpecs,
    settings: &TracerSettings,
    piece: &SwitchPiece,
    max_waiting_rows: usize,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Collected, PipelineError> {
    let own = settings.features.split_own().1.len();
    let events = PieceEvents { events, piece, own };
    let columns = ToldBeside::of(&events, settings).columns();
    let mut writer = EvenTrace::create(path, &meta_of(&specs, settings), columns)?;
    let labelling = Labelling { specs, settings, max_waiting_rows, progress };
    let (collected, read) = labelling.label(events, |rows| writer.write(rows))?;
    writer.finish(read.inputs, read.pauses)?;
    Ok(Collected { trace: path.to_owned(), ..collected })
}

/// Makes one trace of pieces of a switch that follow each other, one at least.
///
/// # Errors
/// If one cannot be read, or the trace cannot be written.
pub fn join_pieces(pieces: &[PathBuf], path: &Path) -> Result<(), PipelineError> {
    let Some(first) = pieces.first() else {
        return Err(PipelineError::unfit(path.display(), "has no pieces to be made of"));
    };
    let first = TraceReader::open(first, &[])?;
    let meta = first.meta().clone();
    let mut writer = EvenTrace::create(path, &meta, first.columns())?;
    for piece in pieces {
        for rows in TraceReader::open(piece, &meta.features)? {
            writer.write(rows?)?;
        }
    }
    writer.finish(meta.inputs, meta.pauses)
}

/// As [`collect`], but the rows stay in memory; `name` is what errors call the trace.
///
/// # Errors
/// If an event is wrong, or there is nothing to label.
pub fn collect_frame(
    name: &str,
    events: impl Events,
    specs: SwitchSpecs,
    settings: &TracerSettings,
    max_waiting_rows: usize,
    progress: &dyn Progress,
) -> Result<(Collected, Frame), PipelineError> {
    let mut meta = meta_of(&specs, settings);
    let labelling = Labelling { specs, settings, max_waiting_rows, progress };
    let mut batches = Vec::new();
    let (collected, read) = labelling.label(events, |rows| {
        batches.push(rows);
        Ok(())
    })?;
    meta.inputs = read.inputs;
    meta.set_pauses(read.pauses);
    Ok((Collected { trace: name.into(), ..collected }, trace_frame(name, &meta, batches)?))
}

/// Labels events of switches described by `specs`. All rows stay in memory; `name` is what errors
/// call the trace.
///
/// # Errors
/// If an event is wrong, or there is nothing to label.
pub fn collect_in_memory(
    name: &str,
    events: impl IntoIterator<Item = EventBatch>,
    specs: SwitchSpecs,
    settings: &TracerSettings,
) -> Result<LabelledTrace, PipelineError> {
    let (computed, own) = settings.features.split_own();
    let mut meta = meta_of(&specs, settings);
    settings.check()?;
    let mut tracer = Tracer::new(specs.clone(), settings.collect(), computed).with_own(own.len());
    if settings.flows {
        tracer = tracer.with_flows();
    }
    let mut batches = Vec::new();
    for batch in events {
        batches.push(tracer.push(&batch)?);
    }
    let pauses = tracer.pauses();
    batches.push(tracer.finish());
    if settings.expert == Expert::Opt {
        label_by_optimum(&mut batches, &specs, &settings.collect(), &pauses);
    }
    meta.set_pauses(pauses);
    if batches.iter().any(|batch| batch.real_drop.is_some()) {
        // The rows before the first that tells of a real drop were not dropped.
        for batch in &mut batches {
            batch.real_drop.get_or_insert_with(|| vec![None; batch.drop.len()]);
        }
    }
    if batches.iter().all(LabelledBatch::is_empty) {
        return Err(PipelineError::unfit(name, "has no arrivals, so there is nothing to label"));
    }
    LabelledTrace::in_memory(name, meta, batches)
}

/// What is known of a trace before it is made.
pub(crate) fn meta_of(specs: &SwitchSpecs, settings: &TracerSettings) -> TraceMeta {
    let tool = concat!("dropcast ", env!("CARGO_PKG_VERSION"));
    let (computed, own) = settings.features.split_own();
    let mut meta = TraceMeta::new(tool, specs.clone(), [computed.names(), own.names()].concat());
    meta.collect = Some(settings.collect());
    meta
}

/// What events tell beside their packets, and rows with them.
#[derive(Clone, Copy)]
pub(crate) struct ToldBeside {
    push_outs: bool,
    drops: bool,
    marks: bool,
    flows: bool,
}

impl ToldBeside {
    /// What these events tell, and what is kept of it.
    pub(crate) fn of(events: &impl Events, settings: &TracerSettings) -> Self {
        ToldBeside {
            push_outs: events.may_push_out(),
            drops: events.tells_drops(),
            marks: events.tells_marks(),
            flows: settings.flows,
        }
    }

    /// The columns of a trace for it.
    pub(crate) fn columns(self) -> TraceColumns {
        let ToldBeside { marks: ecn_mark, flows, .. } = self;
        TraceColumns { ecn_mark, flows, ..TraceColumns::default() }
    }

    /// A tracer that expects it.
    pub(crate) fn expected_by(self, mut tracer: Tracer) -> Tracer {
        if self.push_outs {
            tracer = tracer.with_push_outs();
        }
        if self.drops {
            tracer = tracer.with_real_drops();
        }
        if self.marks {
            tracer = tracer.with_ecn_marks();
        }
        if self.flows {
            tracer = tracer.with_flows();
        }
        tracer
    }
}

/// How events are labelled.
struct Labelling<'a> {
    specs: SwitchSpecs,
    settings: &'a TracerSettings,
    max_waiting_rows: usize,
    progress: &'a dyn Progress,
}

/// What is known once all events are read.
struct ReadEvents {
    inputs: Vec<InputProvenance>,
    pauses: Vec<Pause>,
}

impl Labelling<'_> {
    /// Gives labelled rows to `keep`. Returns how many there were, and what was read.
    fn label(
        self,
        mut events: impl Events,
        mut keep: impl FnMut(LabelledBatch) -> Result<(), PipelineError>,
    ) -> Result<(Collected, ReadEvents), PipelineError> {
        let Labelling { specs, settings, max_waiting_rows, progress } = self;
        progress.begin("collect");
        let (computed, own) = settings.features.split_own();
        settings.check()?;
        let tracer = Tracer::new(specs.clone(), settings.collect(), computed)
            .with_own(own.len())
            .with_max_waiting_rows(max_waiting_rows);
        let mut tracer = ToldBeside::of(&events, settings).expected_by(tracer);
        events.remarks().iter().for_each(|remark| progress.note(remark));
        let mut collected = Collected::default();
        let mut departures = 0;
        let mut keep = |rows: LabelledBatch| {
            collected.counts.add_rows(&rows);
            progress.advance(rows.len());
            keep(rows)
        };
        // The optimum knows all arrivals before the first is labelled.
        let mut held = (settings.expert == Expert::Opt).then(HeldRows::default);
        while let Some(batch) = events.next() {
            check(progress)?;
            let batch = batch?;
            departures += count_departures(&batch);
            let rows = tracer
                .push(&batch)
                .map_err(|error| PipelineError::from(error).in_file(names(&events.inputs())))?;
            match &mut held {
                None => keep(rows)?,
                Some(held) => {
                    held.add(rows).map_err(|error| error.in_file(names(&events.inputs())))?;
                }
            }
        }
        let unmatched = tracer.unmatched_push_outs();
        let pauses = tracer.pauses();
        let last = tracer.finish();
        match held {
            None => keep(last)?,
            Some(mut held) => {
                held.add(last)?;
                label_by_optimum(&mut held.batches, &specs, &settings.collect(), &pauses);
                held.batches.into_iter().try_for_each(keep)?;
            }
        }
        let mut inputs = events.inputs();
        note_unmatched(&mut inputs, unmatched);
        let unfit = |problem| PipelineError::unfit(names(&inputs), problem);
        if collected.counts.rows == 0 {
            return Err(no_arrivals(&inputs));
        }
        if settings.departures == Departures::Observed && departures == 0 {
            let problem = "has no departures, so nothing would drain the queues; set departures \
                           to line-rate";
            return Err(unfit(problem.to_owned()));
        }
        for input in &inputs {
            add_counts(&mut collected.skipped, &input.skipped);
            add_counts(&mut collected.notes, &input.notes);
        }
        tell_notes(&inputs, Path::new(""), progress);
        events.late_remarks().iter().for_each(|rule| progress.note(rule));
        collected.counts.pauses = pauses.len() as u64;
        let Counts { rows, drops, .. } = collected.counts;
        progress.end(&format!("{rows} rows, {drops} drops"));
        Ok((collected, ReadEvents { inputs, pauses }))
    }
}

/// All rows of a trace.
#[derive(Default)]
struct HeldRows {
    batches: Vec<LabelledBatch>,
    rows: usize,
}

impl HeldRows {
    fn add(&mut self, rows: LabelledBatch) -> Result<(), PipelineError> {
        self.rows += rows.len();
        if self.rows > OptimumReplay::MOST_ARRIVALS {
            let most = OptimumReplay::MOST_ARRIVALS;
            let problem =
                format!("opt keeps all arrivals in memory, at most {most}; label a shorter time");
            return Err(PipelineError::setting("expert", problem));
        }
        self.batches.push(rows);
        Ok(())
    }
}

/// Notes push-outs whose packet is not known. Which of several inputs they are in, the tracer does not know:
/// the first has the note.
pub(crate) fn note_unmatched(inputs: &mut [InputProvenance], unmatched: u64) {
    if let Some(first) = inputs.first_mut().filter(|_| unmatched > 0) {
        first.notes.insert(InputNote::UnmatchedPushOut, unmatched);
    }
}

/// Tells what is worth knowing about inputs; messages name them in `folder`, which may be empty. What is known of all inputs
/// together names none.
pub(crate) fn tell_notes(inputs: &[InputProvenance], folder: &Path, progress: &dyn Progress) {
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

pub(crate) fn add_counts<T: Ord + Clone>(sum: &mut BTreeMap<T, u64>, counts: &BTreeMap<T, u64>) {
    for (what, rows) in counts {
        *sum.entry(what.clone()).or_insert(0) += rows;
    }
}

/// Why rows were left out, where that is all that can be said.
pub(crate) fn left_out(inputs: &[InputProvenance]) -> String {
    let mut sum = BTreeMap::new();
    inputs.iter().for_each(|input| add_counts(&mut sum, &input.skipped));
    let reasons: Vec<String> = sum.iter().map(|(why, rows)| format!("{rows} {why}")).collect();
    if reasons.is_empty() { String::new() } else { format!("; left out: {}", reasons.join(", ")) }
}

pub(crate) fn count_departures(batch: &EventBatch) -> usize {
    batch.events.iter().filter(|event| event.kind == EventKind::Departure).count()
}
