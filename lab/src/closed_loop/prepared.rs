//! A checked experiment, and its runs.

use super::flow_times::{TimesOfRun, TimesSink};
use super::job::Job;
use super::kept_runs::encoded;
use super::{Experiment, JobPart, KeptRuns, NamedPolicy, Oracles, PairedRuns, PolicyRuns};
use dropcast_data::DataError;
use dropcast_data::Threads;
use dropcast_fabric::{
    Decisions, Episode, EpisodeError, Fabric, FabricObserver, Flow, FlowList, RunSummary,
    Simulation, SimulationOutcome, Summarizer, Workload,
};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An [`Experiment`] that can run.
#[derive(Clone, Debug)]
pub struct Prepared {
    experiment: Experiment,
    oracles: Oracles,
    /// The flow list, if there is one.
    flows: Option<Vec<Flow>>,
    /// What of it was not read.
    note: Option<String>,
    kept: Option<Arc<KeptRuns>>,
    /// Whether kept runs have flow times, too.
    with_times: bool,
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
pub type Traffic = Box<dyn Workload + Send>;

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
        let (flows, note) = match &experiment.flow_list {
            Some(path) => read_flows(path, &experiment)?,
            None => (None, None),
        };
        let prepared = Prepared { experiment, oracles, flows, note, kept: None, with_times: false };
        // Whatever a run could find wrong is wrong in the first.
        let fabric = prepared.fabric(0)?;
        prepared.traffic(&fabric, 0)?;
        for policy in &prepared.experiment.policies {
            prepared.simulation(policy, &fabric, FlowList::new(Vec::new()))?;
        }
        Ok(prepared)
    }

    /// Runs that `kept` has are not repeated, and others are added to it.
    pub fn keeping(mut self, kept: Arc<KeptRuns>) -> Self {
        self.kept = Some(kept);
        self
    }

    /// Like [`Prepared::keeping`]; what is kept of a run suffices for [`Prepared::write`].
    pub fn keeping_flow_times(self, kept: Arc<KeptRuns>) -> Self {
        Prepared { with_times: true, ..self.keeping(kept) }
    }

    /// Whether runs are kept, so that what has run before need not run again.
    pub(super) fn is_keeping(&self) -> bool {
        self.kept.is_some()
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
        Fabric::try_from(config).map_err(PipelineError::stated)
    }

    fn traffic(&self, fabric: &Fabric, run: u32) -> Result<Traffic, PipelineError> {
        if let Some(flows) = &self.flows {
            return Ok(Box::new(FlowList::new(flows.clone())));
        }
        let mut traffic = self.experiment.traffic.clone();
        traffic.seed = traffic.seed.wrapping_add(run.into());
        Ok(Box::new(traffic.mix(fabric).map_err(PipelineError::stated)?))
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

    /// Runs one policy, with the seeds of run `run`; `sink` gets what happens.
    ///
    /// # Errors
    /// If a flow does not fit the fabric.
    pub fn run(
        &self,
        policy: &NamedPolicy,
        run: u32,
        sink: &mut impl FabricObserver,
    ) -> Result<SimulationOutcome, PipelineError> {
        let fabric = self.fabric(run)?;
        let traffic = self.traffic(&fabric, run)?;
        let outcome = self.simulation(policy, &fabric, traffic)?.run(sink);
        outcome.map_err(|error| match &self.experiment.flow_list {
            Some(path) => PipelineError::stated(error).in_file(path.display()),
            None => PipelineError::stated(error),
        })
    }

    /// Run `run` as an episode: one switch is decided about from outside, the others have the experiment's first policy.
    ///
    /// # Errors
    /// A field of `decisions` is out of its range.
    pub fn episode(
        &self,
        decisions: Decisions,
        run: u32,
    ) -> Result<Episode<Traffic>, PipelineError> {
        let fabric = self.fabric(run)?;
        let traffic = self.traffic(&fabric, run)?;
        let policy = &self.experiment.policies[0];
        let others = |switch_id, mut site: dropcast_switch::PolicySite<'_>| {
            site.model = self.oracles.at_switch(&policy.spec, &fabric, switch_id);
            policy.spec.build(site)
        };
        Episode::new(&fabric, decisions, others, traffic).map_err(|error| match error {
            EpisodeError::Decisions { field, problem } => PipelineError::setting(field, problem),
            other => PipelineError::setting(&policy.label, other.to_string()),
        })
    }

    /// What one run of a policy was like.
    ///
    /// # Errors
    /// If a flow does not fit the fabric, or a run cannot be kept.
    pub fn summarize(&self, policy: &NamedPolicy, run: u32) -> Result<RunSummary, PipelineError> {
        let Some(kept) = &self.kept else { return self.summarize_anew(policy, run) };
        if self.with_times {
            return Ok(self.summarize_with_times(policy, run)?.0);
        }
        let key = kept.key(&self.determines(policy, run)?);
        if let Some(summary) = kept.get(&key) {
            return Ok(summary);
        }
        let summary = self.summarize_anew(policy, run)?;
        kept.add(key, &summary, None)?;
        Ok(summary)
    }

    /// Like [`Prepared::summarize`], with how long flows took.
    pub(super) fn summarize_with_times(
        &self,
        policy: &NamedPolicy,
        run: u32,
    ) -> Result<(RunSummary, TimesOfRun), PipelineError> {
        let known = match &self.kept {
            None => None,
            Some(kept) => Some((kept, kept.key(&self.determines(policy, run)?))),
        };
        if let Some(whole) = known.as_ref().and_then(|(kept, key)| kept.get_with_times(key)) {
            return Ok(whole);
        }
        let mut summarizer = self.summarizer(run)?;
        let mut times = TimesSink::new(self.experiment.size_buckets()?);
        let outcome = self.run(policy, run, &mut (&mut summarizer, &mut times))?;
        let (summary, times) = (summarizer.finish(&outcome), times.finish());
        if let Some((kept, key)) = known {
            kept.add(key, &summary, Some(&times))?;
        }
        Ok((summary, times))
    }

    /// Asks the fleet, if there is one, for those of these runs of every policy that are not known.
    pub(super) fn ask_fleet(
        &self,
        runs: Range<u32>,
        progress: &dyn Progress,
    ) -> Result<(), PipelineError> {
        let Some((kept, fleet)) = self.kept.as_ref().and_then(|kept| Some((kept, kept.fleet()?)))
        else {
            return Ok(());
        };
        let mut missing = Vec::new();
        for (place, policy) in self.experiment.policies.iter().enumerate() {
            for run in runs.clone() {
                let key = kept.key(&self.determines(policy, run)?);
                let is_known = match self.with_times {
                    true => kept.get_with_times(&key).is_some(),
                    false => kept.get(&key).is_some(),
                };
                if !is_known {
                    missing.push((place, run));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let count = missing.len();
        let job = Job::new(&self.experiment, &self.oracles, missing, self.with_times)?;
        fleet.simulate(&job.text()?, count, &mut |lines| {
            check(progress)?;
            kept.add_lines(lines)
        })
    }

    /// All that determines a run.
    fn determines(&self, policy: &NamedPolicy, run: u32) -> Result<[String; 5], PipelineError> {
        let Experiment { mut fabric, mut traffic, ns3_seed, size_buckets_bytes, .. } =
            self.experiment.clone();
        fabric.seed = fabric.seed.wrapping_add(run.into());
        traffic.seed = traffic.seed.wrapping_add(run.into());
        Ok([
            encoded(&fabric)?,
            encoded(&traffic)?,
            encoded(&(&self.flows, ns3_seed, size_buckets_bytes))?,
            encoded(&policy.spec)?,
            self.oracles.described(&policy.spec)?,
        ])
    }

    /// What sums up run `run`.
    pub(super) fn summarizer(&self, run: u32) -> Result<Summarizer, PipelineError> {
        Ok(Summarizer::with_buckets(&self.fabric(run)?, &self.experiment.size_buckets()?))
    }

    fn summarize_anew(&self, policy: &NamedPolicy, run: u32) -> Result<RunSummary, PipelineError> {
        let mut summarizer = self.summarizer(run)?;
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
    ) -> Result<PairedRuns, PipelineError> {
        self.note_sizes(progress);
        self.compare_runs(0..self.experiment.runs, resources, progress)
    }

    /// Notes which sizes of the fabric were left as they are at other rates, and what of a list of flows was not read.
    pub(crate) fn note_sizes(&self, progress: &dyn Progress) {
        self.note.iter().for_each(|note| progress.note(note));
        self.experiment.fabric.sizes_of_other_rates().iter().for_each(|note| progress.note(note));
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
    ) -> Result<PairedRuns, PipelineError> {
        self.ask_fleet(runs.clone(), progress)?;
        self.compare_by(runs, resources, progress, |policy, run| self.summarize(policy, run))
    }

    pub(super) fn compare_by(
        &self,
        runs: Range<u32>,
        resources: &Resources,
        progress: &dyn Progress,
        summarize: impl Fn(&NamedPolicy, u32) -> Result<RunSummary, PipelineError> + Sync,
    ) -> Result<PairedRuns, PipelineError> {
        let policies = &self.experiment.policies;
        let all_runs = |policy| runs.clone().map(move |run| (policy, run));
        let tasks = policies.iter().flat_map(all_runs).collect();
        let summaries = run_all("simulate", tasks, resources, progress, |(policy, run)| {
            summarize(policy, run)
        })?;
        let mut summaries = summaries.into_iter();
        let policies = policies.iter().map(|policy| PolicyRuns {
            policy: policy.label.clone(),
            runs: summaries.by_ref().take(runs.len()).collect(),
        });
        Ok(PairedRuns { policies: policies.collect() })
    }

    /// Simulates a part of the runs of [`Prepared::compare`] into the [`KeptRuns`], and returns how many they are.
    ///
    /// # Errors
    /// If a flow does not fit the fabric, or a run cannot be kept.
    pub fn simulate_part(
        &self,
        part: JobPart,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<usize, PipelineError> {
        self.note_sizes(progress);
        let all_runs = |policy| (0..self.experiment.runs).map(move |run| (policy, run));
        let tasks = part.of(self.experiment.policies.iter().flat_map(all_runs).collect());
        let runs = run_all("simulate", tasks, resources, progress, |(policy, run)| {
            self.summarize(policy, run)
        })?;
        Ok(runs.len())
    }
}

/// Simulates a part of the runs of a [`Fleet`](super::Fleet)'s job into `kept`, and returns how many they are.
///
/// # Errors
/// If the job is of another version, or a run cannot be kept.
pub fn simulate_share(
    job: &str,
    part: JobPart,
    kept: Arc<KeptRuns>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<usize, PipelineError> {
    let job = Job::read(job)?;
    let prepared = job.experiment.prepare_with(job.oracles()?)?;
    let prepared = Prepared { with_times: job.with_times, ..prepared.keeping(kept) };
    let policies = &job.experiment.policies;
    let runs = run_all("simulate", part.of(job.runs), resources, progress, |(place, run)| {
        let none = || PipelineError::unfit("job", format!("has no policy {place}"));
        prepared.summarize(policies.get(place).ok_or_else(none)?, run)
    })?;
    Ok(runs.len())
}

/// What runs came to, in order, or the first error; `simulate` is called on several threads. The stage is not ended.
pub(crate) fn in_parallel<T: Send, R: Send>(
    stage: &'static str,
    tasks: Vec<T>,
    resources: &Resources,
    progress: &dyn Progress,
    simulate: impl Fn(T) -> Result<R, PipelineError> + Sync,
) -> Result<Vec<R>, PipelineError> {
    progress.begin(stage);
    let (all, done) = (tasks.len() as u64, AtomicU64::new(0));
    let results = Threads::new(resources.threads()).map(tasks, |task| {
        check(progress)?;
        let result = simulate(task);
        progress.estimate(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        result
    });
    results.into_iter().collect()
}

/// [`in_parallel`] as a stage of its own, which ends with the number of runs.
pub(crate) fn run_all<T: Send, R: Send>(
    stage: &'static str,
    tasks: Vec<T>,
    resources: &Resources,
    progress: &dyn Progress,
    simulate: impl Fn(T) -> Result<R, PipelineError> + Sync,
) -> Result<Vec<R>, PipelineError> {
    let results = in_parallel(stage, tasks, resources, progress, simulate)?;
    progress.end(&format!("{} runs", results.len()));
    Ok(results)
}

/// The first label that an earlier policy has, too.
fn repeated(policies: &[NamedPolicy]) -> Option<&str> {
    let is_repeated = |place: usize| {
        policies[..place].iter().any(|earlier| earlier.label == policies[place].label)
    };
    let place = (0..policies.len()).find(|&place| is_repeated(place))?;
    Some(&policies[place].label)
}

/// The flows of a list, and a note about what of it was not read.
type ListedFlows = (Option<Vec<Flow>>, Option<String>);

fn read_flows(path: &Path, experiment: &Experiment) -> Result<ListedFlows, PipelineError> {
    let file = path.display().to_string();
    let text = File::open(path).map_err(|source| DataError::Io {
        file: file.clone(),
        doing: "be read",
        source,
    })?;
    let fabric = Fabric::try_from(experiment.fabric.clone()).map_err(PipelineError::stated)?;
    let queue = experiment.fabric.queues_per_port.saturating_sub(1).min(1);
    let transport = experiment.flow_list_transport.unwrap_or_default();
    let check = |flow: &Flow| match experiment.fabric.too_late(flow.start_ns) {
        Some(problem) => Err(format!("its start {problem}")),
        None => fabric.check_flow(flow),
    };
    let flows = FlowList::read(BufReader::new(text), transport, queue, check);
    let mut flows = flows.map_err(|error| PipelineError::unfit(&file, error.to_string()))?;
    if flows.flows().is_empty() {
        return Err(PipelineError::unfit(&file, "has no flows"));
    }
    let note = flows.note().map(|note| format!("{file}: {note}"));
    if let Some(seed) = experiment.ns3_seed {
        let placed = flows.on_ns3_paths(&experiment.fabric, seed);
        flows = placed.map_err(|error| PipelineError::unfit(&file, error.to_string()))?;
    }
    Ok((Some(flows.flows().to_vec()), note))
}
