//! `dropcast counters`.

use crate::args::CountersArgs;
use dropcast_pipeline::counters::{judge_counters, write_arrivals};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::counters::counters_text;
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &CountersArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let spec = args.reading.spec()?;
    let polls = args.reading.read(&args.file, &spec)?;
    if let Some(path) = &args.arrivals {
        check_output(path, [&args.file, &args.reading.switch])?;
        let doubts = write_arrivals((&args.file, &polls), &spec, args.reading.mtu_bytes, path)?;
        progress.note(&format!(
            "{}: arrivals at even distances between polls; docs/counters.md says how many drops replays of them miss, by \
             the time between polls",
            output::shown(path)
        ));
        for doubt in doubts {
            progress.note(&format!("{}: {doubt}", output::shown(path)));
        }
    }
    let report = judge_counters(&polls, &spec, args.reading.mtu_bytes);
    output::print(args.format, &report, |report| {
        let (file, switch) = (output::argument(&args.file), output::argument(&args.reading.switch));
        let replay =
            format!("dropcast counters {file} --switch {switch} --arrivals events.parquet");
        let drops = !report.drops.is_empty();
        counters_text(report) + &if drops { output::next(&replay) } else { String::new() }
    })
}
