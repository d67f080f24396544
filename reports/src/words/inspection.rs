//! What a file holds.

use super::model::{forest_line, metrics_table};
use super::statistics::statistics_table;
use super::sweep::sweep_tables;
use crate::numbers::{count, duration, utc};
use dropcast_data::{Problem, printable_line};
use dropcast_forest::LeafRows;
use dropcast_pipeline::collect::capture_packets::{AddressPackets, CapturePackets};
use dropcast_pipeline::inspection::few_rows::{FewRows, LeafOnFew};
use dropcast_pipeline::inspection::{Checked, Inspected};
use dropcast_train::TrainedModel;

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
        text.push_str(&format!("{rows} worth knowing about: {} (docs/trace.md)\n", note.name()));
    }
    text
}

/// What was found.
pub fn inspected_text(found: &Inspected) -> String {
    let line = |rows: &Option<u64>| rows.map_or_else(String::new, |rows| format!("rows: {rows}\n"));
    match found {
        Inspected::Events { columns, rows, switches } => {
            let switches = switches.as_ref().map(|specs| specs.to_toml());
            let switches = switches.as_deref().unwrap_or("not described in the file\n");
            let columns = in_a_line(columns);
            format!("packet events\n{}columns: {columns}\nswitches:\n{switches}", line(rows))
        }
        Inspected::Stream { format, page, capture } => {
            let capture = capture.as_deref().map(CapturePackets::new);
            let packets = capture.as_ref().map_or_else(String::new, capture_text);
            format!(
                "packet events: {format}\n{packets}switches:\nnot described in the file\nsee {page}\n"
            )
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
            let columns = in_a_line(columns);
            format!("labelled trace\n{}columns: {columns}\n{meta}{statistics}", line(rows))
        }
        Inspected::OtherTable { columns, rows } => {
            format!("a table, not one of ours\n{}columns: {}\n", line(rows), in_a_line(columns))
        }
        Inspected::Model(model) => model_text(model),
        Inspected::Table { features, trees, depth, vote_threshold, bytes } => format!(
            "table: {trees} trees of depth {depth} on {}, drop if score > {vote_threshold}, {bytes} bytes\n",
            in_a_line(features)
        ),
        Inspected::Sweep(table) => format!("sweep\n{}", sweep_tables(table)),
        Inspected::Report { schema_version } => {
            format!("report, schema version {schema_version}\n")
        }
    }
}

/// Names in one line, whatever they hold.
fn in_a_line(names: &[String]) -> String {
    printable_line(&names.join(" ")).into_owned()
}

/// Subnets, addresses, VLANs or leaves that are listed, at most.
const MOST_LISTED: usize = 12;

/// What the packets of a capture are.
fn capture_text(capture: &CapturePackets) -> String {
    let CapturePackets { packets, bytes, first_ns, last_ns, span_ns, .. } = capture;
    let mut lines = vec![format!("packets: {} ({} bytes)", count(*packets), count(*bytes))];
    if let (Some(first_ns), Some(last_ns), Some(span_ns)) = (first_ns, last_ns, span_ns) {
        let (first, last) = (utc(*first_ns), utc(*last_ns));
        lines.push(format!("times: {first} to {last} ({})", duration(*span_ns)));
    }
    for of in &capture.interfaces {
        let link = of.link_name.unwrap_or("its headers are not read");
        let (number, packets) = (of.interface, count(of.packets));
        lines.push(format!("interface {number}: link type {} ({link}), {packets}", of.link_type));
    }
    for (what, listed) in [
        ("from", &capture.source_subnets),
        ("to", &capture.destination_subnets),
        ("from MAC", &capture.source_macs),
        ("to MAC", &capture.destination_macs),
        ("VLAN", &capture.vlans),
    ] {
        let shown =
            listed.iter().take(MOST_LISTED).map(|AddressPackets { name, packets, addresses }| {
                let addresses = match addresses {
                    None => String::new(),
                    Some(1) => ", 1 address".to_owned(),
                    Some(number) => format!(", {} addresses", count(*number)),
                };
                format!("{name} ({}{addresses})", count(*packets))
            });
        let mut shown: Vec<String> = shown.collect();
        let left_out = listed.len() - shown.len();
        shown.extend((left_out > 0).then(|| format!("{} more", count(left_out as u64))));
        if !shown.is_empty() {
            lines.push(format!("{what}: {}", shown.join(", ")));
        }
    }
    for (packets, what) in [
        (capture.for_groups, "for groups (broadcast, multicast)"),
        (capture.not_listed, "of further addresses, too many to list"),
        (capture.without_time, "without a time"),
        (capture.earlier_than_before, "earlier than the one before; sort them with reordercap"),
    ] {
        lines.extend((packets > 0).then(|| format!("{} packets {what}", count(packets))));
    }
    if capture.is_cut_off {
        lines.push("cut off: the file ends within what follows these packets".to_owned());
    }
    lines.join("\n") + "\n"
}

fn model_text(model: &TrainedModel) -> String {
    let mut text =
        format!("model on {}\n{}", in_a_line(&model.forest.features), forest_line(model));
    if let Some(made) = &model.provenance {
        let split = serde_json::to_string(&made.split).unwrap_or_default();
        let names: Vec<&str> = made.data.iter().map(|origin| origin.name.as_str()).collect();
        let (seed, data) = (made.parameters.get().seed, names.join(", "));
        text.push_str(&format!("seed: {seed}\nsplit: {split}\ndata: {data}\n"));
    }
    let rising: Vec<&str> = model.forest.rising().collect();
    if !rising.is_empty() {
        text.push_str(&format!("its score never falls with a higher {}\n", rising.join(", ")));
    }
    text.push_str(&FewRows::of(model).map_or_else(String::new, |few| few_rows_text(&few)));
    text + &model.metrics.as_ref().map_or_else(String::new, metrics_table)
}

/// Which leaves stand on few training rows.
fn few_rows_text(few: &FewRows) -> String {
    let FewRows { below, leaves, drops, drops_on_few, on_few } = few;
    let mut text = format!(
        "leaves: {leaves}, {} of them on fewer than {below} training rows: {} of {} drops end there (each in one leaf of \
         every tree, as often as it was drawn)\n",
        on_few.len(),
        count(*drops_on_few),
        count(*drops)
    );
    for LeafOnFew { tree, weight, stands_on } in on_few.iter().take(MOST_LISTED) {
        let LeafRows { rows, drops } = stands_on;
        text.push_str(&format!(
            "  tree {tree}: weight {weight} on {rows} rows, {drops} of them drops\n"
        ));
    }
    if on_few.len() > MOST_LISTED {
        text.push_str(&format!("  and {} more\n", on_few.len() - MOST_LISTED));
    }
    text
}
