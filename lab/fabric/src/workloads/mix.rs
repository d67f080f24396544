//! Workloads made of several: flows, requests and collectives, each with its transport and queue.

use super::collective::{Collective, CollectiveSource};
use super::incast::{AnswerSizes, Incast, RequestSource};
use super::pattern::Pattern;
use super::poisson_flows::{FlowSource, PoissonFlows};
use crate::fabric::{Fabric, Flow, FlowRecord, Workload};
use dropcast_arrivals::FlowSizesError;
use dropcast_arrivals::{StreamPurpose, numbered_stream};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum requests per second of a server, and maximum load: keeps sums finite.
const MOST_HZ: f64 = 1e6;
/// Answers to one request, in leaf buffers: all of them may be on their way at once.
const MOST_BURST: f64 = 100.0;
const MOST_LOAD: f64 = 10.0;
/// Of the logarithm of answers' sizes.
const MOST_DEVIATION: f64 = 10.0;
/// Of the starts of answers: a second.
const MOST_SPREAD_NS: u64 = 1_000_000_000;

/// A mix of traffic.
///
/// ```
/// use dropcast_fabric::{Fabric, FabricConfig, TrafficConfig};
///
/// let fabric = Fabric::try_from(FabricConfig::default()).expect("valid");
/// let text = "
///     duration_ns = 100_000_000
///     [[flows]]
///     load = 0.8
///     [[incasts]]
///     burst = 0.75
///     per_server_hz = 30.0
///     transport = 'cubic'
/// ";
/// # let traffic: TrafficConfig = toml::from_str(text).expect("valid TOML");
/// # let mix = traffic.mix(&fabric).expect("fits the fabric");
/// # let _ = mix;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrafficConfig {
    /// Flows and requests start in this time, nanoseconds.
    pub duration_ns: u64,
    /// Seed of all randomness.
    pub seed: u64,
    /// Independent flows.
    pub flows: Vec<PoissonFlows>,
    /// Requests.
    pub incasts: Vec<Incast>,
    /// Collective operations.
    pub collectives: Vec<Collective>,
}

impl Default for TrafficConfig {
    fn default() -> Self {
        TrafficConfig {
            duration_ns: 100_000_000,
            seed: 1,
            flows: Vec::new(),
            incasts: Vec::new(),
            collectives: Vec::new(),
        }
    }
}

/// What is wrong with a mix of traffic.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// A parameter is out of its range.
    #[error("traffic: {part}: {field}: {problem}")]
    Field {
        /// Which part, such as `flows[0]`.
        part: String,
        /// The parameter.
        field: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// Flows would start after the simulation's end.
    #[error("traffic: duration_ns: {0}")]
    Duration(String),
    /// A flow-size table is invalid.
    #[error("traffic: flows[{number}]: {error}")]
    FlowSizes {
        /// Which flows, from 0.
        number: usize,
        /// What is wrong.
        error: FlowSizesError,
    },
    /// A table of answers' sizes is invalid.
    #[error("traffic: incasts[{number}]: {error}")]
    AnswerSizes {
        /// Which incasts, from 0.
        number: usize,
        /// What is wrong.
        error: FlowSizesError,
    },
}

/// A running [`TrafficConfig`].
#[derive(Clone, Debug)]
pub struct TrafficMix {
    flows: Vec<Next<FlowSource>>,
    requests: Vec<Next<RequestSource>>,
    collectives: Vec<Next<CollectiveSource>>,
    requests_made: u32,
}

/// A source and its next flows.
#[derive(Clone, Debug)]
struct Next<S> {
    source: S,
    flows: VecDeque<Flow>,
}

impl TrafficConfig {
    /// The flows, for a fabric.
    ///
    /// # Errors
    /// A parameter is out of its range or does not fit the fabric.
    pub fn mix(&self, fabric: &Fabric) -> Result<TrafficMix, TrafficError> {
        self.check(fabric)?;
        let rng = |number| numbered_stream(self.seed, StreamPurpose::ClosedLoop, number);
        let mut number = 0;
        let mut flows = Vec::new();
        for (place, part) in self.flows.iter().enumerate() {
            let sizes = part.sizes.load();
            let sizes = sizes.map_err(|error| TrafficError::FlowSizes { number: place, error })?;
            let source = FlowSource::new(part, sizes, fabric, self.duration_ns, rng(number));
            flows.extend(source.map(Next::new));
            number += 1;
        }
        let mut requests = Vec::new();
        for (place, part) in self.incasts.iter().enumerate() {
            let source = RequestSource::new(part, fabric, self.duration_ns, rng(number));
            let source =
                source.map_err(|error| TrafficError::AnswerSizes { number: place, error })?;
            requests.extend(source.map(Next::new));
            number += 1;
        }
        let collectives = (0..).zip(&self.collectives).map(|(number, part)| {
            let mut next = Next::new(CollectiveSource::new(part, number));
            let mut first = Vec::new();
            next.source.begin(part.start_ns, &mut first);
            next.flows.extend(first);
            next
        });
        let collectives = collectives.collect();
        let mut mix = TrafficMix { flows, requests, collectives, requests_made: 0 };
        mix.refill();
        Ok(mix)
    }

    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let config = fabric.config();
        let lasts = !self.flows.is_empty() || !self.incasts.is_empty();
        if let Some(problem) = config.too_late(self.duration_ns).filter(|_| lasts) {
            return Err(TrafficError::Duration(problem));
        }
        for (place, part) in self.flows.iter().enumerate() {
            let wrong = wrong("flows", place);
            check_number(&wrong, "load", part.load, MOST_LOAD)?;
            check_queue(&wrong, part.queue, fabric)?;
            check_partners(&wrong, fabric)?;
        }
        for (place, part) in self.incasts.iter().enumerate() {
            let wrong = wrong("incasts", place);
            check_number(&wrong, "burst", part.burst, MOST_BURST)?;
            check_number(&wrong, "per_server_hz", part.per_server_hz, MOST_HZ)?;
            check_queue(&wrong, part.queue, fabric)?;
            check_partners(&wrong, fabric)?;
            if part.pattern == Pattern::FanIn {
                let problem =
                    "is fan-in, which is for flows; expected permutation, random or one-receiver";
                return Err(wrong("pattern", problem.into()));
            }
            if part.fan_in == 0 {
                return Err(wrong("fan_in", "is 0, expected at least 1".into()));
            }
            if part.train == 0 {
                return Err(wrong("train", "is 0, expected at least 1".into()));
            }
            if part.spread_ns > MOST_SPREAD_NS {
                let problem = format!("is {}, expected at most {MOST_SPREAD_NS}", part.spread_ns);
                return Err(wrong("spread_ns", problem));
            }
            if let AnswerSizes::LogNormal(deviation) | AnswerSizes::ByPair(deviation) = part.sizes {
                check_number(&wrong, "sizes", deviation, MOST_DEVIATION)?;
            }
            if part.burst > 0.0 && part.answer_bytes(fabric) == 0 {
                let answers = part.fan_in;
                let problem =
                    format!("is {}, less than a byte for each of {answers} answers", part.burst);
                return Err(wrong("burst", problem));
            }
        }
        for (place, part) in self.collectives.iter().enumerate() {
            let wrong = wrong("collectives", place);
            check_queue(&wrong, part.queue, fabric)?;
            check_servers(&wrong, &part.servers, fabric)?;
            if part.bytes == 0 {
                return Err(wrong("bytes", "is 0, expected at least 1".into()));
            }
            if let Some(problem) = config.too_late(part.start_ns) {
                return Err(wrong("start_ns", problem));
            }
        }
        Ok(())
    }
}

