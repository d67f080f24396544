//! `dropcast inspect`.

use super::train::{forest_line, text as metrics_text};
use crate::args::InspectArgs;
use crate::failure::UserError;
use crate::output;
use crate::statistics::{self, Statistics};
use dropcast_data::{FileKind, TableShape, describe};
use dropcast_features::Feature;
use dropcast_forest::Metrics;
use dropcast_oracle::{MAGIC, Table};
use dropcast_train::{Model, SWEEP_FORMAT_VERSION, Split, SweepRow, SweepTable, VoteRule};
use serde::Serialize;
use std::path::Path;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let mut found = inspect(&args.file)?;
    if args.statistics {
        found.count(&args.file)?;
    }
    output::print(args.format, &found, Found::text)
}

/// What a file holds.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Found {
    Events {
        columns: Vec<String>,
        rows: Option<u64>,
        switches: Option<String>,
    },
    Trace {
        columns: Vec<String>,
        rows: Option<u64>,
        meta: Option<serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        statistics: Option<Statistics>,
        #[serde(skip)]
        features: Vec<String>,
    },
    Parquet {
        columns: Vec<String>,
        rows: u64,
    },
    Model {
        features: Vec<String>,
        trees: usize,
        depth: usize,
        vote_threshold: u32,
        /// How it was made: the vote rule, the seed, the split, names of the data.
        vote: Option<VoteRule>,
        seed: Option<u64>,
        split: Option<Split>,
        data: Vec<String>,
        metrics: Option<Box<Metrics>>,
        #[serde(skip)]
        forest: String,
    },
    Table {
        features: Vec<String>,
        trees: u16,
        depth: u8,
        vote_threshold: u32,
        bytes: usize,
    },
    /// `pareto`: the rows of its front.
    Sweep {
        forests: usize,
        configurations: usize,
        pareto: Vec<SweepRow>,
        #[serde(skip)]
        text: String,
    },
    Report {
        schema_version: serde_json::Value,
    },
}

fn inspect(path: &Path) -> anyhow::Result<Found> {
    if path.join("sweep.json").exists() {
        let path = path.display();
        let problem = format!("{path}: is the folder of a sweep; inspect {path}/sweep.json");
        return Err(UserError(problem).into());
    }
    let head = head_of(path)?;
    if head.starts_with(&MAGIC) {
        return inspect_table(path);
    }
    if head.trim_ascii_start().starts_with(b"{") {
        return inspect_json(path);
    }
    let size = |table: TableShape| (table.columns, Some(table.rows));
    Ok(match describe(path)? {
        FileKind::EventParquet { table, switches } => {
            let (columns, rows) = size(table);
            Found::Events { columns, rows, switches: switches.map(|specs| specs.to_toml()) }
        }
        FileKind::EventCsv { columns } => Found::Events { columns, rows: None, switches: None },
        FileKind::Trace { table, meta, .. } => {
            let (columns, rows) = size(table);
            let (meta, features) = (Some(serde_json::to_value(&meta)?), meta.features);
            Found::Trace { columns, rows, meta, statistics: None, features }
        }
        FileKind::ArtifactCsv { columns } => {
            let (rows, meta, statistics, features) = (None, None, None, Vec::new());
            Found::Trace { columns, rows, meta, statistics, features }
        }
        FileKind::OtherParquet { table } => {
            Found::Parquet { columns: table.columns, rows: table.rows }
        }
        _ => return Err(unknown(path)),
    })
}

fn unknown(path: &Path) -> anyhow::Error {
    let path = path.display();
    UserError(format!(
        "{path}: is none of the files that inspect knows: packet events, labelled traces, model.json, .dct, sweep.json, report.json"
    ))
    .into()
}

fn head_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    use std::io::Read;
    let failed = |error| UserError(format!("{}: cannot be read: {error}", path.display()));
    let mut head = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(64).read_to_end(&mut head).map_err(failed)?;
    Ok(head)
}

fn inspect_json(path: &Path) -> anyhow::Result<Found> {
    let text = super::export::read_text(path)?;
    let json: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| UserError(format!("{}: {error}", path.display())))?;
    if json.get("format_version").is_some() && json.get("summary").is_some() {
        return inspect_sweep(path, json);
    }
    if json.get("format_version").is_some() {
        let (model, _) = super::export::read_model(path)?;
        return Ok(inspect_model(model));
    }
    match json.get("schema_version") {
        Some(version) => Ok(Found::Report { schema_version: version.clone() }),
        None => Err(unknown(path)),
    }
}

