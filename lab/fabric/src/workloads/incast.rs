//! Incast: requests that many servers answer at once.

use super::arrival_times::ArrivalTimes;
use super::pattern::{Partners, Pattern};
use crate::fabric::{Connection, Fabric, Flow, FlowClass, FlowRecord};
use crate::transport::Transport;
use dropcast_arrivals::{FlowSizeChoice, FlowSizes, FlowSizesError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Requests of every server, as a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Incast {
    /// Payload of all answers to a request, as a share of a leaf's buffer (the mean, if sizes vary); 0: no requests.
    pub burst: f64,
    /// Servers that answer, each with an equal part of the burst.
    pub fan_in: u16,
    /// How the answers' sizes vary.
    pub sizes: AnswerSizes,
    /// Answers start up to this much later than the first could, drawn for each, nanoseconds.
    pub spread_ns: u64,
    /// Requests per second of each server; each may begin a train.
    pub per_server_hz: f64,
    /// Requests of a train: each to the same servers, a round trip after the last answer to the one before.
    pub train: u32,
    /// The answering servers: of the next leaf, or of any other; `fan-in` is for flows.
    pub pattern: Pattern,
    /// What answers are sent over.
    pub connections: Connections,
    /// How answers are sent.
    pub transport: Transport,
    /// The queue of their data.
    pub queue: u8,
}

/// How the sizes of a request's answers vary around their mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerSizes {
    /// All are equal.
    #[default]
    Equal,
    /// Log-normal, with this standard deviation of the logarithm.
    LogNormal(f64),
    /// The same, but one draw for each pair of servers: all answers of one to another are equal.
    ByPair(f64),
    /// As the sizes of a table of flows, in proportion.
    Table(FlowSizeChoice),
}

/// Connections between servers that answer and those that ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// Each answer has a new one, open already.
    New,
    /// An answer takes the connection that an earlier answer between the same servers has left, with its window and estimates, if
    /// there is one.
    #[default]
    Reused,
}

impl Default for Incast {
    /// The Credence artifact's requests, answered as servers do: over open connections, within 20 us.
    fn default() -> Self {
        Incast {
            burst: 0.5,
            fan_in: 16,
            sizes: AnswerSizes::default(),
            spread_ns: 20_000,
            per_server_hz: 2.0,
            train: 1,
            pattern: Pattern::default(),
            connections: Connections::default(),
            transport: Transport::default(),
            queue: 1,
        }
    }
}

impl Incast {
    /// The Credence artifact's incast: all answers at once, each on a new connection.
    pub fn artifact() -> Self {
        Incast { spread_ns: 0, connections: Connections::New, ..Incast::default() }
    }

    /// Mean payload of an answer.
    pub(crate) fn answer_bytes(&self, fabric: &Fabric) -> u64 {
        let burst_bytes = self.burst * f64::from(fabric.config().leaf_buffer_bytes);
        (burst_bytes / f64::from(self.fan_in)) as u64
    }
}

/// Draws the sizes of answers.
#[derive(Clone, Debug)]
enum Sizes {
    Equal(u64),
    LogNormal(LogNormal<f64>),
    /// And a seed.
    ByPair(LogNormal<f64>, u64),
    /// A table, and what its sizes are multiplied by.
    Table(FlowSizes, f64),
}

impl Sizes {
    fn draw(&self, from: u16, to: u16, rng: &mut ChaCha8Rng) -> u64 {
        let bytes = match self {
            Sizes::Equal(bytes) => *bytes,
            Sizes::LogNormal(sizes) => sizes.sample(rng) as u64,
            Sizes::ByPair(sizes, seed) => {
                let pair = u64::from(from) << 16 | u64::from(to);
                let mut own = ChaCha8Rng::seed_from_u64(seed.wrapping_add(pair));
                sizes.sample(&mut own) as u64
            }
            Sizes::Table(sizes, factor) => (sizes.sample(rng) as f64 * factor) as u64,
        };
        bytes.max(1)
    }
}

/// Log-normal sizes with this mean; `None` if the deviation is no number.
fn log_normal(mean_bytes: u64, deviation: f64) -> Option<LogNormal<f64>> {
    let location = (mean_bytes as f64).ln() - deviation * deviation / 2.0;
    LogNormal::new(location, deviation).ok()
}

/// A train under way: the answers of its last request that are not complete, and the requests that follow.
#[derive(Clone, Debug)]
struct Train {
    answers_left: u16,
    requests_left: u32,
    /// The servers that answer.
    from: Vec<u16>,
}

