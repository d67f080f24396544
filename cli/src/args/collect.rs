//! Arguments of `dropcast collect`.

use super::headings::under_heading;
use clap::Args;
use dropcast_pipeline::collect::CollectTask;
use dropcast_terminal::OutputFormat;
use std::path::PathBuf;

/// Label packet events: what would Longest Queue Drop have dropped?
///
/// Writes one row per arrival, in order of arrival: its features, and whether LQD would have
/// dropped it (docs/trace.md).
#[derive(Debug, Args)]
#[command(
    mut_args(under_heading),
    after_long_help = "\
Examples:
  dropcast collect --events events.parquet --switch leaf.toml -o trace.parquet
  dropcast collect --events log.csv --switch s.toml --column time_ns=ts --time-unit us -o t.parquet
  dropcast collect --events port0.pcap port1.pcap --switch leaf.toml -o trace.parquet"
)]
pub(crate) struct CollectArgs {
    /// Packet events: Parquet or CSV (docs/events.md), an ns-3 ASCII trace (docs/ns3-ascii.md),
    /// captures (docs/pcap.md); - for standard input. Several files are merged by time. A folder:
    /// each folder under it is a run, labelled on its own; finished folders are skipped.
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    pub(crate) events: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) task: CollectTask,
    /// File for the labelled trace: Parquet, Arrow IPC for names in .arrow, or - for an Arrow IPC
    /// stream to standard output. A folder if the events are one.
    #[arg(short, long, value_name = "OUT.parquet")]
    pub(crate) output: PathBuf,
    /// Threads for a folder of events; each labels a run [default: all cores].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}
