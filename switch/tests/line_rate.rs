//! The continuous byte model against a second implementation: LQD at line rate, with every
//! scheduler, written with plain vectors and scans over all ports and queues.

use dropcast_data::{Outcome, Scheduler, SwitchSpec};
use dropcast_switch::{Buffer, Fit, LineRate, Lqd, Observer, Packet, Removal, Switch, Victim};
use proptest::prelude::*;

/// An arrival: time, queue, bytes.
type Arrival = (u64, usize, u32);

/// Outcomes in time order: packet number, time, outcome.
type Fate = (u64, u64, Outcome);

struct Queue {
    packets: Vec<(u64, u32)>,
    is_shared: bool,
    is_pushable: bool,
    deficit: u64,
}

impl Queue {
    fn bytes(&self) -> u32 {
        self.packets.iter().map(|&(_, size)| size).sum()
    }
}

struct Port {
    queues: Vec<Queue>,
    /// When the transmission of each packet that left the buffer ends.
    ends: Vec<u64>,
    /// Start of its current busy period.
    backlogged_since: u64,
    /// Round robin: the queue served last. DWRR: the queue being visited.
    cursor: usize,
    /// DWRR: whether this visit's quantum was given.
    is_credited: bool,
}

impl Port {
    fn new(spec: &SwitchSpec) -> Self {
        let queues = (0..usize::from(spec.queues_per_port)).map(|queue| Queue {
            packets: Vec::new(),
            is_shared: spec.shared[queue],
            is_pushable: spec.shared[queue] && spec.pushable[queue],
            deficit: 0,
        });
        let mut port = Port {
            queues: queues.collect(),
            ends: Vec::new(),
            backlogged_since: 0,
            cursor: 0,
            is_credited: false,
        };
        if spec.scheduler == Scheduler::RoundRobin {
            // As if the last queue had just been served.
            port.cursor = port.queues.len() - 1;
        }
        port
    }

    /// When it may take its next packet out of the buffer: all but the last
    /// `transmit_ring_packets` are on the wire, or past it.
    fn free_at(&self, spec: &SwitchSpec) -> u64 {
        let ring = usize::from(spec.transmit_ring_packets);
        self.ends.iter().rev().nth(ring).copied().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.packets.is_empty())
    }

    /// The queue that is served next.
    fn choose(&mut self, spec: &SwitchSpec) -> usize {
        let n = self.queues.len();
        match spec.scheduler {
            Scheduler::StrictPriority => {
                (0..n).find(|&q| !self.queues[q].packets.is_empty()).expect("a packet waits")
            }
            Scheduler::RoundRobin => {
                let waiting = (0..n).filter(|&q| !self.queues[q].packets.is_empty());
                let next = waiting.min_by_key(|&q| (q + n - self.cursor - 1) % n);
                self.cursor = next.expect("a packet waits");
                self.cursor
            }
            Scheduler::Dwrr => self.choose_dwrr(spec),
        }
    }

    fn choose_dwrr(&mut self, spec: &SwitchSpec) -> usize {
        loop {
            let queue = &mut self.queues[self.cursor];
            match queue.packets.first() {
                None => queue.deficit = 0,
                Some(&(_, size)) => {
                    if !self.is_credited {
                        queue.deficit += u64::from(spec.quantum_bytes[self.cursor]);
                        self.is_credited = true;
                    }
                    if u64::from(size) <= queue.deficit {
                        queue.deficit -= u64::from(size);
                        return self.cursor;
                    }
                }
            }
            self.cursor = (self.cursor + 1) % self.queues.len();
            self.is_credited = false;
        }
    }

    /// A port with nothing to send when it is free restarts its rounds.
    fn forget_rounds(&mut self) {
        self.cursor = 0;
        self.is_credited = false;
        self.queues.iter_mut().for_each(|queue| queue.deficit = 0);
    }
}

struct Naive<'a> {
    spec: &'a SwitchSpec,
    fit: Fit,
    victim: Victim,
    ports: Vec<Port>,
    fates: Vec<Fate>,
}

