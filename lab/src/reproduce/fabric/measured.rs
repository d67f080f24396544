//! Running a figure.

use super::figures::{Claim, FabricFigure, Paper, Vary};
use super::observed::{Observed, Observer, RunNumbers};
use super::scale::Scale;
use super::{abm, smartbuf};
use crate::closed_loop::{Experiment, NamedPolicy, Oracles, Prepared, run_all};
use crate::fabric_oracle::{default_oracles, train_oracles};
use dropcast_fabric::Interval;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_switch::PolicySpec;
use std::sync::Arc;

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
    pub runs: RunNumbers,
    /// Flows of all runs.
    pub flows: u64,
    /// Slowdowns of those that completed, from the least.
    pub slowdowns: Arc<[f64]>,
}

/// A claim, and what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The claim.
    pub claim: Claim,
    /// How much less the metric is, as a share; null where undefined.
    pub measured: Option<Interval>,
}

/// The oracles that the policies of the Credence paper ask, trained on a run of this experiment.
///
/// # Errors
/// If a forest cannot be trained on that run.
pub fn oracles(
    training: &Experiment,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Oracles, PipelineError> {
    let named = default_oracles();
    let settings = named.iter().map(|(_, settings)| settings);
    let models = train_oracles(training, settings, resources, progress)?;
    let mut oracles = Oracles::default();
    for ((name, _), model) in named.iter().zip(models) {
        oracles.insert(name.as_str(), model);
    }
    Ok(oracles)
}

/// Runs every policy at every point of these figures, with the oracles of [`oracles`]. What several points
/// have in common runs once. The same with any number of threads.
///
/// # Errors
/// If a number of the scale is out of range.
///
/// # Panics
/// If a figure is PRED's: [`super::pred::measure`] measures those.
pub fn measure(
    figures: &[&'static FabricFigure],
    scale: &Scale,
    oracles: &Oracles,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<MeasuredFigure>, PipelineError> {
    let plan = Plan::new(figures, scale);
    let prepared = plan.prepare(oracles)?;
    let tasks: Vec<_> =
        plan.jobs.iter().flat_map(|job| (0..scale.runs).map(move |run| (job, run))).collect();
    let runs = run_all("figures", tasks, resources, progress, |(job, run)| {
        observe(&prepared[job.experiment], &job.policy, run, scale.duration_ns)
    })?;
    let of_job = |runs: &[Observed]| {
        let mut slowdowns: Vec<f64> = runs.iter().flat_map(|run| &run.slowdowns).copied().collect();
        slowdowns.sort_unstable_by(f64::total_cmp);
        let flows = runs.iter().map(|run| run.flows).sum();
        let runs = RunNumbers(runs.iter().map(|run| run.numbers.clone()).collect());
        Cell { point: 0.0, policy: "", runs, flows, slowdowns: slowdowns.into() }
    };
    let by_job: Vec<Cell> = runs.chunks(scale.runs as usize).map(of_job).collect();
    let cell = |planned: &Planned| {
        let &Planned { point, policy, job } = planned;
        Cell { point, policy, ..by_job[job].clone() }
    };
    let measured = |(&figure, planned): (&&'static FabricFigure, &Vec<Planned>)| MeasuredFigure {
        figure,
        scale: scale.clone(),
        cells: planned.iter().map(cell).collect(),
    };
    Ok(figures.iter().zip(&plan.cells).map(measured).collect())
}

/// What runs, each thing once.
#[derive(Default)]
struct Plan {
    /// Without their policies.
    experiments: Vec<Experiment>,
    jobs: Vec<Job>,
    /// By figure.
    cells: Vec<Vec<Planned>>,
}

/// A policy in one of the plan's experiments.
#[derive(PartialEq)]
struct Job {
    experiment: usize,
    policy: NamedPolicy,
}

/// A cell of a figure, and the job that it shows.
struct Planned {
    point: f64,
    policy: &'static str,
    job: usize,
}

impl Plan {
    fn new(figures: &[&'static FabricFigure], scale: &Scale) -> Self {
        let mut plan = Plan::default();
        for figure in figures {
            let mut cells = Vec::new();
            for &point in figure.points {
                let conditions = match figure.paper {
                    Paper::Credence => scale.experiment(figure, point),
                    Paper::Abm => abm::experiment(scale, figure, point),
                    Paper::Smartbuf => smartbuf::experiment(scale, figure, point),
                    Paper::Pred => panic!("{} is measured by pred::measure", figure.name),
                };
                let experiment = place(&mut plan.experiments, conditions);
                for &(policy, spec) in figure.policies {
                    let mut named: NamedPolicy = spec.parse().expect("a known policy");
                    if let PolicySpec::Credence(own) = &mut named.spec
                        && figure.vary == Vary::Flips
                        && point > 0.0
                    {
                        own.flip_probability = point;
                        named.label = format!("{spec},flip_probability={point:?}");
                    }
                    if figure.vary == Vary::UpdateRtts {
                        abm::update_every(&mut named, point);
                    }
                    let job = place(&mut plan.jobs, Job { experiment, policy: named });
                    cells.push(Planned { point, policy, job });
                }
            }
            plan.cells.push(cells);
        }
        plan
    }

    fn prepare(&self, oracles: &Oracles) -> Result<Vec<Prepared>, PipelineError> {
        let prepare = |(nth, experiment): (usize, &Experiment)| {
            let of_it = self.jobs.iter().filter(|job| job.experiment == nth);
            let policies = of_it.map(|job| job.policy.clone()).collect();
            Experiment { policies, ..experiment.clone() }.prepare_with(oracles.clone())
        };
        self.experiments.iter().enumerate().map(prepare).collect()
    }
}

/// Where a value is in a list; it is added if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn observe(
    prepared: &Prepared,
    policy: &NamedPolicy,
    run: u32,
    duration_ns: u64,
) -> Result<Observed, PipelineError> {
    let mut observer = Observer::new(&prepared.fabric(run)?, duration_ns);
    let outcome = prepared.run(policy, run, &mut observer)?;
    Ok(observer.finish(&outcome))
}

impl MeasuredFigure {
    /// Policies, in the order of the figure.
    pub fn policies(&self) -> Vec<&'static str> {
        self.figure.policies.iter().map(|(policy, _)| *policy).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::fabric::FIGURES;

    /// Figures 11, 12 and 13 show runs of 7, 6 and 8; load 40% with bursts of 50% is a point of figures 6, 7, 9
    /// and 10; without flips all but Credence are the same at every point of figure 10.
    #[test]
    fn what_figures_share_is_planned_once() {
        let all: Vec<_> = FIGURES.iter().collect();
        let plan = Plan::new(&all, &Scale::small());
        let cells: usize = plan.cells.iter().map(Vec::len).sum();
        let points: usize = FIGURES.iter().map(|figure| figure.points.len()).sum();
        let policies = FIGURES[0].policies.len();
        assert_eq!(cells, points * policies);
        // Loads, bursts, bursts of PowerTCP, and base RTTs; but for the shared point.
        let experiments = 4 + (5 - 1) + 5 + (5 - 1);
        assert_eq!(plan.experiments.len(), experiments);
        assert_eq!(plan.jobs.len(), experiments * policies + 5 * 2);
    }
}
