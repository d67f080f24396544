//! A figure of the paper, as it is asked for and as it is measured.

use super::abm_equations::{self, EquationPanel};
use super::fabric::{self, FabricFigure, MeasuredFigure, Paper, Scale, smartbuf_bursts};
use super::fig14::{self, Fig14, Fig14Case, Fig14Options, Fig14SweepRow, Fig14Traffic};
use super::fig15::{self, Fig15Row, Recipe};
use super::figure_settings::{
    EquationSettings, FabricFigureSettings, Fig14Settings, Fig15Settings, FigureScale,
    OneScaleSettings,
};
use crate::closed_loop::Oracles;
use crate::fabric_oracle::training_experiment;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::{check_replaced, real, write_files};
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
use std::path::{Path, PathBuf};

/// A figure, and how it is measured.
#[derive(Clone, Debug, clap::Subcommand, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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
    /// ABM's figure 4: what congested queues leave of the buffer, by equation 6 and in a switch.
    AbmFig4(EquationSettings),
    /// ABM's figure 5: what a burst fills before it loses a packet, by equations 8, 10 and 11 and in a switch.
    AbmFig5(EquationSettings),
    /// Figures 6 to 12 of the ABM paper at once: what they share is run once.
    Abm(FabricFigureSettings),
    /// ABM's figure 6: slowdowns, occupancy and throughput against load.
    AbmFig6(FabricFigureSettings),
    /// ABM's figure 7: slowdowns, occupancy and throughput against the size of requests.
    AbmFig7(FabricFigureSettings),
    /// ABM's figure 8: three transports in queues of their own, against the load of Cubic.
    AbmFig8(FabricFigureSettings),
    /// ABM's figure 9: slowdowns against the size of requests, with Cubic, DCTCP, TIMELY and PowerTCP.
    AbmFig9(FabricFigureSettings),
    /// ABM's figure 10: slowdowns against the queues of each port, with Cubic and DCTCP.
    AbmFig10(FabricFigureSettings),
    /// ABM's figure 11: slowdowns against the buffer, with DCTCP and PowerTCP.
    AbmFig11(FabricFigureSettings),
    /// ABM's figure 12: slowdowns by how often ABM measures.
    AbmFig12(FabricFigureSettings),
    /// The figures of the PRED paper at once.
    Pred(OneScaleSettings),
    /// PRED's queue against the number of long flows, and over time.
    PredSettling(OneScaleSettings),
    /// PRED's figure 4: completion times of two mixes of sizes against RED's slope.
    PredFig4(OneScaleSettings),
    /// PRED's figure 13: completion times against load, next to ECN, ECN#, CoDel and TCN.
    PredFig13(OneScaleSettings),
    /// PRED's figure 14: completion times against load, next to its parts and RED.
    PredFig14(OneScaleSettings),
    /// PRED's figure 18: completion times at 100 Gbps, data mining.
    PredFig18(OneScaleSettings),
    /// PRED's figure 19: queue and throughput over time, next to HPCC.
    PredFig19(OneScaleSettings),
    /// PRED's figure 21: the queue against the number of flows, and over time, with DCQCN.
    PredFig21(OneScaleSettings),
    /// PRED's figure 22: figure 13 with data mining.
    PredFig22(OneScaleSettings),
    /// PRED's figure 23: figure 18 with websearch.
    PredFig23(OneScaleSettings),
    /// PRED's figure 24: long and small flows in queues with weights.
    PredFig24(OneScaleSettings),
    /// PRED's figure 25: flows as counted, against the interval.
    PredFig25(OneScaleSettings),
    /// PRED's figure 27: queue and throughput at the ends of what it may set.
    PredFig27(OneScaleSettings),
    /// The figures of the Smartbuf paper at once.
    Smartbuf(OneScaleSettings),
    /// Smartbuf's figure 1: how often bursts at two ports of a leaf overlap, against load.
    SmartbufFig1(OneScaleSettings),
    /// Smartbuf's figure 2: limits of bursts against load, next to EDT and DT.
    SmartbufFig2(OneScaleSettings),
    /// Smartbuf's figure 3: slowdowns against load.
    SmartbufFig3(OneScaleSettings),
    /// Smartbuf's figure 4: a long flow with incasts at another port, against EDT and DT.
    SmartbufFig4(OneScaleSettings),
    /// Smartbuf's figure 5: slowdowns by the number of known bursts that a limit averages.
    SmartbufFig5(OneScaleSettings),
    /// Smartbuf's figure 6: slowdowns by sigma.
    SmartbufFig6(OneScaleSettings),
    /// Smartbuf's figure 7: known bursts against load.
    SmartbufFig7(OneScaleSettings),
    /// Smartbuf's figure 8: limits against what bursts need, by load.
    SmartbufFig8(OneScaleSettings),
}

