//! A leaf's traffic sources: Poisson processes of flows and of incast requests.

use crate::ingress::Flow;
use crate::poisson::Poisson;
use crate::rng::StreamPurpose;
use crate::senders::Sources;
use crate::traffic::{Traffic, path_of};
use rand::Rng;

/// Traffic patterns: senders and receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// A flow from an uplink to a server.
    Incoming,
    /// A flow from a server to an uplink.
    Outgoing,
    /// A flow from a server to another one.
    RackLocal,
    /// Answers through the uplinks to one server.
    Incast,
    /// Answers from this rack's servers to one server behind the uplinks.
    OutgoingIncast,
}

impl Pattern {
    fn stream(self) -> StreamPurpose {
        match self {
            Pattern::Incoming => StreamPurpose::Incoming,
            Pattern::Outgoing => StreamPurpose::Outgoing,
            Pattern::RackLocal => StreamPurpose::RackLocal,
            Pattern::Incast => StreamPurpose::Incast,
            Pattern::OutgoingIncast => StreamPurpose::OutgoingIncast,
        }
    }
}

/// The context of every source: switch and traffic.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) servers: u16,
    pub(crate) uplinks: u16,
    pub(crate) traffic: Traffic,
}

impl Shape {
    /// The uplink that the fabric's hashing picks for a flow, by port.
    fn uplink(&self, hash: u64) -> u16 {
        self.servers + path_of(hash, self.uplinks)
    }
}

/// The sources of a leaf.
#[derive(Clone, Debug)]
pub(crate) struct LeafSources {
    pub(crate) shape: Shape,
    pub(crate) sources: Vec<Source>,
}

impl Sources for LeafSources {
    fn count(&self) -> usize {
        self.sources.len()
    }

    fn next_ns(&self, source: usize) -> u64 {
        self.sources[source].clock.next_ns()
    }

    fn fire(&mut self, source: usize, start: &mut Vec<(u16, Flow)>) {
        self.sources[source].fire(&self.shape, start);
    }
}

/// One kind of traffic.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pattern: Pattern,
    clock: Poisson,
    /// This rack's servers, in the order of the latest shuffle.
    senders: Vec<u16>,
}

impl Source {
    /// A process of `per_ns` events per nanosecond; `None` if that is not above 0.
    pub(crate) fn new(pattern: Pattern, per_ns: f64, servers: u16, seed: u64) -> Option<Self> {
        let clock = Poisson::new(per_ns, seed, pattern.stream())?;
        Some(Source { pattern, clock, senders: (0..servers).collect() })
    }

    /// Processes the next event: `start` gets each flow with its ingress link (numbered as the port
    /// of the same cable).
    fn fire(&mut self, shape: &Shape, start: &mut Vec<(u16, Flow)>) {
        let traffic = &shape.traffic;
        match self.pattern {
            Pattern::Incoming => {
                let (bytes, hash) = self.clock.size_and_hash(&traffic.sizes);
                let server = self.server(shape.servers);
                start.push((shape.uplink(hash), traffic.flow(bytes, hash, server)));
            }
            Pattern::Outgoing => {
                let (bytes, hash) = self.clock.size_and_hash(&traffic.sizes);
                let server = self.server(shape.servers);
                start.push((server, traffic.flow(bytes, hash, shape.uplink(hash))));
            }
            Pattern::RackLocal => {
                let (bytes, hash) = self.clock.size_and_hash(&traffic.sizes);
                let from = self.server(shape.servers);
                let step = self.clock.rng.random_range(1..shape.servers);
                let to = (u32::from(from) + u32::from(step)) % u32::from(shape.servers);
                start.push((from, traffic.flow(bytes, hash, to as u16)));
            }
            Pattern::Incast => {
                let server = self.server(shape.servers);
                for bytes in traffic.answers() {
                    let hash = self.clock.hash();
                    start.push((shape.uplink(hash), traffic.flow(bytes, hash, server)));
                }
            }
            Pattern::OutgoingIncast => {
                for (answer, bytes) in traffic.answers().enumerate() {
                    let server = self.sender(answer);
                    let hash = self.clock.hash();
                    start.push((server, traffic.flow(bytes, hash, shape.uplink(hash))));
                }
            }
        }
        self.clock.happened();
    }

    fn server(&mut self, servers: u16) -> u16 {
        self.clock.rng.random_range(0..servers)
    }

    /// The sender of an incast's answer: the servers in random order, repeated if there are more
    /// answers than servers.
    fn sender(&mut self, answer: usize) -> u16 {
        let place = answer % self.senders.len();
        if answer == place {
            let other = self.clock.rng.random_range(place..self.senders.len());
            self.senders.swap(place, other);
        }
        self.senders[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_sizes::{FlowSizeName, FlowSizes};

    fn shape(servers: u16, fan_in: u16, burst_bytes: u64) -> Shape {
        let sizes = FlowSizes::from_text(FlowSizeName::Hadoop.text()).expect("valid");
        let traffic = Traffic { burst_bytes, fan_in, unscheduled_bytes: 40_000, sizes };
        Shape { servers, uplinks: 4, traffic }
    }

    #[test]
    fn an_outgoing_incast_has_distinct_senders_while_there_are_any() {
        let mut source = Source::new(Pattern::OutgoingIncast, 1e-6, 10, 3).expect("positive rate");
        for fan_in in [4u16, 10, 13] {
            let mut start = Vec::new();
            source.fire(&shape(10, fan_in, 10_000), &mut start);
            let mut senders: Vec<u16> = start.iter().map(|(link, _)| *link).collect();
            senders.sort_unstable();
            senders.dedup();
            assert_eq!(senders.len(), usize::from(fan_in.min(10)));
            assert!(start.iter().all(|(_, flow)| (10..14).contains(&flow.to)));
        }
    }

    #[test]
    fn rack_local_flows_leave_their_server() {
        let mut source = Source::new(Pattern::RackLocal, 1e-6, 3, 3).expect("positive rate");
        let mut start = Vec::new();
        (0..200).for_each(|_| source.fire(&shape(3, 1, 1), &mut start));
        assert!(start.iter().all(|(link, flow)| *link != flow.to && flow.to < 3));
    }

    #[test]
    fn a_rate_of_zero_is_no_source() {
        assert!(Source::new(Pattern::Incoming, 0.0, 4, 1).is_none());
    }
}
