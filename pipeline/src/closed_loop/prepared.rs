//! A checked experiment, and its runs.

use super::{Comparison, Experiment, NamedPolicy, Oracles, PolicyRuns};
use crate::PipelineError;
use crate::progress::Progress;
use crate::resources::Resources;
use dropcast_data::DataError;
use dropcast_simulate::{
    Fabric, Flow, FlowList, Outcome, RunSummary, Simulation, Sink, Summarizer, Transport, Workload,
};
use dropcast_train::Threads;
use std::fs::File;
use std::io::BufReader;
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

/// The flows of one run.
pub type Traffic = Box<dyn Workload>;

impl Prepared {
    pub(super) fn new(experiment: Experiment, oracles: Oracles) -> Result<Self, PipelineError> {
        if experiment.policies.is_empty() {
            return Err(PipelineError::setting("policies", "is empty, expected at least one"));
        }
        if experiment.runs == 0 {
            return Err(PipelineError::setting("runs", "is 0, expected at least 1"));
        }
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
    ) -> Result<Outcome, PipelineError> {
        let fabric = self.fabric(run)?;
        let traffic = self.traffic(&fabric, run)?;
        Ok(self.simulation(policy, &fabric, traffic)?.run(sink)?)
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
        let Experiment { policies, runs, .. } = &self.experiment;
        let tasks = policies.iter().flat_map(|policy| (0..*runs).map(move |run| (policy, run)));
        let tasks: Vec<_> = tasks.collect();
        let (all, done) = (tasks.len() as u64, AtomicU64::new(0));
        let summaries = Threads::new(resources.threads()).map(tasks, |(policy, run)| {
            let summary = self.summarize(policy, run);
            progress.estimate(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            summary
        });
        let mut summaries = summaries.into_iter();
        let policies = policies.iter().map(|policy| {
            let runs = summaries.by_ref().take(*runs as usize).collect::<Result<_, _>>()?;
            Ok(PolicyRuns { policy: policy.label.clone(), runs })
        });
        Ok(Comparison { policies: policies.collect::<Result<_, PipelineError>>()? })
    }
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
    let flows = flows.map_err(|error| PipelineError::unfit(file, error.to_string()))?;
    Ok(flows.flows().to_vec())
}
