//! Events of many files, labelled trace by trace.
//!
//! The files of one folder are the events of one run, of one switch or several. Folders are often named
//! by what they hold: `run=3/switch=7/events.parquet`. Each becomes a folder of the output, with one
//! labelled trace for each switch. `manifest.json` there lists what was read and written; a folder whose
//! files and traces are as it says is not labelled again. So an interrupted job goes on when it is run
//! again, and gives the bytes of one that was not interrupted. Traces that no longer hold are removed before
//! any other is written, so that the folder never holds traces of two jobs.

use super::passed_over::Usable;
use super::shared_reports::{check_one_switch, parted, refuse_several};
use super::{
    Counts, Events, Known, Labeller, TraceFile, check_held, each_batch, left_out, note_unmatched,
    report_notes, totals,
};
use crate::PipelineError;
pub use crate::files::manifest::MANIFEST_VERSION;
use crate::files::manifest::PART;
pub(crate) use crate::files::manifest::{FolderEntry, MANIFEST, Manifest, TraceEntry};
use crate::files::{FolderLock, Group, create_folder, groups, real, spare_inputs};
use crate::progress::Progress;
use crate::settings::TracerSettings;
use dropcast_data::{
    DropReports, EventBatch, EventFiles, EventOptions, InputNote, InputProvenance, Label, OnBadRow,
    SwitchSpecs, Threads, is_object, sha256, sha256_file, switch_in_path,
};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What was done.
#[derive(Debug, Serialize)]
pub struct FolderCollected {
    /// The manifest.
    pub manifest: PathBuf,
    /// Folders that were labelled.
    pub labelled: usize,
    /// Folders that were as the manifest said.
    pub kept: usize,
    /// Labelled traces, of both.
    pub traces: usize,
    /// What was counted in them.
    #[serde(flatten)]
    pub counts: Counts,
    /// Rows of the input that were left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Rows of the input that are worth knowing about, by what they are (docs/trace.md).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<InputNote, u64>,
}

/// How events of a folder are labelled.
pub(super) struct FolderJob<'a> {
    /// How events are read. In a folder whose path has `switch=N`, events without a column for the
    /// switch are of switch `N`.
    pub(super) options: EventOptions,
    /// What to label, and how.
    pub(super) settings: &'a TracerSettings,
    /// Rows that wait for their label, at most: of all switches of the runs that are labelled at a time.
    pub(super) max_waiting_rows: usize,
    /// Threads share the folders, and the switches of each.
    pub(super) threads: NonZeroUsize,
}

