//! `dropcast report`.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_data::write_atomic;
use dropcast_features::FeatureSet;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::report::measure::measure_file;
use dropcast_pipeline::report::verdict::judge;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_reports::verdict_in;

pub(crate) fn run(args: &ReportArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_output(path, args.model.iter().chain(&args.data))?;
    }
    let text = match &args.model {
        Some(model) => {
            let report = measure_file(
                &ModelFile::read(model)?,
                &args.data,
                args.rows,
                &args.asked,
                progress,
            )?;
            args.format.exporter().export(&report)?
        }
        None => {
            let traces = LabelledTraces::open(&args.data, &FeatureSet::none())?;
            verdict_in(&judge(&traces, &args.asked, &Resources::default(), progress)?, args.format)?
        }
    };
    match &args.output {
        Some(path) => Ok(write_atomic(path, text.as_bytes())?),
        None => output::print_text(&text),
    }
}
