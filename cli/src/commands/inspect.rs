//! `dropcast inspect`.

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_data::{EventColumns, OnBadRow};
use dropcast_pipeline::inspection::{check, inspect};
use dropcast_pipeline::inspection_summary::InspectedSummary;
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::inspection::{checked_text, inspected_text};

pub(crate) fn run(args: &InspectArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if args.check {
        let options = args.reading.options(OnBadRow::Skip)?;
        let checked = check(&args.file, &options, progress)?;
        output::print(args.format, &checked, checked_text)?;
        return match checked.problems.len() {
            0 => Ok(()),
            _ => Err(Failure::BadRows(args.file.display().to_string())),
        };
    }
    let columns = EventColumns::parse(&args.reading.columns)?;
    let found = inspect(&args.file, &columns, args.statistics)?;
    output::print(args.format, &InspectedSummary::new(&found), |_| inspected_text(&found))
}
