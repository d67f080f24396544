//! `dropcast export`.

use crate::args::ExportArgs;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::export::models::{ModelFile, the_switch};
use dropcast_pipeline::export::policy::export_policy;
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let switch = args.switch.as_deref().map(the_switch).transpose()?;
    let written = match (&args.model, &args.policy, &switch) {
        (Some(model), ..) => {
            ModelFile::read(model)?.export(&args.target, args.switch.as_deref(), &args.output)?
        }
        (None, Some(_), Some(_)) if !args.target.is_empty() => {
            let problem =
                "is of models; a policy is written in every language that it has: leave it out";
            return Err(PipelineError::setting("target", problem).into());
        }
        (None, Some(policy), Some(spec)) => {
            export_policy(&policy.spec, spec, args.switch.as_slice(), &args.output)?
        }
        _ => return Err(PipelineError::setting("model", "is missing").into()),
    };
    let switch = switch.filter(|_| args.policy.is_none());
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