impl FolderJob<'_> {
    /// Labels the events under `input`, into the folder `output`.
    ///
    /// # Errors
    /// If there are no events, an event is wrong, a file cannot be read or written, or another job
    /// works there. What is finished until then stays, and is in the manifest.
    pub(super) fn run(
        &self,
        input: &Path,
        output: &Path,
        progress: &dyn Progress,
    ) -> Result<FolderCollected, PipelineError> {
        let groups = self.groups(input, output)?;
        let _lock = lock(output)?;
        progress.begin("collect");
        let threads = Threads::new(self.threads);
        let mut manifest = self.manifest()?;
        let earlier = Manifest::read(output)?;
        if let Some(earlier) = &earlier {
            if earlier.is_like(&manifest) {
                let kept = |group: &Group| {
                    let folder = slashed(&group.folder);
                    let entry = earlier.folders.get(&folder)?;
                    let is_kept = entry.is_unchanged(&group.files, self.reports(), output);
                    is_kept.then(|| (folder, entry.clone()))
                };
                let kept = threads.map(groups.iter().collect(), kept);
                manifest.folders = kept.into_iter().flatten().collect();
            }
            if manifest.lacks_some_of(earlier) {
                // Until the others are removed, the folder holds a part of the earlier traces.
                Manifest { finished: false, ..earlier.clone() }.write(output)?;
                manifest.remove_others(earlier, output)?;
            }
        }
        let kept = manifest.folders.len();
        let work = Work {
            output,
            folders: folders_of(&groups),
            inputs: groups.iter().flat_map(|group| group.files.clone()).collect(),
            most_waiting: 0,
        };
        let is_left = |group: &Group| !manifest.folders.contains_key(&slashed(&group.folder));
        let left: Vec<Group> = groups.into_iter().filter(is_left).collect();
        // The optimum keeps all arrivals of a run, so its runs come one by one.
        let is_alone = self.settings.label == Label::Opt;
        let at_a_time = if is_alone { 1 } else { threads.count().min(left.len()).max(1) };
        let work = Work { most_waiting: self.max_waiting_rows / at_a_time, ..work };
        if !left.is_empty() || earlier.as_ref() != Some(&manifest) {
            manifest.finished = false;
            manifest.write(output)?;
        }
        let labelled = left.len();
        let manifest = Mutex::new(manifest);
        let label = |group: Group| {
            let entry = self.label(&group, &work, &threads, progress)?;
            let mut manifest = manifest.lock().unwrap_or_else(PoisonError::into_inner);
            manifest.folders.insert(slashed(&group.folder), entry);
            if self.options.drops.is_some() {
                check_one_switch(input, &manifest)?;
            }
            manifest.write(output)
        };
        if is_alone {
            left.into_iter().try_for_each(label)?;
        } else {
            threads.map(left, label).into_iter().collect::<Result<(), PipelineError>>()?;
        }
        let mut manifest = manifest.into_inner().unwrap_or_else(PoisonError::into_inner);
        if manifest.traces().next().is_none() {
            let problem = "holds nothing that can be labelled, as shown above";
            return Err(PipelineError::unfit(input.display(), problem));
        }
        if !manifest.finished {
            manifest.finished = true;
            manifest.write(output)?;
        }
        let counts = Counts::sum(manifest.traces().map(|trace| &trace.counts));
        progress.end(&format!("{} rows, {} drops", counts.rows, counts.drops));
        let drops = self.options.drops.as_ref();
        let folders = manifest.folders.values().map(|folder| parted(folder, drops));
        let (events, reports): (Vec<_>, Vec<_>) = folders.unzip();
        let reports = drops.map_or(Vec::new(), |drops| drops.of_runs(reports));
        report_notes(&reports, Path::new(""), progress);
        let (skipped, notes) = totals(events.into_iter().flatten().chain(&reports));
        let traces = manifest.traces().count();
        let manifest = output.join(MANIFEST);
        Ok(FolderCollected { manifest, labelled, kept, traces, counts, skipped, notes })
    }

    /// The events under `input` by folder, once the settings and the places are found to be sound.
    fn groups(&self, input: &Path, output: &Path) -> Result<Vec<Group>, PipelineError> {
        let is_file = output.extension().is_some() && !output.is_dir();
        if is_file || output.as_os_str() == "-" {
            let problem = "the events are a folder; name a folder for their labelled traces";
            return Err(PipelineError::setting("output", problem));
        }
        self.settings.check()?;
        keep_apart(input, output)?;
        let groups = groups(input)?;
        if groups.is_empty() {
            return Err(PipelineError::unfit(input.display(), "holds no files of events"));
        }
        if let Some(group) = groups.iter().find(|group| group.folder.to_str().is_none()) {
            let problem = "has a name that is not UTF-8, which a manifest cannot hold; rename it";
            return Err(PipelineError::unfit(group.place().display(), problem));
        }
        if self.options.drops.is_some() {
            let named = groups.iter().map(switch_of).collect::<Result<BTreeSet<_>, _>>()?;
            refuse_several(input, named.into_iter())?;
        }
        Ok(groups)
    }

    /// The files of reports of drops.
    fn reports(&self) -> &[InputProvenance] {
        self.options.drops.as_ref().map_or(&[], DropReports::inputs)
    }

    /// A manifest without folders.
    fn manifest(&self) -> Result<Manifest, PipelineError> {
        let encode = |error: serde_json::Error| PipelineError::Encode {
            what: "the manifest",
            problem: error.to_string(),
        };
        Ok(Manifest {
            format_version: MANIFEST_VERSION,
            tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")).to_owned(),
            collect: serde_json::to_value(self.settings).map_err(encode)?,
            reading_sha256: sha256(&serde_json::to_vec(&self.options).map_err(encode)?),
            finished: true,
            folders: BTreeMap::new(),
        })
    }

    fn label(
        &self,
        group: &Group,
        work: &Work<'_>,
        threads: &Threads,
        progress: &dyn Progress,
    ) -> Result<FolderEntry, PipelineError> {
        let switch_id = switch_of(group)?;
        let options = EventOptions { switch_id, ..self.options.clone() };
        let pass_over = options.on_bad_row == OnBadRow::Skip;
        let usable = Usable::among(&group.files, &options, pass_over)?;
        usable.reasons.iter().for_each(|reason| progress.note(reason));
        if usable.files.is_empty() {
            let inputs = usable.with_others(self.reports().to_vec());
            return Ok(FolderEntry { inputs, traces: Vec::new() });
        }
        let mut events = EventFiles::open(&usable.files, &options)?;
        let specs = events.specs().clone();
        let (known, place) = (Known::of(&events), group.place().display());
        let mut switches: BTreeMap<u16, OneSwitch<'_>> = BTreeMap::new();
        each_batch(&mut events, progress, |_, batch| {
            let mut batches = by_switch(batch);
            for &switch_id in batches.keys() {
                if let Entry::Vacant(new) = switches.entry(switch_id) {
                    let file = trace_file(group, switch_id, &work.folders)?;
                    new.insert(self.begin(&specs, switch_id, work, file, known)?);
                }
            }
            let pieces: Vec<(&mut OneSwitch<'_>, EventBatch)> = switches
                .iter_mut()
                .filter_map(|(switch_id, switch)| Some((switch, batches.remove(switch_id)?)))
                .collect();
            let name = || place.to_string();
            let pushed = threads.map(pieces, |(switch, batch)| switch.labeller.push(&batch, name));
            pushed.into_iter().collect::<Result<(), PipelineError>>()?;
            check_held(switches.values().map(|switch| switch.labeller.held_rows()).sum(), name)?;
            let waiting: usize =
                switches.values().map(|switch| switch.labeller.waiting_rows()).sum();
            if waiting > work.most_waiting {
                let problem = format!(
                    "{waiting} rows wait for their label, more than {}, this run's share of the {} that may; raise \
                     that limit, label with fewer threads, or check the departures",
                    work.most_waiting, self.max_waiting_rows
                );
                return Err(PipelineError::unfit(&place, problem));
            }
            Ok(())
        })?;
        let mut inputs = events.provenance();
        let unmatched = switches.values().map(|switch| switch.labeller.unmatched_push_outs());
        note_unmatched(&mut inputs, unmatched.sum());
        // What reports count for themselves is of all runs, and not in this folder.
        report_notes(&inputs[..usable.files.len()], group.place(), progress);
        for rule in events.late_remarks() {
            progress.note(&format!("{place}: {rule}"));
        }
        let inputs = usable.with_others(inputs);
        let finish = |(switch_id, OneSwitch { file, labeller })| {
            let Some((path, counts)) = labeller.finish(&inputs, &place)? else { return Ok(None) };
            let (file, sha256) = (slashed(&file), sha256_file(&path)?);
            Ok(Some(TraceEntry { file, sha256, switch_id, counts }))
        };
        let traces = threads.map(switches.into_iter().collect(), finish).into_iter();
        let traces = traces.filter_map(Result::transpose);
        let traces: Vec<TraceEntry> = traces.collect::<Result<_, PipelineError>>()?;
        if traces.is_empty() {
            let problem = "holds no arrivals that can be used, so there is nothing to label";
            let problem = format!("{problem}{}", left_out(&inputs));
            let unfit = PipelineError::unfit(&place, problem);
            if !pass_over {
                return Err(unfit);
            }
            progress.note(&format!("{unfit}; passed over"));
        }
        Ok(FolderEntry { inputs, traces })
    }

    fn begin(
        &self,
        specs: &SwitchSpecs,
        switch_id: u16,
        work: &Work<'_>,
        file: PathBuf,
        known: Known,
    ) -> Result<OneSwitch<'_>, PipelineError> {
        let specs = match (specs, specs.get(switch_id)) {
            (SwitchSpecs::Each(_), Some(spec)) => {
                SwitchSpecs::Each(BTreeMap::from([(switch_id, spec.clone())]))
            }
            _ => specs.clone(),
        };
        let path = work.output.join(&file);
        spare_inputs(&path, &work.inputs)?;
        if !is_object(&path) {
            create_folder(path.parent().unwrap_or(work.output))?;
        }
        let labeller = Labeller::begin(specs, self.settings, known, self.max_waiting_rows, path)?;
        Ok(OneSwitch { file, labeller })
    }
}

