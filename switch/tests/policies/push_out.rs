//! Policies that push packets out: LQD at either end of a queue, and Occamy.

use crate::traffic::{Arrivals, LINE_RATE_BPS, overload, switch_and_arrivals};
use dropcast_data::{Outcome, SwitchSpec, Victim};
use dropcast_switch::lqd::{LqdParameters, QueueEnd};
use dropcast_switch::policies::occamy::OccamyParameters;
use dropcast_switch::{
    Buffer, DynamicThresholds, Fit, LineRate, NoObserver, Observer, Packet, Policy, Removal,
    Slotted, Switch,
};
use proptest::prelude::*;
use std::collections::VecDeque;

/// The packets of each queue, as lists.
type Queues = Vec<VecDeque<(u64, u32)>>;

/// Keeps the lists, and the packets that were pushed out for the latest arrival.
struct Lists {
    queues: Queues,
    pushed_out: Vec<u64>,
    departed_bytes: u64,
}

impl Observer for Lists {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let queue = &mut self.queues[removal.queue];
        match removal.outcome {
            Outcome::Departed => {
                self.departed_bytes += u64::from(removal.packet.size_bytes);
                assert_eq!(queue.pop_front().map(|held| held.0), Some(removal.packet.id));
            }
            _ => self.pushed_out.push(removal.packet.id),
        }
    }
}

/// What a second implementation does with an arrival: it changes the lists, and returns whom it pushed out.
type Twin<'a> = dyn FnMut(&mut Queues, &Packet, u64, u64) -> Vec<u64> + 'a;

/// Runs both; they must push out and accept the same packets. Returns how many were pushed out.
fn compare(
    spec: &SwitchSpec,
    arrivals: &Arrivals,
    policy: impl Policy,
    twin: &mut Twin<'_>,
) -> Result<usize, TestCaseError> {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let queues = vec![VecDeque::new(); spec.queues()];
    let mut lists = Lists { queues, pushed_out: Vec::new(), departed_bytes: 0 };
    let mut all = 0;
    for (now, packet) in arrivals {
        switch.advance(*now, &mut lists);
        let wanted = twin(&mut lists.queues, packet, *now, lists.departed_bytes);
        lists.pushed_out.clear();
        switch.admit(packet, *now, &mut lists);
        prop_assert_eq!(&lists.pushed_out, &wanted);
        all += wanted.len();
        let bytes: Vec<u32> = lists.queues.iter().map(bytes).collect();
        prop_assert_eq!(switch.buffer().lengths(), &bytes[..]);
    }
    Ok(all)
}

fn bytes(queue: &VecDeque<(u64, u32)>) -> u32 {
    queue.iter().map(|held| held.1).sum()
}

fn total(queues: &Queues) -> u32 {
    queues.iter().map(bytes).sum()
}

/// While the packet does not fit, takes one from an end of the longest queue. If `victim` says so, the packet
/// counts as the tail of its own: then it may be the one that goes.
fn lqd(
    capacity: u32,
    victim: Victim,
    end: QueueEnd,
) -> impl FnMut(&mut Queues, &Packet, u64, u64) -> Vec<u64> {
    move |queues, packet, _, _| {
        let mut gone = Vec::new();
        loop {
            if total(queues) + packet.size_bytes <= capacity {
                queues[packet.queue].push_back((packet.id, packet.size_bytes));
                return gone;
            }
            let mut lengths: Vec<u32> = queues.iter().map(bytes).collect();
            if victim == Victim::Arrival {
                lengths[packet.queue] += packet.size_bytes;
            }
            let longest = *lengths.iter().max().expect("a queue");
            let from = lengths.iter().position(|&length| length == longest).expect("the longest");
            let is_own = victim == Victim::Arrival && from == packet.queue;
            let held = match end {
                QueueEnd::Tail if is_own => None,
                QueueEnd::Tail => queues[from].pop_back(),
                QueueEnd::Head => queues[from].pop_front(),
            };
            let Some((id, _)) = held else { return gone };
            gone.push(id);
        }
    }
}