fn inspect_model(model: Model) -> Found {
    let text = forest_line(&model);
    let Model { forest, metrics, provenance, .. } = model;
    let made = provenance.as_ref();
    Found::Model {
        trees: forest.trees.len(),
        depth: forest.depth(),
        vote_threshold: forest.vote_threshold,
        features: forest.features,
        vote: made.map(|made| made.vote),
        seed: made.map(|made| made.parameters.get().random_state),
        split: made.map(|made| made.split.clone()),
        data: made.map_or_else(Vec::new, |made| {
            made.data.iter().map(|origin| origin.name.clone()).collect()
        }),
        metrics: metrics.map(Box::new),
        forest: text,
    }
}

fn inspect_sweep(path: &Path, json: serde_json::Value) -> anyhow::Result<Found> {
    let version = json.get("format_version").cloned().unwrap_or_default();
    if version != SWEEP_FORMAT_VERSION {
        let problem = format!(
            "{}: the sweep has format_version {version}, but this dropcast reads \
             {SWEEP_FORMAT_VERSION}",
            path.display()
        );
        return Err(UserError(problem).into());
    }
    let table: SweepTable = serde_json::from_value(json)
        .map_err(|error| UserError(format!("{}: {error}", path.display())))?;
    Ok(Found::Sweep {
        forests: table.rows.len(),
        configurations: table.summary.len(),
        text: super::sweep::text(&table),
        pareto: table.rows.into_iter().filter(|row| row.pareto).collect(),
    })
}

fn inspect_table(path: &Path) -> anyhow::Result<Found> {
    let failed = |error: &dyn std::fmt::Display| UserError(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let table = Table::parse(&bytes).map_err(|error| failed(&error))?;
    let name = |&code: &u8| {
        Feature::with_code(code)
            .map_or_else(|| format!("feature {code}"), |feature| feature.to_string())
    };
    Ok(Found::Table {
        features: table.feature_codes().iter().map(name).collect(),
        trees: table.layout().trees(),
        depth: table.layout().depth(),
        vote_threshold: table.vote_threshold(),
        bytes: bytes.len(),
    })
}

impl Found {
    /// Adds what values the features have.
    fn count(&mut self, path: &Path) -> anyhow::Result<()> {
        if let Found::Trace { statistics, features, meta: Some(_), .. } = self {
            *statistics = Some(statistics::of(path, features)?);
            return Ok(());
        }
        let why = "--statistics are of labelled traces in Parquet, as dropcast collect writes them";
        Err(UserError(format!("{}: {why}", path.display())).into())
    }

    fn text(&self) -> String {
        let rows =
            |rows: &Option<u64>| rows.map_or_else(String::new, |rows| format!("rows: {rows}\n"));
        match self {
            Found::Events { columns, rows: count, switches } => {
                let switches = switches.as_deref().unwrap_or("not described in the file\n");
                let columns = columns.join(" ");
                format!("packet events\n{}columns: {columns}\nswitches:\n{switches}", rows(count))
            }
            Found::Trace { columns, rows: count, meta, statistics, .. } => {
                let meta = meta.as_ref().map_or_else(
                    || "Credence artifact CSV, in order of departure\n".to_owned(),
                    |meta| format!("{meta:#}\n"),
                );
                let statistics = statistics.as_ref().map_or_else(String::new, statistics::text);
                let columns = columns.join(" ");
                format!("labelled trace\n{}columns: {columns}\n{meta}{statistics}", rows(count))
            }
            Found::Parquet { columns, rows } => {
                format!("Parquet, not one of ours\nrows: {rows}\ncolumns: {}\n", columns.join(" "))
            }
            Found::Model { features, metrics, forest, seed, split, data, .. } => {
                let mut text = format!("model on {}\n{forest}", features.join(" "));
                if let (Some(seed), Some(split)) = (seed, split) {
                    let split = serde_json::to_string(split).unwrap_or_default();
                    let data = data.join(", ");
                    text.push_str(&format!("seed: {seed}\nsplit: {split}\ndata: {data}\n"));
                }
                text + &metrics.as_deref().map_or_else(String::new, metrics_text)
            }
            Found::Table { features, trees, depth, vote_threshold, bytes } => format!(
                "table: {trees} trees of depth {depth} on {}, drop if score > {vote_threshold}, {bytes} bytes\n",
                features.join(" ")
            ),
            Found::Sweep { text, .. } => format!("sweep\n{text}"),
            Found::Report { schema_version } => {
                format!("report, schema version {schema_version}\n")
            }
        }
    }
}
