//! Running a figure.

use super::figures::{Claim, FabricFigure, Vary};
use super::scale::Scale;
use crate::PipelineError;
use crate::closed_loop::{Experiment, NamedPolicy, Oracles, PolicyRuns, Prepared};
use crate::fabric_oracle::{default_oracles, train_oracles};
use crate::progress::{Progress, check};
use crate::resources::Resources;
use dropcast_simulate::{FlowRecord, Interval, RunSummary, Sink, Summarizer};
use dropcast_train::Threads;
use std::sync::atomic::{AtomicU64, Ordering};

/// Policies by what figures call them. DT and ABM have the parameters of the artifact's runs;
/// acknowledgements are in queue 0.
const POLICIES: [(&str, &str); 7] = [
    ("LQD", "lqd"),
    ("Complete Sharing", "complete-sharing"),
    ("FollowLQD", "follow-lqd"),
    ("Credence, level4", "credence:model=level4"),
    ("Credence, paper4", "credence:model=paper4"),
    ("DT", "dt:alpha=[64,0.5]"),
    ("ABM", "abm:alpha=[64,0.5],first_rtt_alpha=1024,counting=artifact"),
];

/// A figure's numbers.
#[derive(Clone, Debug)]
pub struct MeasuredFigure {
    /// The figure.
    pub figure: &'static FabricFigure,
    /// At which scale.
    pub scale: Scale,
    /// By point, then policy.
    pub cells: Vec<Cell>,
}

/// One policy at one point.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Where along the figure.
    pub point: f64,
    /// The policy, as figures call it.
    pub policy: &'static str,
    /// By run.
    pub runs: PolicyRuns,
    /// Flows of all runs.
    pub flows: u64,
    /// Slowdowns of those that completed, from the least.
    pub slowdowns: Vec<f64>,
}

/// A claim, and what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The claim.
    pub claim: Claim,
    /// How much less the metric is, as a share; null where undefined.
    pub measured: Option<Interval>,
}

/// What one policy at one point needs to run.
struct Job {
    point: f64,
    policy: &'static str,
    named: NamedPolicy,
    /// Which of the prepared experiments.
    prepared: usize,
}

