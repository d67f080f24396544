//! `dropcast sweep`.

use crate::args::SweepArgs;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::train::sweep::{SweepSettings, sweep};
use dropcast_reports::sweep_page;
use dropcast_reports::words::sweep::sweep_tables;
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use std::path::PathBuf;

pub(crate) fn run(args: &SweepArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let settings = SweepSettings::read(&args.config)?;
    let folder = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(args.config.file_stem().unwrap_or_default()),
    };
    let memory = args.memory_limit.map(|mib| MemoryLimit { mib, beside: folder.clone() });
    let resources = Resources { threads: args.threads, memory };
    let page = |table: &_| Ok(sweep_page(table)?);
    let table = sweep(&settings, None, &folder, args.resume, &resources, progress, page)?;
    output::print(args.format, &table, |table| {
        let proposed = table.proposed.and_then(|at| table.rows[at].model.as_deref());
        let next = proposed.map(|model| {
            let (model, data) =
                (output::argument(&folder.join(model)), output::arguments(&settings.data));
            output::next(&format!("dropcast report --model {model} --data {data}"))
        });
        let page = output::argument(&folder.join("report.html"));
        format!("{}{}More     {page}\n", sweep_tables(table), next.unwrap_or_default())
    })
}
