//! `dropcast collect`.

use crate::args::{BadRows, CollectArgs, event_options};
use crate::failure::Failure;
use crate::output;
use dropcast_data::{EventFiles, OnBadRow};
use dropcast_pipeline::collect::{Collected, RealDrops, collect};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;

pub(crate) fn run(args: &CollectArgs, progress: &dyn Progress) -> Result<(), Failure> {
    output::check_data(&args.output)?;
    check_output(&args.output, args.events.iter().chain(&args.reading.switch))?;
    let on_bad_row = match args.on_bad_row {
        BadRows::Fail => OnBadRow::Fail,
        BadRows::Skip => OnBadRow::Skip,
    };
    let options = event_options(&args.reading, on_bad_row)?;
    let reader = EventFiles::open(&args.events, &options)?;
    let specs = reader.specs().clone();
    let waiting = args.max_waiting_rows;
    let collected = collect(reader, specs, &args.settings, waiting, &args.output, progress)?;
    output::print_beside(&args.output, args.format, &collected, text)
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