/// The oracles that the figures' policies ask, trained on the run of the scale.
///
/// # Errors
/// If a forest cannot be trained on that run.
pub fn oracles(
    scale: &Scale,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Oracles, PipelineError> {
    let named = default_oracles();
    let settings = named.iter().map(|(_, settings)| settings);
    let models = train_oracles(&scale.training, settings, resources, progress)?;
    let mut oracles = Oracles::default();
    for ((name, _), model) in named.iter().zip(models) {
        oracles.insert(name.as_str(), model);
    }
    Ok(oracles)
}

/// Runs every policy at every point, with the oracles of [`oracles`]. The same with any number of
/// threads.
///
/// # Errors
/// If a number of the scale is out of range.
pub fn measure(
    figure: &'static FabricFigure,
    scale: &Scale,
    oracles: &Oracles,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<MeasuredFigure, PipelineError> {
    let (prepared, jobs) = plan(figure, scale, oracles)?;
    progress.begin(figure.name);
    let tasks: Vec<_> =
        jobs.iter().flat_map(|job| (0..scale.runs).map(move |run| (job, run))).collect();
    let (all, done) = (tasks.len() as u64, AtomicU64::new(0));
    let runs = Threads::new(resources.threads()).map(tasks, |(job, run)| {
        check(progress)?;
        let outcome = observe(&prepared[job.prepared], &job.named, run);
        progress.estimate(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        outcome
    });
    let mut runs = runs.into_iter();
    let mut cells = Vec::new();
    for Job { point, policy, named, .. } in jobs {
        let observed: Vec<_> =
            runs.by_ref().take(scale.runs as usize).collect::<Result<_, PipelineError>>()?;
        let flows = observed.iter().map(|(_, slowdowns)| slowdowns.flows).sum();
        let mut slowdowns = Vec::new();
        let mut runs = Vec::new();
        for (summary, of_run) in observed {
            runs.push(summary);
            slowdowns.extend(of_run.completed);
        }
        slowdowns.sort_unstable_by(f64::total_cmp);
        let runs = PolicyRuns { policy: named.label, runs };
        cells.push(Cell { point, policy, runs, flows, slowdowns });
    }
    progress.end(&format!("{all} runs"));
    Ok(MeasuredFigure { figure, scale: scale.clone(), cells: spread(figure, cells) })
}

/// What runs: every policy at every point; policies that do not flip predictions once where nothing
/// else varies.
fn plan(
    figure: &FabricFigure,
    scale: &Scale,
    oracles: &Oracles,
) -> Result<(Vec<Prepared>, Vec<Job>), PipelineError> {
    let (mut prepared, mut jobs) = (Vec::new(), Vec::new());
    for (place, &point) in figure.points.iter().enumerate() {
        let mut policies = Vec::new();
        for (policy, spec) in POLICIES {
            let is_flipped = figure.vary == Vary::Flips && spec.starts_with("credence");
            let named = match is_flipped {
                true => format!("{spec},flip_probability={point:?}"),
                false => spec.to_owned(),
            };
            let named: NamedPolicy = named.parse().expect("a known policy");
            policies.push(named.clone());
            if figure.vary != Vary::Flips || is_flipped || place == 0 {
                jobs.push(Job { point, policy, named, prepared: place });
            }
        }
        let experiment = Experiment { policies, ..scale.experiment(figure, point) };
        prepared.push(experiment.prepare_with(oracles.clone())?);
    }
    Ok((prepared, jobs))
}

/// Repeats, at every point, what does not depend on it.
fn spread(figure: &FabricFigure, cells: Vec<Cell>) -> Vec<Cell> {
    if figure.vary != Vary::Flips {
        return cells;
    }
    let at = |point: f64, policy: &str| {
        let own = cells.iter().find(|cell| cell.point == point && cell.policy == policy);
        let cell = own.or_else(|| cells.iter().find(|cell| cell.policy == policy));
        cell.map(|cell| Cell { point, ..cell.clone() })
    };
    let policies = POLICIES.map(|(policy, _)| policy);
    let of_point = |&point: &f64| policies.map(|policy| at(point, policy)).into_iter().flatten();
    figure.points.iter().flat_map(of_point).collect()
}

fn observe(
    prepared: &Prepared,
    policy: &NamedPolicy,
    run: u32,
) -> Result<(RunSummary, Slowdowns), PipelineError> {
    let mut sinks = (Summarizer::new(&prepared.fabric(run)?), Slowdowns::default());
    let outcome = prepared.run(policy, run, &mut sinks)?;
    Ok((sinks.0.finish(&outcome), sinks.1))
}

/// The slowdowns of all flows.
#[derive(Default)]
struct Slowdowns {
    flows: u64,
    completed: Vec<f64>,
}

impl Sink for Slowdowns {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.flows += 1;
        self.completed.extend(record.slowdown());
    }
}

impl MeasuredFigure {
    /// Policies, in the order of the figure.
    pub fn policies(&self) -> [&'static str; 7] {
        POLICIES.map(|(policy, _)| policy)
    }

    /// One policy at one point.
    pub fn cell(&self, point: f64, policy: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.point == point && cell.policy == policy)
    }

    /// The paper's numbers beside ours.
    pub fn claims(&self) -> Vec<Ratio> {
        let ratio = |&claim: &Claim| Ratio { claim, measured: self.ratio(&claim) };
        self.figure.claims.iter().map(ratio).collect()
    }

    /// How much less, run by run.
    fn ratio(&self, claim: &Claim) -> Option<Interval> {
        let points = self.figure.points.iter().copied();
        let points: Vec<f64> =
            points.filter(|&point| claim.at.is_none_or(|at| at == point)).collect();
        let of_run = |run: usize| -> Option<f64> {
            let mut sum = 0.0;
            for &point in &points {
                let value = |policy| self.cell(point, policy)?.runs.metric(claim.metric)[run];
                sum += 1.0 - value(claim.policy)? / value(claim.than)?;
            }
            Some(sum / points.len() as f64).filter(|mean| mean.is_finite())
        };
        let values: Vec<f64> = (0..self.scale.runs as usize).filter_map(of_run).collect();
        Interval::bootstrap(&values, 1)
    }
}
