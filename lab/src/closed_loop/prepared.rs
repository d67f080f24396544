//! A checked experiment, and its runs.

use super::{Comparison, Experiment, NamedPolicy, Oracles, PolicyRuns};
use dropcast_data::DataError;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
use dropcast_simulate::{
    Fabric, Flow, FlowList, RunSummary, Simulation, SimulationOutcome, Sink, Summarizer, Transport,
    Workload,
};
use dropcast_train::Threads;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// An [`Experiment`] that can run.
#[derive(Clone, Debug)]
pub struct Prepared {
    experiment: Experiment,
    oracles: Oracles,
    /// The flow list, if there is one.
    flows: Option<Vec<Flow>>,
}

impl Experiment {
    /// Checks it, and reads the files that it names.
    ///
    /// # Errors
    /// What is wrong with it, or which file cannot be read.
    pub fn prepare(&self) -> Result<Prepared, PipelineError> {
        self.prepare_with(Oracles::default())
    }

    /// Like [`Experiment::prepare`]; models that `oracles` has are not read from files.
    ///
    /// # Errors
    /// What is wrong with it, or which file cannot be read.
    pub fn prepare_with(&self, mut oracles: Oracles) -> Result<Prepared, PipelineError> {
        for policy in &self.policies {
            oracles.read_for(&policy.spec)?;
        }
        Prepared::new(self.clone(), oracles)
    }
}

/// Runs of each policy, at most: the results of all of them are kept.
pub const MOST_RUNS: u32 = 10_000;

/// The flows of one run.
pub type Traffic = Box<dyn Workload>;

impl Prepared {
    pub(super) fn new(experiment: Experiment, oracles: Oracles) -> Result<Self, PipelineError> {
        if experiment.policies.is_empty() {
            return Err(PipelineError::setting("policies", "is empty, expected at least one"));
        }
        if !(1..=MOST_RUNS).contains(&experiment.runs) {
            let problem = format!("is {}, expected 1 to {MOST_RUNS}", experiment.runs);
            return Err(PipelineError::setting("runs", problem));
        }
        if let Some(label) = repeated(&experiment.policies) {
            let problem = format!("{label} is there twice, expected each policy once");
            return Err(PipelineError::setting("policies", problem));
        }
        experiment.check_traffic()?;
        let flows = match &experiment.flow_list {
            Some(path) => Some(read_flows(path, &experiment)?),
            None => None,
        };
        let prepared = Prepared { experiment, oracles, flows };
        // Whatever a run could find wrong is wrong in the first.
        let fabric = prepared.fabric(0)?;
        prepared.traffic(&fabric, 0)?;
        for policy in &prepared.experiment.policies {
            prepared.simulation(policy, &fabric, FlowList::new(Vec::new()))?;
        }
        Ok(prepared)
    }

    /// What it was made from.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The fabric of run `run`.
    ///
    /// # Errors
    /// If its parameters are wrong.
    pub fn fabric(&self, run: u32) -> Result<Fabric, PipelineError> {
        let mut config = self.experiment.fabric.clone();
        config.seed = config.seed.wrapping_add(run.into());
        Ok(Fabric::try_from(config)?)
    }

    fn traffic(&self, fabric: &Fabric, run: u32) -> Result<Traffic, PipelineError> {
        if let Some(flows) = &self.flows {
            return Ok(Box::new(FlowList::new(flows.clone())));
        }
        let mut traffic = self.experiment.traffic.clone();
        traffic.seed = traffic.seed.wrapping_add(run.into());
        Ok(Box::new(traffic.mix(fabric)?))
    }

