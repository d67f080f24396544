//! Early drops in bursts.

use crate::traffic::{Arrivals, LINE_RATE_BPS, accepted};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;
use dropcast_switch::{Buffer, Decision, Packet, Policy, PolicySite};
use proptest::prelude::*;

/// Shorter packets are the base's alone.
const LEAST_BYTES: u32 = 512;

/// A packet that counts, as it arrived, and its place among those before it.
#[derive(Clone, Copy)]
struct Seen {
    flow: u64,
    queue: usize,
    now: u64,
    /// The first packet of its flow.
    first: usize,
    /// Packets of the flow before it.
    number: usize,
    is_in_burst: bool,
    /// It comes after the first pause of its flow.
    is_later: bool,
    is_dropped: bool,
}

/// What the packets until now say of each, all over again for each packet, over Complete Sharing.
struct Slow {
    own: SpareTailsParameters,
    window_ns: u64,
    seen: Vec<Seen>,
}

impl Slow {
    fn see(&mut self, flow: u64, queue: usize, now: u64) {
        let slot = |flow: u64| flow % self.own.flows as u64;
        let index = self.seen.len();
        let earlier = self.seen.iter().rev().find(|seen| slot(seen.flow) == slot(flow));
        let before = earlier
            .filter(|last| last.flow == flow && now - last.now <= self.own.silence_ns.into());
        let (first, number) = before.map_or((index, 0), |last| (last.first, last.number + 1));
        let is_later = before.is_some_and(|last| {
            let so_far_ns = last.now - self.seen[first].now;
            let pauses = number >= 4 && (now - last.now) * (number as u64 - 1) > 8 * so_far_ns;
            last.is_later || pauses
        });
        let began = self.seen.iter().filter(|seen| seen.number == 0 && seen.queue == queue);
        let lately = began.filter(|seen| now - seen.now < self.window_ns).count();
        let is_in_burst = lately + usize::from(number == 0) >= self.own.burst_flows;
        let is_dropped = false;
        let place = Seen { flow, queue, now, first, number, is_in_burst, is_later, is_dropped };
        self.seen.push(place);
    }

    /// The packets with which bursts end.
    fn ends(&self) -> Vec<usize> {
        let mut ends = Vec::new();
        for queue in 0..2 {
            let mut since_ns = None;
            let of_queue = |(_, seen): &(usize, &Seen)| seen.queue == queue;
            for (index, seen) in self.seen.iter().enumerate().filter(of_queue) {
                if since_ns.is_some_and(|since| {
                    !seen.is_in_burst || seen.now - since >= 8 * self.window_ns
                }) {
                    ends.push(index);
                    since_ns = None;
                }
                since_ns = since_ns.or(seen.is_in_burst.then_some(seen.now));
            }
        }
        ends
    }

    /// Packets that flows may give, when the last packet arrives.
    fn may_give(&self) -> [bool; 32] {
        let (mut reached, mut may_give) = ([0_u32; 32], [false; 32]);
        let (mut went_on, mut known) = (0, 0);
        let mut long = Vec::new();
        let ends = self.ends();
        for (index, seen) in self.seen.iter().enumerate() {
            if ends.contains(&index) {
                let is_safe = |packet: usize| {
                    let [here, behind] = [reached[packet], reached[packet + 4]];
                    here >= 8 && here >= reached[0] / 8 && 10 * behind >= 9 * here
                };
                let safe: Vec<usize> = (0..28).filter(|&packet| is_safe(packet)).collect();
                may_give = [false; 32];
                for &packet in &safe {
                    let is_in_later_half = safe.iter().all(|&other| other <= 2 * packet);
                    may_give[packet] = is_in_later_half && known >= 8 && went_on <= known / 2;
                }
                reached = reached.map(|flows| flows - flows / 8);
                went_on -= went_on / 8;
                known = reached[0];
            }
            let own: Vec<&Seen> = self.seen[seen.first..=index]
                .iter()
                .filter(|other| other.first == seen.first)
                .collect();
            let is_of_burst = |packet: &&&Seen| {
                let since_ns = packet.now - own[0].now;
                !packet.is_later && packet.is_in_burst && since_ns < self.window_ns
            };
            let counts_from = own.iter().find(is_of_burst).map(|packet| packet.number);
            for packet in own.iter().filter(|packet| !packet.is_later) {
                let is_now = counts_from == Some(seen.number)
                    || counts_from.is_some() && packet.number == seen.number;
                if let Some(flows) = reached.get_mut(packet.number).filter(|_| is_now) {
                    *flows += 1;
                }
            }
            let later = own.iter().filter(|packet| packet.is_later).count();
            let dropped = own.iter().filter(|packet| packet.is_dropped && !packet.is_later).count();
            if later > dropped + 16 && counts_from.is_some() && !long.contains(&seen.first) {
                long.push(seen.first);
                went_on += 1;
            }
        }
        may_give
    }