/// A figure that was measured.
#[derive(Clone, Debug)]
pub enum Reproduced {
    /// Figures of policies in the fabric.
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
    /// Figures 4 and 5 of the ABM paper.
    Equations(Vec<EquationPanel>),
}

impl Figure {
    /// Its name: `fig6`.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The folder for its files.
    pub fn folder(&self) -> PathBuf {
        let given = match self {
            Figure::Fig14(of) => Some(of.output.clone()),
            Figure::Fig15(of) => Some(of.output.clone()),
            Figure::AbmFig4(of) | Figure::AbmFig5(of) => of.output.clone(),
            _ => {
                let of_one_scale = self.of_one_scale().and_then(|of| of.output.clone());
                of_one_scale.or_else(|| self.of_the_fabric()?.output.clone())
            }
        };
        given.unwrap_or_else(|| Path::new("runs").join(self.name()))
    }

    /// How it is measured, if it is of policies in the fabric.
    fn of_the_fabric(&self) -> Option<&FabricFigureSettings> {
        match self {
            Figure::Fabric(of)
            | Figure::Fig6(of)
            | Figure::Fig7(of)
            | Figure::Fig8(of)
            | Figure::Fig9(of)
            | Figure::Fig10(of)
            | Figure::Fig11(of)
            | Figure::Fig12(of)
            | Figure::Fig13(of)
            | Figure::Abm(of)
            | Figure::AbmFig6(of)
            | Figure::AbmFig7(of)
            | Figure::AbmFig8(of)
            | Figure::AbmFig9(of)
            | Figure::AbmFig10(of)
            | Figure::AbmFig11(of)
            | Figure::AbmFig12(of) => Some(of),
            _ => None,
        }
    }

    /// How it is measured, if its fabric has one scale.
    fn of_one_scale(&self) -> Option<&OneScaleSettings> {
        match self {
            Figure::Pred(of)
            | Figure::PredSettling(of)
            | Figure::PredFig4(of)
            | Figure::PredFig13(of)
            | Figure::PredFig14(of)
            | Figure::PredFig18(of)
            | Figure::PredFig19(of)
            | Figure::PredFig21(of)
            | Figure::PredFig22(of)
            | Figure::PredFig23(of)
            | Figure::PredFig24(of)
            | Figure::PredFig25(of)
            | Figure::PredFig27(of)
            | Figure::Smartbuf(of)
            | Figure::SmartbufFig1(of)
            | Figure::SmartbufFig2(of)
            | Figure::SmartbufFig3(of)
            | Figure::SmartbufFig4(of)
            | Figure::SmartbufFig5(of)
            | Figure::SmartbufFig6(of)
            | Figure::SmartbufFig7(of)
            | Figure::SmartbufFig8(of) => Some(of),
            _ => None,
        }
    }

