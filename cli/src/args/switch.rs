//! Arguments of `dropcast switch`.

use super::output_path;
use clap::Args;
use dropcast_pipeline::switch_draft::CaptureDraftOptions;
use std::path::PathBuf;

/// Draft a switch description from SONiC's config_db.json or captures.
///
/// Of a configuration, the buffer is the egress pool that most queues share; ports, rates, alphas and reserved bytes are
/// those configured. Of captures, ports and the rules for their packets are drafted; rate and buffer are given. Anything
/// unsupported or unknown is reported and left as a comment. Check the draft.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast switch config_db.json --base-rtt-ns 32000 -o leaf.toml
  ssh leaf3 cat /etc/sonic/config_db.json > leaf3.json; dropcast switch leaf3.json --base-rtt-ns 32000
  dropcast switch captures/ --base-rtt-ns 32000 --rate-bps 25000000000 --buffer-bytes 8000000")]
pub(crate) struct SwitchArgs {
    /// The configuration; or captures, as for collect: files, patterns, or folders of them.
    #[arg(required = true, value_name = "config_db.json|CAPTURE")]
    pub(crate) file: Vec<PathBuf>,
    /// Base round-trip time of the network, nanoseconds, which neither has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) base_rtt_ns: u64,
    #[command(flatten)]
    pub(crate) of_captures: CaptureDraftOptions,
    /// File for the description; by default standard output.
    #[arg(short, long, value_name = "PATH", value_parser = output_path())]
    pub(crate) output: Option<PathBuf>,
}