    /// The packets of the last one's first flight that arrived before it.
    fn flight(&self) -> Vec<&Seen> {
        let (last, before) = self.seen.split_last().expect("a packet");
        before.iter().filter(|seen| seen.first == last.first && !seen.is_later).collect()
    }

    /// Whether the last packet is dropped early, if its queue is long.
    fn gives(&self) -> bool {
        let last = self.seen.last().expect("a packet");
        let has_lost = self.flight().iter().any(|seen| seen.is_dropped);
        last.is_in_burst && self.may_give().get(last.number) == Some(&true) && !has_lost
    }

    /// Whether the last packet is dropped if its queue holds more than is free.
    fn makes_room(&self) -> bool {
        let last = self.seen.last().expect("a packet");
        let flight = self.flight();
        let since_loss = flight.iter().skip_while(|seen| !seen.is_dropped);
        let telling = since_loss.filter(|seen| !seen.is_dropped).count();
        let is_first_flight =
            !last.is_later && last.now - self.seen[last.first].now < self.window_ns;
        let lost = flight.iter().filter(|seen| seen.is_dropped).count();
        let tells = telling >= 3 && lost < 8;
        last.is_in_burst && is_first_flight && tells && self.may_give().contains(&true)
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
        self.see(packet.flow_hash, packet.queue, now);
        let queue_bytes = u64::from(buffer.queue_bytes(packet.queue));
        let is_long = 2 * queue_bytes * buffer.ports() as u64 >= capacity;
        let is_held = held >= (self.own.least_held * capacity as f64) as u64;
        let gives = is_held && is_long && self.gives();
        let makes_room = queue_bytes > capacity - held && self.makes_room();
        let decision = if gives || makes_room { Decision::Reject } else { base };
        self.seen.last_mut().expect("just pushed").is_dropped = decision == Decision::Reject;
        decision
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

/// A burst: of so many flows, packets of each, bytes of a packet, and packets after a pause.
type Burst = (u64, u64, u32, u64);

/// Bursts, one after the other, by turns at two queues; one packet of each flow in turn.
fn bursts(rounds: &[Burst], apart_ns: u64) -> Arrivals {
    let mut arrivals = Arrivals::new();
    let mut flow = 0;
    for (round, &(flows, packets, size_bytes, later)) in (0..).zip(rounds) {
        for number in 0..packets + later {
            let pause_ns = if number < packets { 0 } else { 2_000 };
            for own in 1..=flows {
                let packet = Packet::new(arrivals.len() as u64, (round % 2) as usize, size_bytes);
                let at_ns = round * apart_ns + 100 * number + pause_ns;
                arrivals.push((at_ns, Packet { flow_hash: flow + own, ..packet }));
            }
        }
        // The last flow of a round sends in the next one, too.
        flow += flows - 1;
    }
    arrivals.sort_by_key(|&(at_ns, _)| at_ns);
    arrivals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn drops_early_what_the_definition_says(
        rounds in prop::collection::vec(
            (1_u64..9, 4_u64..9, 400_u32..1_500, prop_oneof![3 => Just(0_u64), 1 => 1_u64..24]),
            1..16,
        ),
        apart_ns in prop_oneof![Just(3_000_u64), Just(20_000), Just(60_000)],
        burst_flows in 1_usize..5,
        silence_ns in prop_oneof![Just(2_000_u32), Just(10_000_000)],
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

/// Four flows of twelve packets overflow 40,000 bytes. The first bursts' drops are the base's, of tails; in later ones at the same
/// queue each flow gives a packet once so much of the buffer is held, which four others follow.
#[test]
fn flows_of_a_burst_give_an_early_packet() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 40_000, 4_000);
    let arrivals = bursts(&[(4, 12, 1_000, 0); 8], 100_000);
    let number = |id: u64| id % 48 / 4;
    for (least_held, expected) in [(0.25, 4..=4), (0.5, 5..=7)] {
        let own = SpareTailsParameters { least_held, ..parameters(3) };
        let dropped = dropped(&spec, &arrivals, &own);
        let of_round = |round: u64| dropped.iter().copied().filter(move |id| id / 48 == round);
        assert!(of_round(0).count() > 0 && of_round(0).all(|id| number(id) >= 9));
        for round in 6..8 {
            let early: Vec<u64> = of_round(round).filter(|&id| number(id) < 8).collect();
            // One of the four was there before, and is past its early packets.
            assert_eq!(early.iter().map(|id| id % 4).collect::<Vec<_>>(), [1, 2, 3], "{dropped:?}");
            let numbers: Vec<u64> = early.into_iter().map(number).collect();
            assert!(numbers.iter().all(|of| expected.contains(of)), "{least_held}: {numbers:?}");
        }
    }
}

/// Where bursts fit, nothing is dropped; where flows have too few packets that follow, or many more after a pause, only what
/// does not fit.
#[test]
fn nothing_is_dropped_early_where_it_would_not_help() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 40_000, 4_000);
    let of_base = |arrivals: &Arrivals| -> Vec<u64> {
        let accepted = accepted(&spec, arrivals, dropcast_switch::CompleteSharing);
        let all = arrivals.iter().zip(accepted);
        all.filter(|(_, is_accepted)| !is_accepted).map(|((_, packet), _)| packet.id).collect()
    };
    let fit = bursts(&[(6, 6, 1_000, 0); 20], 100_000);
    assert!(dropped(&spec, &fit, &parameters(6)).is_empty());
    for burst in [(16, 4, 1_000, 0), (4, 12, 1_000, 30)] {
        let arrivals = bursts(&[burst; 20], 200_000);
        assert!(!of_base(&arrivals).is_empty());
        assert_eq!(dropped(&spec, &arrivals, &parameters(3)), of_base(&arrivals));
    }
    // The same flows with nothing after a pause give.
    let arrivals = bursts(&[(4, 12, 1_000, 0); 20], 200_000);
    assert_ne!(dropped(&spec, &arrivals, &parameters(3)), of_base(&arrivals));
    // So do they beside others that go on, and are of no burst.
    let beside = [[(4, 12, 1_000, 0)].as_slice(), &[(2, 12, 1_000, 30); 3]].concat();
    let arrivals = bursts(&beside.repeat(10), 200_000);
    assert_ne!(dropped(&spec, &arrivals, &parameters(3)), of_base(&arrivals));
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
    assert!(refused("spare-tails:burst_flows=0").contains("expected 1 to 8"));
    assert!(refused("spare-tails:burst_flows=9").contains("expected 1 to 8"));
    assert!(refused("spare-tails:window_ns=0").contains("expected at least 1"));
    assert!(refused("spare-tails:least_held=2").contains("expected 0 to 1"));
    assert!(refused("spare-tails:flows=3").contains("power of two"));
}
