//! `dropcast export`.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_pipeline::models::{ModelFile, the_switch};
use dropcast_pipeline::progress::Progress;

pub(crate) fn run(args: &ExportArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let model = ModelFile::read(&args.model)?;
    let written = model.export(&args.target, args.switch.as_deref(), &args.output)?;
    if let Some(switch) = &args.switch
        && the_switch(switch)?.slack_bytes == 0
    {
        progress.note(
            "the decision lets no queue exceed its threshold (slack_bytes of the switch's description is 0): \
             ports that are a packet behind virtual LQD's drop more than reports replay; see Slack in \
             docs/decision.md",
        );
    }
    output::print(args.format, &written, |files| {
        files
            .iter()
            .map(|file| format!("{} ({} bytes)\n", output::shown(&file.path), file.bytes))
            .collect()
    })
}