/// What every folder of a job must know of the others.
struct Work<'a> {
    output: &'a Path,
    folders: BTreeSet<PathBuf>,
    inputs: Vec<PathBuf>,
    /// Rows that wait in one of the folders that are labelled at the same time.
    most_waiting: usize,
}

/// The folders in which there are events.
pub(crate) fn folders_of(groups: &[Group]) -> BTreeSet<PathBuf> {
    groups.iter().map(|group| group.folder.clone()).collect()
}

/// The trace of a switch of a group, relative to the output.
///
/// # Errors
/// If the folder is named after another switch, or a folder below it, one of `folders`, is that switch's.
pub(crate) fn trace_file(
    group: &Group,
    switch_id: u16,
    folders: &BTreeSet<PathBuf>,
) -> Result<PathBuf, PipelineError> {
    let refused = |problem: String| Err(PipelineError::unfit(group.place().display(), problem));
    match switch_of(group)? {
        Some(named) if named != switch_id => refused(format!(
            "is called switch={named} and holds events of switch {switch_id}; rename it, or move them"
        )),
        Some(_) => Ok(group.folder.join(PART)),
        None => {
            let folder = group.folder.join(format!("switch={switch_id}"));
            if folders.contains(&folder) {
                return refused(format!(
                    "holds events of switch {switch_id}, and so does switch={switch_id} in it: their traces \
                     would be one file; put them into one folder"
                ));
            }
            Ok(folder.join(PART))
        }
    }
}

