//! What a search in the loop finds (`lab/notes/where-an-oracle-pays.md`).
//!
//! `cargo run --release -p dropcast-lab --example search -- [rule] [filter] [spare-tails] [POLICY] [seed=1] [generations=6] [population=8]`
//!
//! CMA-ES searches the numbers of the untrained rule, of a filter and of `spare-tails`. A candidate runs in the fabric under 16
//! conditions: 20 ms of websearch and of bursts of 75 and 150% of the buffer (a quarter of the Credence artifact's), loads
//! of 40 and 80%, DCTCP and Cubic, senders as ns-3's and Linux's. In each, three measures are compared with the best alpha
//! of that condition and measure; a measure that is worse counts twice. A candidate that is behind the median of the
//! earlier ones after half of the conditions is not run in the others.
//!
//! Seeds are apart: alphas are chosen and candidates compared on 2001 to 2003, the best five candidates are compared on 3001
//! to 3004, and what wins is tested on three sets from 501, 601 and 701, under the 16 conditions and under 8 that no
//! candidate has met. A policy in place of a name, such as `spare-tails:least_held=0.5`, is tested without a search. Prints
//! tables in Markdown, and what is going on to the standard error. `threads=1` takes one core.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use cmaes::{CMAESOptions, DVector};
use dropcast_data::Threads;
use dropcast_fabric::{
    FabricConfig, Incast, Interval, PoissonFlows, Recovery, TrafficConfig, Transport,
};
use dropcast_lab::closed_loop::{Experiment, NamedPolicy, Oracles, Prepared};
use dropcast_lab::fabric_oracle::{train_oracles, training_experiment};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TrainSettings;
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;

/// Fewer are better, and a ratio of logarithms adds this to both: half a percent of late flows is as good as none.
const MEASURES: [(&str, f64); 3] =
    [("incast_over_10_ms", 0.005), ("short_slowdown_mean", 0.0), ("long_slowdown_mean", 0.0)];
/// How much more a worse measure counts than one that is as much better.
const HARM: f64 = 2.0;
const ALPHAS: [&str; 7] = [
    "dt:alpha=1",
    "dt:alpha=2",
    "dt:alpha=4",
    "dt:alpha=8",
    "dt:alpha=16",
    "dt:alpha=32",
    "complete-sharing",
];
/// Seeds of fabric and traffic: run N of an experiment whose seeds are 0 has seed N.
const TRAINING: Range<u32> = 2001..2004;
const CHOOSING: Range<u32> = 3001..3005;
const TESTING: [Range<u32>; 3] = [501..506, 601..606, 701..706];
/// So many of the best candidates are compared on the choosing seeds.
const CHOSEN_AMONG: usize = 5;
const DURATION_NS: u64 = 20_000_000;
const BUFFER_BYTES: u32 = 260_000;
/// Groups of conditions that differences are told of.
const SENDERS: [(&str, Option<Recovery>); 3] = [
    ("", None),
    (", ns-3's senders", Some(Recovery::Ns3)),
    (", Linux's senders", Some(Recovery::RackTlp)),
];
/// Where the median of candidates means something.
const LEAST_CANDIDATES: usize = 5;

type Failure = Box<dyn Error>;
/// A policy, the place of a condition, a seed.
type Key = (String, usize, u32);
/// Of a run: the measures, in their order; none if undefined.
type Measured = [Option<f64>; 3];

/// A policy whose numbers are searched: 0 is its default in each of `dimensions`, 1 a usual step.
struct Family {
    name: &'static str,
    default: &'static str,
    dimensions: usize,
    policy: fn(&[f64]) -> String,
}

const FAMILIES: [Family; 3] = [
    Family { name: "rule", default: "oracle:base=dt:alpha=16", dimensions: 3, policy: rule },
    Family {
        name: "filter",
        default: "oracle:base=dt:alpha=16,model=level4",
        dimensions: 3,
        policy: filter,
    },
    Family { name: "spare-tails", default: "spare-tails", dimensions: 5, policy: spare_tails },
];

