//! What one drop does to flows, and forests that learn from it (`lab/notes/closed-loop.md`).
//!
//! `cargo run --release -p dropcast-lab --example forks -- EXPERIMENT.toml BASE FORKS VOTE MODEL.json`
//!
//! The fabric is deterministic. So each packet that the policy BASE accepts can be judged by its two futures: the run is
//! repeated with the one difference that this packet is dropped, and the flows under way at that time complete earlier or
//! later. The effect of a drop is the sum of the changes of the logarithms of their completion times, so that a flow of
//! any size counts as much. Forks are drawn from the packets at leaves at which `level_in_quarter_rtt` is at least half
//! of the buffer, FORKS in each run of the experiment, whose policies are not used.
//!
//! Prints the mean effect by that level, with its standard error over runs. Trains a forest to drop the packets whose drop
//! helps, each as many times as its effect is large, and writes it with the vote VOTE, such as `fixed:0.6`:
//! `oracle:base=BASE,model=MODEL.json` runs it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use dropcast_data::random::SplitMix64;
use dropcast_data::{LabelledBatch, write_atomic};
use dropcast_fabric::{Fabric, FlowKind, FlowRecord, Simulation, Sink};
use dropcast_features::FeatureSet;
use dropcast_forest::SwitchContext;
use dropcast_lab::closed_loop::Experiment;
use dropcast_switch::{
    Asked, Buffer, Decision, Packet, Policy, PolicyModel, PolicySite, PolicySpec, Predictor,
};
use dropcast_train::{
    FitTask, ForestParams, Model, RunBatch, SplitBy, SplitSettings, VoteRule, fit,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What is recorded of a packet; the first decides what is forked.
const FEATURES: &str = "level_in_quarter_rtt,level_in_one_rtt,level_occupancy,queue_length,occupancy,longest_queue,rank,\
                        avg_queue_length";
/// Ends of classes of the level, shares of the buffer.
const LEVELS: [f64; 8] = [0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0];
/// Copies of a row for an effect of 1: a flow that takes e times as long.
const COPIES: f64 = 100.0;
/// Most copies of a row.
const MOST_COPIES: f64 = 400.0;
const KINDS: [FlowKind; 4] = [FlowKind::Incast, FlowKind::Short, FlowKind::Middle, FlowKind::Long];

/// A packet that the base accepts.
#[derive(Clone)]
struct Call {
    index: u64,
    time_ns: u64,
    is_leaf: bool,
    features: Vec<u32>,
}

/// What the switches of a run share.
#[derive(Default)]
struct Shared {
    /// Packets that were judged.
    calls: AtomicU64,
    now_ns: AtomicU64,
    /// The packet that is dropped.
    fork: Option<u64>,
    /// All of them, if it is the run that is forked.
    log: Option<Mutex<Vec<Call>>>,
}

/// Drops one packet.
struct Forked {
    shared: Arc<Shared>,
    features: FeatureSet,
    is_leaf: bool,
}

impl Predictor for Forked {
    fn features(&self) -> FeatureSet {
        self.features.clone()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        let index = self.shared.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(log) = &self.shared.log {
            let time_ns = self.shared.now_ns.load(Ordering::Relaxed);
            let features = asked.features.to_vec();
            let call = Call { index, time_ns, is_leaf: self.is_leaf, features };
            log.lock().expect("no thread panics").push(call);
        }
        self.shared.fork == Some(index)
    }
}

/// A policy that says when it is.
struct Timed {
    policy: Box<dyn Policy + Send>,
    shared: Arc<Shared>,
}

impl Policy for Timed {
    fn advance(&mut self, now: u64) {
        self.policy.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.policy.arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        self.shared.now_ns.store(now, Ordering::Relaxed);
        self.policy.decide(buffer, packet, now)
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.policy.settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.policy.departed(buffer, queue, size_bytes, time);
    }
}

/// The flows of a run by number.
#[derive(Default)]
struct Ended(BTreeMap<u64, FlowRecord>);

impl Sink for Ended {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.0.insert(record.id, *record);
    }
}

/// What is forked.
struct Task {
    experiment: Experiment,
    base: PolicySpec,
    features: FeatureSet,
}

