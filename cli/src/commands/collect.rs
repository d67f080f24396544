//! `dropcast collect`.

use crate::args::{BadRows, CollectArgs, event_options};
use crate::failure::Failure;
use crate::output;
use dropcast_data::{EventFiles, OnBadRow};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::{Collected, RealDrops, collect};
use dropcast_pipeline::collect_folder::{FolderCollected, FolderJob};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use std::path::Path;

pub(crate) fn run(args: &CollectArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if let [folder] = &args.events[..]
        && folder.is_dir()
    {
        return collect_folder(args, folder, progress);
    }
    output::check_data(&args.output)?;
    check_output(&args.output, args.events.iter().chain(&args.reading.switch))?;
    let options = event_options(&args.reading, on_bad_row(args))?;
    let reader = EventFiles::open(&args.events, &options)?;
    let specs = reader.specs().clone();
    let waiting = args.max_waiting_rows;
    let collected = collect(reader, specs, &args.settings, waiting, &args.output, progress)?;
    output::print_beside(&args.output, args.format, &collected, text)
}

fn on_bad_row(args: &CollectArgs) -> OnBadRow {
    match args.on_bad_row {
        BadRows::Fail => OnBadRow::Fail,
        BadRows::Skip => OnBadRow::Skip,
    }
}

fn collect_folder(
    args: &CollectArgs,
    events: &Path,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let is_file = args.output.extension().is_some() && !args.output.is_dir();
    if is_file || args.output.as_os_str() == "-" {
        let problem = "the events are a folder; name a folder for their labelled traces";
        return Err(PipelineError::setting("output", problem).into());
    }
    let job = FolderJob {
        options: event_options(&args.reading, on_bad_row(args))?,
        settings: &args.settings,
        max_waiting_rows: args.max_waiting_rows,
        resources: Resources { threads: args.threads, ..Resources::default() },
    };
    let collected = job.run(events, &args.output, progress)?;
    output::print(args.format, &collected, |collected| {
        let FolderCollected { manifest, labelled, kept, traces, rows, drops } = collected;
        format!(
            "{}: {traces} traces, {rows} arrivals, LQD drops {drops}; labelled {labelled} folders, kept {kept}\n",
            manifest.display()
        )
    })
}

fn text(collected: &Collected) -> String {
    let Collected { trace, rows, drops, pushed_out, rejected, real_drops, skipped, .. } = collected;
    let mut text = format!(
        "{}: {rows} arrivals, LQD drops {drops} ({pushed_out} pushed out, {rejected} rejected)\n",
        trace.display(),
    );
    if let Some(RealDrops { packets, not_by_lqd }) = real_drops {
        text.push_str(&format!(
            "the real switch dropped {packets}, of which LQD transmits {not_by_lqd}\n"
        ));
    }
    for (reason, rows) in skipped {
        text.push_str(&format!("left out {rows} rows: {reason}\n"));
    }
    text
}
