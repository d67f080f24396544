//! Arrival sequences of the slotted model, and the crate's switches on them.

use crate::explore::Move;
use crate::fifo;
use crate::games::Thresholds;
use crate::reading::{Reading, Share, Ties, Victims};
use crate::safeguards::{Limit, Safeguard};
use crate::starvation::Predicted;
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_switch::{
    Buffer, CompletePartitioning, CompleteSharing, CredencePolicy, DynamicThresholds, Fit,
    FollowLqd, FollowMax, Harmonic, Lqd, Observer, Packet, PaybackCredence, Policy, Recorded,
    Removal, Slotted, Switch, Victim,
};
use proptest::prelude::*;

/// Output ports of the packets of each slot, in order of arrival. Packets are numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) ports: usize,
    pub(crate) buffer: u32,
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
        SwitchSpec::uniform(self.ports as u16, 1, self.buffer, 1)
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

    /// For each packet, whether LQD transmits it.
    pub(crate) fn lqd(&self, reading: Reading) -> Vec<bool> {
        let transmitted = fifo::lqd(self, reading);
        if let Some(victim) = reading.victim_of_the_crate() {
            assert_eq!(transmitted, self.replay(|_| true, Lqd::new(victim)));
        }
        transmitted
    }

    /// Packets that FollowLQD transmits of those that are not predicted to be dropped.
    pub(crate) fn follow_lqd(&self, reading: Reading, predicted_drop: &[bool]) -> usize {
        let transmitted = fifo::follow_lqd(self, reading, predicted_drop, Thresholds::OfTheRest);
        if let Some(victim) = reading.victim_of_the_crate() {
            let follow = FollowLqd::new(&self.spec(), victim, Fit::Exact, Slotted::default());
            assert_eq!(transmitted, self.replay(|id| !predicted_drop[id as usize], follow));
        }
        count(&transmitted)
    }

    /// Packets that Credence transmits with these predictions.
    pub(crate) fn credence(&self, reading: Reading, predicted_drop: &[bool]) -> usize {
        let transmitted = fifo::credence(self, reading, predicted_drop);
        let in_crate = reading.victim_of_the_crate().filter(|_| reading.share == Share::Fraction);
        if let Some(victim) = in_crate {
            let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
            let service = Slotted::default();
            let credence =
                CredencePolicy::new(&self.spec(), victim, Fit::Exact, service, predictor);
            assert_eq!(transmitted, self.replay(|_| true, credence));
        }
        count(&transmitted)
    }

    /// For each packet, whether Credence transmits it if it pays back its safeguard.
    pub(crate) fn paying_back(&self, reading: Reading, predicted_drop: &[bool]) -> Vec<bool> {
        let (limit, safeguard) = (Limit::Reference, Safeguard::Occupancy);
        let transmitted = fifo::changed(self, reading, predicted_drop, limit, safeguard);
        let in_crate = reading.victim_of_the_crate().filter(|_| reading.share == Share::Fraction);
        if let Some(victim) = in_crate {
            let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
            let service = Slotted::default();
            let policy = PaybackCredence::new(&self.spec(), victim, Fit::Exact, service, predictor);
            assert_eq!(transmitted, self.replay(|_| true, policy));
        }
        transmitted
    }

    /// The same arrivals at FollowLQD and at Harmonic of FollowMax, each with its part of the buffer.
    pub(crate) fn parts(&self, harmonic_packets: u32) -> [Sequence; 2] {
        let of = |buffer| Sequence { buffer, ..self.clone() };
        [of(self.buffer - harmonic_packets), of(harmonic_packets)]
    }

    /// Packets that FollowMax transmits, with this part of the buffer for Harmonic.
    pub(crate) fn follow_max(
        &self,
        reading: Reading,
        predicted_drop: &[bool],
        harmonic_packets: u32,
    ) -> usize {
        let transmitted = fifo::follow_max(self, reading, predicted_drop, harmonic_packets);
        if let Some(victim) = reading.victim_of_the_crate() {
            let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
            let (spec, fit, service) = (self.spec(), Fit::Exact, Slotted::default());
            let policy = FollowMax::new(&spec, victim, fit, service, predictor, harmonic_packets);
            assert_eq!(transmitted, self.replay(|_| true, policy));
        }
        count(&transmitted)
    }

    /// Packets that each policy without predictions transmits.
    pub(crate) fn others(&self) -> [(&'static str, usize); 4] {
        [
            ("complete sharing", count(&self.replay(|_| true, CompleteSharing))),
            (
                "complete partitioning",
                count(&self.replay(|_| true, CompletePartitioning::default())),
            ),
            ("dynamic thresholds", count(&self.replay(|_| true, DynamicThresholds::new(0.5)))),
            ("harmonic", count(&self.replay(|_| true, Harmonic::default()))),
        ]
    }
}