impl Task {
    fn simulate(
        &self,
        run: u32,
        shared: &Arc<Shared>,
    ) -> Result<Ended, Box<dyn Error + Send + Sync>> {
        let mut config = self.experiment.fabric.clone();
        config.seed = config.seed.wrapping_add(run.into());
        let fabric = Fabric::try_from(config)?;
        let mut traffic = self.experiment.traffic.clone();
        traffic.seed = traffic.seed.wrapping_add(run.into());
        let leaf_bytes = fabric.switch_spec(0).buffer_bytes;
        let policy = |_, mut site: PolicySite<'_>| {
            let is_leaf = site.spec.buffer_bytes == leaf_bytes;
            let (features, shared) = (self.features.clone(), shared.clone());
            let forked = Forked { shared: shared.clone(), features, is_leaf };
            site.model = Some(PolicyModel::Predictor(Box::new(forked)));
            let policy = self.base.build(site)?;
            Ok(Box::new(Timed { policy, shared }) as Box<dyn Policy + Send>)
        };
        let mut ended = Ended::default();
        Simulation::new(&fabric, policy, traffic.mix(&fabric)?)?.run(&mut ended)?;
        Ok(ended)
    }
}

/// A fork and what it did.
struct Fork {
    run: u32,
    call: Call,
    /// Changes of the logarithms of completion times if the packet is dropped, by kind of flow.
    effects: [f64; 4],
}

impl Fork {
    /// The effect of a drop.
    fn effect(&self) -> f64 {
        self.effects.iter().sum()
    }
}

/// The number of a flow's kind in [`KINDS`].
fn kind(record: &FlowRecord) -> Result<usize, Failure> {
    let kind = FlowKind::of(&record.flow);
    let at = KINDS.iter().position(|one| *one == kind);
    at.ok_or_else(|| "a collective is no kind of flow here".into())
}

type Failure = Box<dyn Error + Send + Sync>;

impl Task {
    /// Draws forks of a run and measures them.
    fn forks(&self, run: u32, count: usize) -> Result<Vec<Fork>, Failure> {
        let log = Some(Mutex::default());
        let shared = Arc::new(Shared { log, ..Shared::default() });
        let before = self.simulate(run, &shared)?;
        let log = shared.log.as_ref().expect("it was kept").lock().expect("no thread panics");
        let half = self.leaf_bytes()? / 2;
        let mut judged: Vec<&Call> =
            log.iter().filter(|call| call.is_leaf && call.features[0] >= half).collect();
        let mut random = SplitMix64::new(run.into());
        let mut forks = Vec::new();
        while forks.len() < count && !judged.is_empty() {
            let at = (random.next_f64() * judged.len() as f64) as usize;
            let call = judged.swap_remove(at).clone();
            let shared = Arc::new(Shared { fork: Some(call.index), ..Shared::default() });
            let after = self.simulate(run, &shared)?;
            let mut effects = [0.0; 4];
            for (id, record) in before.0.iter().filter(|(_, of)| of.flow.start_ns <= call.time_ns) {
                let (Some(before_ns), Some(after_ns)) = (record.fct_ns, after.0[id].fct_ns) else {
                    return Err(format!("flow {id} of run {run} does not complete").into());
                };
                let change = (after_ns as f64 / before_ns as f64).ln();
                effects[kind(record)?] += change;
            }
            forks.push(Fork { run, call, effects });
        }
        Ok(forks)
    }

    fn leaf_bytes(&self) -> Result<u32, Failure> {
        Ok(Fabric::try_from(self.experiment.fabric.clone())?.switch_spec(0).buffer_bytes)
    }

