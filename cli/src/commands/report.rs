//! `dropcast report`.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_data::write_atomic;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::measure::measure_file;
use dropcast_pipeline::models::ModelFile;
use dropcast_pipeline::progress::Progress;

pub(crate) fn run(args: &ReportArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_output(path, [&args.model].into_iter().chain(&args.data))?;
    }
    let report = measure_file(&ModelFile::read(&args.model)?, &args.data, args.rows, progress)?;
    let text = args.format.exporter().export(&report)?;
    match &args.output {
        Some(path) => Ok(write_atomic(path, text.as_bytes())?),
        None => output::print_text(&text),
    }
}
