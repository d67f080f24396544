//! Arrival sequences of the slotted model, and what the crate's switches transmit of them.

use dropcast_data::{Outcome, SwitchSpec};
use dropcast_switch::{
    Buffer, CompletePartitioning, CompleteSharing, Credence, DynamicThresholds, Fit, FollowLqd,
    Harmonic, Lqd, Observer, Packet, Policy, Recorded, Removal, Slotted, Switch, Victim,
};
use proptest::prelude::*;

/// Output ports of the packets of each slot, in order of arrival. Packets are numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) ports: usize,
    pub(crate) buffer: u8,
    pub(crate) slots: Vec<Vec<usize>>,
}

#[derive(Default)]
struct Departures(Vec<u64>);

impl Observer for Departures {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::Departed {
            self.0.push(removal.packet.id);
        }
    }
}

impl Sequence {
    pub(crate) fn spec(&self) -> SwitchSpec {
        SwitchSpec::uniform(self.ports as u16, 1, u32::from(self.buffer), 1)
    }

    /// Slot and packet, in order of arrival.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (u64, Packet)> {
        let packets = (0..)
            .zip(&self.slots)
            .flat_map(|(slot, ports)| ports.iter().map(move |&port| (slot, port)));
        packets.zip(0..).map(|((slot, queue), id)| (slot, Packet::new(id, queue, 1)))
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.iter().map(Vec::len).sum()
    }

    /// For each packet, whether `policy` transmits it. Packets that are not `kept` are not shown
    /// to it.
    pub(crate) fn replay(&self, kept: impl Fn(u64) -> bool, policy: impl Policy) -> Vec<bool> {
        let mut switch = Switch::new(&self.spec(), Fit::Exact, policy, Slotted::default());
        let mut departures = Departures::default();
        for (slot, packet) in self.packets().filter(|(_, packet)| kept(packet.id)) {
            switch.advance(slot, &mut departures);
            switch.admit(&packet, slot, &mut departures);
        }
        switch.advance(self.slots.len() as u64 + u64::from(self.buffer), &mut departures);
        assert_eq!(switch.buffer().packets().count(), 0, "drained");
        let mut transmitted = vec![false; self.len()];
        departures.0.into_iter().for_each(|id| transmitted[id as usize] = true);
        transmitted
    }

    pub(crate) fn lqd(&self, victim: Victim) -> Vec<bool> {
        self.replay(|_| true, Lqd::new(victim))
    }

    /// Packets that FollowLQD transmits of those that are not predicted to be dropped.
    pub(crate) fn follow_lqd(&self, victim: Victim, predicted_drop: &[bool]) -> usize {
        let follow = FollowLqd::new(&self.spec(), victim, Fit::Exact, Slotted::default());
        count(&self.replay(|id| !predicted_drop[id as usize], follow))
    }

    /// Packets that Credence transmits with these predictions.
    pub(crate) fn credence(&self, victim: Victim, predicted_drop: &[bool]) -> usize {
        let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
        let service = Slotted::default();
        let credence = Credence::new(&self.spec(), victim, Fit::Exact, service, predictor);
        count(&self.replay(|_| true, credence))
    }

    /// Packets that each policy without predictions transmits.
    pub(crate) fn others(&self) -> [(&'static str, usize); 4] {
        [
            ("complete sharing", count(&self.replay(|_| true, CompleteSharing))),
            ("complete partitioning", count(&self.replay(|_| true, CompletePartitioning))),
            ("dynamic thresholds", count(&self.replay(|_| true, DynamicThresholds::new(0.5)))),
            ("harmonic", count(&self.replay(|_| true, Harmonic::default()))),
        ]
    }
}

pub(crate) fn count(transmitted: &[bool]) -> usize {
    transmitted.iter().filter(|&&is| is).count()
}

/// What LQD drops.
pub(crate) fn labels(transmitted: &[bool]) -> Vec<bool> {
    transmitted.iter().map(|&is| !is).collect()
}

/// Sequences for 2 to 4 ports and a buffer of 2 to 6, of up to `slots` slots, none with more
/// packets than ports; packets prefer port 0, or few would be dropped.
pub(crate) fn sequences(slots: usize) -> impl Strategy<Value = Sequence> {
    (2usize..=4, 2u8..=6).prop_flat_map(move |(ports, buffer)| {
        let port = prop_oneof![2 => Just(0), 3 => 0..ports];
        let slot = prop_oneof![
            3 => prop::collection::vec(port, 0..=ports),
            1 => (0..ports).prop_map(move |port| vec![port; ports]),
        ];
        prop::collection::vec(slot, 1..=slots).prop_map(move |slots| Sequence {
            ports,
            buffer,
            slots,
        })
    })
}

/// A sequence and a prediction for each of its packets: random, all of one kind, or LQD's labels
/// with some flipped.
pub(crate) fn predicted(slots: usize) -> impl Strategy<Value = (Sequence, Vec<bool>)> {
    sequences(slots).prop_flat_map(|sequence| {
        let packets = sequence.len();
        let truth = labels(&sequence.lqd(Victim::Tail));
        let flips = (0.0..1.0)
            .prop_flat_map(move |p| prop::collection::vec(prop::bool::weighted(p), packets));
        let predictions = prop_oneof![
            1 => Just(vec![false; packets]),
            1 => Just(vec![true; packets]),
            2 => prop::collection::vec(any::<bool>(), packets),
            4 => flips.prop_map(move |flips| {
                truth.iter().zip(flips).map(|(&truth, flip)| truth != flip).collect()
            }),
        ];
        (Just(sequence), predictions)
    })
}

/// A sequence written as one string: slots are separated by `|`, a packet is its port and a
/// letter, as the `counterexamples` example prints it.
pub(crate) fn written(ports: usize, buffer: u8, text: &str) -> (Sequence, Vec<char>) {
    let slots: Vec<Vec<&str>> =
        text.split('|').map(|slot| slot.split_whitespace().collect()).collect();
    let letters =
        slots.iter().flatten().map(|packet| packet.chars().nth(1).expect("a letter")).collect();
    let slots = slots
        .iter()
        .map(|slot| slot.iter().map(|packet| packet[..1].parse().expect("a port")).collect())
        .collect();
    (Sequence { ports, buffer, slots }, letters)
}