impl Reading {
    /// The victim rule, if the crate's LQD supports this reading: its ties go to the lowest.
    fn victim_of_the_crate(self) -> Option<Victim> {
        let victim = match self.victims {
            Victims::Tail => Victim::Tail,
            Victims::Arrival => Victim::Arrival,
        };
        (self.ties == Ties::Low).then_some(victim)
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
/// packets than ports; packets prefer port 0, since otherwise few would be dropped.
pub(crate) fn sequences(slots: usize) -> impl Strategy<Value = Sequence> {
    (2usize..=4, 2u32..=6).prop_flat_map(move |(ports, buffer)| {
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
        let truth = labels(&sequence.lqd(Reading::CRATE));
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

/// A sequence like those that break Lemma 1: slots of packets for one queue and then for another, predicted
/// to be accepted, and now and then a predicted drop among them that only a safeguard takes.
pub(crate) fn eventful(slots: usize) -> impl Strategy<Value = (Sequence, Vec<bool>)> {
    let sizes = [(2, 2), (2, 2), (2, 2), (3, 3), (3, 4), (3, 4), (4, 5)];
    prop::sample::select(sizes.to_vec()).prop_flat_map(move |(ports, buffer)| {
        let port = move || prop_oneof![4 => Just(0), 4 => Just(1), 1 => 0..ports];
        let packets = move || prop_oneof![9 => Just(ports), 1 => 0..=ports];
        let runs = (port(), port(), 0..=ports, 0..5 * ports, packets());
        let runs = runs.prop_map(|(first, second, of_first, drop, packets)| {
            let packet = |k| (if k < of_first { first } else { second }, k == drop);
            (0..packets).map(packet).collect::<Vec<_>>()
        });
        let drop = prop::bool::weighted(0.2 / ports as f64);
        let any = packets().prop_flat_map(move |n| prop::collection::vec((port(), drop), n));
        let slot = prop_oneof![6 => runs, 3 => any, 1 => Just(Vec::new())];
        let slots = prop::collection::vec(slot, 1..=slots);
        slots.prop_map(move |slots| of_predicted(ports, buffer, slots))
    })
}

/// Every reading of LQD and of `B/N`.
pub(crate) fn readings() -> impl Strategy<Value = Reading> {
    prop::sample::select(Reading::lqds_and_shares().collect::<Vec<_>>())
}

/// A sequence that comes with its predictions.
pub(crate) fn of_predicted(ports: usize, buffer: u32, slots: Predicted) -> (Sequence, Vec<bool>) {
    let predictions = slots.iter().flatten().map(|&(_, drop)| drop).collect();
    let slots = slots.iter().map(|slot| slot.iter().map(|&(port, _)| port).collect()).collect();
    (Sequence { ports, buffer, slots }, predictions)
}

/// A sequence written as one string: slots are separated by `|`, a packet is its port and a
/// letter, as the `counterexamples` example prints it.
pub(crate) fn written(ports: usize, buffer: u32, text: &str) -> (Sequence, Vec<char>) {
    let packet = |text: &str| {
        let mut characters = text.chars();
        let port = characters.next().and_then(|c| c.to_digit(10)).expect("a port");
        (port as usize, characters.next().expect("a letter"))
    };
    let slots: Vec<Vec<Move>> =
        text.split('|').map(|slot| slot.split_whitespace().map(packet).collect()).collect();
    of_moves(ports, buffer, &slots)
}

/// A counterexample as a sequence to replay, and its letters.
pub(crate) fn of_moves(ports: usize, buffer: u32, slots: &[Vec<Move>]) -> (Sequence, Vec<char>) {
    let letters = slots.iter().flatten().map(|&(_, letter)| letter).collect();
    let slots = slots.iter().map(|slot| slot.iter().map(|&(port, _)| port).collect()).collect();
    (Sequence { ports, buffer, slots }, letters)
}

/// [`written`] with `d` for predicted drops and `a` for the others.
pub(crate) fn written_predictions(ports: usize, buffer: u32, text: &str) -> (Sequence, Vec<bool>) {
    let (sequence, letters) = written(ports, buffer, text);
    (sequence, predictions(&letters))
}

pub(crate) fn predictions(letters: &[char]) -> Vec<bool> {
    letters.iter().map(|letter| "dDpP".contains(*letter)).collect()
}
