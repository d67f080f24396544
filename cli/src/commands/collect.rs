//! `dropcast collect`.

use crate::args::CollectArgs;
use dropcast_data::Expert;
use dropcast_pipeline::collect::folder::FolderCollected;
use dropcast_pipeline::collect::{Collected, Counts, EcnMarks, EventData, Labelled, RealDrops};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
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
    let who = expert(&args.task.settings);
    match labelled {
        Labelled::Trace { collected, .. } => {
            let text = |collected: &Collected| text(who, collected) + &next(&args.output);
            output::print_beside(&args.output, args.format, &collected, text)
        }
        Labelled::Folder(collected) => {
            let text = |collected: &_| folder_text(who, collected) + &next(&args.output);
            output::print(args.format, &collected, text)
        }
    }
}

fn next(traces: &Path) -> String {
    output::next(&format!("dropcast report --data {}", output::argument(traces)))
}

fn folder_text(who: &str, collected: &FolderCollected) -> String {
    let FolderCollected { manifest, labelled, kept, traces, counts, skipped, .. } = collected;
    let text = format!(
        "{}: {traces} traces, {}; {labelled} folders labelled now, {kept} before\n",
        output::shown(manifest),
        by_expert(who, counts)
    );
    text + &overloaded(who, counts) + &of_real_switch(who, counts) + &left_out(skipped)
}

fn text(who: &str, collected: &Collected) -> String {
    let Collected { trace, counts, skipped, .. } = collected;
    let text = format!("{}: {}\n", output::shown(trace), by_expert(who, counts));
    text + &overloaded(who, counts) + &of_real_switch(who, counts) + &left_out(skipped)
}

/// What the expert drops.
fn by_expert(who: &str, counts: &Counts) -> String {
    let Counts { rows, drops, pushed_out, rejected, .. } = counts;
    format!("{rows} arrivals, {who} drops {drops} ({pushed_out} pushed out, {rejected} rejected)")
}

/// That so many drops are not believable.
fn overloaded(who: &str, Counts { rows, drops, .. }: &Counts) -> String {
    overload_words(who, *drops, *rows).map_or_else(String::new, |told| told + "\n")
}

/// Whose drops are the labels.
fn expert(settings: &TracerSettings) -> &'static str {
    match settings.expert {
        Expert::Lqd => "LQD",
        Expert::Opt => "the optimum",
    }
}

/// What is known of the real switch.
fn of_real_switch(who: &str, counts: &Counts) -> String {
    let mut text = String::new();
    let of = |told: u64| match counts.rows - told {
        0 => String::new(),
        unknown => format!(" (not known of {unknown} arrivals)"),
    };
    if let Some(RealDrops { packets, not_by_lqd, told }) = counts.real_drops {
        text.push_str(&format!(
            "the real switch dropped {packets}; {who} transmits {not_by_lqd} of these{}\n",
            of(told)
        ));
    }
    if let Some(marks) = counts.ecn_marks {
        let EcnMarks { packets, dropped_by_lqd, unmarked_dropped_by_lqd, told } = marks;
        text.push_str(&format!(
            "the real switch marked {packets} (ECN); {who} drops {dropped_by_lqd} of these and \
             {unmarked_dropped_by_lqd} others{}\n",
            of(told)
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