    /// The figures of policies in the fabric that it is; a figure of panels with other transports is several.
    fn fabric_figures(&self) -> Vec<&'static FabricFigure> {
        let all = fabric::FIGURES.iter().chain(&fabric::abm::FIGURES);
        let all = all.chain(&fabric::smartbuf::FIGURES).chain(&smartbuf_bursts::FIGURES);
        let all = all.chain(fabric::pred::figures());
        let is_ours = |figure: &&FabricFigure| match self {
            Figure::Fabric(_) => figure.paper == Paper::Credence,
            Figure::Abm(_) => figure.paper == Paper::Abm,
            Figure::Pred(_) => figure.paper == Paper::Pred,
            Figure::Smartbuf(_) => figure.paper == Paper::Smartbuf,
            Figure::PredSettling(_) => figure.name.starts_with(self.name()),
            _ => figure.name.trim_end_matches(|letter: char| letter.is_alphabetic()) == self.name(),
        };
        all.filter(is_ours).collect()
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
                || name == "fig15.md"
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
        let of_the_fabric = self.fabric_figures();
        match of_the_fabric.is_empty() {
            true => vec![self.name()],
            false => of_the_fabric.iter().map(|figure| figure.name).collect(),
        }
    }

    /// Measures it. Only figure 15 writes files, those of the trace that it generates.
    fn measure(&self, folder: &Path, progress: &dyn Progress) -> Result<Reproduced, PipelineError> {
        match self {
            Figure::Fig14(of) => of.measure(progress),
            Figure::Fig15(of) => of.measure(folder, progress),
            Figure::AbmFig4(_) => Ok(Reproduced::Equations(abm_equations::figure_4(progress)?)),
            Figure::AbmFig5(_) => Ok(Reproduced::Equations(abm_equations::figure_5(progress)?)),
            _ => match (self.of_the_fabric(), self.of_one_scale()) {
                (Some(of), _) => of.measure(&self.fabric_figures(), progress),
                (None, Some(of)) => of.measure(&self.fabric_figures(), progress),
                (None, None) => unreachable!("every figure has settings"),
            },
        }
    }
}

impl FabricFigureSettings {
    fn measure(
        &self,
        figures: &[&'static FabricFigure],
        progress: &dyn Progress,
    ) -> Result<Reproduced, PipelineError> {
        let is_abm = figures.iter().any(|figure| figure.paper == Paper::Abm);
        let plain = match (self.scale, is_abm) {
            (FigureScale::Small, false) => Scale::small(),
            (FigureScale::Paper, false) => Scale::paper(),
            (FigureScale::Small, true) => fabric::abm::small(),
            (FigureScale::Paper, true) => fabric::abm::paper(),
        };
        let duration_ns = self.duration_ms.map(|ms| ms.saturating_mul(1_000_000));
        let scale = Scale {
            runs: self.runs.unwrap_or(plain.runs),
            duration_ns: duration_ns.unwrap_or(plain.duration_ns),
            seed: self.seed,
            ..plain
        };
        let resources = Resources::default();
        let oracles = match is_abm {
            true => Oracles::default(),
            false => fabric::oracles(&training_experiment(), &resources, progress)?,
        };
        let measured = fabric::measure(figures, &scale, &oracles, &resources, progress)?;
        Ok(Reproduced::Fabric(measured))
    }
}

impl OneScaleSettings {
    fn measure(
        &self,
        figures: &[&'static FabricFigure],
        progress: &dyn Progress,
    ) -> Result<Reproduced, PipelineError> {
        let &OneScaleSettings { runs, seed, duration_ms, slow_start, .. } = self;
        let duration_ns = duration_ms.map(|ms| ms.saturating_mul(1_000_000));
        let resources = Resources::default();
        let measured = if figures.iter().any(|figure| figure.paper == Paper::Pred) {
            let options = fabric::pred::Options { runs, seed, duration_ns, slow_start };
            fabric::pred::measure(figures, &options, &resources, progress)?
        } else {
            let scale = Scale { runs, seed, slow_start, ..fabric::smartbuf::scale() };
            let (of_bursts, others): (Vec<_>, Vec<_>) =
                figures.iter().partition(|figure| smartbuf_bursts::is_of_bursts(figure));
            let mut measured =
                smartbuf_bursts::measure(&of_bursts, &scale, duration_ns, &resources, progress)?;
            let scale = Scale { duration_ns: duration_ns.unwrap_or(scale.duration_ns), ..scale };
            let oracles = Oracles::default();
            measured.extend(fabric::measure(&others, &scale, &oracles, &resources, progress)?);
            measured
        };
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
