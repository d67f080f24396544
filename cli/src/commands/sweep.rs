//! `dropcast sweep`.

use crate::args::SweepArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_lab::pages::refined_text;
use dropcast_lab::refine::LoopSettings;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::train::sweep::{SweepSettings, Swept, sweep};
use dropcast_reports::sweep_page;
use dropcast_reports::words::sweep::sweep_tables;
use std::path::PathBuf;

pub(crate) fn run(args: &SweepArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let settings = SweepSettings::<LoopSettings>::read(&args.config)?;
    let folder = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(args.config.file_stem().unwrap_or_default()),
    };
    let memory = args.memory_limit.map(|mib| MemoryLimit { mib, beside: folder.clone() });
    let resources = Resources { threads: args.threads, memory };
    let page = |table: &_| Ok(sweep_page(table)?);
    let swept = sweep(&settings, &folder, args.resume, &resources, progress, page)?;
    output::print(args.format, &swept, |Swept { table, closed_loop }| {
        let chosen = closed_loop.as_ref().map_or_else(String::new, |chosen| {
            format!("\nIn the closed loop:\n\n{}", refined_text(chosen))
        });
        format!("{}{chosen}\nAll of it is in {}.\n", sweep_tables(table), output::shown(&folder))
    })
}