/// A switch of a folder at work.
struct OneSwitch<'a> {
    file: PathBuf,
    labeller: Labeller<'a, TraceFile>,
}

/// The switch that the path of a folder names with `switch=N`.
pub(crate) fn switch_of(group: &Group) -> Result<Option<u16>, PipelineError> {
    let file = group.folder.join(PART);
    let Some(text) = switch_in_path(&file) else { return Ok(None) };
    let unfit = |_| {
        let problem = "names no switch, expected switch=0 to switch=65535";
        PipelineError::unfit(group.place().display(), problem)
    };
    text.parse().map(Some).map_err(unfit)
}

/// The events of each switch, in order.
fn by_switch(batch: EventBatch) -> BTreeMap<u16, EventBatch> {
    let mut switches: BTreeMap<u16, EventBatch> = BTreeMap::new();
    let columns = batch.own.len() / batch.events.len().max(1);
    for (at, event) in batch.events.into_iter().enumerate() {
        let switch = switches.entry(event.switch_id).or_default();
        switch.events.push(event);
        switch.own.extend(&batch.own[at * columns..(at + 1) * columns]);
    }
    switches
}

/// Makes the folder and takes its lock. Object stores have neither folders nor locks.
fn lock(output: &Path) -> Result<Option<FolderLock>, PipelineError> {
    if is_object(output) {
        return Ok(None);
    }
    FolderLock::take(output.join(".lock"), output).map(Some)
}

/// Refuses an output in which the next job would find its own traces among the events.
fn keep_apart(input: &Path, output: &Path) -> Result<(), PipelineError> {
    if !real(output).starts_with(real(input)) {
        return Ok(());
    }
    let problem = format!(
        "lies in the folder of the events, {}, and would be read as events the next time; name a folder \
         outside",
        input.display()
    );
    Err(PipelineError::unfit(output.display(), problem))
}

/// A relative path as the manifest has it, on every system.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
