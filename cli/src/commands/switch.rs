//! `dropcast switch`.

use crate::args::SwitchArgs;
use dropcast_data::write_atomic;
use dropcast_pipeline::files::{check_output, matching};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::switch_draft::from_files;
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &SwitchArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_output(path, &matching(&args.file)?)?;
    }
    let draft = from_files(&args.file, args.base_rtt_ns, &args.of_captures, progress)?;
    draft.notes.iter().for_each(|note| progress.note(note));
    match &args.output {
        Some(path) => Ok(write_atomic(path, draft.toml.as_bytes())?),
        None => output::print_text(&draft.toml),
    }
}
