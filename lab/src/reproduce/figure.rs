//! A figure of the paper, as it is asked for and as it is measured.

use super::fabric::{self, FabricFigure, MeasuredFigure, Scale};
use super::fig14::{self, Fig14, Fig14Case, Fig14Options, Fig14SweepRow, Fig14Traffic};
use super::fig15::{self, Fig15Row, Recipe};
#[cfg(feature = "clap")]
use crate::closed_loop::MOST_RUNS;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, real, write_files};
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
#[cfg(feature = "clap")]
use dropcast_simulate::BurstTraffic;
use std::path::{Path, PathBuf};

/// A figure, and how it is measured.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Subcommand))]
pub enum Figure {
    /// Figures 6 to 13 at once: oracles are trained once, and what figures share is run once.
    Fabric(FabricFigureSettings),
    /// Figure 6: slowdowns and occupancy against load, bursts of 50% of the buffer.
    Fig6(FabricFigureSettings),
    /// Figure 7: slowdowns and occupancy against burst, load 40%.
    Fig7(FabricFigureSettings),
    /// Figure 8: figure 7 with PowerTCP.
    Fig8(FabricFigureSettings),
    /// Figure 9: slowdowns and occupancy against the base RTT.
    Fig9(FabricFigureSettings),
    /// Figure 10: slowdowns and occupancy against the probability of flipped predictions.
    Fig10(FabricFigureSettings),
    /// Figure 11: distributions of slowdowns by burst.
    Fig11(FabricFigureSettings),
    /// Figure 12: distributions of slowdowns by load.
    Fig12(FabricFigureSettings),
    /// Figure 13: figure 11 with PowerTCP.
    Fig13(FabricFigureSettings),
    /// Figure 14: throughput of LQD over that of Credence, against the flip probability.
    Fig14(Fig14Settings),
    /// Figure 15: prediction scores against the number of trees, depth 4.
    Fig15(Fig15Settings),
}

/// How a figure of policies in the fabric is measured (docs/figures-closed-loop.md).
///
/// Oracles are trained first, on LQD in the artifact's fabric: websearch at 80%, bursts of 75%.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct FabricFigureSettings {
    /// How large the fabric is.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub scale: FigureScale,
    /// Runs of each policy at each point, with other seeds; 5 unless given.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS))))]
    pub runs: Option<u32>,
    /// Flows start in this time; 50 ms, or 100 at the paper's scale.
    #[cfg_attr(feature = "clap", arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..)))]
    pub duration_ms: Option<u64>,
    /// Seed of the first run.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1))]
    pub seed: u64,
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "DIR"))]
    pub output: Option<PathBuf>,
}

/// How large a fabric is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FigureScale {
    /// 32 servers, 2 leaves, 4 spines: a minute or two.
    #[default]
    Small,
    /// 256 servers, 16 leaves, 4 spines.
    Paper,
}

/// Figure 14: throughput of LQD over that of Credence, against the flip probability.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Fig14Settings {
    /// Output ports N.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = BurstTraffic::default().ports))]
    pub ports: u16,
    /// Buffer B, packets.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = BurstTraffic::default().burst_packets))]
    pub buffer: u32,
    /// Full-buffer bursts per slot. The paper does not say; by default the curve ends near its 2.9.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = BurstTraffic::default().bursts_per_slot, allow_negative_numbers = true))]
    pub bursts_per_slot: f64,
    /// Let a whole burst arrive in one slot, instead of at most N packets per slot.
    #[cfg_attr(feature = "clap", arg(long))]
    pub bursts_at_once: bool,
    /// Slots.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = BurstTraffic::default().slots))]
    pub slots: u64,
    /// Independent repetitions per flip probability.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS))))]
    pub repetitions: u32,
    /// Seed of all randomness.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1))]
    pub seed: u64,
    /// Folder for fig14.csv, fig14.svg and fig14-cases.csv (other ports, buffers and burst rates).
    #[cfg_attr(
        feature = "clap",
        arg(short, long, default_value = "runs/fig14", value_name = "DIR")
    )]
    pub output: PathBuf,
}

/// Figure 15: prediction scores against the number of trees, depth 4.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Fig15Settings {
    /// Labelled traces; by default one is generated.
    #[cfg_attr(feature = "clap", arg(long, num_args = 1.., value_name = "FILE"))]
    pub data: Vec<PathBuf>,
    /// Seed of all randomness.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1))]
    pub seed: u64,
    /// Folder for fig15-paper and fig15-ours, each .csv and .svg, and for generated files.
    #[cfg_attr(
        feature = "clap",
        arg(short, long, default_value = "runs/fig15", value_name = "DIR")
    )]
    pub output: PathBuf,
}

/// A figure that was measured.
#[derive(Clone, Debug)]
pub enum Reproduced {
    /// Figures 6 to 13, or one of them.
    Fabric(Vec<MeasuredFigure>),
    /// Figure 14.
    Fig14 {
        /// The case that is drawn.
        case: Fig14Case,
        /// What it gave.
        measured: Fig14,
        /// Other ports, buffers and burst rates.
        others: Vec<Fig14SweepRow>,
    },
    /// Figure 15, by the paper's recipe and by ours.
    Fig15(Box<[(Recipe, Vec<Fig15Row>); 2]>),
}

