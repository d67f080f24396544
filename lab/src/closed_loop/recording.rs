//! What happens in a run, written to files as it happens (`lab/notes/fabric.md`, "Files").

use super::flow_times::{FlowTimes, TimesOfRun, TimesSink, csv, joined};
use super::{ExperimentSummary, NamedPolicy, Prepared};
use dropcast_data::{
    DataError, Event, EventBatch, EventWriter, TableColumn, TableWriter, write_atomic,
};
use dropcast_fabric::{
    DroppedPacket, FabricObserver, FlowClass, FlowRecord, Occupancy, RunSummary, Telemetry,
};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, create_folder, write_files};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum RunFile {
    /// Packets that reach a switch or leave its buffer, as `collect` reads them.
    Events,
    /// One row per flow.
    Flows,
    /// One row per packet that a switch drops.
    Drops,
    /// Samples of the buffers.
    Occupancy,
    /// What switches report of each packet that leaves (INT). As many rows as packets and hops.
    Telemetry,
}

impl RunFile {
    /// Those that are written unless others are named: all but telemetry.
    pub const USUAL: [RunFile; 4] =
        [RunFile::Events, RunFile::Flows, RunFile::Drops, RunFile::Occupancy];

    /// The names of all files of runs.
    const NAMES: [&str; 5] = [
        "events.parquet",
        "flows.parquet",
        "drops.parquet",
        "occupancy.parquet",
        "telemetry.parquet",
    ];
}

/// What every experiment ends with.
const SUMMARY: &str = "summary.json";

/// How long flows took ([`FlowTimes`]).
const TIMES: &str = "flow-times.csv";

/// Whether a path is of an experiment as a whole: its summary, its table of flows, or a picture of that.
fn is_of_all(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_picture = [".svg", ".tex"].iter().any(|ending| name.ends_with(ending));
    [SUMMARY, TIMES].contains(&name) || name.starts_with("flow-times-") && is_picture
}

/// Whether a path is the folder of a policy: one or more folders run-N, and nothing in them but files of runs.
fn is_of_runs(path: &Path) -> bool {
    let holds_only = |folder: &Path, is_such: &dyn Fn(&Path, &str) -> bool| {
        let is_right = |entry: io::Result<DirEntry>| {
            entry.is_ok_and(|entry| {
                entry.file_name().to_str().is_some_and(|name| is_such(&entry.path(), name))
            })
        };
        std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_right))
    };
    let is_file = |_: &Path, name: &str| RunFile::NAMES.contains(&name);
    let is_run = |run: &Path, name: &str| {
        name.strip_prefix("run-").is_some_and(|number| number.parse::<u32>().is_ok())
            && holds_only(run, &is_file)
    };
    let has_one = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    !path.is_symlink() && has_one && holds_only(path, &is_run)
}

