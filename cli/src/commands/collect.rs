//! `dropcast collect`.

use crate::args::CollectArgs;
use dropcast_data::Label;
use dropcast_pipeline::collect::folder::FolderCollected;
use dropcast_pipeline::collect::{
    Collected, Counts, EcnMarks, EventData, FOLLOWERS, Labelled, RealDrops,
};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_reports::words::input_notes::overload_words;
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn run(args: &CollectArgs, progress: &dyn Progress) -> Result<(), Failure> {
    output::check_data(&args.output)?;
    let events = EventData::Paths(args.events.clone());
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let labelled = args.task.collect(events, Some(&args.output), &resources, progress)?;
    let label = args.task.settings.label;
    match labelled {
        Labelled::Trace { collected, .. } => {
            let text = |collected: &Collected| text(label, collected) + &next(&args.output, label);
            output::print_beside(&args.output, args.format, &collected, text)
        }
        Labelled::Folder(collected) => {
            let text = |collected: &_| folder_text(label, collected) + &next(&args.output, label);
            output::print(args.format, &collected, text)
        }
    }
}

fn next(traces: &Path, label: Label) -> String {
    let traces = output::argument(traces);
    output::next(&match label {
        Label::Follows => {
            format!("dropcast train --data {traces} --features flow11 --output model.json")
        }
        Label::Lqd | Label::Opt => format!("dropcast report --data {traces}"),
    })
}

fn folder_text(label: Label, collected: &FolderCollected) -> String {
    let FolderCollected { manifest, labelled, kept, traces, counts, skipped, .. } = collected;
    let text = format!(
        "{}: {traces} traces, {}; {labelled} folders labelled now, {kept} before\n",
        output::shown(manifest),
        by_label(label, counts)
    );
    text + &beside_labels(label, counts) + &left_out(skipped)
}

fn text(label: Label, collected: &Collected) -> String {
    let Collected { trace, counts, skipped, .. } = collected;
    let text = format!("{}: {}\n", output::shown(trace), by_label(label, counts));
    text + &beside_labels(label, counts) + &left_out(skipped)
}

/// What the labels say.
fn by_label(label: Label, counts: &Counts) -> String {
    let Counts { rows, drops, pushed_out, rejected, .. } = counts;
    match who(label) {
        Some(who) => format!(
            "{rows} arrivals, {who} drops {drops} ({pushed_out} pushed out, {rejected} rejected)"
        ),
        None => format!("{rows} arrivals, {drops} followed by {FOLLOWERS} packets of their flow"),
    }
}

/// That so many drops are not believable, and what is known of the real switch; of flows neither is said.
fn beside_labels(label: Label, counts: &Counts) -> String {
    let Some(who) = who(label) else { return String::new() };
    let overloaded = overload_words(who, counts.drops, counts.rows);
    overloaded.map_or_else(String::new, |words| words + "\n") + &of_real_switch(who, counts)
}

/// Whose drops are the labels, if they are drops.
fn who(label: Label) -> Option<&'static str> {
    match label {
        Label::Lqd => Some("LQD"),
        Label::Opt => Some("the optimum"),
        Label::Follows => None,
    }
}

/// What is known of the real switch.
fn of_real_switch(who: &str, counts: &Counts) -> String {
    let mut text = String::new();
    let of = |recorded: u64| match counts.rows - recorded {
        0 => String::new(),
        unknown => format!(" (not known of {unknown} arrivals)"),
    };
    if let Some(RealDrops { packets, not_by_lqd, recorded }) = counts.real_drops {
        text.push_str(&format!(
            "the real switch dropped {packets}; {who} transmits {not_by_lqd} of these{}\n",
            of(recorded)
        ));
    }
    if let Some(marks) = counts.ecn_marks {
        let EcnMarks { packets, dropped_by_lqd, unmarked_dropped_by_lqd, recorded } = marks;
        text.push_str(&format!(
            "the real switch marked {packets} (ECN); {who} drops {dropped_by_lqd} of these and \
             {unmarked_dropped_by_lqd} others{}\n",
            of(recorded)
        ));
    }
    if counts.pauses > 0 {
        text.push_str(&format!("queues were paused {} times\n", counts.pauses));
    }
    text
}

/// How many rows were left out, by reason.
fn left_out(skipped: &BTreeMap<String, u64>) -> String {
    let line = |(reason, rows)| format!("left out {rows} rows: {reason}\n");
    skipped.iter().map(line).collect()
}
