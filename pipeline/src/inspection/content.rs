//! What a file is and what is in it.

use super::statistics::{self, Statistics};
use crate::PipelineError;
use crate::collect::folder::{folders_of, switch_of, trace_file};
use crate::collect::{Events, add_counts, no_arrivals};
use crate::export::models::ModelFile;
use crate::files::manifest::Manifest;
use crate::files::read_text;
use crate::files::{Group, groups, matching, traces_in};
use crate::progress::Progress;
use crate::traces::{RowsDigest, repeated};
use dropcast_data::{
    CaptureSummary, EventColumns, EventFiles, EventKind, EventOptions, FileKind, InputNote,
    InputProvenance, Problem, RowOrder, SwitchSpecs, TableShape, TraceMeta, TraceReader, describe,
    is_folder, read_head, read_small, summarize_capture,
};
use dropcast_features::Feature;
use dropcast_replay::{Arrival, ArrivalChecker};
use dropcast_runtime::{MAGIC, Table};
use dropcast_train::{SWEEP_FORMAT_VERSION, SweepTable, TrainedModel};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Debug)]
pub enum Inspected {
    /// Packet events.
    Events {
        /// Names of the columns.
        columns: Vec<String>,
        /// How many rows; none where the file would have to be read for it.
        rows: Option<u64>,
        /// The switches, where the file describes them.
        switches: Option<SwitchSpecs>,
    },
    /// Packet events that are no table.
    Stream {
        /// What they are in: an ns-3 ASCII trace, or a capture of this format.
        format: String,
        /// The page that says how they are read.
        page: &'static str,
        /// What the packets of a capture are.
        capture: Option<Box<CaptureSummary>>,
    },
    /// A labelled trace.
    Trace {
        /// Names of the columns.
        columns: Vec<String>,
        /// How many rows; none where the file would have to be read for it.
        rows: Option<u64>,
        /// What it says of itself; none for the Credence artifact's CSV.
        meta: Option<Box<TraceMeta>>,
        /// What values its features have, if they were counted.
        statistics: Option<Statistics>,
    },
    /// Parquet or Arrow IPC of somebody else.
    OtherTable {
        /// Names of the columns.
        columns: Vec<String>,
        /// How many rows; none where the file would have to be read for it.
        rows: Option<u64>,
    },
    /// A `model.json`.
    Model(Box<TrainedModel>),
    /// A `.dct` table.
    Table {
        /// Names of its features.
        features: Vec<String>,
        /// Number of trees.
        trees: u16,
        /// Depth of each.
        depth: u8,
        /// A drop is predicted for scores above it.
        vote_threshold: u32,
        /// Its size.
        bytes: usize,
    },
    /// A `sweep.json`.
    Sweep(Box<SweepTable>),
    /// A `report.json`.
    Report {
        /// Version of its schema.
        schema_version: serde_json::Value,
    },
}

/// Says what the file at `path` is and what is in it, where events have these columns. Captures are read to
/// their end. `count` also says what values the features of a labelled trace have.
///
/// # Errors
/// If it cannot be read, is none of our files, or its values cannot be counted.
pub fn inspect(
    path: &Path,
    columns: &EventColumns,
    count: bool,
) -> Result<Inspected, PipelineError> {
    let mut found = kind_of(path, columns)?;
    if let Inspected::Stream { page: CAPTURES, capture, .. } = &mut found {
        *capture = Some(Box::new(summarize_capture(path)?));
    }
    if count {
        match &mut found {
            Inspected::Trace { statistics, meta: Some(meta), .. } => {
                *statistics = Some(statistics::count_values(path, &meta.features)?);
            }
            _ => {
                let problem = "statistics are of labelled traces in Parquet, as dropcast collect \
                               writes them";
                return Err(PipelineError::unfit(path.display(), problem));
            }
        }
    }
    Ok(found)
}

/// What reading whole files found.
#[derive(Debug, Default, Serialize)]
pub struct Checked {
    /// What they hold: packet events or a labelled trace.
    pub kind: &'static str,
    /// Good rows.
    pub rows: u64,
    /// Bad rows, by reason.
    pub problems: Vec<Problem>,
    /// Rows that are good but no events of a buffer of ours, by reason (docs/ns3-ascii.md).
    pub left_out: BTreeMap<String, u64>,
    /// Good rows that are worth knowing about, by what they are (docs/trace.md).
    pub notes: BTreeMap<InputNote, u64>,
}

