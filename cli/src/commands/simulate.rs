//! `dropcast simulate`.

use crate::args::SimulateArgs;
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &SimulateArgs, progress: &dyn Progress) -> Result<(), Failure> {
    output::check_data(&args.output)?;
    check_output(&args.output, &args.workload)?;
    let workload =
        WorkloadSettings::read(args.topology, args.workload.as_deref())?.with(&args.changes);
    let generated = generate(&workload, &args.output, progress);
    let generated = generated.map_err(|error| error.in_settings(args.workload.as_deref()))?;
    output::print_beside(&args.output, args.format, &generated, |generated| {
        let events = output::argument(&generated.events);
        let collect = format!("dropcast collect --events {events} -o trace.parquet");
        let shown = output::shown(&generated.events);
        format!("{shown}: {} arrivals\n{}", generated.rows, output::next(&collect))
    })
}