/// Requests in progress.
#[derive(Clone, Debug)]
pub(crate) struct RequestSource {
    times: ArrivalTimes,
    sizes: Sizes,
    partners: Partners,
    incast: Incast,
    /// Between an answer's end and the start of the next in a train, nanoseconds.
    round_trip_ns: u64,
    rng: ChaCha8Rng,
    /// Numbers of candidates, in the order of the latest shuffle.
    order: Vec<u16>,
    /// By request.
    trains: BTreeMap<u32, Train>,
}

impl RequestSource {
    /// `None` if there are no requests.
    ///
    /// # Errors
    /// The table of sizes is invalid.
    pub(crate) fn new(
        incast: &Incast,
        fabric: &Fabric,
        end_ns: u64,
        mut rng: ChaCha8Rng,
    ) -> Result<Option<Self>, FlowSizesError> {
        let per_second = incast.per_server_hz * f64::from(fabric.servers());
        if incast.burst == 0.0 {
            return Ok(None);
        }
        let mean_bytes = incast.answer_bytes(fabric);
        let sizes = match &incast.sizes {
            AnswerSizes::Equal => Sizes::Equal(mean_bytes),
            AnswerSizes::LogNormal(deviation) => log_normal(mean_bytes, *deviation)
                .map_or(Sizes::Equal(mean_bytes), Sizes::LogNormal),
            AnswerSizes::ByPair(deviation) => {
                let seed = rng.random();
                log_normal(mean_bytes, *deviation)
                    .map_or(Sizes::Equal(mean_bytes), |sizes| Sizes::ByPair(sizes, seed))
            }
            AnswerSizes::Table(table) => {
                let table = table.load()?;
                let factor = mean_bytes as f64 / table.mean_bytes();
                Sizes::Table(table, factor)
            }
        };
        let partners = Partners::new(incast.pattern, fabric);
        let Some(times) = ArrivalTimes::new(per_second, end_ns, &mut rng) else { return Ok(None) };
        Ok(Some(RequestSource {
            times,
            sizes,
            incast: incast.clone(),
            round_trip_ns: fabric.path_rtt_ns(),
            rng,
            order: (0..partners.candidates()).collect(),
            partners,
            trains: BTreeMap::new(),
        }))
    }

    /// When the next request is made, nanoseconds.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.times.peek()
    }

    /// The answers to the next request, in order of start, by distinct servers as far as possible.
    pub(crate) fn next(&mut self, request: u32, answers: &mut VecDeque<Flow>) -> bool {
        let Some(start_ns) = self.times.next(&mut self.rng) else { return false };
        let to = self.partners.receiver(&mut self.rng);
        let mut from = Vec::new();
        for answer in 0..usize::from(self.incast.fan_in) {
            let place = answer % self.order.len();
            if answer == place {
                let other = self.rng.random_range(place..self.order.len());
                self.order.swap(place, other);
            }
            from.push(self.partners.candidate(to, self.order[place]));
        }
        answers.extend(self.answers(request, &from, to, start_ns));
        answers.make_contiguous().sort_by_key(|flow| flow.start_ns);
        self.await_train(request, self.incast.train - 1, from);
        true
    }

    /// The last answer to a request of this source begins the next of its train, numbered `next`; returns whether it does.
    pub(crate) fn flow_ended(
        &mut self,
        record: &FlowRecord,
        now_ns: u64,
        next: u32,
        start: &mut Vec<Flow>,
    ) -> bool {
        let FlowClass::Incast(request) = record.flow.class else { return false };
        let Some(train) = self.trains.get_mut(&request) else { return false };
        train.answers_left -= 1;
        if train.answers_left > 0 {
            return false;
        }
        let Some(Train { requests_left, from, .. }) = self.trains.remove(&request) else {
            return false;
        };
        start.extend(self.answers(next, &from, record.flow.to, now_ns + self.round_trip_ns));
        self.await_train(next, requests_left - 1, from);
        true
    }

    fn await_train(&mut self, request: u32, requests_left: u32, from: Vec<u16>) {
        if requests_left > 0 {
            let train = Train { answers_left: self.incast.fan_in, requests_left, from };
            self.trains.insert(request, train);
        }
    }

    fn answers(&mut self, request: u32, from: &[u16], to: u16, at_ns: u64) -> Vec<Flow> {
        let Incast { spread_ns, connections, transport, queue, .. } = self.incast;
        let answer = |&from| Flow {
            start_ns: match spread_ns {
                0 => at_ns,
                _ => at_ns + self.rng.random_range(0..=spread_ns),
            },
            from,
            to,
            size_bytes: self.sizes.draw(from, to, &mut self.rng),
            class: FlowClass::Incast(request),
            connection: match connections {
                Connections::New => Connection::New,
                Connections::Reused => Connection::Reused,
            },
            transport,
            queue,
            spines: None,
        };
        from.iter().map(answer).collect()
    }
}
