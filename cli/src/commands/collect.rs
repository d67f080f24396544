//! `dropcast collect`.

use crate::args::{BadRows, CollectArgs};
use crate::config::CollectConfig;
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use crate::progress::Stage;
use dropcast_collect::Tracer;
use dropcast_data::{
    DataError, Departures, EventBatch, EventColumns, EventKind, EventOptions, EventReader,
    InputProvenance, LabelledBatch, OnBadRow, Outcome, SwitchSpecs, TraceMeta, TraceWriter,
    read_switches,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &CollectArgs) -> anyhow::Result<()> {
    output_file::check(&args.output, [&args.events].into_iter().chain(&args.switch))?;
    let options = EventOptions {
        columns: EventColumns::parse(&args.columns)?,
        specs: args.switch.as_deref().map(read_switches).transpose()?,
        on_bad_row: match args.on_bad_row {
            BadRows::Fail => OnBadRow::Fail,
            BadRows::Skip => OnBadRow::Skip,
        },
        format: None,
    };
    let reader = EventReader::open(&args.events, options)?;
    let specs = reader.specs().clone();
    let summary = label(reader, specs, args.max_waiting_rows, &args.settings, &args.output)?;
    output::print(args.format, &summary, Collected::text)
}

/// Where events come from.
pub(crate) trait Events: Iterator<Item = Result<EventBatch, DataError>> {
    /// What was read, once the iterator has ended.
    fn provenance(&self) -> InputProvenance;
}

impl Events for EventReader {
    fn provenance(&self) -> InputProvenance {
        EventReader::provenance(self)
    }
}

/// Labels events and writes the trace to `path`.
pub(crate) fn label(
    mut events: impl Events,
    specs: SwitchSpecs,
    max_waiting_rows: usize,
    config: &CollectConfig,
    path: &Path,
) -> anyhow::Result<Collected> {
    let stage = Stage::begin("collect");
    let mut meta = TraceMeta::new(
        concat!("dropcast ", env!("CARGO_PKG_VERSION")),
        specs.clone(),
        config.features.names(),
    );
    meta.collect = Some(config.settings());
    let mut writer = TraceWriter::create(path, &meta)?;
    let tracer = Tracer::new(specs, config.settings(), config.features.clone())
        .with_max_waiting_rows(max_waiting_rows);
    let mut summary = Collected { trace: path.to_owned(), ..Collected::default() };
    let mut departures = 0;
    let batches = events.by_ref().map(|batch| {
        let batch = batch?;
        departures += count_departures(&batch);
        anyhow::Ok(batch)
    });
    for rows in dropcast_collect::trace(tracer, batches) {
        let rows = rows?;
        summary.add(&rows);
        stage.advance(rows.len());
        writer.write(&rows)?;
    }
    if summary.rows == 0 {
        let problem = "has no arrivals that can be used, so there is nothing to label";
        return Err(UserError(format!("{}: {problem}", events.provenance().name)).into());
    }
    if config.departures == Departures::Observed && departures == 0 {
        let problem =
            "has no departures, so nothing would drain the queues; use --departures line-rate";
        return Err(UserError(format!("{}: {problem}", events.provenance().name)).into());
    }
    let provenance = events.provenance();
    summary.skipped = provenance.skipped.clone();
    writer.set_inputs(vec![provenance]);
    writer.finish()?;
    stage.end(&format!("{} rows, {} drops", summary.rows, summary.drops));
    Ok(summary)
}

fn count_departures(batch: &EventBatch) -> usize {
    batch.events.iter().filter(|event| event.kind == EventKind::Departure).count()
}

/// What was labelled.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Collected {
    /// The trace.
    trace: PathBuf,
    /// Arrivals.
    pub(crate) rows: u64,
    /// Of which LQD dropped.
    pub(crate) drops: u64,
    /// By pushing them out.
    pushed_out: u64,
    /// By not accepting them.
    rejected: u64,
    /// Rows of the input that were left out, by reason.
    skipped: BTreeMap<String, u64>,
}

impl Collected {
    fn add(&mut self, rows: &LabelledBatch) {
        self.rows += rows.len() as u64;
        for outcome in rows.outcome.iter().flatten() {
            match outcome {
                Outcome::Departed => {}
                Outcome::PushedOut => self.pushed_out += 1,
                Outcome::Rejected => self.rejected += 1,
            }
        }
        self.drops = self.pushed_out + self.rejected;
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{}: {} arrivals, LQD drops {} ({} pushed out, {} rejected)\n",
            self.trace.display(),
            self.rows,
            self.drops,
            self.pushed_out,
            self.rejected
        );
        for (reason, rows) in &self.skipped {
            text.push_str(&format!("left out {rows} rows: {reason}\n"));
        }
        text
    }
}