impl Checked {
    fn add(&mut self, other: Checked) {
        self.rows += other.rows;
        self.problems.extend(other.problems);
        add_counts(&mut self.left_out, &other.left_out);
        add_counts(&mut self.notes, &other.notes);
    }
}

/// Reads all rows of packet events, merged as when they are labelled, or of labelled traces. Patterns are
/// [replaced](matching); each folder under a folder is a run of its own.
///
/// # Errors
/// If a file is neither, nothing describes the switches of events, or it is damaged: a value of a labelled
/// trace that cannot be is an error, a packet that cannot have arrived at its switch is counted.
pub fn check(
    paths: &[PathBuf],
    options: &EventOptions,
    progress: &dyn Progress,
) -> Result<Checked, PipelineError> {
    let paths = matching(paths)?;
    let (runs, is_folder) = match &paths[..] {
        [folder] if is_folder(folder) && !is_sweep(folder) => (runs_in(folder)?, true),
        _ => (vec![Group { folder: PathBuf::new(), files: paths }], false),
    };
    let folders = is_folder.then(|| folders_of(&runs));
    let mut all = Checked::default();
    let mut traces: BTreeMap<u64, &Path> = BTreeMap::new();
    progress.begin("check");
    for run in &runs {
        let files = &run.files;
        let rows = files.iter().map(|file| Rows::of(file, &options.columns));
        let rows: Vec<Rows> = rows.collect::<Result<_, _>>()?;
        for (file, rows) in files.iter().zip(rows) {
            let before = std::mem::replace(&mut all.kind, rows.name());
            if !before.is_empty() && before != all.kind {
                let problem = format!(
                    "is of another kind ({}) than the files before ({before}); check them one by one",
                    all.kind
                );
                return Err(PipelineError::unfit(file.display(), problem));
            }
            if let Rows::Labelled(meta) = rows {
                let (found, run, order) = check_trace(file, meta.as_deref(), options, progress)?;
                if let Some(same) = traces.insert(run, file)
                    && found.rows > 0
                {
                    return Err(repeated(file.display(), order, same.display()));
                }
                all.add(found);
            }
        }
        if all.kind == EVENTS {
            all.add(check_events(run, folders.as_ref(), options, progress)?);
        }
    }
    progress.end("all rows read");
    Ok(all)
}

/// Rows that can be checked.
enum Rows {
    Events,
    Labelled(Option<Box<TraceMeta>>),
}

/// The page about captures.
const CAPTURES: &str = "docs/pcap.md";
/// What files of packet events are called.
const EVENTS: &str = "packet events";

