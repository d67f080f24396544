//! Events of many files, labelled trace by trace.
//!
//! The files of one folder are the events of one run, of one switch or several. Folders are often named
//! by what they hold: `run=3/switch=7/events.parquet`. Each becomes a folder of the output, with one
//! labelled trace for each switch. `manifest.json` there tells what was read and written; a folder whose
//! files and traces are as it says is not labelled again. So an interrupted job goes on when it is run
//! again, and gives the bytes of one that was not interrupted.

use crate::PipelineError;
use crate::collect::{Collected, count_departures, meta_of};
use crate::files::{FolderLock, create_folder, read_text};
use crate::folders::{Group, groups};
pub use crate::folders::{MANIFEST, trace_files, traces_in};
use crate::progress::{Progress, check};
use crate::resources::Resources;
use crate::settings::TracerSettings;
use dropcast_collect::Tracer;
use dropcast_data::{
    DataError, Departures, EventBatch, EventFiles, EventOptions, InputProvenance, SwitchSpecs,
    TraceWriter, is_object, remove_object, sha256, sha256_file, write_atomic,
};
use dropcast_train::Threads;
use serde::{Deserialize, Serialize};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Version of [`Manifest`] as JSON.
pub const MANIFEST_VERSION: u32 = 1;

/// What was read and written, by folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub format_version: u32,
    /// The program that wrote it.
    pub tool: String,
    /// What to label, and how: `dropcast collect`'s settings.
    pub collect: serde_json::Value,
    /// SHA-256 of how events are read: the switches, the columns, the unit of time, bad rows.
    pub reading_sha256: String,
    /// By folder, relative to that of the events; in order of their names.
    pub folders: BTreeMap<String, FolderEntry>,
}

/// One folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FolderEntry {
    /// What was read.
    pub inputs: Vec<InputProvenance>,
    /// What was written.
    pub traces: Vec<TraceEntry>,
}

/// One labelled trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The file, relative to the manifest.
    pub file: String,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// The switch.
    pub switch_id: u16,
    /// Its arrivals.
    pub rows: u64,
    /// Of which LQD dropped.
    pub drops: u64,
}

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
    /// Their arrivals.
    pub rows: u64,
    /// Of which LQD dropped.
    pub drops: u64,
}

/// How events of a folder are labelled.
pub struct FolderJob<'a> {
    /// How events are read. In a folder whose path has `switch=N`, events without a column for the
    /// switch are of switch `N`.
    pub options: EventOptions,
    /// What to label, and how.
    pub settings: &'a TracerSettings,
    /// Rows of a switch that wait for their label, at most.
    pub max_waiting_rows: usize,
    /// Threads share the folders, and the switches of each.
    pub resources: Resources,
}

