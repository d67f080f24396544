//! An evolution strategy that searches the network's weights.

use crate::{Scenario, Trace};
use cmaes::{CMAESOptions, DVector};
use dropcast_data::Threads;
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape, WEIGHT_ONE};
use dropcast_switch::{Alphas, PolicySpec};
use std::num::NonZeroUsize;

/// How a network is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Sizes of the network.
    pub shape: NetworkShape,
    /// Generations of the evolution strategy.
    pub generations: usize,
    /// Networks in each generation.
    pub population: usize,
    /// Standard deviation of the first generation's weights around the neutral network's.
    pub step: f64,
    /// Traces that each network is tried on; as many others validate each generation's mean.
    pub traces: u64,
    /// Seed of the search.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            shape: NetworkShape::default(),
            generations: 30,
            population: 24,
            step: 0.3,
            traces: 10,
            seed: 1,
        }
    }
}

/// What a generation came to: means over traces of `ln(mean FCT / DT's)`; below 0 is better than DT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generation {
    /// Its number, from 1.
    pub number: usize,
    /// The best network's, on the traces that the search sees.
    pub best: f64,
    /// The mean of the search distribution, on the traces that choose the result.
    pub validation: f64,
}

/// What training came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    /// The mean of the generation with the best validation; the neutral network, which is DT, if none
    /// is better than DT.
    pub network: NdtNetwork,
    /// Its validation; 0 for the neutral network.
    pub validation: f64,
    /// All generations.
    pub generations: Vec<Generation>,
}

/// Searches for the network with the shortest completion times in a scenario. `each` gets every
/// generation. The same at any number of threads.
///
/// # Panics
/// If sizes of the network are 0 or above 256, or the population is smaller than 4.
pub fn train(
    scenario: &Scenario,
    training: &Training,
    threads: NonZeroUsize,
    mut each: impl FnMut(Generation),
) -> TrainedNetwork {
    let threads = Threads::new(threads);
    let seen = Judge::new(scenario, 0..training.traces, &threads);
    let unseen = Judge::new(scenario, training.traces..2 * training.traces, &threads);
    let neutral = NdtNetwork::neutral(training.shape).expect("sizes from 1 to 256");
    let start: Vec<f64> = neutral.parameters().iter().map(|&weight| unscaled(weight)).collect();
    let mut best = TrainedNetwork { network: neutral, validation: 0.0, generations: Vec::new() };
    let mut search = CMAESOptions::new(start, training.step)
        .population_size(training.population)
        .seed(training.seed)
        .build(|weights: &DVector<f64>| seen.loss(&network(training.shape, weights)))
        .expect("a start and a step above 0");
    for number in 1..=training.generations {
        let ended = search.next().is_some();
        let mean = network(training.shape, search.mean());
        let best_value = search.current_best_individual().map_or(f64::NAN, |best| best.value);
        let generation = Generation { number, best: best_value, validation: unseen.loss(&mean) };
        each(generation);
        if generation.validation < best.validation {
            best.validation = generation.validation;
            best.network = mean;
        }
        best.generations.push(generation);
        if ended {
            break;
        }
    }
    best
}

/// Traces, with DT's completion times.
struct Judge<'a> {
    threads: &'a Threads,
    traces: Vec<(Trace, f64)>,
}

impl<'a> Judge<'a> {
    fn new(scenario: &Scenario, numbers: std::ops::Range<u64>, threads: &'a Threads) -> Self {
        let dt = PolicySpec::dt(Alphas::try_from(1.0).expect("1 is positive"));
        let traces = threads.map(numbers.collect(), |number| {
            let trace = scenario.trace(number);
            let mean = mean(&trace.fct_ns(&dt, None));
            (trace, mean)
        });
        Judge { threads, traces }
    }

    /// The mean over traces of `ln(mean FCT / DT's)`; traces without flows do not count.
    fn loss(&self, network: &NdtNetwork) -> f64 {
        let ndt = PolicySpec::Ndt(Default::default());
        let losses = self.threads.map(self.traces.iter().collect(), |(trace, dt)| {
            (mean(&trace.fct_ns(&ndt, Some(network))) / dt).ln()
        });
        let losses: Vec<f64> = losses.into_iter().filter(|loss| loss.is_finite()).collect();
        losses.iter().sum::<f64>() / losses.len().max(1) as f64
    }
}

pub(crate) fn mean(fct_ns: &[u64]) -> f64 {
    fct_ns.iter().map(|&fct_ns| fct_ns as f64).sum::<f64>() / fct_ns.len() as f64
}

fn unscaled(weight: i16) -> f64 {
    f64::from(weight) / f64::from(WEIGHT_ONE)
}

fn network(shape: NetworkShape, weights: &DVector<f64>) -> NdtNetwork {
    let scaled = weights.iter().map(|weight| (weight * f64::from(WEIGHT_ONE)).round() as i16);
    NdtNetwork::new(shape, scaled.collect()).expect("as many weights as the neutral network has")
}