/// `default` times a power of `base`, in steps of `step`.
fn scaled(default: f64, base: f64, at: f64, step: f64, limits: (f64, f64)) -> f64 {
    ((default * base.powf(at)).clamp(limits.0, limits.1) / step).round() * step
}

/// Votes that are tried, as parts of all that a forest has.
const VOTES: u32 = 40;

/// Steps: a factor of 2 in alpha, 0.2 in the vote (0.6 at 0; the forest's own is beside it), 0.25 in the gate (none up to 0).
fn filter(at: &[f64]) -> String {
    let alpha = scaled(16.0, 2.0, at[0], 0.125, (0.125, 128.0));
    let vote = (f64::from(VOTES) * (0.6 + 0.2 * at[1])).clamp(0.0, f64::from(VOTES - 1)).round();
    format!("oracle:base=dt:alpha={alpha},model=level4-{vote}{}", gate(at[2]))
}

/// The oracles of filters: `level4` as it is trained, and with each vote.
fn oracles(resources: &Resources) -> Result<Oracles, Failure> {
    let settings = TrainSettings::default();
    let models = train_oracles(&training_experiment(), [&settings], resources, &Silent)?;
    let mut oracles = Oracles::default();
    for model in models {
        let most = 255 * u32::try_from(model.forest.trees.len())?;
        eprintln!("level4 has the vote {} of {most}", model.forest.vote_threshold);
        for vote in 0..VOTES {
            let mut other = model.clone();
            other.forest.vote_threshold = most * vote / VOTES;
            oracles.insert(format!("level4-{vote}"), other);
        }
        oracles.insert("level4", model);
    }
    Ok(oracles)
}

/// Steps of 0.25; none up to 0.
fn gate(at: f64) -> String {
    let gate = (25.0 * at).clamp(0.0, 95.0).round() / 100.0;
    if gate > 0.0 { format!(",gate={gate}") } else { String::new() }
}

/// Steps: a factor of 2 in alpha, of 2 in the horizon (a leaf's B / sum(C) at 0), 0.25 in the gate (none up to 0).
fn rule(at: &[f64]) -> String {
    let alpha = scaled(16.0, 2.0, at[0], 0.125, (0.125, 128.0));
    let horizon_ns = scaled(10_400.0, 2.0, at[1], 100.0, (100.0, 1e7));
    format!("oracle:base=dt:alpha={alpha},horizon_ns={horizon_ns}{}", gate(at[2]))
}

/// Steps: a factor of 2 in alpha, in the flows of a burst and in the window (a leaf's 4 B / sum(C) at 0), 0.2 in the held
/// share, a factor of 4 in the silence.
fn spare_tails(at: &[f64]) -> String {
    let alpha = scaled(8.0, 2.0, at[0], 0.125, (0.125, 128.0));
    let flows = scaled(4.0, 2.0, at[1], 1.0, (1.0, 8.0));
    let window_ns = scaled(41_600.0, 2.0, at[2], 100.0, (100.0, 1e7));
    let held = (25.0 + 20.0 * at[3]).clamp(0.0, 100.0).round() / 100.0;
    let silence_ns = scaled(1e8, 4.0, at[4], 1e5, (1e5, 4e9));
    format!(
        "spare-tails:base=dt:alpha={alpha},burst_flows={flows},window_ns={window_ns},least_held={held},\
         silence_ns={silence_ns}"
    )
}

