//! Early drops in bursts.

use crate::traffic::{Arrivals, LINE_RATE_BPS, accepted};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::spare_tails::{LEAST_BYTES, SpareTailsParameters};
use dropcast_switch::{Buffer, Decision, Packet, Policy, PolicySite};
use proptest::prelude::*;

/// A packet that counts, as it arrived.
#[derive(Clone, Copy)]
struct Seen {
    flow: u64,
    now: u64,
    has_given: bool,
}

/// What the packets until now say of each, all over again for each packet, over Complete Sharing.
struct Slow {
    own: SpareTailsParameters,
    window_ns: u64,
    seen: Vec<Seen>,
}

/// Of one packet that was seen.
#[derive(Clone, Copy)]
struct Place {
    /// The first packet of its flow.
    first: usize,
    /// Packets of the flow before it.
    number: usize,
    is_in_burst: bool,
}

impl Slow {
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (index, packet) in self.seen.iter().enumerate() {
            let slot = |flow: u64| flow % self.own.flows as u64;
            let earlier =
                (0..index).rev().find(|&at| slot(self.seen[at].flow) == slot(packet.flow));
            let before = earlier.filter(|&at| {
                let last = self.seen[at];
                last.flow == packet.flow && packet.now - last.now <= self.own.silence_ns
            });
            let (first, number) =
                before.map_or((index, 0), |at| (places[at].first, places[at].number + 1));
            places.push(Place { first, number, is_in_burst: false });
            let began = (0..=index).filter(|&at| places[at].number == 0);
            let lately = began.filter(|&at| packet.now - self.seen[at].now < self.window_ns);
            places[index].is_in_burst = lately.count() >= self.own.burst_flows;
        }
        places
    }

    /// Bursts, as their first packets and those after their last; the last may go on.
    fn bursts(&self, places: &[Place]) -> Vec<(usize, Option<usize>)> {
        let mut bursts: Vec<(usize, Option<usize>)> = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let now = self.seen[index].now;
            if let Some((first, end @ None)) = bursts.last_mut()
                && (!place.is_in_burst || now - self.seen[*first].now >= 8 * self.window_ns)
            {
                *end = Some(index);
            }
            let is_going_on = bursts.last().is_some_and(|(_, end)| end.is_none());
            if place.is_in_burst && !is_going_on {
                bursts.push((index, None));
            }
        }
        bursts
    }

    /// Whether the last packet is dropped early, if the base accepts it and its queue is long.
    fn gives(&self) -> bool {
        let places = self.places();
        let Some(last) = places.len().checked_sub(1) else { return false };
        let (mut reached, mut safe) = ([0_u32; 32], [false; 32]);
        let bursts = self.bursts(&places);
        for (index, place) in places.iter().enumerate() {
            if bursts.iter().any(|(_, end)| *end == Some(index)) {
                for (packet, is_safe) in safe.iter_mut().enumerate().take(28) {
                    let [here, behind] = [packet, packet + 4].map(|at: usize| reached[at]);
                    *is_safe = here >= 8 && here >= reached[0] / 8 && 10 * behind >= 9 * here;
                }
                reached = reached.map(|flows| flows - flows / 8);
            }
            let own = (place.first..=index).filter(|&at| places[at].first == place.first);
            let is_of_burst = |at: &usize| {
                let since_ns = self.seen[*at].now - self.seen[place.first].now;
                places[*at].is_in_burst && since_ns < self.window_ns
            };
            let counts_from = own.clone().find(is_of_burst);
            for at in
                own.filter(|&at| counts_from == Some(index) || counts_from.is_some() && at == index)
            {
                if let Some(flows) = reached.get_mut(places[at].number) {
                    *flows += 1;
                }
            }
        }
        let Place { first, number, is_in_burst } = places[last];
        let has_given =
            (first..last).any(|at| places[at].first == first && self.seen[at].has_given);
        is_in_burst && number < 32 && safe[number] && !has_given
    }
}

impl Policy for Slow {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let lengths = (0..buffer.queues()).map(|queue| u64::from(buffer.queue_bytes(queue)));
        let held: u64 = lengths.sum();
        let [size, capacity] = [packet.size_bytes, buffer.capacity_bytes()].map(u64::from);
        let base = if held + size <= capacity { Decision::Accept } else { Decision::Reject };
        if packet.flow_hash == 0 || packet.size_bytes < LEAST_BYTES {
            return base;
        }
        self.seen.push(Seen { flow: packet.flow_hash, now, has_given: false });
        let queue_bytes = u64::from(buffer.queue_bytes(packet.queue));
        let is_long = 2 * queue_bytes * buffer.ports() as u64 >= capacity;
        let is_held = held >= (self.own.least_held * capacity as f64) as u64;
        if base == Decision::Accept && is_held && is_long && self.gives() {
            self.seen.last_mut().expect("just pushed").has_given = true;
            return Decision::Reject;
        }
        base
    }
}

