//! Arguments of `dropcast reproduce`.

use clap::{Args, Subcommand, ValueEnum};
use dropcast_simulate::BurstTraffic;
use std::path::PathBuf;

/// Reproduce a figure of the Credence paper: numbers as CSV, picture as SVG.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    #[command(subcommand)]
    pub(crate) figure: Figure,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Figure {
    /// Figure 6: slowdowns and occupancy against load, bursts of 50% of the buffer.
    Fig6(FabricFigureArgs),
    /// Figure 7: slowdowns and occupancy against burst, load 40%.
    Fig7(FabricFigureArgs),
    /// Figure 8: figure 7 with PowerTCP.
    Fig8(FabricFigureArgs),
    /// Figure 9: slowdowns and occupancy against the base RTT.
    Fig9(FabricFigureArgs),
    /// Figure 10: slowdowns and occupancy against the probability of flipped predictions.
    Fig10(FabricFigureArgs),
    /// Figure 11: distributions of slowdowns by burst.
    Fig11(FabricFigureArgs),
    /// Figure 12: distributions of slowdowns by load.
    Fig12(FabricFigureArgs),
    /// Figure 13: figure 11 with PowerTCP.
    Fig13(FabricFigureArgs),
    Fig14(Fig14Args),
    Fig15(Fig15Args),
}

/// How a figure of policies in the fabric is measured (docs/figures-closed-loop.md).
///
/// Oracles are trained first, on LQD in the artifact's fabric: websearch at 80%, bursts of 75%.
#[derive(Debug, Args)]
pub(crate) struct FabricFigureArgs {
    /// How large the fabric is.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scale: FigureScale,
    /// Runs of each policy at each point, with other seeds; 5, or 1 at the paper's scale.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Flows start in this time; 50 ms, or 100 at the paper's scale.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) duration_ms: Option<u64>,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// How large a fabric is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureScale {
    /// 32 servers, 2 leaves, 4 spines: a minute or two.
    #[default]
    Small,
    /// 256 servers, 16 leaves, 4 spines.
    Paper,
}

/// Figure 14: throughput of LQD over that of Credence, against the flip probability.
#[derive(Debug, Args)]
pub(crate) struct Fig14Args {
    /// Output ports N.
    #[arg(long, default_value_t = BurstTraffic::default().ports)]
    pub(crate) ports: u16,
    /// Buffer B, packets.
    #[arg(long, default_value_t = BurstTraffic::default().burst_packets)]
    pub(crate) buffer: u32,
    /// Full-buffer bursts per slot. The paper does not say; by default the curve ends near its 2.9.
    #[arg(long, default_value_t = BurstTraffic::default().bursts_per_slot, allow_negative_numbers = true)]
    pub(crate) bursts_per_slot: f64,
    /// Let a whole burst arrive in one slot, instead of at most N packets per slot.
    #[arg(long)]
    pub(crate) bursts_at_once: bool,
    /// Slots.
    #[arg(long, default_value_t = BurstTraffic::default().slots)]
    pub(crate) slots: u64,
    /// Independent repetitions per flip probability.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for fig14.csv, fig14.svg and fig14-cases.csv (other ports, buffers and burst rates).
    #[arg(short, long, default_value = "runs/fig14", value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// Figure 15: prediction scores against the number of trees, depth 4.
#[derive(Debug, Args)]
pub(crate) struct Fig15Args {
    /// Labelled traces; by default one is generated.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for fig15-paper and fig15-ours, each .csv and .svg, and for generated files.
    #[arg(short, long, default_value = "runs/fig15", value_name = "DIR")]
    pub(crate) output: PathBuf,
}