impl Figure {
    /// Its name: `fig6`.
    pub fn name(&self) -> &'static str {
        match self {
            Figure::Fabric(_) => "fabric",
            Figure::Fig6(_) => "fig6",
            Figure::Fig7(_) => "fig7",
            Figure::Fig8(_) => "fig8",
            Figure::Fig9(_) => "fig9",
            Figure::Fig10(_) => "fig10",
            Figure::Fig11(_) => "fig11",
            Figure::Fig12(_) => "fig12",
            Figure::Fig13(_) => "fig13",
            Figure::Fig14(_) => "fig14",
            Figure::Fig15(_) => "fig15",
        }
    }

    /// The folder for its files.
    pub fn folder(&self) -> PathBuf {
        let given = match self {
            Figure::Fabric(of)
            | Figure::Fig6(of)
            | Figure::Fig7(of)
            | Figure::Fig8(of)
            | Figure::Fig9(of)
            | Figure::Fig10(of)
            | Figure::Fig11(of)
            | Figure::Fig12(of)
            | Figure::Fig13(of) => of.output.clone(),
            Figure::Fig14(of) => Some(of.output.clone()),
            Figure::Fig15(of) => Some(of.output.clone()),
        };
        given.unwrap_or_else(|| Path::new("runs").join(self.name()))
    }

    /// Measures it, and writes `files` of it into its [folder](Self::folder), in place of those of an earlier
    /// measurement. Returns what was measured and the paths of the files.
    ///
    /// # Errors
    /// If a setting is wrong, a file cannot be read or written, or another job works there.
    pub fn reproduce(
        &self,
        progress: &dyn Progress,
        files: impl Fn(&Reproduced) -> Vec<(String, String)>,
    ) -> Result<(Reproduced, Vec<PathBuf>), PipelineError> {
        let folder = self.folder();
        let names = self.figures();
        let kinds = ["csv", "svg", "md"];
        let replaced = names.iter().flat_map(|name| kinds.map(|kind| format!("{name}.{kind}")));
        check_replaced(&folder, replaced)?;
        let work = WorkFolder::beside(&folder)?;
        let measured = self.measure(work.path(), progress)?;
        let files = files(&measured);
        write_files(work.path(), &files)?;
        work.finish(|path| self.is_ours(path))?;
        Ok((measured, files.into_iter().map(|(name, _)| folder.join(name)).collect()))
    }

    /// Whether a file of the folder is of this figure. A trace that figure 15 was measured on is not.
    fn is_ours(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Figure::Fig15(Fig15Settings { data, .. }) = self {
            let is_generated = fig15::GENERATED.contains(&name);
            return name.starts_with("fig15-")
                || is_generated && !data.iter().any(|data| real(data) == real(path));
        }
        self.figures().into_iter().any(|figure| {
            let kind = name.strip_prefix(figure).unwrap_or_default();
            [".csv", ".md", "-cases.csv"].contains(&kind)
                || kind.starts_with(['.', '-']) && kind.ends_with(".svg")
        })
    }

    /// The names of the figures that it is.
    fn figures(&self) -> Vec<&'static str> {
        match self {
            Figure::Fabric(_) => fabric::FIGURES.iter().map(|figure| figure.name).collect(),
            _ => vec![self.name()],
        }
    }

    /// Measures it. Only figure 15 writes files, those of the trace that it generates.
    fn measure(&self, folder: &Path, progress: &dyn Progress) -> Result<Reproduced, PipelineError> {
        match self {
            Figure::Fabric(of)
            | Figure::Fig6(of)
            | Figure::Fig7(of)
            | Figure::Fig8(of)
            | Figure::Fig9(of)
            | Figure::Fig10(of)
            | Figure::Fig11(of)
            | Figure::Fig12(of)
            | Figure::Fig13(of) => {
                let figures = self.figures().into_iter().filter_map(FabricFigure::named);
                of.measure(&figures.collect::<Vec<_>>(), progress)
            }
            Figure::Fig14(of) => of.measure(progress),
            Figure::Fig15(of) => of.measure(folder, progress),
        }
    }
}

impl FabricFigureSettings {
    fn measure(
        &self,
        figures: &[&'static FabricFigure],
        progress: &dyn Progress,
    ) -> Result<Reproduced, PipelineError> {
        let plain = match self.scale {
            FigureScale::Small => Scale::small(),
            FigureScale::Paper => Scale::paper(),
        };
        let duration_ns = self.duration_ms.map(|ms| ms.saturating_mul(1_000_000));
        let scale = Scale {
            runs: self.runs.unwrap_or(plain.runs),
            duration_ns: duration_ns.unwrap_or(plain.duration_ns),
            seed: self.seed,
            ..plain
        };
        let resources = Resources::default();
        let oracles = fabric::oracles(&scale, &resources, progress)?;
        let measured = fabric::measure(figures, &scale, &oracles, &resources, progress)?;
        Ok(Reproduced::Fabric(measured))
    }
}

impl Fig14Settings {
    fn measure(&self, progress: &dyn Progress) -> Result<Reproduced, PipelineError> {
        let &Fig14Settings { bursts_at_once, slots, repetitions, seed, .. } = self;
        let traffic = Fig14Traffic { bursts_at_once, slots, seed };
        let case = traffic.case(self.ports, self.buffer, self.bursts_per_slot)?;
        let options = Fig14Options { repetitions, seed, ..Fig14Options::default() };
        progress.begin("fig14");
        let measured = fig14::measure(&case, &options)?;
        let mut others = Vec::new();
        for other in traffic.other_cases()? {
            check(progress)?;
            others.extend(fig14::sweep([other], &options)?);
        }
        progress.end("one case drawn, others compared");
        Ok(Reproduced::Fig14 { case, measured, others })
    }
}

impl Fig15Settings {
    fn measure(&self, folder: &Path, progress: &dyn Progress) -> Result<Reproduced, PipelineError> {
        let data = if self.data.is_empty() {
            vec![fig15::generate_trace(folder, self.seed, progress)?]
        } else {
            self.data.clone()
        };
        let measured = fig15::measure_recipes(&data, self.seed, progress)?;
        Ok(Reproduced::Fig15(Box::new(measured)))
    }
}
