//! PRED's figures (NSDI 2025): marking schemes at the link of one receiver.
//!
//! Flows are DCTCP's where nothing else is said. The switches' buffers are so large that nothing is dropped.

mod long_flows;
mod one_receiver;
mod scenes;
mod schemes;
mod services;
mod simulated;

use super::figures::{FabricFigure, Vary};
use super::measured::{Cell, MeasuredFigure};
use super::observed::{Numbers, RunNumbers};
use super::scale::Scale;
use crate::closed_loop::run_all;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_switch::AqmSpec;
use scenes::{SCENES, Scene, Setting};

/// The figures that are measured.
pub fn figures() -> impl Iterator<Item = &'static FabricFigure> {
    SCENES.iter().map(|scene| &scene.figure)
}

fn scene_of(figure: &FabricFigure) -> &'static Scene {
    let is_it = |scene: &&Scene| scene.figure.name == figure.name;
    SCENES.iter().find(is_it).expect("a figure of PRED's")
}

/// The fabric and the flows of a figure of PRED's, in words.
pub(crate) fn words(figure: &FabricFigure) -> &'static str {
    scene_of(figure).words
}

/// How figures are measured.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs of each scheme at each point.
    pub runs: u32,
    /// Seed; run `n` adds `n`.
    pub seed: u64,
    /// Of a run, nanoseconds; each figure's own unless given.
    pub duration_ns: Option<u64>,
    /// DCTCP begins in slow start, flows with at most 10 segments.
    pub slow_start: bool,
}

/// One run of a scheme.
struct Task {
    scene: &'static Scene,
    point: f64,
    aqm: &'static str,
    scale: Scale,
    run: u32,
}

/// Measures figures. The same with any number of threads.
///
/// # Errors
/// If it is cancelled, or a duration is out of range.
pub fn measure(
    figures: &[&'static FabricFigure],
    options: &Options,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<MeasuredFigure>, PipelineError> {
    let scenes: Vec<_> = figures.iter().map(|figure| scene_of(figure)).collect();
    let tasks: Vec<Task> = scenes.iter().flat_map(|scene| scene.tasks(options)).collect();
    let numbers = run_all("figures", tasks, resources, progress, |task| task.numbers())?;
    let mut numbers = numbers.into_iter();
    Ok(scenes.into_iter().map(|scene| scene.measured(options, &mut numbers)).collect())
}

impl Scene {
    fn scale(&self, options: &Options) -> Scale {
        let duration_ns = options.duration_ns.unwrap_or(self.duration_ns);
        let &Options { runs, seed, slow_start, .. } = options;
        Scale { runs, seed, duration_ns, slow_start, ..Scale::small() }
    }

    /// Where it is run.
    fn points_run(&self) -> &[f64] {
        match &self.setting {
            Setting::Sampled(_, flows) => std::slice::from_ref(flows),
            Setting::LongFlows(_) | Setting::OneReceiver(_) | Setting::Services => {
                self.figure.points
            }
        }
    }

    /// By point, scheme and run.
    fn tasks(&'static self, options: &Options) -> Vec<Task> {
        let scale = self.scale(options);
        let mut tasks = Vec::new();
        for &point in self.points_run() {
            for &(_, aqm) in self.figure.policies {
                for run in 0..scale.runs {
                    tasks.push(Task { scene: self, point, aqm, scale: scale.clone(), run });
                }
            }
        }
        tasks
    }

    /// From the numbers of its tasks.
    fn measured(
        &'static self,
        options: &Options,
        numbers: &mut impl Iterator<Item = Vec<Numbers>>,
    ) -> MeasuredFigure {
        let scale = self.scale(options);
        let cell = |point, policy, runs| Cell {
            point,
            policy,
            runs: RunNumbers(runs),
            flows: 0,
            slowdowns: [].into(),
        };
        let mut cells = Vec::new();
        for &point in self.points_run() {
            for &(policy, _) in self.figure.policies {
                let runs: Vec<Vec<Numbers>> = numbers.take(scale.runs as usize).collect();
                match &self.setting {
                    Setting::Sampled(..) => {
                        for (place, &point) in self.figure.points.iter().enumerate() {
                            let at = runs.iter().map(|run| run[place].clone()).collect();
                            cells.push(cell(point, policy, at));
                        }
                    }
                    Setting::LongFlows(_) | Setting::OneReceiver(_) | Setting::Services => {
                        let only = runs.into_iter().flatten().collect();
                        cells.push(cell(point, policy, only));
                    }
                }
            }
        }
        MeasuredFigure { figure: &self.figure, scale, cells }
    }
}

impl Task {
    /// One, or of a sampled run one for each point of the figure.
    fn numbers(&self) -> Result<Vec<Numbers>, PipelineError> {
        let &Task { scene, point, aqm, ref scale, run } = self;
        let figure = &scene.figure;
        match &scene.setting {
            Setting::LongFlows(flows) => {
                Ok(vec![flows.observe(aqm, point as u16, scale, run)?.settled()])
            }
            Setting::Sampled(flows, _) => {
                let observed = flows.observe(aqm, point as u16, scale, run)?;
                let at = |&point: &f64| match figure.vary {
                    Vary::CountingRtts => observed.counted(point),
                    _ => observed.before(point),
                };
                Ok(figure.points.iter().map(at).collect())
            }
            Setting::Services => {
                let aqm = aqm.parse().expect("a known AQM");
                Ok(vec![services::observe(aqm, point as u16, scale, run)?])
            }
            Setting::OneReceiver(receiver) => {
                let mut aqm: AqmSpec = aqm.parse().expect("a known AQM");
                let load = if figure.vary == Vary::ReceiverLoad { point } else { figure.load };
                if let (Vary::Lambda, AqmSpec::Red(red)) = (figure.vary, &mut aqm) {
                    red.max_probability = point * f64::from(red.max_bytes - red.min_bytes) / 1e6;
                }
                Ok(vec![receiver.observe(aqm, load, scale, run)?])
            }
        }
    }
}