impl Rows {
    fn of(path: &Path, columns: &EventColumns) -> Result<Self, PipelineError> {
        match kind_of(path, columns)? {
            Inspected::Events { .. } | Inspected::Stream { .. } => Ok(Rows::Events),
            Inspected::Trace { meta, .. } => Ok(Rows::Labelled(meta)),
            _ => {
                let problem = "only packet events and labelled traces have rows to check";
                Err(PipelineError::unfit(path.display(), problem))
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Rows::Events => EVENTS,
            Rows::Labelled(_) => "labelled trace",
        }
    }
}

/// The files that are read together, as `collect` reads events, and readers of traces a folder of them.
fn runs_in(folder: &Path) -> Result<Vec<Group>, PipelineError> {
    if Manifest::read(folder)?.is_some() {
        return Ok(vec![Group { folder: PathBuf::new(), files: traces_in(folder)? }]);
    }
    let groups = groups(folder)?;
    if groups.is_empty() {
        return Err(PipelineError::unfit(folder.display(), "holds no files"));
    }
    Ok(groups)
}

/// Checks the events of a run, one of those in `folders` if these are given.
fn check_events(
    run: &Group,
    folders: Option<&BTreeSet<PathBuf>>,
    options: &EventOptions,
    progress: &dyn Progress,
) -> Result<Checked, PipelineError> {
    let named = if folders.is_some() { switch_of(run)? } else { None };
    let options = EventOptions { switch_id: named.or(options.switch_id), ..options.clone() };
    let mut events = EventFiles::open(&run.files, &options)?;
    events.remarks().iter().for_each(|remark| progress.note(remark));
    let (mut is_met, mut arrivals) = (vec![false; 1 << 16], 0_u64);
    for batch in events.by_ref() {
        crate::progress::check(progress)?;
        let batch = batch?;
        for event in &batch.events {
            arrivals += u64::from(event.kind == EventKind::Arrival);
            let is_new = !std::mem::replace(&mut is_met[usize::from(event.switch_id)], true);
            if let Some(folders) = folders.filter(|_| is_new) {
                trace_file(run, event.switch_id, folders)?;
            }
        }
        progress.advance(batch.events.len());
    }
    let mut found = Checked { problems: events.problems(), ..Checked::default() };
    for InputProvenance { events, notes, mut skipped, .. } in events.provenance() {
        found.rows += events;
        add_counts(&mut found.notes, &notes);
        skipped.retain(|reason, _| found.problems.iter().all(|problem| problem.reason != reason));
        add_counts(&mut found.left_out, &skipped);
    }
    if arrivals == 0 && found.problems.is_empty() {
        return Err(no_arrivals(&events.provenance()));
    }
    events.late_remarks().iter().for_each(|rule| progress.note(rule));
    Ok(found)
}

/// Checks the rows of a labelled trace. Returns the file's hash, too.
fn check_trace(
    file: &Path,
    meta: Option<&TraceMeta>,
    options: &EventOptions,
    progress: &dyn Progress,
) -> Result<(Checked, u64, RowOrder), PipelineError> {
    let mut features = meta.map_or_else(Vec::new, |meta| meta.features.clone());
    features.extend(
        options
            .columns
            .own
            .iter()
            .filter(|own| !features.contains(own))
            .cloned()
            .collect::<Vec<_>>(),
    );
    let mut reader = TraceReader::open(file, &features)?;
    let specs = meta.and_then(|meta| meta.switches.as_ref()).or(options.specs.as_ref());
    let mut places = specs.cloned().map(ArrivalChecker::new);
    let (mut rows, mut digest, mut bad) = (0, RowsDigest::default(), BTreeMap::new());
    for batch in reader.by_ref() {
        crate::progress::check(progress)?;
        let batch = batch?;
        if let (Some(places), Some(arrivals)) = (&mut places, &batch.arrivals) {
            for at in 0..batch.len() {
                let arrival = Arrival::of(arrivals, at, batch.drop[at]);
                let Err(error) = places.check(&arrival) else { continue };
                let first = || {
                    let first = format!("{}: row {}: {error}", file.display(), rows + at as u64);
                    Problem { reason: error.name(), rows: 0, first }
                };
                bad.entry(error.name()).or_insert_with(first).rows += 1;
            }
        }
        digest.add(&batch);
        progress.advance(batch.len());
        rows += batch.len() as u64;
    }
    let InputProvenance { mut notes, .. } = reader.provenance();
    if places.is_none() {
        notes.insert(InputNote::UnknownSwitches, rows);
    }
    let problems: Vec<Problem> = bad.into_values().collect();
    let rows = rows - problems.iter().map(|problem| problem.rows).sum::<u64>();
    let found = Checked { rows, problems, notes, ..Checked::default() };
    Ok((found, digest.run(), reader.meta().order))
}

fn is_sweep(path: &Path) -> bool {
    path.join("sweep.json").exists()
}

fn kind_of(path: &Path, columns: &EventColumns) -> Result<Inspected, PipelineError> {
    if is_sweep(path) {
        let problem = format!("is the folder of a sweep; inspect {}/sweep.json", path.display());
        return Err(PipelineError::unfit(path.display(), problem));
    }
    let head = read_head(path, 512)?;
    if head.starts_with(&MAGIC) {
        return inspect_table(path);
    }
    if head.trim_ascii_start().starts_with(b"{") {
        return inspect_json(path);
    }
    if let Some(problem) = input_of_others(path, &head) {
        return Err(unknown(path, problem));
    }
    let size = |table: TableShape| (table.columns, table.rows);
    Ok(match describe(path, columns)? {
        FileKind::EventTable { table, switches } => {
            let (columns, rows) = size(table);
            Inspected::Events { columns, rows, switches: switches.map(|of| *of) }
        }
        FileKind::EventCsv { columns } => Inspected::Events { columns, rows: None, switches: None },
        FileKind::EventStream { format, page } => {
            Inspected::Stream { format: format.to_owned(), page, capture: None }
        }
        FileKind::Capture { format } => {
            Inspected::Stream { format: format.to_owned(), page: CAPTURES, capture: None }
        }
        FileKind::Trace { table, meta, .. } => {
            let (columns, rows) = size(table);
            Inspected::Trace { columns, rows, meta: Some(meta), statistics: None }
        }
        FileKind::ArtifactCsv { columns } => {
            Inspected::Trace { columns, rows: None, meta: None, statistics: None }
        }
        FileKind::OtherTable { table } => {
            Inspected::OtherTable { columns: table.columns, rows: table.rows }
        }
        FileKind::Unknown { problem } => return Err(unknown(path, &problem)),
        _ => return Err(unknown(path, "is of an unknown kind")),
    })
}

fn unknown(path: &Path, problem: &str) -> PipelineError {
    let known = "inspect knows packet events, captures, labelled traces, model.json, .dct, sweep.json, \
                 report.json";
    PipelineError::unfit(path.display(), format!("{problem}; {known}"))
}

const FOREST: &str = "is a forest of another tool: dropcast import makes it a model";

/// What a file is that another command reads, or `dropcast-lab`, by its beginning.
fn input_of_others(path: &Path, head: &[u8]) -> Option<&'static str> {
    let text = head.trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let begins = |words: &[&[u8]]| words.iter().any(|word| text.starts_with(word));
    let is_count = line != text && !line.is_empty() && line.iter().all(u8::is_ascii_digit);
    if line == b"tree" || begins(&[b"booster[", b"[{", b"\x08"]) {
        Some(FOREST)
    } else if is_count || begins(&[b"Nodes ", b"Connections "]) {
        Some("is a list of flows: dropcast-lab reads it (flow_list)")
    } else if path.extension().is_some_and(|end| end == "toml") {
        Some(
            "is a description of switches, or settings: give it to commands as --switch, or as their file",
        )
    } else {
        None
    }
}