/// A condition.
struct Scenario {
    name: String,
    recovery: Recovery,
    prepared: Prepared,
    /// The best of [`ALPHAS`] by measure, on the training seeds.
    rivals: [&'static str; 3],
}

/// Everything that runs.
struct Lab {
    threads: Threads,
    scenarios: Vec<Scenario>,
    /// So many of them are those of the search; the first half of these has each two values of each axis equally often.
    searched: usize,
    known: BTreeMap<Key, Measured>,
}

fn scenario(
    load: f64,
    burst: f64,
    transport: Transport,
    recovery: Recovery,
    oracles: &Oracles,
) -> Result<Scenario, Failure> {
    let mut experiment = Experiment {
        policies: vec![ALPHAS[0].parse()?],
        fabric: FabricConfig {
            leaf_buffer_bytes: BUFFER_BYTES,
            spine_buffer_bytes: BUFFER_BYTES,
            recovery,
            ..FabricConfig::default()
        },
        traffic: TrafficConfig {
            duration_ns: DURATION_NS,
            flows: vec![PoissonFlows { load, transport, ..PoissonFlows::default() }],
            incasts: vec![Incast { burst, per_server_hz: 60.0, transport, ..Incast::default() }],
            ..TrafficConfig::default()
        },
        ..Experiment::default()
    };
    experiment.set_seed(0);
    let name = format!("{load} {burst} {} {recovery:?}", transport.name());
    Ok(Scenario {
        name,
        recovery,
        prepared: experiment.prepare_with(oracles.clone())?,
        rivals: [ALPHAS[0]; 3],
    })
}

impl Lab {
    fn new(threads: Threads, oracles: &Oracles) -> Result<Self, Failure> {
        let transports = [Transport::Dctcp, Transport::Cubic];
        let senders = [Recovery::Ns3, Recovery::RackTlp];
        let mut halves = [Vec::new(), Vec::new()];
        let mut aside = Vec::new();
        for number in 0..16_usize {
            let bit = |at: u32| number >> at & 1;
            let (transport, recovery) = (transports[bit(0)], senders[bit(1)]);
            let half = &mut halves[number.count_ones() as usize % 2];
            half.push(scenario(
                [0.4, 0.8][bit(3)],
                [0.75, 1.5][bit(2)],
                transport,
                recovery,
                oracles,
            )?);
            if bit(3) == 0 {
                aside.push(scenario(0.6, [1.0, 3.0][bit(2)], transport, recovery, oracles)?);
            }
        }
        let scenarios: Vec<Scenario> = halves.into_iter().flatten().chain(aside).collect();
        let mut lab = Lab { threads, scenarios, searched: 16, known: BTreeMap::new() };
        for place in 0..lab.scenarios.len() {
            for alpha in ALPHAS {
                lab.run(&[alpha], place..place + 1, TRAINING)?;
            }
            let best = |measure: usize| {
                let value = |alpha: &&str| lab.mean(alpha, place, TRAINING, measure);
                let worst = f64::INFINITY;
                let least = |one: &&'static str, other: &&'static str| {
                    value(one).unwrap_or(worst).total_cmp(&value(other).unwrap_or(worst))
                };
                ALPHAS.into_iter().min_by(least).unwrap_or(ALPHAS[0])
            };
            let rivals = [best(0), best(1), best(2)];
            eprintln!("{}: {rivals:?}", lab.scenarios[place].name);
            lab.scenarios[place].rivals = rivals;
        }
        Ok(lab)
    }

    /// Runs what is not known.
    fn run(
        &mut self,
        policies: &[&str],
        places: Range<usize>,
        seeds: Range<u32>,
    ) -> Result<(), Failure> {
        let mut missing = BTreeMap::new();
        for policy in policies {
            let named: NamedPolicy = policy.parse()?;
            for (place, seed) in
                places.clone().flat_map(|place| seeds.clone().map(move |seed| (place, seed)))
            {
                missing.insert(((*policy).to_owned(), place, seed), named.clone());
            }
        }
        missing.retain(|key, _| !self.known.contains_key(key));
        let scenarios = &self.scenarios;
        let measured =
            self.threads.map(missing.into_iter().collect(), |(key, policy): (Key, NamedPolicy)| {
                let summary = scenarios[key.1].prepared.summarize(&policy, key.2)?;
                let metrics: BTreeMap<String, Option<f64>> =
                    summary.metrics().into_iter().collect();
                Ok((key, MEASURES.map(|(name, _)| metrics.get(name).copied().flatten())))
            });
        for one in measured {
            let (key, values) = one.map_err(|error: dropcast_pipeline::PipelineError| error)?;
            self.known.insert(key, values);
        }
        Ok(())
    }