impl FolderJob<'_> {
    /// Labels the events under `input`, into the folder `output`.
    ///
    /// # Errors
    /// If there are no events, an event is wrong, a file cannot be read or written, or another job
    /// works there. What is finished until then stays, and is in the manifest.
    pub fn run(
        &self,
        input: &Path,
        output: &Path,
        progress: &dyn Progress,
    ) -> Result<FolderCollected, PipelineError> {
        let is_file = output.extension().is_some() && !output.is_dir();
        if is_file || output.as_os_str() == "-" {
            let problem = "the events are a folder; name a folder for their labelled traces";
            return Err(PipelineError::setting("output", problem));
        }
        let groups = groups(input)?;
        if groups.is_empty() {
            return Err(PipelineError::unfit(input.display(), "holds no files of events"));
        }
        let _lock = lock(output)?;
        progress.begin("collect");
        let earlier = self.earlier(output)?;
        let manifest = Mutex::new(Manifest { folders: BTreeMap::new(), ..self.manifest()? });
        let threads = Threads::new(self.resources.threads());
        let tell = |folder: &Path, entry: FolderEntry| {
            let mut manifest = manifest.lock().unwrap_or_else(PoisonError::into_inner);
            manifest.folders.insert(slashed(folder), entry);
            write_manifest(output, &manifest)
        };
        let found = threads.map(groups, |group| -> Result<bool, PipelineError> {
            let known = earlier.folders.get(&slashed(&group.folder));
            if let Some(entry) = known.filter(|entry| is_as_told(entry, &group, output)) {
                tell(&group.folder, entry.clone())?;
                return Ok(false);
            }
            let entry = self.label(&group, output, &threads, progress)?;
            tell(&group.folder, entry)?;
            Ok(true)
        });
        let labelled: Vec<bool> = found.into_iter().collect::<Result<_, _>>()?;
        let manifest = manifest.into_inner().unwrap_or_else(PoisonError::into_inner);
        remove_what_is_gone(output, &earlier, &manifest)?;
        let traces = || manifest.folders.values().flat_map(|entry| &entry.traces);
        let (rows, drops) =
            traces().fold((0, 0), |(rows, drops), trace| (rows + trace.rows, drops + trace.drops));
        progress.end(&format!("{rows} rows, {drops} drops"));
        Ok(FolderCollected {
            manifest: output.join(MANIFEST),
            labelled: labelled.iter().filter(|&&labelled| labelled).count(),
            kept: labelled.iter().filter(|&&labelled| !labelled).count(),
            traces: traces().count(),
            rows,
            drops,
        })
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
            reading_sha256: sha256(format!("{:?}", self.options).as_bytes()),
            folders: BTreeMap::new(),
        })
    }

    /// What an earlier job with these settings has finished.
    fn earlier(&self, output: &Path) -> Result<Manifest, PipelineError> {
        let ours = self.manifest()?;
        let Ok(text) = read_text(&output.join(MANIFEST)) else { return Ok(ours) };
        let refused = || {
            let problem = "is not a manifest that this program wrote; choose another folder";
            PipelineError::unfit(output.join(MANIFEST).display(), problem)
        };
        let found: Manifest = serde_json::from_str(&text).map_err(|_| refused())?;
        if found.format_version != MANIFEST_VERSION {
            return Err(refused());
        }
        let same = Manifest { folders: found.folders.clone(), ..ours.clone() } == found;
        Ok(if same { found } else { ours })
    }

    fn label(
        &self,
        group: &Group,
        output: &Path,
        threads: &Threads,
        progress: &dyn Progress,
    ) -> Result<FolderEntry, PipelineError> {
        let switch_id = switch_of(&group.folder)?;
        let options = EventOptions { switch_id, ..self.options.clone() };
        let mut events = EventFiles::open(&group.files, &options)?;
        let specs = events.specs().clone();
        let (may_push_out, tells_marks) = (events.may_push_out(), events.tells_marks());
        let begin = |switch_id, file| {
            let mut begun = self.begin(&specs, switch_id, output, file)?;
            if may_push_out {
                begun.tracer = begun.tracer.with_push_outs();
            }
            if tells_marks {
                begun.tracer = begun.tracer.with_ecn_marks();
            }
            Ok::<_, PipelineError>(begun)
        };
        let mut switches: BTreeMap<u16, OneSwitch> = BTreeMap::new();
        for batch in events.by_ref() {
            check(progress)?;
            let batch = batch?;
            progress.advance(batch.events.len());
            let mut batches = by_switch(batch);
            for &switch_id in batches.keys() {
                if let Entry::Vacant(new) = switches.entry(switch_id) {
                    new.insert(begin(switch_id, self.trace_file(&group.folder, switch_id))?);
                }
            }
            let work: Vec<(&mut OneSwitch, EventBatch)> = switches
                .iter_mut()
                .filter_map(|(switch_id, switch)| Some((switch, batches.remove(switch_id)?)))
                .collect();
            let pushed = threads.map(work, |(switch, batch)| switch.push(&batch));
            pushed.into_iter().collect::<Result<(), PipelineError>>()?;
        }
        let inputs = events.provenance();
        if switches.is_empty() {
            let problem = "holds no events that can be used, so there is nothing to label";
            return Err(PipelineError::unfit(group.folder.display(), problem));
        }
        let mut traces = Vec::new();
        for (switch_id, switch) in switches {
            traces.push(self.finish(switch_id, switch, &inputs, output)?);
        }
        Ok(FolderEntry { inputs, traces })
    }

    /// The trace of a switch, relative to the output.
    fn trace_file(&self, folder: &Path, switch_id: u16) -> PathBuf {
        match switch_of(folder) {
            Ok(Some(_)) => folder.join(PART),
            _ => folder.join(format!("switch={switch_id}")).join(PART),
        }
    }

    fn begin(
        &self,
        specs: &SwitchSpecs,
        switch_id: u16,
        output: &Path,
        file: PathBuf,
    ) -> Result<OneSwitch, PipelineError> {
        let specs = match (specs, specs.get(switch_id)) {
            (SwitchSpecs::Each(_), Some(spec)) => {
                SwitchSpecs::Each(BTreeMap::from([(switch_id, spec.clone())]))
            }
            _ => specs.clone(),
        };
        let path = output.join(&file);
        if !is_object(&path) {
            create_folder(path.parent().unwrap_or(output))?;
        }
        let writer = TraceWriter::create(&path, &meta_of(&specs, self.settings))?;
        let (computed, own) = self.settings.features.split_own();
        let tracer = Tracer::new(specs, self.settings.collect(), computed)
            .with_own(own.len())
            .with_max_waiting_rows(self.max_waiting_rows);
        Ok(OneSwitch { file, tracer, writer, collected: Collected::default(), departures: 0 })
    }

    fn finish(
        &self,
        switch_id: u16,
        switch: OneSwitch,
        inputs: &[InputProvenance],
        output: &Path,
    ) -> Result<TraceEntry, PipelineError> {
        let OneSwitch { file, tracer, mut writer, mut collected, departures } = switch;
        writer.set_pauses(tracer.pauses())?;
        let rows = tracer.finish();
        collected.add(&rows);
        writer.write(&rows)?;
        if self.settings.departures == Departures::Observed && departures == 0 {
            let problem = format!(
                "has no departures of switch {switch_id}, so nothing would drain its queues; set \
                 departures to line-rate"
            );
            return Err(PipelineError::unfit(file.display(), problem));
        }
        writer.set_inputs(inputs.to_vec());
        writer.finish()?;
        let sha256 = sha256_file(&output.join(&file))?;
        let Collected { rows, drops, .. } = collected;
        Ok(TraceEntry { file: slashed(&file), sha256, switch_id, rows, drops })
    }
}

