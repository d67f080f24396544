//! `dropcast export`.

use crate::args::ExportArgs;
use dropcast_pipeline::export::models::{ModelFile, the_switch};
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let model = ModelFile::read(&args.model)?;
    let switch = args.switch.as_deref().map(the_switch).transpose()?;
    let written = model.export(&args.target, args.switch.as_deref(), &args.output)?;
    output::print(args.format, &written, |files| {
        let mut text: String = files
            .iter()
            .map(|file| format!("{} ({} bytes)\n", output::shown(&file.path), file.bytes))
            .collect();
        if switch.is_some_and(|switch| switch.slack_bytes == 0) {
            text.push_str(NO_SLACK);
        }
        text
    })
}

const NO_SLACK: &str = "\
The decision lets no queue exceed its threshold (slack_bytes of the switch's description is 0): ports that
are a packet behind virtual LQD's drop more than reports replay; see Slack in docs/decision.md.
";
