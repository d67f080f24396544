//! How figures are measured.

use crate::closed_loop::MOST_RUNS;
use dropcast_arrivals::BurstTraffic;
use std::path::PathBuf;

/// How a figure of policies in the fabric is measured (lab/notes/figures-closed-loop.md, lab/notes/figures-abm.md).
///
/// Credence's oracles are trained first, on LQD in the artifact's fabric: websearch at 80%, bursts of 75%.
#[derive(Clone, Debug, clap::Args)]
pub struct FabricFigureSettings {
    /// How large the fabric is.
    #[arg(long, value_enum, default_value_t)]
    pub scale: FigureScale,
    /// Runs of each policy at each point, with other seeds; 5 unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS)))]
    pub runs: Option<u32>,
    /// Flows start in this time; 50 ms, or 100 at the paper's scale.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub duration_ms: Option<u64>,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// How a figure is measured whose fabric has one scale (lab/notes/figures-pred.md, lab/notes/figures-smartbuf.md).
#[derive(Clone, Debug, clap::Args)]
pub struct OneScaleSettings {
    /// Runs of each scheme at each point, with other seeds.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS)))]
    pub runs: u32,
    /// Flows start in this time, PRED's long flows run for it; each figure has its own unless given.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub duration_ms: Option<u64>,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// DCTCP begins in slow start, as Linux's does, single flows with at most 10 segments.
    #[arg(long)]
    pub slow_start: bool,
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// A figure that is compared with equations; nothing of it is random.
#[derive(Clone, Debug, clap::Args)]
pub struct EquationSettings {
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// How large a fabric is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FigureScale {
    /// 2 leaves, of 16 servers, ABM's of 32: minutes.
    #[default]
    Small,
    /// 256 servers, on 16 leaves, ABM's on 8.
    Paper,
}

/// Figure 14: throughput of LQD over that of Credence, against the flip probability.
#[derive(Clone, Debug, clap::Args)]
pub struct Fig14Settings {
    /// Output ports N.
    #[arg(long, default_value_t = BurstTraffic::default().ports)]
    pub ports: u16,
    /// Buffer B, packets.
    #[arg(long, default_value_t = BurstTraffic::default().burst_packets)]
    pub buffer: u32,
    /// Full-buffer bursts per slot. The paper does not say; by default the curve ends near its 2.9.
    #[arg(long, default_value_t = BurstTraffic::default().bursts_per_slot, allow_negative_numbers = true)]
    pub bursts_per_slot: f64,
    /// Let a whole burst arrive in one slot, instead of at most N packets per slot.
    #[arg(long)]
    pub bursts_at_once: bool,
    /// Slots.
    #[arg(long, default_value_t = BurstTraffic::default().slots)]
    pub slots: u64,
    /// Independent repetitions per flip probability.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS)))]
    pub repetitions: u32,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for fig14.csv, fig14.md, fig14.svg and fig14-cases.csv (other ports, buffers and burst rates).
    #[arg(short, long, default_value = "runs/fig14", value_name = "DIR")]
    pub output: PathBuf,
}

/// Figure 15: prediction scores against the number of trees, depth 4.
#[derive(Clone, Debug, clap::Args)]
pub struct Fig15Settings {
    /// Labelled traces; by default one is generated.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for fig15-paper and fig15-ours, each .csv and .svg, fig15.md, and for generated files.
    #[arg(short, long, default_value = "runs/fig15", value_name = "DIR")]
    pub output: PathBuf,
}