fn wrong(part: &str, place: usize) -> impl Fn(&'static str, String) -> TrafficError {
    let part = format!("{part}[{place}]");
    move |field, problem| TrafficError::Field { part: part.clone(), field, problem }
}

type Wrong<'a> = &'a dyn Fn(&'static str, String) -> TrafficError;

fn check_number(
    wrong: Wrong<'_>,
    field: &'static str,
    value: f64,
    most: f64,
) -> Result<(), TrafficError> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(field, format!("is {value}, expected 0 to {most}")))
}

fn check_queue(wrong: Wrong<'_>, queue: u8, fabric: &Fabric) -> Result<(), TrafficError> {
    let queues = fabric.config().queues_per_port;
    if queue < queues {
        return Ok(());
    }
    Err(wrong("queue", format!("is {queue}, the fabric has {queues} queues per port, from 0")))
}

fn check_partners(wrong: Wrong<'_>, fabric: &Fabric) -> Result<(), TrafficError> {
    if fabric.servers() > 1 {
        return Ok(());
    }
    Err(wrong("pattern", "needs a fabric of at least 2 servers".into()))
}

fn check_servers(wrong: Wrong<'_>, servers: &[u16], fabric: &Fabric) -> Result<(), TrafficError> {
    if servers.len() < 2 {
        let count = servers.len();
        return Err(wrong("servers", format!("has {count} servers, expected at least 2")));
    }
    let mut sorted = servers.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong("servers", format!("has server {} twice", pair[0])));
    }
    let count = fabric.servers();
    match sorted.last() {
        Some(&last) if last >= count => {
            Err(wrong("servers", format!("has server {last}, there are {count}, from 0")))
        }
        _ => Ok(()),
    }
}

impl<S> Next<S> {
    fn new(source: S) -> Self {
        Next { source, flows: VecDeque::new() }
    }

    fn start_ns(&self) -> Option<u64> {
        self.flows.front().map(|flow| flow.start_ns)
    }
}

impl TrafficMix {
    /// Fetches the next flow of every source that has one.
    fn refill(&mut self) {
        for next in &mut self.flows {
            if next.flows.is_empty() {
                next.flows.extend(next.source.next());
            }
        }
        for next in &mut self.requests {
            // Answers to a request may begin before the last to an earlier one.
            while next
                .source
                .next_ns()
                .is_some_and(|at_ns| next.start_ns().is_none_or(|first_ns| at_ns <= first_ns))
            {
                if next.source.next(self.requests_made, &mut next.flows) {
                    self.requests_made += 1;
                }
            }
        }
    }

    fn queues(&mut self) -> impl Iterator<Item = (Option<u64>, &mut VecDeque<Flow>)> {
        let flows = self.flows.iter_mut().map(|next| (next.start_ns(), &mut next.flows));
        let requests = self.requests.iter_mut().map(|next| (next.start_ns(), &mut next.flows));
        let collectives = self.collectives.iter_mut();
        let collectives = collectives.map(|next| (next.start_ns(), &mut next.flows));
        flows.chain(requests).chain(collectives)
    }
}

impl Workload for TrafficMix {
    /// Ties go to the part that is first in the configuration.
    fn next_flow(&mut self) -> Option<Flow> {
        let queues = self.queues().filter(|(start_ns, _)| start_ns.is_some());
        let flow = queues.min_by_key(|(start_ns, _)| *start_ns)?.1.pop_front();
        self.refill();
        flow
    }

    fn flow_ended(&mut self, record: &FlowRecord, now_ns: u64, start: &mut Vec<Flow>) {
        let owner = self.collectives.iter_mut().find(|next| next.source.owns(&record.flow));
        if let Some(next) = owner {
            next.source.flow_ended(record, now_ns, start);
        }
        for next in &mut self.requests {
            if next.source.flow_ended(record, now_ns, self.requests_made, start) {
                self.requests_made += 1;
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests;
