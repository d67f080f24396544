//! Arguments of `dropcast map`.

use crate::output::Format;
use clap::Args;
use dropcast_lab::closed_loop::Part;
use std::path::PathBuf;

/// Find where an oracle pays: compare policies in the fabric over many conditions
/// (docs/where-an-oracle-pays.md).
///
/// At each point LQD, rivals that need no oracle (tuned alphas and the untrained rule, unless `policies` lists
/// others) and every decision with every oracle carry the same flows. The best rival of a point and a measure is
/// chosen on other runs than those that are compared. The summary tells who is better than it, and who worse,
/// beyond what many comparisons give by chance, and which share of LQD's gain each gets. Writes map.csv, map.json
/// and heat maps as SVG.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example, map.toml:
  runs = 8
  [[grids]]
  name = \"load-and-buffer\"
  load = [0.4, 0.8]
  buffer_kb = [1.3, 2.6, 5.2]
  transports = [\"dctcp\", \"cubic\", \"0.9 dctcp + 0.1 unresponsive\"]

  dropcast map map.toml -o runs/map")]
pub(crate) struct MapArgs {
    /// The points, policies and oracles.
    #[arg(value_name = "MAP.toml")]
    pub(crate) config: PathBuf,
    /// Folder for what is found; runs/ and the name of the file unless given.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Threads; what is found is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Add each run that ends to this file, and do not repeat those that it has: a job that was stopped goes on
    /// (docs/fabric.md).
    #[arg(long, value_name = "RUNS.jsonl")]
    pub(crate) keep: Option<PathBuf>,
    /// Only simulate a part of the runs into --keep, such as 2/4 on the second of four machines.
    #[arg(long, value_name = "K/N", requires = "keep", conflicts_with = "output")]
    pub(crate) part: Option<Part>,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