    fn simulation<W: Workload>(
        &self,
        policy: &NamedPolicy,
        fabric: &Fabric,
        workload: W,
    ) -> Result<Simulation<W>, PipelineError> {
        let build = |switch_id, mut site: dropcast_switch::PolicySite<'_>| {
            site.model = self.oracles.at_switch(&policy.spec, fabric, switch_id);
            policy.spec.build(site)
        };
        Simulation::new(fabric, build, workload)
            .map_err(|error| PipelineError::setting(&policy.label, error.to_string()))
    }

    /// Runs one policy, with the seeds of run `run`; `sink` is told what happens.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn run(
        &self,
        policy: &NamedPolicy,
        run: u32,
        sink: &mut impl Sink,
    ) -> Result<SimulationOutcome, PipelineError> {
        let fabric = self.fabric(run)?;
        let traffic = self.traffic(&fabric, run)?;
        let outcome = self.simulation(policy, &fabric, traffic)?.run(sink);
        outcome.map_err(|error| match &self.experiment.flow_list {
            Some(path) => PipelineError::from(error).in_file(path.display()),
            None => error.into(),
        })
    }

    /// What one run of a policy was like.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn summarize(&self, policy: &NamedPolicy, run: u32) -> Result<RunSummary, PipelineError> {
        let mut summarizer = Summarizer::new(&self.fabric(run)?);
        let outcome = self.run(policy, run, &mut summarizer)?;
        Ok(summarizer.finish(&outcome))
    }

    /// Runs every policy as often as the experiment says. The same with any number of threads.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn compare(
        &self,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Comparison, PipelineError> {
        self.compare_runs(0..self.experiment.runs, resources, progress)
    }

    /// Like [`Prepared::compare`], but these runs.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn compare_runs(
        &self,
        runs: Range<u32>,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Comparison, PipelineError> {
        self.compare_by(runs, resources, progress, |policy, run| self.summarize(policy, run))
    }

    pub(super) fn compare_by(
        &self,
        runs: Range<u32>,
        resources: &Resources,
        progress: &dyn Progress,
        summarize: impl Fn(&NamedPolicy, u32) -> Result<RunSummary, PipelineError> + Sync,
    ) -> Result<Comparison, PipelineError> {
        progress.begin("simulate");
        let policies = &self.experiment.policies;
        let all_runs = |policy| runs.clone().map(move |run| (policy, run));
        let tasks = policies.iter().flat_map(all_runs);
        let tasks: Vec<_> = tasks.collect();
        let (all, done) = (tasks.len() as u64, AtomicU64::new(0));
        let summaries = Threads::new(resources.threads()).map(tasks, |(policy, run)| {
            check(progress)?;
            let summary = summarize(policy, run);
            progress.estimate(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            summary
        });
        let mut summaries = summaries.into_iter();
        let policies = policies.iter().map(|policy| {
            let runs = summaries.by_ref().take(runs.len()).collect::<Result<_, _>>()?;
            Ok(PolicyRuns { policy: policy.label.clone(), runs })
        });
        let policies = policies.collect::<Result<_, PipelineError>>()?;
        progress.end(&format!("{all} runs"));
        Ok(Comparison { policies })
    }
}

/// The first label that an earlier policy has, too.
fn repeated(policies: &[NamedPolicy]) -> Option<&str> {
    let is_repeated = |place: usize| {
        policies[..place].iter().any(|earlier| earlier.label == policies[place].label)
    };
    let place = (0..policies.len()).find(|&place| is_repeated(place))?;
    Some(&policies[place].label)
}

fn read_flows(path: &Path, experiment: &Experiment) -> Result<Vec<Flow>, PipelineError> {
    let file = path.display().to_string();
    let text = File::open(path).map_err(|source| DataError::Io {
        file: file.clone(),
        doing: "be read",
        source,
    })?;
    let queue = experiment.fabric.queues_per_port.saturating_sub(1).min(1);
    let flows = FlowList::from_csv(BufReader::new(text), Transport::default(), queue);
    let mut flows = flows.map_err(|error| PipelineError::unfit(&file, error.to_string()))?;
    if let Some(seed) = experiment.ns3_seed {
        let placed = flows.on_ns3_paths(&experiment.fabric, seed);
        flows = placed.map_err(|error| PipelineError::unfit(&file, error.to_string()))?;
    }
    let flows = flows.flows().to_vec();
    match flows.last().and_then(|last| experiment.fabric.too_late(last.start_ns)) {
        Some(problem) => Err(PipelineError::unfit(file, format!("start_ns of a flow {problem}"))),
        None => Ok(flows),
    }
}
