//! Arguments of `dropcast counters`.

use super::output_path;
use clap::Args;
use dropcast_pipeline::counters::CounterReading;
use dropcast_terminal::OutputFormat;
use std::path::PathBuf;

/// Bound from queue counters what another alpha or an oracle could have saved.
///
/// Bounds that hold whenever the packets arrived (docs/counters.md). Where counters are not enough, capture the traffic.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast counters counters.csv --switch leaf.toml
  dropcast counters screens.txt --switch leaf.toml --pool egress_lossy_pool --format json
  dropcast counters telemetry.csv --switch leaf.toml --arrivals events.parquet

Saving SONiC's screens, every five minutes:
  (date -u +%FT%TZ; show queue counters; show queue watermark unicast; show buffer_pool watermark
   sonic-clear queue watermark unicast) >> screens.txt")]
pub(crate) struct CountersArgs {
    /// A table of counters with commas, or screens of SONiC, one poll after the other.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: CounterReading,
    /// Also write what arrived between polls as packet events, evenly over that time, for collect and report: of telemetry
    /// every 10 to 100 us (docs/counters.md).
    #[arg(long, value_name = "EVENTS.parquet", value_parser = output_path())]
    pub(crate) arrivals: Option<PathBuf>,
    /// Format of the verdict.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}
