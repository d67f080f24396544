//! What a file holds.

use super::model::{forest_line, metrics_table};
use super::statistics::statistics_table;
use super::sweep::sweep_tables;
use dropcast_data::Problem;
use dropcast_pipeline::inspection::{Checked, Inspected};
use dropcast_train::Model;

/// What reading all rows found.
pub fn checked_text(checked: &Checked) -> String {
    let Checked { kind, rows, problems, left_out, notes } = checked;
    let mut text = format!("{kind}: {rows} good rows\n");
    for Problem { reason, rows, first } in problems {
        text.push_str(&format!("{rows} bad: {reason}; the first: {first}\n"));
    }
    for (reason, rows) in left_out {
        text.push_str(&format!("{rows} left out: {reason}\n"));
    }
    for (note, rows) in notes {
        text.push_str(&format!("{rows} worth knowing about: {note} (docs/trace.md)\n"));
    }
    text
}

/// What was found.
pub fn inspected_text(found: &Inspected) -> String {
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