/// A switch of a folder at work.
struct OneSwitch {
    file: PathBuf,
    tracer: Tracer,
    writer: TraceWriter,
    collected: Collected,
    departures: usize,
}

impl OneSwitch {
    /// Labels its next events and writes the rows whose label is known.
    fn push(&mut self, batch: &EventBatch) -> Result<(), PipelineError> {
        self.departures += count_departures(batch);
        let rows = self.tracer.push(batch)?;
        self.collected.add(&rows);
        self.writer.write(&rows)?;
        Ok(())
    }
}

const PART: &str = "part-0.parquet";

/// The switch that a path names with `switch=N`.
fn switch_of(folder: &Path) -> Result<Option<u16>, PipelineError> {
    let mut named = folder.iter().rev().filter_map(|part| part.to_str()?.strip_prefix("switch="));
    let Some(text) = named.next() else { return Ok(None) };
    let unfit = |_| {
        PipelineError::unfit(folder.display(), "names no switch, expected switch=0 to switch=65535")
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
    create_folder(output)?;
    FolderLock::take(output.join(".lock"), output).map(Some)
}

/// Whether the files of a folder and its traces are those of the manifest.
fn is_as_told(entry: &FolderEntry, group: &Group, output: &Path) -> bool {
    let names =
        group.files.iter().map(|file| file.file_name().unwrap_or_default().to_string_lossy());
    let is_same = |file: &Path, hash: &str| sha256_file(file).is_ok_and(|found| found == hash);
    names.eq(entry.inputs.iter().map(|input| input.name.as_str()))
        && group.files.iter().zip(&entry.inputs).all(|(file, input)| is_same(file, &input.sha256))
        && entry.traces.iter().all(|trace| is_same(&output.join(&trace.file), &trace.sha256))
}

/// Removes traces of folders that are no longer there.
fn remove_what_is_gone(output: &Path, earlier: &Manifest, now: &Manifest) -> Result<(), DataError> {
    let files = |manifest: &Manifest| -> BTreeSet<String> {
        let traces = manifest.folders.values().flat_map(|entry| &entry.traces);
        traces.map(|trace| trace.file.clone()).collect()
    };
    for gone in files(earlier).difference(&files(now)) {
        let path = output.join(gone);
        if is_object(&path) {
            remove_object(&path)?;
            continue;
        }
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                let file = path.display().to_string();
                return Err(DataError::Io { file, doing: "be removed", source });
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_manifest(output: &Path, manifest: &Manifest) -> Result<(), PipelineError> {
    let text = serde_json::to_string_pretty(manifest).map_err(|error| PipelineError::Encode {
        what: "the manifest",
        problem: error.to_string(),
    })?;
    Ok(write_atomic(&output.join(MANIFEST), format!("{text}\n").as_bytes())?)
}

/// A relative path as the manifest tells it, on every system.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
