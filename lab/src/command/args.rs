//! Arguments of `dropcast-lab`.

use crate::closed_loop::{JobPart, NamedPolicy, RunFile};
use crate::refine::RefineSettings;
use crate::reproduce::Figure;
use clap::{Args, Parser, Subcommand};
use dropcast_terminal::OutputFormat;
use dropcast_terminal::shell_files::{CompletionsArgs, ManArgs};
use std::path::PathBuf;

/// Networks and papers: buffer-sharing policies in a fabric whose senders react.
///
/// Experiments compare policies by what becomes of flows, maps do so over many conditions; oracles
/// are chosen in the loop, and papers' figures measured again. `dropcast` makes the oracles.
#[derive(Debug, Parser)]
#[command(name = "dropcast-lab", version, propagate_version = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Simulate(SimulateArgs),
    Map(MapArgs),
    Refine(Box<RefineArgs>),
    Reproduce(ReproduceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Run buffer-sharing policies in a fabric whose senders react (lab/notes/fabric.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast-lab simulate -o runs/fabric
  dropcast-lab simulate --policy lqd --policy credence:model=model.json --runs 10
  dropcast-lab simulate experiment.toml --format json")]
pub(super) struct SimulateArgs {
    /// Fabric, traffic and policies. Without it: the Credence artifact's network with senders as Linux has them, websearch flows at
    /// 80% load, incasts of 75% of the buffer.
    #[arg(value_name = "EXPERIMENT.toml")]
    pub(super) experiment: Option<PathBuf>,
    /// A policy to compare, in place of the experiment's, such as dt:alpha=1 (docs/policies.md). May
    /// be repeated; the first is what the others are compared with.
    #[arg(long = "policy", value_name = "POLICY")]
    pub(super) policies: Vec<NamedPolicy>,
    /// Runs of each policy, each with another seed.
    #[arg(long, value_name = "N")]
    pub(super) runs: Option<u32>,
    /// Seed of the first run.
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    /// Threads; the result is the same with any number.
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<std::num::NonZeroUsize>,
    /// Cache finished runs in this file; an interrupted experiment resumes from it. --output then has no files of each
    /// run.
    #[arg(long, value_name = "RUNS.jsonl", conflicts_with = "record")]
    pub(super) keep: Option<PathBuf>,
    /// Only simulate a part of the runs into --keep, such as 2/4 on the second of four machines.
    #[arg(long, value_name = "K/N", requires = "keep", conflicts_with = "output")]
    pub(super) part: Option<JobPart>,
    /// Files of each run; all but telemetry unless given.
    #[arg(long, value_enum, value_name = "FILE,...", value_delimiter = ',', requires = "output")]
    pub(super) record: Vec<RunFile>,
    /// Folder for summary.json and the files of each run.
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

/// Find where an oracle pays: compare policies in the fabric over many conditions
/// (lab/notes/where-an-oracle-pays.md).
///
/// At each point LQD, rivals that predict nothing (tuned alphas, unless `policies` lists others) and every decision
/// with every oracle carry the same flows. The best rival of a point and a measure is chosen on other runs than those
/// compared. The summary says who is better than it, and who worse, beyond what many comparisons give by
/// chance, and which share of LQD's gain each gets. Writes map.csv, map.json and heat maps as SVG.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example, map.toml:
  runs = 8
  [[grids]]
  name = \"load-and-buffer\"
  load = [0.4, 0.8]
  buffer_kb = [1.3, 2.6, 5.2]
  transports = [\"dctcp\", \"cubic\", \"0.9 dctcp + 0.1 unresponsive\"]

  dropcast-lab map map.toml -o runs/map")]
pub(super) struct MapArgs {
    /// The points, policies and oracles.
    #[arg(value_name = "MAP.toml")]
    pub(super) config: PathBuf,
    /// Folder for what is found; runs/ and the name of the file unless given.
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Threads; what is found is the same with any number.
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<std::num::NonZeroUsize>,
    /// Cache finished runs in this file; an interrupted map resumes from it (lab/notes/fabric.md).
    #[arg(long, value_name = "RUNS.jsonl")]
    pub(super) keep: Option<PathBuf>,
    /// Only simulate a part of the runs into --keep, such as 2/4 on the second of four machines.
    #[arg(long, value_name = "K/N", requires = "keep", conflicts_with = "output")]
    pub(super) part: Option<JobPart>,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

/// The loop chooses votes, all rows train, and each round trains one seed.
fn hide_refused(arg: clap::Arg) -> clap::Arg {
    let refused = [
        "seeds",
        "vote",
        "split",
        "train_share",
        "validation_share",
        "guard_ns",
        "test_switches",
        "validation_switches",
    ];
    let is_refused = refused.contains(&arg.get_id().as_str());
    arg.hide(is_refused)
}

/// Choose models and vote thresholds by what they do to flows, and train on what Credence meets
/// (lab/notes/closed-loop.md).
///
/// Each model is tried under Credence at several vote thresholds, on the same runs of an experiment
/// as Credence that always accepts. The best is measured again on other runs. What is not better
/// there, too, or makes a kind of flow slower, is not chosen: then the model predicts no drop.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast-lab refine --data trace.parquet -o runs/refined
  dropcast-lab refine --rounds 0 --model runs/sweep/models/*.json -o chosen")]
#[command(mut_args(hide_refused))]
pub(super) struct RefineArgs {
    #[command(flatten)]
    pub(super) settings: RefineSettings,
    /// Threads; the result is the same with any number.
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<std::num::NonZeroUsize>,
    /// Cache finished runs in this file; an interrupted search resumes from it.
    #[arg(long, value_name = "RUNS.jsonl")]
    pub(super) keep: Option<PathBuf>,
    /// Folder for model.json and rounds.json.
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: PathBuf,
    /// How the rounds are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

/// Reproduce a figure of a paper: numbers as CSV, picture as SVG.
#[derive(Debug, Args)]
pub(super) struct ReproduceArgs {
    #[command(subcommand)]
    pub(super) figure: Figure,
}