impl Naive<'_> {
    /// All departures up to and including `now`, each the earliest there is.
    fn serve(&mut self, now: u64) {
        loop {
            let backlogged = (0..self.ports.len()).filter(|&p| !self.ports[p].is_empty());
            let due = backlogged
                .map(|p| (self.ports[p].free_at(self.spec).max(self.ports[p].backlogged_since), p))
                .min()
                .filter(|&(time, _)| time <= now);
            let Some((time, p)) = due else { return };
            let port = &mut self.ports[p];
            let queue = port.choose(self.spec);
            let (id, size) = port.queues[queue].packets.remove(0);
            let begin = port.ends.last().map_or(time, |&end| end.max(time));
            port.ends.push(begin + self.spec.wire_time_ns(p, size));
            self.fates.push((id, time, Outcome::Departed));
        }
    }

    fn arrive(&mut self, id: u64, (now, queue, size): Arrival) {
        let per_port = usize::from(self.spec.queues_per_port);
        let (p, q) = (queue / per_port, queue % per_port);
        if self.ports[p].queues[q].is_shared && !self.make_room(p, q, size, now) {
            self.fates.push((id, now, Outcome::Rejected));
            return;
        }
        let port = &mut self.ports[p];
        if port.is_empty() {
            port.backlogged_since = now;
            if self.spec.scheduler == Scheduler::Dwrr && port.free_at(self.spec) <= now {
                port.forget_rounds();
            }
        }
        port.queues[q].packets.push((id, size));
    }

    fn occupancy(&self) -> u32 {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        queues.filter(|queue| queue.is_shared).map(Queue::bytes).sum()
    }

    fn make_room(&mut self, p: usize, q: usize, size: u32, now: u64) -> bool {
        let capacity = self.spec.buffer_bytes;
        while self.occupancy() + size > capacity {
            // The longest queue, the first of several; an arriving packet may count in its own.
            let mut longest: Option<(u32, usize, usize)> = None;
            for (at_p, port) in self.ports.iter().enumerate() {
                for (at_q, queue) in port.queues.iter().enumerate() {
                    let counted = self.victim == Victim::Arrival && (at_p, at_q) == (p, q);
                    let bytes = queue.bytes() + if counted { size } else { 0 };
                    if queue.is_pushable && bytes > longest.map_or(0, |(most, ..)| most) {
                        longest = Some((bytes, at_p, at_q));
                    }
                }
            }
            let Some((_, from_p, from_q)) = longest else { return false };
            if self.victim == Victim::Arrival && (from_p, from_q) == (p, q) {
                return false;
            }
            let tail = self.ports[from_p].queues[from_q].packets.pop();
            let (id, _) = tail.expect("the longest queue is not empty");
            self.fates.push((id, now, Outcome::PushedOut));
        }
        match self.fit {
            Fit::Exact => true,
            Fit::Strict => self.occupancy() + size < capacity,
        }
    }
}

#[derive(Default)]
struct Fates(Vec<Fate>);

impl Observer for Fates {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0.push((removal.packet.id, removal.time, removal.outcome));
    }
}

/// Late enough for every packet to have left.
const END: u64 = 1 << 40;

fn by_the_crate(spec: &SwitchSpec, fit: Fit, victim: Victim, arrivals: &[Arrival]) -> Vec<Fate> {
    let mut fates = Fates::default();
    let mut switch = Switch::new(spec, fit, Lqd::new(victim), LineRate::new(spec));
    for (id, &(time, queue, size_bytes)) in (0..).zip(arrivals) {
        switch.advance(time, &mut fates);
        if !switch.admit(&Packet::new(id, queue, size_bytes), time, &mut fates) {
            fates.0.push((id, time, Outcome::Rejected));
        }
    }
    switch.advance(END, &mut fates);
    fates.0
}

