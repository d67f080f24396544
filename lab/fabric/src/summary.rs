//! Summary of a run: slowdowns, late flows, drops, innocents (`lab/notes/fabric.md`).

mod bootstrap;
mod flow_kind;
mod metric;
mod percentiles;
mod run_summary;
mod significance;
mod size_buckets;

pub use bootstrap::{Interval, paired_difference};
pub use flow_kind::{FlowKind, LONG_BYTES, SHORT_BYTES};
pub use metric::{Better, Metric, MetricUnit};
pub use percentiles::{Percentiles, quantile};
pub use run_summary::{BucketSummary, ClassSummary, Innocents, RunSummary, Summarizer};
pub use significance::{largest_discovery, p_value};
pub use size_buckets::{SizeBucket, SizeBuckets};

#[cfg(test)]
mod tests;
