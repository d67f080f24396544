//! `dropcast inspect`.

use crate::args::{InspectArgs, event_options};
use crate::failure::Failure;
use crate::output;
use crate::words::statistics::statistics_table;
use dropcast_data::{OnBadRow, Problem};
use dropcast_forest::Metrics;
use dropcast_pipeline::inspection::{Checked, Inspected, check, inspect};
use dropcast_pipeline::statistics::Statistics;
use dropcast_reports::words::model::{forest_line, metrics_table};
use dropcast_reports::words::sweep::sweep_tables;
use dropcast_train::{Model, Split, SweepRow, SweepTable, VoteRule};
use serde::Serialize;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    if args.check {
        let checked = check(&args.file, &event_options(&args.reading, OnBadRow::Skip)?)?;
        output::print(args.format, &checked, checked_text)?;
        return match checked.problems.len() {
            0 => Ok(()),
            _ => Err(Failure::BadRows(args.file.display().to_string())),
        };
    }
    let found = inspect(&args.file, args.statistics)?;
    output::print(args.format, &Summary::new(&found), |_| text(&found))
}

fn checked_text(checked: &Checked) -> String {
    let Checked { kind, rows, problems, notes } = checked;
    let mut text = format!("{kind}: {rows} good rows\n");
    for Problem { reason, rows, first } in problems {
        text.push_str(&format!("{rows} bad: {reason}; the first: {first}\n"));
    }
    for (note, rows) in notes {
        text.push_str(&format!("{rows} worth knowing about: {note} (docs/events.md)\n"));
    }
    text
}

/// What a file holds, for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Summary<'a> {
    Events {
        columns: &'a [String],
        rows: Option<u64>,
        switches: Option<String>,
    },
    EventStream {
        format: &'a str,
    },
    Trace {
        columns: &'a [String],
        rows: Option<u64>,
        meta: Option<serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        statistics: Option<&'a Statistics>,
    },
    OtherTable {
        columns: &'a [String],
        rows: Option<u64>,
    },
    Model {
        features: &'a [String],
        trees: usize,
        depth: usize,
        vote_threshold: u32,
        /// Its provenance: the vote rule, the seed, the split, names of the data.
        vote: Option<VoteRule>,
        seed: Option<u64>,
        split: Option<&'a Split>,
        data: Vec<&'a str>,
        metrics: Option<&'a Metrics>,
    },
    Table {
        features: &'a [String],
        trees: u16,
        depth: u8,
        vote_threshold: u32,
        bytes: usize,
    },
    /// `pareto`: the Pareto-optimal rows.
    Sweep {
        forests: usize,
        configurations: usize,
        pareto: Vec<&'a SweepRow>,
    },
    Report {
        schema_version: &'a serde_json::Value,
    },
}

impl<'a> Summary<'a> {
    fn new(found: &'a Inspected) -> Self {
        match found {
            Inspected::Events { columns, rows, switches } => Summary::Events {
                columns,
                rows: *rows,
                switches: switches.as_ref().map(|specs| specs.to_toml()),
            },
            Inspected::Stream { format, .. } => Summary::EventStream { format },
            Inspected::Trace { columns, rows, meta, statistics } => Summary::Trace {
                columns,
                rows: *rows,
                meta: meta.as_ref().and_then(|meta| serde_json::to_value(meta).ok()),
                statistics: statistics.as_ref(),
            },
            Inspected::OtherTable { columns, rows } => Summary::OtherTable { columns, rows: *rows },
            Inspected::Model(model) => Summary::of_model(model),
            &Inspected::Table { ref features, trees, depth, vote_threshold, bytes } => {
                Summary::Table { features, trees, depth, vote_threshold, bytes }
            }
            Inspected::Sweep(table) => Summary::of_sweep(table),
            Inspected::Report { schema_version } => Summary::Report { schema_version },
        }
    }

    fn of_model(model: &'a Model) -> Self {
        let Model { forest, metrics, provenance, .. } = model;
        let made = provenance.as_ref();
        Summary::Model {
            features: &forest.features,
            trees: forest.trees.len(),
            depth: forest.depth(),
            vote_threshold: forest.vote_threshold,
            vote: made.map(|made| made.vote),
            seed: made.map(|made| made.parameters.get().random_state),
            split: made.map(|made| &made.split),
            data: made.map_or_else(Vec::new, |made| {
                made.data.iter().map(|origin| origin.name.as_str()).collect()
            }),
            metrics: metrics.as_ref(),
        }
    }

    fn of_sweep(table: &'a SweepTable) -> Self {
        Summary::Sweep {
            forests: table.rows.len(),
            configurations: table.summary.len(),
            pareto: table.rows.iter().filter(|row| row.pareto).collect(),
        }
    }
}

fn text(found: &Inspected) -> String {
    let count =
        |rows: &Option<u64>| rows.map_or_else(String::new, |rows| format!("rows: {rows}\n"));
    match found {
        Inspected::Events { columns, rows, switches } => {
            let switches = switches.as_ref().map(|specs| specs.to_toml());
            let switches = switches.as_deref().unwrap_or("not described in the file\n");
            let columns = columns.join(" ");
            format!("packet events\n{}columns: {columns}\nswitches:\n{switches}", count(rows))
        }
        Inspected::Stream { format, page } => {
            format!("packet events: {format}\nswitches:\nnot described in the file\nsee {page}\n")
        }
        Inspected::Trace { columns, rows, meta, statistics } => {
            let meta = meta.as_ref().map_or_else(
                || "Credence artifact CSV, in order of departure\n".to_owned(),
                |meta| {
                    serde_json::to_value(meta)
                        .map_or_else(|error| format!("{error}\n"), |meta| format!("{meta:#}\n"))
                },
            );
            let statistics = statistics.as_ref().map_or_else(String::new, statistics_table);
            let columns = columns.join(" ");
            format!("labelled trace\n{}columns: {columns}\n{meta}{statistics}", count(rows))
        }
        Inspected::OtherTable { columns, rows } => {
            format!("a table, not one of ours\n{}columns: {}\n", count(rows), columns.join(" "))
        }
        Inspected::Model(model) => model_text(model),
        Inspected::Table { features, trees, depth, vote_threshold, bytes } => format!(
            "table: {trees} trees of depth {depth} on {}, drop if score > {vote_threshold}, {bytes} bytes\n",
            features.join(" ")
        ),
        Inspected::Sweep(table) => format!("sweep\n{}", sweep_tables(table)),
        Inspected::Report { schema_version } => {
            format!("report, schema version {schema_version}\n")
        }
    }
}

fn model_text(model: &Model) -> String {
    let mut text = format!("model on {}\n{}", model.forest.features.join(" "), forest_line(model));
    if let Some(made) = &model.provenance {
        let split = serde_json::to_string(&made.split).unwrap_or_default();
        let names: Vec<&str> = made.data.iter().map(|origin| origin.name.as_str()).collect();
        let (seed, data) = (made.parameters.get().random_state, names.join(", "));
        text.push_str(&format!("seed: {seed}\nsplit: {split}\ndata: {data}\n"));
    }
    text + &model.metrics.as_ref().map_or_else(String::new, metrics_table)
}
