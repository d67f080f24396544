//! `dropcast export`.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_pipeline::models::ModelFile;

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let model = ModelFile::read(&args.model)?;
    let written = model.export(&args.target, args.switch.as_deref(), &args.output)?;
    output::print(args.format, &written, |files| {
        files
            .iter()
            .map(|file| format!("{} ({} bytes)\n", file.path.display(), file.bytes))
            .collect()
    })
}
