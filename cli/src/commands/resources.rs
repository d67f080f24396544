//! `dropcast resources`.

use crate::args::ResourcesArgs;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::export::tool_measurements::resources_of;
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::resources::resources_text;
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &ResourcesArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let resources = resources_of(&ModelFile::read(&args.model)?, args.measure, progress)?;
    output::print(args.format, &resources, resources_text)
}
