//! Labels of flows in place of virtual LQD's: which packets more of their flow follow.

use dropcast_data::{LabelledBatch, Outcome, SwitchSpecs};
use std::collections::{BTreeMap, VecDeque};

/// A packet is followed if so many packets of its flow arrive at its switch within two base RTTs: enough for its sender to
/// notice within a round trip that it was dropped, and to repeat it.
pub const FOLLOWERS: usize = 3;

/// Labels rows by what follows them: a packet may be dropped if [`FOLLOWERS`] packets of its flow arrive within two base RTTs of it. Of
/// unknown flows, and at switches without a description, none may be.
///
/// Rows are given out in order, when two base RTTs have passed.
#[derive(Debug)]
pub struct FollowerLabels {
    specs: SwitchSpecs,
    /// Batches in order, and the number of the first's first row.
    held: VecDeque<LabelledBatch>,
    first: u64,
    next: u64,
    /// The last rows of each switch's flows, the latest first.
    flows: BTreeMap<(u16, u64), Recent>,
    /// How many flows are kept before those that are over are left out.
    most_flows: usize,
    longest_ns: u64,
    knows_flows: bool,
}

/// Times and rows.
type Recent = [Option<(u64, u64)>; FOLLOWERS];

/// Flows that are looked through for those that are over, at first.
const FEW_FLOWS: usize = 1 << 16;

impl FollowerLabels {
    /// No rows.
    pub fn new(specs: SwitchSpecs) -> Self {
        let longest_ns = specs.all().map(|spec| window_ns(spec.base_rtt_ns)).max().unwrap_or(0);
        FollowerLabels {
            specs,
            held: VecDeque::new(),
            first: 0,
            next: 0,
            flows: BTreeMap::new(),
            most_flows: FEW_FLOWS,
            longest_ns,
            knows_flows: false,
        }
    }

    /// Takes rows that keep their flows, in order of arrival, and returns the batches whose labels are known.
    pub fn push(&mut self, mut batch: LabelledBatch) -> Vec<LabelledBatch> {
        batch.drop.fill(false);
        batch.outcome = Some(vec![Outcome::Departed; batch.len()]);
        let Some(arrivals) = batch.arrivals.take() else {
            self.next += batch.len() as u64;
            self.held.push_back(batch);
            return Vec::new();
        };
        self.held.push_back(batch);
        let hashes = arrivals.flows.as_ref().map_or(&[][..], |flows| &flows.hash);
        self.knows_flows |= hashes.iter().any(|&hash| hash != 0);
        for (row, &hash) in hashes.iter().enumerate() {
            let (time_ns, switch_id) = (arrivals.time_ns[row], arrivals.switch_id[row]);
            if let Some(spec) = self.specs.get(switch_id).filter(|_| hash != 0) {
                let number = self.next + row as u64;
                let recent = self.flows.entry((switch_id, hash)).or_default();
                let before = recent[FOLLOWERS - 1];
                recent.rotate_right(1);
                recent[0] = Some((time_ns, number));
                if let Some((before_ns, before)) = before
                    && time_ns - before_ns <= window_ns(spec.base_rtt_ns)
                {
                    self.follow(before);
                }
            }
        }
        self.next += arrivals.time_ns.len() as u64;
        let last_ns = arrivals.time_ns.last().copied();
        if let Some(last) = self.held.back_mut() {
            last.arrivals = Some(arrivals);
        }
        last_ns.map_or_else(Vec::new, |last_ns| self.take(last_ns.saturating_sub(self.longest_ns)))
    }

    /// Ends the input, and returns the last rows.
    pub fn finish(&mut self) -> impl Iterator<Item = LabelledBatch> {
        self.first = self.next;
        self.held.drain(..)
    }

    /// Whether the flow of any packet so far is known: else no label says anything.
    pub fn knows_flows(&self) -> bool {
        self.knows_flows
    }

    /// Rows whose labels are not known.
    pub fn len(&self) -> usize {
        (self.next - self.first) as usize
    }

    /// Whether all labels are known.
    pub fn is_empty(&self) -> bool {
        self.next == self.first
    }

    /// A row is followed. It is held: it is at most a window old.
    fn follow(&mut self, row: u64) {
        let mut at = (row - self.first) as usize;
        for batch in &mut self.held {
            if at < batch.len() {
                batch.drop[at] = true;
                if let Some(outcomes) = &mut batch.outcome {
                    outcomes[at] = Outcome::Rejected;
                }
                return;
            }
            at -= batch.len();
        }
    }

    /// Gives out batches whose rows all arrived before, and leaves out flows that are over.
    fn take(&mut self, before_ns: u64) -> Vec<LabelledBatch> {
        if self.flows.len() > self.most_flows {
            self.flows.retain(|_, recent| recent[0].is_some_and(|(ns, _)| ns >= before_ns));
            self.most_flows = FEW_FLOWS.max(2 * self.flows.len());
        }
        let mut known = Vec::new();
        while let Some(batch) = self.held.pop_front() {
            let last_ns = batch.arrivals.as_ref().and_then(|of| of.time_ns.last().copied());
            if last_ns.is_none_or(|last_ns| last_ns >= before_ns) {
                self.held.push_front(batch);
                break;
            }
            self.first += batch.len() as u64;
            known.push(batch);
        }
        known
    }
}

fn window_ns(base_rtt_ns: u64) -> u64 {
    base_rtt_ns.saturating_mul(2)
}
