//! `dropcast reproduce`: figures of the paper.

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_lab::pages::reproduced;
use dropcast_pipeline::progress::Progress;

pub(crate) fn run(args: &ReproduceArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let files = |measured: &_| reproduced::files(args.figure.name(), measured);
    let (measured, written) = args.figure.reproduce(progress, files)?;
    let folder = args.figure.folder();
    output::print_text(&match reproduced::page(&measured) {
        Some(page) => format!("{page}All of it is in {}.\n", output::shown(&folder)),
        None => written.iter().map(|path| format!("{}\n", output::shown(path))).collect(),
    })
}
