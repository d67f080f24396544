//! What files hold.

use crate::settings::parse;
use crate::{errors, work};
use dropcast_data::{EventColumns, OnBadRow};
use dropcast_features::FeatureSet;
use dropcast_pipeline::collect::event_reading::EventReading;
use dropcast_pipeline::inspection::summary::InspectedSummary;
use dropcast_pipeline::inspection::{check as check_rows, inspect as look_into};
use dropcast_reports::words::inspection::{checked_text, inspected_text};
use pyo3::prelude::*;
use std::path::PathBuf;

/// How events are read, with columns of the user's own.
#[derive(clap::Args)]
struct WithOwn {
    #[command(flatten)]
    reading: EventReading,
    #[arg(long = "own", value_delimiter = ',')]
    own: Vec<String>,
}

/// The kind and content of a file, as JSON and as text; `statistics`: of its features, too.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    file: PathBuf,
    reading: Vec<String>,
    statistics: bool,
) -> PyResult<(String, String)> {
    let reading: EventReading = parse(py, reading)?;
    let found = work::run(py, bar, |_| {
        let columns = EventColumns::parse(&reading.columns)?;
        look_into(&file, &columns, statistics)
    })?;
    Ok((errors::to_json(py, &InspectedSummary::new(&found))?, inspected_text(&found)))
}

/// Good and bad rows of events or a labelled trace, as JSON and as text.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    files: Vec<PathBuf>,
    reading: Vec<String>,
) -> PyResult<(String, String)> {
    let WithOwn { reading, own }: WithOwn = parse(py, reading)?;
    let own =
        FeatureSet::none().with_own(&own).map_err(|error| errors::argument(py, "own", &error))?;
    let found = work::run(py, bar, |progress| {
        let mut options = reading.options(OnBadRow::Skip)?;
        options.columns.own = own.names();
        check_rows(&files, &options, progress)
    })?;
    Ok((errors::to_json(py, &found)?, checked_text(&found)))
}
