//! What values the features of a labelled trace have, for `dropcast inspect`.

use crate::PipelineError;
use std::path::Path;

#[cfg(feature = "polars")]
pub use dropcast_interop::frame::Statistics;

/// Without polars there are none.
#[cfg(not(feature = "polars"))]
#[derive(Debug, serde::Serialize)]
pub enum Statistics {}

/// Counts the values of `features` in the Parquet file at `path`.
#[cfg(feature = "polars")]
pub fn count_values(path: &Path, features: &[String]) -> Result<Statistics, PipelineError> {
    use dropcast_interop::frame::{scan_traces, statistics};
    let counted = scan_traces(&[path]).and_then(|rows| statistics(&rows, features));
    counted.map_err(|error| PipelineError::unfit(path.display(), error.to_string()))
}

/// Says how to build what it needs.
#[cfg(not(feature = "polars"))]
pub fn count_values(path: &Path, _: &[String]) -> Result<Statistics, PipelineError> {
    let why = "this dropcast was built without polars, which counting values needs; build it with `cargo build --release --features polars`";
    Err(PipelineError::unfit(path.display(), why))
}
