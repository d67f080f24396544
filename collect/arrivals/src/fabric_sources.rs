//! A fabric's traffic sources: flows between servers of different leaves, and incasts.

use crate::ingress::Flow;
use crate::poisson::Poisson;
use crate::rng::StreamPurpose;
use crate::senders::Sources;
use crate::traffic::Traffic;
use rand::Rng;

/// The context of every source: fabric and traffic. Servers are numbered leaf by leaf.
#[derive(Clone, Debug)]
pub(crate) struct FabricShape {
    pub(crate) leaves: u16,
    /// Of each leaf.
    pub(crate) servers: u16,
    pub(crate) traffic: Traffic,
}

impl FabricShape {
    fn all_servers(&self) -> u16 {
        self.leaves * self.servers
    }

    /// The servers of other leaves than that of `server`, from 0: which one is number `nth`.
    fn elsewhere(&self, server: u16, nth: u16) -> u16 {
        let own = server / self.servers * self.servers;
        if nth < own { nth } else { nth + self.servers }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// A flow from any server to one of another leaf.
    Flow,
    /// Answers of servers of other leaves to any server.
    Incast,
}

/// The sources of a fabric.
#[derive(Clone, Debug)]
pub(crate) struct FabricSources {
    shape: FabricShape,
    sources: Vec<(Pattern, Poisson)>,
    /// Numbers for [`FabricShape::elsewhere`], in the order of the latest shuffle.
    answering: Vec<u16>,
}

impl FabricSources {
    /// Flows and incasts, with rates per nanosecond over the whole fabric.
    pub(crate) fn new(shape: FabricShape, (flows, incasts): (f64, f64), seed: u64) -> Self {
        let source =
            |(pattern, per_ns, stream)| Some((pattern, Poisson::new(per_ns, seed, stream)?));
        let sources = [
            (Pattern::Flow, flows, StreamPurpose::FabricFlows),
            (Pattern::Incast, incasts, StreamPurpose::FabricIncasts),
        ];
        let answering = (0..shape.all_servers() - shape.servers).collect();
        FabricSources {
            sources: sources.into_iter().filter_map(source).collect(),
            shape,
            answering,
        }
    }
}

impl Sources for FabricSources {
    fn count(&self) -> usize {
        self.sources.len()
    }

    fn next_ns(&self, source: usize) -> u64 {
        self.sources[source].1.next_ns()
    }

    /// Flows go over the links of their servers.
    fn fire(&mut self, source: usize, start: &mut Vec<(u16, Flow)>) {
        let FabricSources { shape, sources, answering } = self;
        let (pattern, clock) = &mut sources[source];
        let traffic = &shape.traffic;
        let server = clock.rng.random_range(0..shape.all_servers());
        match pattern {
            Pattern::Flow => {
                let (bytes, hash) = clock.size_and_hash(&traffic.sizes);
                let nth = clock.rng.random_range(0..answering.len() as u16);
                start.push((server, traffic.flow(bytes, hash, shape.elsewhere(server, nth))));
            }
            Pattern::Incast => {
                for (answer, bytes) in traffic.answers().enumerate() {
                    // In random order, repeated if there are more answers than servers.
                    let place = answer % answering.len();
                    if answer == place {
                        let other = clock.rng.random_range(place..answering.len());
                        answering.swap(place, other);
                    }
                    let from = shape.elsewhere(server, answering[place]);
                    start.push((from, traffic.flow(bytes, clock.hash(), server)));
                }
            }
        }
        clock.happened();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_sizes::{FlowSizeName, FlowSizes};

    /// One event of the only source.
    fn fire(sources: &mut FabricSources) -> Vec<(u16, Flow)> {
        let mut start = Vec::new();
        sources.fire(0, &mut start);
        start
    }

    fn shape(fan_in: u16) -> FabricShape {
        let sizes = FlowSizes::from_text(FlowSizeName::Hadoop.text()).expect("valid");
        let traffic = Traffic { burst_bytes: 10_000, fan_in, unscheduled_bytes: 40_000, sizes };
        FabricShape { leaves: 3, servers: 4, traffic }
    }

    #[test]
    fn flows_go_to_servers_of_other_leaves() {
        let mut sources = FabricSources::new(shape(1), (1e-6, 0.0), 3);
        let flows: Vec<(u16, Flow)> = (0..500).flat_map(|_| fire(&mut sources)).collect();
        assert!(flows.iter().all(|(from, flow)| from / 4 != flow.to / 4));
        for server in 0..12 {
            assert!(flows.iter().any(|(from, _)| *from == server), "{server} sends");
            assert!(flows.iter().any(|(_, flow)| flow.to == server), "{server} receives");
        }
    }

    #[test]
    fn answers_come_from_distinct_servers_of_other_leaves_while_there_are_any() {
        for fan_in in [5, 8, 11] {
            let mut sources = FabricSources::new(shape(fan_in), (0.0, 1e-6), 3);
            let flows = fire(&mut sources);
            assert_eq!(flows.len(), usize::from(fan_in));
            assert!(flows.iter().all(|(_, flow)| flow.to == flows[0].1.to));
            assert!(flows.iter().all(|(from, flow)| from / 4 != flow.to / 4));
            let mut senders: Vec<u16> = flows.iter().map(|(from, _)| *from).collect();
            senders.sort_unstable();
            senders.dedup();
            assert_eq!(senders.len(), usize::from(fan_in.min(8)));
        }
    }
}