impl Prepared {
    /// Like [`Prepared::compare`]; also writes `files` of each run into
    /// `folder`/[`PolicySummary::folder`](super::PolicySummary::folder)/run-N, the summary into
    /// `folder`/summary.json, [`FlowTimes`] into `folder`/flow-times.csv, and what `draw` makes of these: files called
    /// `flow-times-NAME.svg` or `.tex` with their content. All of it appears at the end, in place of an earlier experiment.
    ///
    /// If it is keeping runs, `files` are not written: a run that is kept does not happen again.
    ///
    /// # Errors
    /// If a flow does not fit the fabric, a file cannot be written, or another job works there.
    pub fn write(
        &self,
        files: &[RunFile],
        folder: &Path,
        resources: &Resources,
        progress: &dyn Progress,
        draw: impl Fn(&[FlowTimes]) -> Vec<(String, String)>,
    ) -> Result<ExperimentSummary, PipelineError> {
        check_replaced(folder, [SUMMARY, TIMES])?;
        for policy in &self.experiment().policies {
            let path = folder.join(self.experiment().folder_of(policy));
            if path.exists() && !is_of_runs(&path) {
                let problem =
                    "holds more than the files of runs; move it, or choose another folder";
                return Err(PipelineError::unfit(path.display(), problem));
            }
        }
        let work = WorkFolder::beside(folder)?;
        let runs = 0..self.experiment().runs;
        self.note_sizes(progress);
        let times = Mutex::new(BTreeMap::new());
        self.ask_fleet(runs.clone(), progress)?;
        let comparison = self.compare_by(runs, resources, progress, |policy, run| {
            let (summary, of_run) = if self.is_keeping() {
                self.summarize_with_times(policy, run)?
            } else {
                let own = self.experiment().folder_of(policy);
                self.record(policy, run, files, &work.path().join(own).join(format!("run-{run}")))?
            };
            let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
            times.insert((policy.label.clone(), run), of_run);
            Ok(summary)
        })?;
        let times = times.into_inner().unwrap_or_else(PoisonError::into_inner);
        let times = joined(self.experiment(), &times);
        write_atomic(&work.path().join(TIMES), csv(&times).as_bytes())?;
        write_files(work.path(), &draw(&times))?;
        let summary = comparison.summary(self.experiment());
        let mut json = serde_json::to_string_pretty(&summary)
            .map_err(|error| PipelineError::Encode { what: SUMMARY, problem: error.to_string() })?;
        json.push('\n');
        write_atomic(&work.path().join(SUMMARY), json.as_bytes())?;
        work.finish(|path| is_of_all(path) || is_of_runs(path))?;
        Ok(summary)
    }

    /// Like [`Prepared::summarize`]; also writes `files` into `folder`. Rows are written as they
    /// come; each file appears when it is whole.
    fn record(
        &self,
        policy: &NamedPolicy,
        run: u32,
        files: &[RunFile],
        folder: &Path,
    ) -> Result<(RunSummary, TimesOfRun), PipelineError> {
        let wants = |file| files.contains(&file);
        match (wants(RunFile::Events), wants(RunFile::Telemetry)) {
            (false, false) => self.record_as::<false, false>(policy, run, files, folder),
            (false, true) => self.record_as::<false, true>(policy, run, files, folder),
            (true, false) => self.record_as::<true, false>(policy, run, files, folder),
            (true, true) => self.record_as::<true, true>(policy, run, files, folder),
        }
    }

    fn record_as<const EVENTS: bool, const TELEMETRY: bool>(
        &self,
        policy: &NamedPolicy,
        run: u32,
        files: &[RunFile],
        folder: &Path,
    ) -> Result<(RunSummary, TimesOfRun), PipelineError> {
        create_folder(folder)?;
        let fabric = self.fabric(run)?;
        let wants = |file| files.contains(&file);
        let mut recording = Recording::<EVENTS, TELEMETRY> {
            events: match wants(RunFile::Events) {
                true => {
                    let path = folder.join("events.parquet");
                    Some(Rows::to(EventWriter::create(&path, &fabric.switch_specs())?))
                }
                false => None,
            },
            flows: rows(wants(RunFile::Flows), folder, "flows.parquet", flow_columns)?,
            drops: rows(wants(RunFile::Drops), folder, "drops.parquet", drop_columns)?,
            occupancy: rows(
                wants(RunFile::Occupancy),
                folder,
                "occupancy.parquet",
                occupancy_columns,
            )?,
            telemetry: rows(
                wants(RunFile::Telemetry),
                folder,
                "telemetry.parquet",
                telemetry_columns,
            )?,
        };
        let mut summarizer = self.summarizer(run)?;
        let mut times = TimesSink::new(self.experiment().size_buckets()?);
        let outcome =
            self.run(policy, run, &mut (&mut summarizer, (&mut times, &mut recording)))?;
        recording.finish()?;
        Ok((summarizer.finish(&outcome), times.finish()))
    }
}

