//! Collective operations of distributed training: each step waits for the previous one.

use crate::fabric::{Connection, Flow, FlowClass, FlowRecord};
use crate::transport::Transport;
use serde::{Deserialize, Serialize};

/// The kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveOperation {
    /// `2 (n - 1)` steps; in each, every participant sends `1/n` of the bytes to the next in the
    /// ring, once it has received the previous step's bytes.
    #[default]
    RingAllReduce,
    /// Every participant sends `1/n` of the bytes to each other one, all at once.
    AllToAll,
}

/// A collective operation, repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Collective {
    /// The operation.
    pub operation: CollectiveOperation,
    /// The participants, in order of the ring; at least 2 different servers.
    pub servers: Vec<u16>,
    /// Bytes of each participant.
    pub bytes: u64,
    /// Repetitions; each begins when all participants have finished the previous one.
    pub rounds: u32,
    /// When the first begins, nanoseconds.
    pub start_ns: u64,
    /// How it is sent.
    pub transport: Transport,
    /// The queue of its data.
    pub queue: u8,
}

impl Default for Collective {
    fn default() -> Self {
        Collective {
            operation: CollectiveOperation::default(),
            servers: Vec::new(),
            bytes: 1_000_000,
            rounds: 1,
            start_ns: 0,
            transport: Transport::default(),
            queue: 1,
        }
    }
}

/// A collective in progress.
#[derive(Clone, Debug)]
pub(crate) struct CollectiveSource {
    collective: Collective,
    number: u32,
    /// By participant: steps sent in this round.
    sent: Vec<u32>,
    /// Unfinished flows of this round.
    left: u64,
    rounds_left: u32,
}

impl CollectiveSource {
    pub(crate) fn new(collective: &Collective, number: u32) -> Self {
        CollectiveSource {
            number,
            sent: vec![0; collective.servers.len()],
            left: 0,
            rounds_left: collective.rounds,
            collective: collective.clone(),
        }
    }

    /// Whether a flow is part of it.
    pub(crate) fn owns(&self, flow: &Flow) -> bool {
        flow.class == FlowClass::Collective(self.number)
    }

    /// The first flows of a round.
    pub(crate) fn begin(&mut self, now_ns: u64, start: &mut Vec<Flow>) {
        let Some(rounds_left) = self.rounds_left.checked_sub(1) else { return };
        self.rounds_left = rounds_left;
        let count = self.collective.servers.len();
        let before = start.len();
        match self.collective.operation {
            CollectiveOperation::RingAllReduce => {
                self.sent.fill(1);
                self.left = count as u64 * u64::from(self.steps());
                start.extend((0..count).map(|at| self.flow(at, (at + 1) % count, now_ns)));
            }
            CollectiveOperation::AllToAll => {
                // In rotated order, so that not all send to the same one first.
                for shift in 1..count {
                    start.extend((0..count).map(|at| self.flow(at, (at + shift) % count, now_ns)));
                }
                self.left = (start.len() - before) as u64;
            }
        }
    }

    /// One of its flows has ended.
    pub(crate) fn flow_ended(&mut self, record: &FlowRecord, now_ns: u64, start: &mut Vec<Flow>) {
        self.left -= 1;
        if self.left == 0 {
            return self.begin(now_ns, start);
        }
        if self.collective.operation == CollectiveOperation::RingAllReduce
            && let Some(at) = self.collective.servers.iter().position(|&s| s == record.flow.to)
            && self.sent[at] < self.steps()
        {
            self.sent[at] += 1;
            start.push(self.flow(at, (at + 1) % self.sent.len(), now_ns));
        }
    }

    /// Steps of a ring all-reduce.
    fn steps(&self) -> u32 {
        2 * (self.sent.len() as u32 - 1)
    }

    fn flow(&self, from: usize, to: usize, start_ns: u64) -> Flow {
        let Collective { servers, bytes, transport, queue, .. } = &self.collective;
        Flow {
            start_ns,
            from: servers[from],
            to: servers[to],
            size_bytes: bytes.div_ceil(servers.len() as u64),
            class: FlowClass::Collective(self.number),
            connection: Connection::New,
            transport: *transport,
            queue: *queue,
            spines: None,
        }
    }
}