/// Occamy as its paper describes it: spare reads expel heads, queue after queue.
fn occamy(spec: &SwitchSpec, alpha: f64) -> impl FnMut(&mut Queues, &Packet, u64, u64) -> Vec<u64> {
    let capacity = f64::from(spec.buffer_bytes);
    let rate: f64 = spec.line_rate_bps.iter().map(|&bps| bps as f64 / 8e9).sum();
    let (mut turn, mut spare, mut last_ns, mut read) = (0, 0.0, 0, 0);
    move |queues, packet, now, departed_bytes| {
        spare -= (departed_bytes - read) as f64;
        read = departed_bytes;
        spare += (now - last_ns) as f64 * rate;
        last_ns = now;
        let mut gone = Vec::new();
        loop {
            let threshold = alpha * (capacity - f64::from(total(queues)));
            let is_above = |queue: &usize| f64::from(bytes(&queues[*queue])) > threshold;
            let in_turn = (turn..queues.len()).chain(0..turn);
            let Some(next) = in_turn.into_iter().find(is_above) else {
                spare = f64::min(spare, 0.0);
                break;
            };
            if spare <= 0.0 {
                break;
            }
            let (id, size) = queues[next].pop_front().expect("above 0");
            spare -= f64::from(size);
            turn = (next + 1) % queues.len();
            gone.push(id);
        }
        let held = total(queues);
        let threshold = alpha * (capacity - f64::from(held));
        let fits = u64::from(held) + u64::from(packet.size_bytes) <= u64::from(spec.buffer_bytes);
        if fits && f64::from(bytes(&queues[packet.queue])) < threshold {
            queues[packet.queue].push_back((packet.id, packet.size_bytes));
        }
        gone
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lqd_pushes_out_either_end_of_the_longest_queue(
        (spec, arrivals) in switch_and_arrivals(),
        victim in prop_oneof![Just(Victim::Tail), Just(Victim::Arrival)],
        end in prop_oneof![Just(QueueEnd::Tail), Just(QueueEnd::Head)],
    ) {
        let policy = LqdParameters { end }.policy(victim);
        compare(&spec, &arrivals, policy, &mut lqd(spec.buffer_bytes, victim, end))?;
    }

    #[test]
    fn occamy_expels_heads_above_the_threshold_in_turn(
        (spec, arrivals) in switch_and_arrivals(),
        alpha in prop_oneof![Just(0.5), Just(1.0), Just(8.0)],
    ) {
        let parameters = OccamyParameters { alpha: alpha.try_into().expect("positive"), memory: 1.0 };
        let policy = parameters.policy(&spec).expect("valid");
        compare(&spec, &arrivals, policy, &mut occamy(&spec, alpha))?;
    }

    /// Unit packets: which end of a queue is pushed out changes no length, so both transmit as many.
    #[test]
    fn either_end_transmits_as_many_unit_packets(
        queues in 1_u16..5,
        buffer in 1_u32..12,
        arrivals in prop::collection::vec((0_usize..5, 0_u64..2), 1..200),
    ) {
        let spec = SwitchSpec::uniform(queues, LINE_RATE_BPS, buffer, 1);
        let lengths = |end| {
            let policy = LqdParameters { end }.policy(Victim::default());
            let mut switch = Switch::new(&spec, Fit::Exact, policy, Slotted::default());
            let mut slot = 0;
            let mut after = |(id, &(queue, gap)): (u64, &(usize, u64))| {
                slot += gap;
                let packet = Packet::new(id, queue % usize::from(queues), 1);
                switch.advance(slot, &mut NoObserver);
                switch.admit(&packet, slot, &mut NoObserver);
                switch.buffer().lengths().to_vec()
            };
            (0..).zip(&arrivals).map(&mut after).collect::<Vec<_>>()
        };
        prop_assert_eq!(lengths(QueueEnd::Tail), lengths(QueueEnd::Head));
    }
}

/// The paper's motivation: a queue that holds nearly the whole buffer gives it up to a burst at another port,
/// faster than it drains; Dynamic Thresholds with the same alpha wait for it.
#[test]
fn occamy_makes_room_faster_than_a_queue_drains() {
    let spec = SwitchSpec::uniform(8, LINE_RATE_BPS, 100_000, 1_000);
    let mut arrivals = overload(&[0], 4, 200);
    let end = arrivals.last().expect("many").0;
    let later = overload(&[1], 4, 90).into_iter();
    arrivals.extend(
        later.map(|(time, packet)| (end + time, Packet { id: 1_000 + packet.id, ..packet })),
    );
    let longest = |policy: Box<dyn Policy>| {
        let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
        for (now, packet) in &arrivals {
            switch.arrive(packet, *now);
        }
        switch.buffer().lengths()[1]
    };
    let occamy = OccamyParameters::default().policy(&spec).expect("valid");
    let (expelling, waiting) =
        (longest(Box::new(occamy)), longest(Box::new(DynamicThresholds::new(8.0))));
    assert!(2 * expelling > 3 * waiting, "{expelling}, {waiting}");
}