    /// Forks of all runs, in their order.
    fn all(&self, count: usize) -> Result<Vec<Fork>, Failure> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let threads = std::thread::available_parallelism()?.get();
        std::thread::scope(|scope| {
            let work = || -> Result<(), Failure> {
                while let Some(run) = u32::try_from(next.fetch_add(1, Ordering::Relaxed))
                    .ok()
                    .filter(|run| *run < self.experiment.runs)
                {
                    let forks = self.forks(run, count)?;
                    eprintln!("run {run}: {} forks", forks.len());
                    done.lock().expect("no thread panics").push((run, forks));
                }
                Ok(())
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no thread panics"))
        })?;
        let mut done = done.into_inner().expect("no thread panics");
        done.sort_by_key(|(run, _)| *run);
        Ok(done.into_iter().flat_map(|(_, forks)| forks).collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [experiment, base, count, vote, to] = &arguments[..] else {
        return Err("expected EXPERIMENT.toml BASE FORKS VOTE MODEL.json".into());
    };
    let task = Task {
        experiment: Experiment::read(Path::new(experiment))?,
        base: PolicySpec::untrained_rule(base.parse()?),
        features: FEATURES.parse()?,
    };
    let failed = |error: Failure| -> Box<dyn Error> { error };
    let buffer_bytes = task.leaf_bytes().map_err(failed)?;
    let forks = task.all(count.parse()?).map_err(failed)?;
    println!("{}", table(&forks, buffer_bytes));
    let model = learned(&forks, &task.features, buffer_bytes, vote.parse()?)?;
    write_atomic(Path::new(to), model.to_json().as_bytes())?;
    Ok(())
}

/// The mean of one number per fork, and its standard error if forks of a run depend on each other.
fn mean(forks: &[&Fork], number: impl Fn(&Fork) -> f64) -> (f64, f64) {
    let count = forks.len() as f64;
    let mean = forks.iter().map(|fork| number(fork)).sum::<f64>() / count;
    let mut by_run: BTreeMap<u32, f64> = BTreeMap::new();
    for fork in forks {
        *by_run.entry(fork.run).or_default() += number(fork) - mean;
    }
    let squares: f64 = by_run.values().map(|sum| sum * sum).sum();
    (mean, squares.sqrt() / count)
}

/// Effects by level, thousandths.
fn table(forks: &[Fork], buffer_bytes: u32) -> String {
    let mut text =
        "level, of the buffer | forks | all | incast | short | middle | long\n".to_owned();
    for (at, from) in LEVELS.iter().enumerate() {
        let to = LEVELS.get(at + 1).copied().unwrap_or(f64::INFINITY);
        let level = |fork: &&Fork| f64::from(fork.call.features[0]) / f64::from(buffer_bytes);
        let of_class: Vec<&Fork> =
            forks.iter().filter(|fork| (*from..to).contains(&level(fork))).collect();
        if of_class.is_empty() {
            continue;
        }
        let cell = |number: &dyn Fn(&Fork) -> f64| {
            let (mean, error) = mean(&of_class, number);
            format!("{:.1} ({:.1})", mean * 1e3, error * 1e3)
        };
        let mut cells = vec![cell(&Fork::effect)];
        cells.extend((0..KINDS.len()).map(|kind| cell(&move |fork: &Fork| fork.effects[kind])));
        writeln!(text, "{from} to {to} | {} | {}", of_class.len(), cells.join(" | "))
            .expect("a string takes text");
    }
    text
}

/// A forest of the drops that help.
fn learned(
    forks: &[Fork],
    features: &FeatureSet,
    buffer_bytes: u32,
    vote: VoteRule,
) -> Result<Model, Box<dyn Error>> {
    let mut batch = LabelledBatch::with_arrivals(features.len());
    (batch.outcome, batch.arrivals) = (None, None);
    for fork in forks {
        let effect = fork.effect();
        let copies = (effect.abs() * COPIES).min(MOST_COPIES).round() as usize;
        for _ in 0..copies {
            for (column, value) in batch.features.iter_mut().zip(&fork.call.features) {
                column.push(*value);
            }
            batch.drop.push(effect < 0.0);
        }
    }
    let split = SplitSettings { by: SplitBy::None, ..SplitSettings::default() };
    let rows = [RunBatch { run: 1, batch }];
    let task = FitTask {
        features: features.clone(),
        params: ForestParams { n_estimators: 8, min_samples_leaf: 50, ..ForestParams::default() }
            .check()?,
        split: split.check()?.choose(&rows[..], features.len())?.split,
        vote,
        switch: SwitchContext { buffer_bytes: Some(buffer_bytes), ..SwitchContext::default() },
        data: Vec::new(),
        threads: 1.try_into()?,
    };
    Ok(fit(&rows[..], &task)?.model)
}