/// The open files of a run.
struct Recording<const EVENTS: bool, const TELEMETRY: bool> {
    events: Option<Rows<Event, EventWriter>>,
    flows: Option<Rows<FlowRecord, Table<FlowRecord>>>,
    drops: Option<Rows<DroppedPacket, Table<DroppedPacket>>>,
    occupancy: Option<Rows<Occupancy, Table<Occupancy>>>,
    telemetry: Option<Rows<Telemetry, Table<Telemetry>>>,
}

impl<const EVENTS: bool, const TELEMETRY: bool> Recording<EVENTS, TELEMETRY> {
    fn finish(self) -> Result<(), DataError> {
        self.events.map_or(Ok(()), Rows::finish)?;
        self.flows.map_or(Ok(()), Rows::finish)?;
        self.drops.map_or(Ok(()), Rows::finish)?;
        self.occupancy.map_or(Ok(()), Rows::finish)?;
        self.telemetry.map_or(Ok(()), Rows::finish)
    }
}

impl<const EVENTS: bool, const TELEMETRY: bool> FabricObserver for Recording<EVENTS, TELEMETRY> {
    const WANTS_EVENTS: bool = EVENTS;
    const WANTS_TELEMETRY: bool = TELEMETRY;

    fn packet_event(&mut self, event: &Event) {
        add(&mut self.events, event);
    }

    fn left(&mut self, telemetry: &Telemetry) {
        add(&mut self.telemetry, telemetry);
    }

    fn dropped(&mut self, drop: &DroppedPacket) {
        add(&mut self.drops, drop);
    }

    fn sampled(&mut self, occupancy: &Occupancy) {
        add(&mut self.occupancy, occupancy);
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        add(&mut self.flows, record);
    }
}

/// A file that takes rows.
trait RowFile<R> {
    fn write(&mut self, rows: Vec<R>) -> Result<(), DataError>;
    fn finish(self) -> Result<(), DataError>;
}

impl RowFile<Event> for EventWriter {
    fn write(&mut self, events: Vec<Event>) -> Result<(), DataError> {
        EventWriter::write(self, &EventBatch::new(events))
    }

    fn finish(self) -> Result<(), DataError> {
        EventWriter::finish(self)
    }
}