    fn value(&self, policy: &str, place: usize, seed: u32, measure: usize) -> Option<f64> {
        self.known.get(&(policy.to_owned(), place, seed))?[measure]
    }

    fn mean(&self, policy: &str, place: usize, seeds: Range<u32>, measure: usize) -> Option<f64> {
        let values: Vec<f64> =
            seeds.filter_map(|seed| self.value(policy, place, seed, measure)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The logarithm of the ratio of a measure to that of the best alpha, by their means over seeds.
    fn ratio(&self, policy: &str, place: usize, seeds: Range<u32>, measure: usize) -> Option<f64> {
        let rival = self.scenarios[place].rivals[measure];
        let own = self.mean(policy, place, seeds.clone(), measure)?;
        Some(log_ratio(measure, own, self.mean(rival, place, seeds, measure)?))
    }

    /// What the search makes small: the sum over measures, mean over conditions, of [`Lab::ratio`], harm weighed.
    fn objective(&self, policy: &str, places: Range<usize>, seeds: Range<u32>) -> f64 {
        let count = places.len() as f64;
        let ratios = places.flat_map(|place| (0..MEASURES.len()).map(move |own| (place, own)));
        let ratios =
            ratios.filter_map(|(place, own)| self.ratio(policy, place, seeds.clone(), own));
        ratios.map(|ratio| if ratio > 0.0 { HARM * ratio } else { ratio }).sum::<f64>() / count
    }

    /// [`Lab::objective`] above that of a default.
    fn regret(&self, policy: &str, default: &str, places: Range<usize>, seeds: Range<u32>) -> f64 {
        let of = |policy| self.objective(policy, places.clone(), seeds.clone());
        of(policy) - of(default)
    }
}

fn log_ratio(measure: usize, of: f64, than: f64) -> f64 {
    let floor = MEASURES[measure].1;
    ((of + floor) / (than + floor)).ln()
}

/// How large a search is.
#[derive(Clone, Copy)]
struct Size {
    generations: usize,
    population: usize,
    seed: u64,
}

/// The candidates of a search that ran under all conditions, best first.
fn search(lab: &mut Lab, family: &Family, size: Size) -> Result<Vec<String>, Failure> {
    let (half, all) = (lab.searched / 2, lab.searched);
    lab.run(&[family.default], 0..all, TRAINING)?;
    let mut tried: BTreeMap<String, f64> = BTreeMap::new();
    let mut whole: Vec<(f64, String)> = Vec::new();
    let mut halves: Vec<f64> = Vec::new();
    let mut failed = None;
    let mut judge = |at: &DVector<f64>| -> Result<f64, Failure> {
        let policy = (family.policy)(at.as_slice());
        if let Some(regret) = tried.get(&policy) {
            return Ok(*regret);
        }
        lab.run(&[&policy], 0..half, TRAINING)?;
        let mut regret = lab.regret(&policy, family.default, 0..half, TRAINING);
        let is_behind = halves.len() >= LEAST_CANDIDATES && regret > median(&halves);
        halves.push(regret);
        if !is_behind {
            lab.run(&[&policy], half..all, TRAINING)?;
            regret = lab.regret(&policy, family.default, 0..all, TRAINING);
            whole.push((regret, policy.clone()));
        }
        let told = if is_behind { "stopped at half" } else { "whole" };
        eprintln!("{regret:+.3} {told}: {policy}");
        tried.insert(policy, regret);
        Ok(regret)
    };
    let mut state = CMAESOptions::new(vec![0.0; family.dimensions], 1.0)
        .population_size(size.population)
        .seed(size.seed)
        .build(|at: &DVector<f64>| {
            judge(at).unwrap_or_else(|error| {
                failed = Some(error);
                f64::INFINITY
            })
        })
        .map_err(|error| format!("the search cannot begin: {error:?}"))?;
    for generation in 1..=size.generations {
        eprintln!("{}, generation {generation}, step {:.2}", family.name, state.sigma());
        if state.next().is_some() {
            break;
        }
    }
    drop(state);
    if let Some(error) = failed {
        return Err(error);
    }
    let (count, stopped) = (tried.len(), tried.len() - whole.len());
    println!(
        "{}: {count} candidates, {stopped} of them stopped at half of the conditions.",
        family.name
    );
    whole.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    Ok(whole.into_iter().map(|(_, policy)| policy).collect())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The best of a search's candidates on the choosing seeds.
fn choose(lab: &mut Lab, family: &Family, candidates: &[String]) -> Result<String, Failure> {
    let all = 0..lab.searched;
    let candidates = &candidates[..candidates.len().min(CHOSEN_AMONG)];
    let rivals = rivals(lab, all.clone());
    let others = rivals.into_iter().chain([family.default]);
    let policies: Vec<&str> = candidates.iter().map(String::as_str).chain(others).collect();
    lab.run(&policies, all.clone(), CHOOSING)?;
    println!("\n| candidate | above the default: training seeds | choosing seeds |\n|---|---|---|");
    let regret = |policy: &str, seeds| lab.regret(policy, family.default, all.clone(), seeds);
    for policy in candidates {
        let [training, choosing] = [TRAINING, CHOOSING].map(|seeds| regret(policy, seeds));
        println!("| `{policy}` | {training:+.3} | {choosing:+.3} |");
    }
    let of = |policy: &&String| regret(policy, CHOOSING);
    let best = candidates.iter().min_by(|one, other| of(one).total_cmp(&of(other)));
    best.cloned().ok_or_else(|| "no candidate ran under all conditions".into())
}

/// The best alphas of these conditions.
fn rivals(lab: &Lab, places: Range<usize>) -> Vec<&'static str> {
    let mut rivals: Vec<&str> =
        lab.scenarios[places].iter().flat_map(|scenario| scenario.rivals).collect();
    rivals.sort_unstable();
    rivals.dedup();
    rivals
}

/// The alpha that is best under all conditions of the search together.
fn alpha_everywhere(lab: &Lab) -> &'static str {
    let of = |alpha: &&str| lab.objective(alpha, 0..lab.searched, TRAINING);
    let best = ALPHAS.into_iter().min_by(|one, other| of(one).total_cmp(&of(other)));
    best.unwrap_or(ALPHAS[0])
}

/// Prints what each policy comes to on kept-aside seeds.
fn test(lab: &mut Lab, places: Range<usize>, pairs: &[(&str, String)]) -> Result<(), Failure> {
    let everywhere = alpha_everywhere(lab);
    for seeds in TESTING {
        for place in places.clone() {
            let rivals = rivals(lab, place..place + 1);
            let own = pairs.iter().flat_map(|(default, found)| [*default, found.as_str()]);
            let policies: Vec<&str> = rivals.into_iter().chain([everywhere]).chain(own).collect();
            lab.run(&policies, place..place + 1, seeds.clone())?;
        }
        eprintln!("tested from seed {}", seeds.start);
    }
    println!(
        "\n| policy | late incasts | short flows | long flows | objective |\n|---|---|---|---|---|"
    );
    print_row(lab, places.clone(), everywhere);
    for (default, found) in pairs {
        print_row(lab, places.clone(), default);
        print_row(lab, places.clone(), found);
        for (told, senders) in SENDERS {
            let is_meant = |place: &usize| {
                senders.is_none_or(|senders| lab.scenarios[*place].recovery == senders)
            };
            let places: Vec<usize> = places.clone().filter(is_meant).collect();
            let cells: Vec<String> = (0..MEASURES.len())
                .map(|own| {
                    let of_set = |seeds| difference(lab, &places, [found, default], seeds, own);
                    TESTING.map(of_set).join(", ")
                })
                .collect();
            println!("| found over default{told} | {} | |", cells.join(" | "));
        }
    }
    Ok(())
}

/// Ratios to the best alpha of each condition and measure: geometric means over conditions, by set of seeds.
fn print_row(lab: &Lab, places: Range<usize>, policy: &str) {
    let mut cells: Vec<String> = (0..MEASURES.len())
        .map(|own| {
            let of_set = |seeds: Range<u32>| {
                let of = |place| lab.ratio(policy, place, seeds.clone(), own);
                let ratios: Vec<f64> = places.clone().filter_map(of).collect();
                format!("{:.2}", (ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
            };
            TESTING.map(of_set).join(", ")
        })
        .collect();
    let objective =
        |seeds: Range<u32>| format!("{:.2}", lab.objective(policy, places.clone(), seeds));
    cells.push(TESTING.map(objective).join(", "));
    println!("| `{policy}` | {} |", cells.join(" | "));
}

/// The ratio of a measure under one policy to that under another, by run and condition; bold if its interval over the runs
/// excludes 1.
fn difference(
    lab: &Lab,
    places: &[usize],
    [of, than]: [&str; 2],
    seeds: Range<u32>,
    measure: usize,
) -> String {
    let of_run = |seed: u32| {
        let of_place = |place: &usize| {
            let value = |policy| lab.value(policy, *place, seed, measure);
            Some(log_ratio(measure, value(of)?, value(than)?))
        };
        let ratios: Vec<f64> = places.iter().filter_map(of_place).collect();
        (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
    };
    let ratios: Vec<f64> = seeds.clone().filter_map(of_run).collect();
    let Some(interval) = Interval::bootstrap(&ratios, seeds.start.into()) else {
        return "none".to_owned();
    };
    let ratio = format!("{:.2}", interval.mean.exp());
    if interval.excludes_zero() == Some(true) { format!("**{ratio}**") } else { ratio }
}

fn main() -> Result<(), Failure> {
    let mut size = Size { generations: 6, population: 8, seed: 1 };
    let mut threads = Resources::default();
    let (mut families, mut pairs) = (Vec::new(), Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("seed", value)) => size.seed = value.parse()?,
            Some(("generations", value)) => size.generations = value.parse()?,
            Some(("population", value)) => size.population = value.parse()?,
            Some(("threads", value)) => threads.threads = Some(value.parse()?),
            _ => {
                let kind = |policy: &str| {
                    (policy.split(':').next().map(str::to_owned), policy.contains("model="))
                };
                let of = |family: &&Family| kind(family.default) == kind(&argument);
                let is_named = |family: &&Family| family.name == argument;
                match (FAMILIES.iter().find(is_named), FAMILIES.iter().find(of)) {
                    (Some(family), _) => families.push(family),
                    (None, Some(family)) => pairs.push((family.default, argument)),
                    (None, None) => return Err(format!("{argument:?} names no policy").into()),
                }
            }
        }
    }
    let asks_forest = |default: &str| default == FAMILIES[1].default;
    let defaults = families.iter().map(|family: &&Family| family.default);
    let oracles = if defaults.chain(pairs.iter().map(|(default, _)| *default)).any(asks_forest) {
        oracles(&threads)?
    } else {
        Oracles::default()
    };
    let mut lab = Lab::new(Threads::new(threads.threads()), &oracles)?;
    for family in families {
        let candidates = search(&mut lab, family, size)?;
        pairs.push((family.default, choose(&mut lab, family, &candidates)?));
    }
    let (searched, all) = (lab.searched, lab.scenarios.len());
    println!("\nUnder the conditions of the search:");
    test(&mut lab, 0..searched, &pairs)?;
    println!("\nUnder conditions that no candidate has met:");
    test(&mut lab, searched..all, &pairs)
}