fn by_hand(spec: &SwitchSpec, fit: Fit, victim: Victim, arrivals: &[Arrival]) -> Vec<Fate> {
    let ports = (0..spec.ports()).map(|_| Port::new(spec)).collect();
    let mut naive = Naive { spec, fit, victim, ports, fates: Vec::new() };
    for (id, &arrival) in (0..).zip(arrivals) {
        naive.serve(arrival.0);
        naive.arrive(id, arrival);
    }
    naive.serve(END);
    naive.fates
}

/// Up to 4 ports of up to 3 queues, of any kind.
fn specs() -> impl Strategy<Value = SwitchSpec> {
    let schedulers = prop_oneof![
        Just(Scheduler::RoundRobin),
        Just(Scheduler::StrictPriority),
        Just(Scheduler::Dwrr)
    ];
    let rates = prop_oneof![Just(10_000_000_000u64), Just(8_000_000_000), Just(25_000_000_000)];
    (prop::collection::vec(rates, 1..=4), 1u8..=3, 1000u32..6000, (0u32..40, 0u16..3), schedulers)
        .prop_flat_map(|(line_rate_bps, queues, buffer_bytes, wire, scheduler)| {
            let per_queue = usize::from(queues);
            let kinds = prop::collection::vec(
                (prop::bool::weighted(0.8), prop::bool::weighted(0.8), 100u32..2000),
                per_queue,
            );
            kinds.prop_map(move |kinds| SwitchSpec {
                name: None,
                buffer_bytes,
                base_rtt_ns: 1000,
                line_rate_bps: line_rate_bps.clone(),
                queues_per_port: queues,
                scheduler,
                wire_overhead_bytes: wire.0,
                transmit_ring_packets: wire.1,
                pushable: kinds.iter().map(|kind| kind.0).collect(),
                shared: kinds.iter().map(|kind| kind.1).collect(),
                reserved_bytes: Vec::new(),
                dt_alpha: Vec::new(),
                alpha_is_power: false,
                slack_bytes: 0,
                port_names: Vec::new(),
                quantum_bytes: kinds
                    .iter()
                    .filter(|_| scheduler == Scheduler::Dwrr)
                    .map(|kind| kind.2)
                    .collect(),
                role: None,
            })
        })
}

/// Packets of few sizes at times with many ties, so that queues tie and ports fall due together.
fn arrivals(queues: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 3 => 1u64..300, 1 => Just(1000), 1 => 0u64..5000];
    let size = prop_oneof![3 => Just(1000u32), 2 => Just(500), 2 => 1u32..1500];
    prop::collection::vec((gap, 0..queues, size), 1..150).prop_map(|packets| {
        let mut now = 0;
        let at = |(gap, queue, size)| {
            now += gap;
            (now, queue, size)
        };
        packets.into_iter().map(at).collect()
    })
}

fn cases() -> impl Strategy<Value = (SwitchSpec, Vec<Arrival>)> {
    specs().prop_flat_map(|spec| {
        let queues = spec.queues();
        (Just(spec), arrivals(queues))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn lqd_at_line_rate_agrees_with_a_naive_implementation((spec, arrivals) in cases()) {
        for fit in [Fit::Exact, Fit::Strict] {
            for victim in [Victim::Tail, Victim::Arrival] {
                let ours = by_the_crate(&spec, fit, victim, &arrivals);
                prop_assert_eq!(ours.len(), arrivals.len(), "every packet has one fate");
                prop_assert_eq!(ours, by_hand(&spec, fit, victim, &arrivals), "{:?} {:?}", fit, victim);
            }
        }
    }
}

#[test]
fn the_cases_push_out_and_reject() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = [0; 3];
    for _ in 0..200 {
        let (spec, arrivals) = cases().new_tree(&mut runner).expect("a case").current();
        for (_, _, outcome) in by_the_crate(&spec, Fit::Strict, Victim::Arrival, &arrivals) {
            let kinds = [Outcome::Departed, Outcome::PushedOut, Outcome::Rejected];
            seen[kinds.iter().position(|&kind| kind == outcome).expect("one of three")] += 1;
        }
    }
    assert!(seen.iter().all(|&times| times > 200), "{seen:?}");
}