type Columns = Vec<(&'static str, TableColumn)>;

/// Rows as columns of a table.
struct Table<R> {
    writer: TableWriter,
    columns: fn(&[R]) -> Columns,
}

impl<R> RowFile<R> for Table<R> {
    fn write(&mut self, rows: Vec<R>) -> Result<(), DataError> {
        self.writer.write((self.columns)(&rows))
    }

    fn finish(self) -> Result<(), DataError> {
        self.writer.finish()
    }
}

/// Rows that are written together.
const ROWS_AT_ONCE: usize = 8192;

/// Rows on their way to a file. The first error waits for the end.
struct Rows<R, F> {
    rows: Vec<R>,
    file: F,
    failed: Option<DataError>,
}

impl<R: Copy, F: RowFile<R>> Rows<R, F> {
    fn to(file: F) -> Self {
        Rows { rows: Vec::new(), file, failed: None }
    }

    fn add(&mut self, row: R) {
        self.rows.push(row);
        if self.rows.len() == ROWS_AT_ONCE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if self.failed.is_none() {
            self.failed = self.file.write(rows).err();
        }
    }

    fn finish(mut self) -> Result<(), DataError> {
        self.flush();
        self.failed.map_or(Ok(()), Err)?;
        self.file.finish()
    }
}

fn rows<R: Copy>(
    is_wanted: bool,
    folder: &Path,
    name: &str,
    columns: fn(&[R]) -> Columns,
) -> Result<Option<Rows<R, Table<R>>>, DataError> {
    if !is_wanted {
        return Ok(None);
    }
    let writer = TableWriter::create(&folder.join(name), &columns(&[]))?;
    Ok(Some(Rows::to(Table { writer, columns })))
}

fn add<R: Copy, F: RowFile<R>>(rows: &mut Option<Rows<R, F>>, row: &R) {
    if let Some(rows) = rows {
        rows.add(*row);
    }
}

fn integers<R, N: Into<u64>>(rows: &[R], value: impl Fn(&R) -> N) -> TableColumn {
    TableColumn::Integer(rows.iter().map(|row| Some(value(row).into())).collect())
}

fn texts<R>(rows: &[R], value: impl Fn(&R) -> &'static str) -> TableColumn {
    TableColumn::Text(rows.iter().map(|row| Some(value(row).to_owned())).collect())
}

fn flow_columns(rows: &[FlowRecord]) -> Columns {
    let class = |record: &FlowRecord| match record.flow.class {
        FlowClass::Single => ("single", None),
        FlowClass::Incast(number) => ("incast", Some(number.into())),
        FlowClass::Collective(number) => ("collective", Some(number.into())),
    };
    vec![
        ("flow_id", integers(rows, |row| row.id)),
        ("start_ns", integers(rows, |row| row.flow.start_ns)),
        ("from_server", integers(rows, |row| row.flow.from)),
        ("to_server", integers(rows, |row| row.flow.to)),
        ("size_bytes", integers(rows, |row| row.flow.size_bytes)),
        ("class", texts(rows, |row| class(row).0)),
        ("group", TableColumn::Integer(rows.iter().map(|row| class(row).1).collect())),
        ("transport", texts(rows, |row| row.flow.transport.name())),
        ("queue", integers(rows, |row| row.flow.queue)),
        ("fct_ns", TableColumn::Integer(rows.iter().map(|row| row.fct_ns).collect())),
        ("ideal_fct_ns", integers(rows, |row| row.ideal_fct_ns)),
        ("slowdown", TableColumn::Number(rows.iter().map(FlowRecord::slowdown).collect())),
        ("received_bytes", integers(rows, |row| row.received_bytes)),
        ("timeouts", integers(rows, |row| row.timeouts)),
        ("retransmissions", integers(rows, |row| row.retransmissions)),
    ]
}

fn drop_columns(rows: &[DroppedPacket]) -> Columns {
    vec![
        ("time_ns", integers(rows, |row| row.time_ns)),
        ("flow_id", integers(rows, |row| row.flow_id)),
        ("switch_id", integers(rows, |row| row.switch_id)),
        ("port", integers(rows, |row| row.port)),
        ("queue", integers(rows, |row| row.queue)),
        ("size_bytes", integers(rows, |row| row.size_bytes)),
        ("reason", texts(rows, |row| row.reason.name())),
        ("queue_bytes", integers(rows, |row| row.queue_bytes)),
        ("innocent", TableColumn::Flag(rows.iter().map(|row| row.is_innocent).collect())),
    ]
}

fn occupancy_columns(rows: &[Occupancy]) -> Columns {
    vec![
        ("time_ns", integers(rows, |row| row.time_ns)),
        ("switch_id", integers(rows, |row| row.switch_id)),
        ("occupancy_bytes", integers(rows, |row| row.occupancy_bytes)),
        ("longest_queue_bytes", integers(rows, |row| row.longest_queue_bytes)),
        ("buffer_bytes", integers(rows, |row| row.buffer_bytes)),
    ]
}

fn telemetry_columns(rows: &[Telemetry]) -> Columns {
    vec![
        ("time_ns", integers(rows, |row| row.time_ns)),
        ("flow_id", integers(rows, |row| row.flow_id)),
        ("switch_id", integers(rows, |row| row.switch_id)),
        ("port", integers(rows, |row| row.port)),
        ("queue", integers(rows, |row| row.queue)),
        ("queue_bytes", integers(rows, |row| row.queue_bytes)),
        ("sent_bytes", integers(rows, |row| row.sent_bytes)),
        ("rate_bps", integers(rows, |row| row.rate_bps)),
    ]
}
