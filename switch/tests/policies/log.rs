//! A policy compared with a slow one that decides from the log of all events.

use dropcast_switch::{Buffer, Decision, Packet, Policy};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::fmt::Debug;

/// Something that happened at a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A packet arrived, and was accepted or not.
    Arrived { packet: Packet, accepted: bool, time: u64 },
    /// A packet left a queue.
    Departed { queue: usize, size_bytes: u32, time: u64 },
}

/// The inputs of a decision.
pub(crate) struct Moment<'a> {
    pub(crate) log: &'a [Event],
    pub(crate) buffer: &'a Buffer,
    pub(crate) packet: &'a Packet,
    pub(crate) now: u64,
}

impl Moment<'_> {
    /// Length of each queue after the first `events`, by adding up.
    pub(crate) fn lengths_after(&self, events: usize) -> Vec<u32> {
        let mut lengths = vec![0; self.buffer.queues()];
        for event in &self.log[..events] {
            match *event {
                Event::Arrived { packet, accepted: true, .. } => {
                    lengths[packet.queue] += packet.size_bytes;
                }
                Event::Arrived { .. } => {}
                Event::Departed { queue, size_bytes, .. } => lengths[queue] -= size_bytes,
            }
        }
        lengths
    }

    /// Whether a packet is accepted by the rule of thresholds.
    pub(crate) fn is_below(&self, threshold: f64) -> bool {
        let length = f64::from(self.buffer.lengths()[self.packet.queue]);
        length < threshold && self.buffer.fits(self.packet.size_bytes)
    }
}

/// The policy; every decision must equal `expected`.
pub(crate) struct Watched<P, F> {
    pub(crate) policy: P,
    log: Vec<Event>,
    expected: F,
    /// Packets rejected and accepted.
    pub(crate) counts: [usize; 2],
}

impl<P: Policy, F: Fn(&Moment<'_>) -> bool> Watched<P, F> {
    pub(crate) fn new(policy: P, expected: F) -> Self {
        Watched { policy, log: Vec::new(), expected, counts: [0; 2] }
    }
}

impl<P: Policy, F: Fn(&Moment<'_>) -> bool> Policy for Watched<P, F> {
    fn advance(&mut self, now: u64) {
        self.policy.advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.policy.arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let decision = self.policy.decide(buffer, packet, now);
        let expected = (self.expected)(&Moment { log: &self.log, buffer, packet, now });
        assert_eq!(decision == Decision::Accept, expected, "{packet:?} at {now}");
        decision
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.counts[usize::from(accepted)] += 1;
        self.log.push(Event::Arrived { packet: *packet, accepted, time: now });
        self.policy.settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.log.push(Event::Departed { queue, size_bytes, time });
        self.policy.departed(buffer, queue, size_bytes, time);
    }
}

/// Tries random cases of switches and arrivals; `test` returns how many packets were rejected and how
/// many accepted, and among all there must be some of both.
pub(crate) fn try_random<T: Debug>(
    cases: u32,
    strategy: impl Strategy<Value = T>,
    test: impl Fn(T) -> [usize; 2],
) {
    let total = Cell::new([0; 2]);
    let mut runner = TestRunner::new(Config::with_cases(cases));
    let result = runner.run(&strategy, |case| {
        let [rejected, accepted] = test(case);
        let [all_rejected, all_accepted] = total.get();
        total.set([all_rejected + rejected, all_accepted + accepted]);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(total.get().iter().all(|&count| count > 0), "{:?} rejected, accepted", total.get());
}
