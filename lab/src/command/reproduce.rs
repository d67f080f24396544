//! `dropcast-lab reproduce`: figures of the paper.

use super::args::ReproduceArgs;
use crate::pages::reproduced;
use dropcast_pipeline::progress::Progress;
use dropcast_terminal::Failure;

pub(super) fn run(args: &ReproduceArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let files = |measured: &_| reproduced::files(args.figure.name(), measured);
    let (measured, written) = args.figure.reproduce(progress, files)?;
    let folder = args.figure.folder();
    dropcast_terminal::print_text(&match reproduced::page(&measured) {
        Some(page) => format!("{page}All of it is in {}.\n", dropcast_terminal::shown(&folder)),
        None => {
            written.iter().map(|path| format!("{}\n", dropcast_terminal::shown(path))).collect()
        }
    })
}
