//! Incast: requests that many servers answer at once.

use super::arrival_times::ArrivalTimes;
use super::pattern::{Partners, Pattern};
use crate::fabric::{Fabric, Flow, FlowClass};
use crate::transport::Transport;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Requests of every server, as a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Incast {
    /// Payload of all answers to a request, as a share of a leaf's buffer; 0: no requests.
    pub burst: f64,
    /// Servers that answer, each with an equal part of the burst.
    pub fan_in: u16,
    /// Requests per second of each server.
    pub per_server_hz: f64,
    /// The answering servers: of the next leaf, or of any other; `fan-in` is for flows.
    pub pattern: Pattern,
    /// How answers are sent.
    pub transport: Transport,
    /// The queue of their data.
    pub queue: u8,
}

impl Default for Incast {
    /// The Credence artifact's incast.
    fn default() -> Self {
        Incast {
            burst: 0.5,
            fan_in: 16,
            per_server_hz: 2.0,
            pattern: Pattern::default(),
            transport: Transport::default(),
            queue: 1,
        }
    }
}

impl Incast {
    /// Payload of an answer.
    pub(crate) fn answer_bytes(&self, fabric: &Fabric) -> u64 {
        let burst_bytes = self.burst * f64::from(fabric.config().leaf_buffer_bytes);
        (burst_bytes / f64::from(self.fan_in)) as u64
    }
}

/// Requests in progress.
#[derive(Clone, Debug)]
pub(crate) struct RequestSource {
    times: ArrivalTimes,
    answer_bytes: u64,
    fan_in: u16,
    partners: Partners,
    transport: Transport,
    queue: u8,
    rng: ChaCha8Rng,
    /// Numbers of candidates, in the order of the latest shuffle.
    order: Vec<u16>,
}

impl RequestSource {
    /// `None` if there are no requests.
    pub(crate) fn new(
        incast: &Incast,
        fabric: &Fabric,
        end_ns: u64,
        mut rng: ChaCha8Rng,
    ) -> Option<Self> {
        let per_second = incast.per_server_hz * f64::from(fabric.servers());
        if incast.burst == 0.0 {
            return None;
        }
        let partners = Partners::new(incast.pattern, fabric);
        Some(RequestSource {
            times: ArrivalTimes::new(per_second, end_ns, &mut rng)?,
            answer_bytes: incast.answer_bytes(fabric),
            fan_in: incast.fan_in,
            partners,
            transport: incast.transport,
            queue: incast.queue,
            rng,
            order: (0..partners.candidates()).collect(),
        })
    }

    /// The answers to the next request, all at one time, by distinct servers as far as possible.
    pub(crate) fn next(&mut self, request: u32, answers: &mut Vec<Flow>) -> bool {
        let Some(start_ns) = self.times.next(&mut self.rng) else { return false };
        let to = self.partners.receiver(&mut self.rng);
        for answer in 0..usize::from(self.fan_in) {
            let place = answer % self.order.len();
            if answer == place {
                let other = self.rng.random_range(place..self.order.len());
                self.order.swap(place, other);
            }
            answers.push(Flow {
                start_ns,
                from: self.partners.candidate(to, self.order[place]),
                to,
                size_bytes: self.answer_bytes,
                class: FlowClass::Incast(request),
                transport: self.transport,
                queue: self.queue,
                spines: None,
            });
        }
        true
    }
}
