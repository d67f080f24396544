//! Traffic sources: Poisson processes of flows and of incast requests.

use crate::flow_sizes::FlowSizes;
use crate::ingress::Flow;
use crate::rng::{Stream, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// A flow from an uplink to a server.
    Incoming,
    /// A flow from a server to an uplink.
    Outgoing,
    /// A flow from a server to another one.
    RackLocal,
    /// Answers from behind the uplinks to one server.
    Incast,
    /// Answers from this rack's servers to one server behind the uplinks.
    OutgoingIncast,
}

impl Pattern {
    fn stream(self) -> Stream {
        match self {
            Pattern::Incoming => Stream::Incoming,
            Pattern::Outgoing => Stream::Outgoing,
            Pattern::RackLocal => Stream::RackLocal,
            Pattern::Incast => Stream::Incast,
            Pattern::OutgoingIncast => Stream::OutgoingIncast,
        }
    }
}

/// What every source needs to know of the switch and the traffic.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) servers: u16,
    pub(crate) uplinks: u16,
    /// Payload of one incast, bytes; at least `fan_in`.
    pub(crate) burst_bytes: u64,
    /// Answers of one incast.
    pub(crate) fan_in: u16,
    /// Payload a sender puts out in the first round-trip time, bytes.
    pub(crate) unscheduled_bytes: u32,
    pub(crate) sizes: FlowSizes,
}

impl Shape {
    /// The uplink that the fabric's hashing picks for a flow, by port.
    fn uplink(&self, hash: u64) -> u16 {
        // The top half of the hash, scaled: below `uplinks`.
        let index = ((hash >> 32) * u64::from(self.uplinks)) >> 32;
        self.servers + index as u16
    }

    fn flow(&self, bytes: u64, hash: u64, out_port: u16) -> Flow {
        Flow {
            remaining_bytes: bytes,
            hash,
            unscheduled_bytes: self.unscheduled_bytes,
            out_port,
            unacknowledged: 0,
        }
    }

    /// Payload of each answer of an incast: equal up to one byte, together the burst.
    fn answers(&self) -> impl Iterator<Item = u64> + use<> {
        let fan_in = u64::from(self.fan_in);
        let (each, extra) = (self.burst_bytes / fan_in, self.burst_bytes % fan_in);
        (0..fan_in).map(move |answer| each + u64::from(answer < extra))
    }
}

/// One Poisson process, with its own stream of randomness.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pattern: Pattern,
    rng: ChaCha8Rng,
    gap_ns: Exp<f64>,
    /// Next event. Whole nanoseconds below 2^53 are exact in it, 104 days.
    next_ns: f64,
    /// This rack's servers, in the order of the latest shuffle.
    senders: Vec<u16>,
}

impl Source {
    /// A process of `per_ns` events per nanosecond; none if that is not above 0.
    pub(crate) fn new(pattern: Pattern, per_ns: f64, servers: u16, seed: u64) -> Option<Self> {
        let gap_ns = Exp::new(per_ns).ok().filter(|_| per_ns > 0.0)?;
        let mut rng = stream(seed, pattern.stream());
        let next_ns = gap_ns.sample(&mut rng);
        Some(Source { pattern, rng, gap_ns, next_ns, senders: (0..servers).collect() })
    }

    /// Time of the next event, nanoseconds.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns as u64
    }

    /// Lets the next event happen: `start` gets each flow with the ingress link (numbered as the
    /// port of the same cable) that it comes over.
    pub(crate) fn fire(&mut self, shape: &Shape, start: &mut Vec<(u16, Flow)>) {
        match self.pattern {
            Pattern::Incoming => {
                let (bytes, hash) = self.size_and_hash(shape);
                let server = self.server(shape.servers);
                start.push((shape.uplink(hash), shape.flow(bytes, hash, server)));
            }
            Pattern::Outgoing => {
                let (bytes, hash) = self.size_and_hash(shape);
                let server = self.server(shape.servers);
                start.push((server, shape.flow(bytes, hash, shape.uplink(hash))));
            }
            Pattern::RackLocal => {
                let (bytes, hash) = self.size_and_hash(shape);
                let from = self.server(shape.servers);
                let step = self.rng.random_range(1..shape.servers);
                let to = (u32::from(from) + u32::from(step)) % u32::from(shape.servers);
                start.push((from, shape.flow(bytes, hash, to as u16)));
            }
            Pattern::Incast => {
                let server = self.server(shape.servers);
                for bytes in shape.answers() {
                    let hash = self.hash();
                    start.push((shape.uplink(hash), shape.flow(bytes, hash, server)));
                }
            }
            Pattern::OutgoingIncast => {
                for (answer, bytes) in shape.answers().enumerate() {
                    let server = self.sender(answer);
                    let hash = self.hash();
                    start.push((server, shape.flow(bytes, hash, shape.uplink(hash))));
                }
            }
        }
        self.next_ns += self.gap_ns.sample(&mut self.rng);
    }

    fn size_and_hash(&mut self, shape: &Shape) -> (u64, u64) {
        let bytes = shape.sizes.sample(&mut self.rng);
        (bytes, self.hash())
    }

    /// Any number but 0, which means "no hash" in an event.
    fn hash(&mut self) -> u64 {
        self.rng.random::<u64>() | 1
    }

    fn server(&mut self, servers: u16) -> u16 {
        self.rng.random_range(0..servers)
    }

    /// The sender of an incast's answer: the servers in random order, over again if there are
    /// more answers than servers.
    fn sender(&mut self, answer: usize) -> u16 {
        let place = answer % self.senders.len();
        if answer == place {
            let other = self.rng.random_range(place..self.senders.len());
            self.senders.swap(place, other);
        }
        self.senders[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_sizes::FlowSizeName;

    fn shape(servers: u16, fan_in: u16, burst_bytes: u64) -> Shape {
        Shape {
            servers,
            uplinks: 4,
            burst_bytes,
            fan_in,
            unscheduled_bytes: 40_000,
            sizes: FlowSizes::from_text(FlowSizeName::Hadoop.text()).expect("valid"),
        }
    }

    #[test]
    fn answers_add_up_to_the_burst() {
        for (fan_in, burst) in [(16, 789_504), (7, 100), (3, 3), (1, 5)] {
            let answers: Vec<u64> = shape(16, fan_in, burst).answers().collect();
            assert_eq!(answers.len(), usize::from(fan_in));
            assert_eq!(answers.iter().sum::<u64>(), burst);
            assert!(answers[0] - answers[answers.len() - 1] <= 1);
        }
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
            assert!(start.iter().all(|(_, flow)| (10..14).contains(&flow.out_port)));
        }
    }

    #[test]
    fn rack_local_flows_leave_their_server() {
        let mut source = Source::new(Pattern::RackLocal, 1e-6, 3, 3).expect("positive rate");
        let mut start = Vec::new();
        (0..200).for_each(|_| source.fire(&shape(3, 1, 1), &mut start));
        assert!(start.iter().all(|(link, flow)| *link != flow.out_port && flow.out_port < 3));
    }

    #[test]
    fn a_rate_of_zero_is_no_source() {
        assert!(Source::new(Pattern::Incoming, 0.0, 4, 1).is_none());
    }
}
