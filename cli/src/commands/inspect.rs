//! `dropcast inspect`.

use crate::args::InspectArgs;
use dropcast_data::{EventColumns, OnBadRow};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::matching;
use dropcast_pipeline::inspection::summary::InspectedSummary;
use dropcast_pipeline::inspection::{check, inspect};
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::inspection::{checked_text, inspected_text};
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &InspectArgs, progress: &dyn Progress) -> Result<(), Failure> {
    if args.check {
        let mut options = args.reading.options(OnBadRow::Skip)?;
        let own = FeatureSet::none().with_own(&args.own_features).map_err(PipelineError::from)?;
        options.columns.own = own.names();
        let checked = check(&args.file, &options, progress)?;
        output::print(args.format, &checked, checked_text)?;
        return match checked.problems.len() {
            0 => Ok(()),
            _ => {
                let files = args.file.iter().map(|file| output::shown(file));
                Err(Failure::BadRows(files.collect::<Vec<_>>().join(", ")))
            }
        };
    }
    let useless = args.reading.switch.as_ref().map(|_| "--switch");
    if let Some(option) = useless.or(args.reading.time_unit.map(|_| "--time-unit")) {
        let problem = format!("has no use for {option} without --check");
        return Err(PipelineError::setting("inspect", problem).into());
    }
    let files = matching(&args.file)?;
    let [file] = &files[..] else {
        let problem = "reads one file at a time; only --check reads several";
        return Err(PipelineError::setting("inspect", problem).into());
    };
    let columns = EventColumns::parse(&args.reading.columns)?;
    let found = inspect(file, &columns, args.statistics)?;
    output::print(args.format, &InspectedSummary::new(&found), |_| inspected_text(&found))
}
