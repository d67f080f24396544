//! Arguments of `dropcast switch`.

use super::output_path;
use clap::Args;
use std::path::PathBuf;

/// Draft a switch description from SONiC's config_db.json (docs/switch.md).
///
/// The buffer is the egress pool that most queues share; ports, rates, alphas and reserved bytes are those configured.
/// What is not carried over is told, and stands in comments. Check the draft.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast switch config_db.json --base-rtt-ns 32000 -o leaf.toml
  ssh leaf3 cat /etc/sonic/config_db.json > leaf3.json; dropcast switch leaf3.json --base-rtt-ns 32000")]
pub(crate) struct SwitchArgs {
    /// The configuration.
    #[arg(value_name = "config_db.json")]
    pub(crate) config: PathBuf,
    /// Base round-trip time of the network, nanoseconds, which the configuration does not tell.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) base_rtt_ns: u64,
    /// File for the description; by default standard output.
    #[arg(short, long, value_name = "PATH", value_parser = output_path())]
    pub(crate) output: Option<PathBuf>,
}