fn parameters(burst_flows: usize) -> SpareTailsParameters {
    SpareTailsParameters {
        base: Box::new("complete-sharing".parse().expect("a policy")),
        burst_flows,
        window_ns: Some(5_000),
        ..SpareTailsParameters::default()
    }
}

fn dropped(spec: &SwitchSpec, arrivals: &Arrivals, own: &SpareTailsParameters) -> Vec<u64> {
    let policy = own.policy(PolicySite::new(spec, 1)).expect("valid parameters");
    let accepted = accepted(spec, arrivals, policy);
    let all = arrivals.iter().zip(accepted);
    all.filter(|(_, is_accepted)| !is_accepted).map(|((_, packet), _)| packet.id).collect()
}

/// Bursts, one after the other: of so many flows that send so many packets each, one packet of each flow in turn.
fn bursts(rounds: &[(u64, u64, u32)], apart_ns: u64) -> Arrivals {
    let mut arrivals = Arrivals::new();
    let mut flow = 0;
    for (round, &(flows, packets, size_bytes)) in (0..).zip(rounds) {
        for number in 0..packets {
            for own in 1..=flows {
                let packet = Packet::new(arrivals.len() as u64, (round % 2) as usize, size_bytes);
                let flow_hash = flow + own;
                arrivals.push((round * apart_ns + 100 * number, Packet { flow_hash, ..packet }));
            }
        }
        // The last flow of a round sends in the next one, too.
        flow += flows - 1;
    }
    arrivals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn drops_early_what_the_definition_says(
        rounds in prop::collection::vec((1_u64..9, 4_u64..9, 400_u32..1_500), 1..16),
        apart_ns in prop_oneof![Just(3_000_u64), Just(20_000), Just(60_000)],
        burst_flows in 1_usize..5,
        silence_ns in prop_oneof![Just(2_000_u64), Just(10_000_000)],
        least_held in 0.0..0.7_f64,
    ) {
        let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 24_000, 4_000);
        let own = SpareTailsParameters {
            silence_ns, least_held, flows: 16, ..parameters(burst_flows)
        };
        let arrivals = bursts(&rounds, apart_ns);
        let slow = Slow { own: own.clone(), window_ns: 5_000, seen: Vec::new() };
        let expected = accepted(&spec, &arrivals, slow);
        let fast = own.policy(PolicySite::new(&spec, 1)).expect("valid parameters");
        prop_assert_eq!(accepted(&spec, &arrivals, fast), expected);
    }
}

/// Four flows of twelve packets overflow 40,000 bytes. The first burst's drops are the base's, of tails; in the next, each
/// flow gives a packet when the buffer is half full, which four others follow.
#[test]
fn flows_of_a_burst_give_an_early_packet() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 40_000, 4_000);
    let arrivals = bursts(&[(4, 12, 1_000); 6], 100_000);
    let number = |id: u64| id % 48 / 4;
    let dropped = dropped(&spec, &arrivals, &parameters(3));
    let of_round = |round: u64| dropped.iter().copied().filter(move |id| id / 48 == round);
    assert!(of_round(0).count() > 0 && of_round(0).all(|id| number(id) >= 9));
    for round in 4..6 {
        let early: Vec<u64> = of_round(round).filter(|&id| number(id) < 9).collect();
        // One of the four was there before, and is past its early packets.
        assert_eq!(early.iter().map(|id| id % 4).collect::<Vec<_>>(), [1, 2, 3], "{dropped:?}");
        assert!(early.into_iter().all(|id| (5..=7).contains(&number(id))));
    }
}

/// Where bursts fit, nothing is dropped, and where flows have too few packets that follow, only what does not fit.
#[test]
fn nothing_is_dropped_early_where_it_would_not_help() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 40_000, 4_000);
    let fit = bursts(&[(6, 6, 1_000); 20], 100_000);
    assert!(dropped(&spec, &fit, &parameters(6)).is_empty());
    let short = bursts(&[(16, 4, 1_000); 20], 100_000);
    let of_base = accepted(&spec, &short, dropcast_switch::CompleteSharing);
    let of_base = (0..).zip(of_base).filter(|(_, is_accepted)| !is_accepted).map(|(id, _)| id);
    let of_base: Vec<u64> = of_base.collect();
    assert!(!of_base.is_empty());
    assert_eq!(dropped(&spec, &short, &parameters(6)), of_base);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 40_000, 4_000);
    let refused = |text: &str| {
        let policy: dropcast_switch::PolicySpec = text.parse().expect("readable");
        policy.build(PolicySite::new(&spec, 1)).err().expect("refused").to_string()
    };
    assert!(refused("spare-tails:base=lqd").contains("pushes packets out"));
    let with_model = "spare-tails:base={name='credence',model='model.json'}";
    assert!(refused(with_model).contains("credence has a model"));
    assert!(refused("spare-tails:burst_flows=0").contains("expected 1 to 65536"));
    assert!(refused("spare-tails:least_held=2").contains("expected 0 to 1"));
    assert!(refused("spare-tails:flows=3").contains("power of two"));
}