/// What distinguishes JSON files. The rest is passed over, as it may be large.
#[derive(Deserialize)]
struct JsonHead {
    format_version: Option<serde_json::Number>,
    schema_version: Option<serde_json::Number>,
    summary: Option<IgnoredAny>,
    folders: Option<IgnoredAny>,
    /// XGBoost's.
    learner: Option<IgnoredAny>,
    /// LightGBM's.
    tree_info: Option<IgnoredAny>,
    /// SONiC's.
    #[serde(rename = "PORT")]
    port: Option<IgnoredAny>,
}

fn inspect_json(path: &Path) -> Result<Inspected, PipelineError> {
    let unfit = |error: serde_json::Error| PipelineError::unfit(path.display(), error.to_string());
    let text = read_text(path)?;
    match serde_json::from_str(&text).map_err(unfit)? {
        JsonHead { format_version: Some(version), summary: Some(_), .. } => {
            inspect_sweep(path, &text, &version)
        }
        JsonHead { format_version: Some(_), folders: Some(_), .. } => {
            let problem =
                "is the manifest of a folder of traces; inspect one of them, or check the folder";
            Err(PipelineError::unfit(path.display(), problem))
        }
        JsonHead { format_version: Some(_), .. } => {
            drop(text);
            Ok(Inspected::Model(Box::new(ModelFile::read(path)?.model)))
        }
        JsonHead { schema_version: Some(version), .. } => {
            Ok(Inspected::Report { schema_version: version.into() })
        }
        JsonHead { learner: Some(_), .. } | JsonHead { tree_info: Some(_), .. } => {
            Err(unknown(path, FOREST))
        }
        JsonHead { port: Some(_), .. } => {
            let problem =
                "is a configuration of SONiC: dropcast switch drafts a description from it";
            Err(unknown(path, problem))
        }
        _ => Err(unknown(path, "is JSON without a format_version or schema_version")),
    }
}

fn inspect_sweep(
    path: &Path,
    text: &str,
    version: &serde_json::Number,
) -> Result<Inspected, PipelineError> {
    if *version != SWEEP_FORMAT_VERSION.into() {
        let problem = format!(
            "the sweep has format_version {version}, but this dropcast reads {SWEEP_FORMAT_VERSION}"
        );
        return Err(PipelineError::unfit(path.display(), problem));
    }
    let table = serde_json::from_str(text)
        .map_err(|error| PipelineError::unfit(path.display(), error.to_string()))?;
    Ok(Inspected::Sweep(Box::new(table)))
}

fn inspect_table(path: &Path) -> Result<Inspected, PipelineError> {
    let bytes = read_small(path)?;
    let table = Table::parse(&bytes)
        .map_err(|error| PipelineError::unfit(path.display(), error.to_string()))?;
    let name = |&code: &u8| {
        Feature::with_code(code)
            .map_or_else(|| format!("feature {code}"), |feature| feature.to_string())
    };
    Ok(Inspected::Table {
        features: table.feature_codes().iter().map(name).collect(),
        trees: table.layout().trees(),
        depth: table.layout().depth(),
        vote_threshold: table.vote_threshold(),
        bytes: bytes.len(),
    })
}
