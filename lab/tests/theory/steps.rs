//! The crate's policies take the pseudocode's steps.

use crate::fifo;
use crate::games::Thresholds;
use crate::pseudocode::{
    credence_arrival, departures, follow_lqd_arrival, update_threshold_arrival,
};
use crate::reading::{Reading, Victims};
use crate::sequence::{Sequence, predicted, readings};
use dropcast_switch::{
    CredencePolicy, Fit, FollowLqd, Lqd, NoObserver, Recorded, Slotted, Switch, Victim,
};
use proptest::prelude::*;

/// The pseudocode's state: thresholds, FollowLQD's queues and Credence's queues.
struct Pseudocode {
    buffer: u8,
    reading: Reading,
    slot: u64,
    thresholds: Vec<u8>,
    follow: Vec<u8>,
    credence: Vec<u8>,
}

impl Pseudocode {
    fn new(sequence: &Sequence, reading: Reading) -> Self {
        let empty = vec![0; sequence.ports];
        let (thresholds, follow, credence) = (empty.clone(), empty.clone(), empty);
        let buffer = sequence.buffer as u8;
        Pseudocode { buffer, reading, slot: 0, thresholds, follow, credence }
    }

    fn advance(&mut self, slot: u64) {
        for _ in self.slot..slot {
            departures(&mut self.thresholds);
            departures(&mut self.follow);
            departures(&mut self.credence);
        }
        self.slot = slot;
    }

    /// Returns whether FollowLQD and Credence accept the packet.
    fn arrival(&mut self, port: usize, predicted_drop: bool) -> (bool, bool) {
        let Pseudocode { buffer, reading, thresholds, follow, credence, .. } = self;
        let buffer = *buffer;
        update_threshold_arrival(*reading, thresholds, buffer, port);
        (
            follow_lqd_arrival(follow, thresholds, buffer, port),
            credence_arrival(*reading, credence, thresholds, buffer, port, predicted_drop),
        )
    }
}

fn same(bytes: &[u32], unit_packets: &[u8]) -> bool {
    bytes.iter().copied().eq(unit_packets.iter().copied().map(u32::from))
}

fn check(
    sequence: &Sequence,
    predicted_drop: &[bool],
    victim: Victim,
) -> Result<(), TestCaseError> {
    let victims = if victim == Victim::Tail { Victims::Tail } else { Victims::Arrival };
    let mut pseudocode = Pseudocode::new(sequence, Reading { victims, ..Reading::CRATE });
    let spec = sequence.spec();
    let (fit, service) = (Fit::Exact, Slotted::default);
    let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
    let mut lqd = Switch::new(&spec, fit, Lqd::new(victim), service());
    let policy = FollowLqd::new(&spec, victim, fit, service());
    let mut follow = Switch::new(&spec, fit, policy, service());
    let policy = CredencePolicy::new(&spec, victim, fit, service(), predictor);
    let mut credence = Switch::new(&spec, fit, policy, service());
    let mut packets = sequence.packets().peekable();
    for slot in 0..sequence.slots.len() as u64 + u64::from(sequence.buffer) {
        pseudocode.advance(slot);
        lqd.advance(slot, &mut NoObserver);
        follow.advance(slot, &mut NoObserver);
        credence.advance(slot, &mut NoObserver);
        loop {
            prop_assert_eq!(follow.policy().thresholds(), lqd.buffer().lengths());
            prop_assert_eq!(credence.policy().thresholds(), lqd.buffer().lengths());
            prop_assert!(same(lqd.buffer().lengths(), &pseudocode.thresholds));
            prop_assert!(same(follow.buffer().lengths(), &pseudocode.follow));
            prop_assert!(same(credence.buffer().lengths(), &pseudocode.credence));
            let Some((_, packet)) = packets.next_if(|&(at, _)| at == slot) else { break };
            pseudocode.arrival(packet.queue, predicted_drop[packet.id as usize]);
            lqd.admit(&packet, slot, &mut NoObserver);
            follow.admit(&packet, slot, &mut NoObserver);
            credence.admit(&packet, slot, &mut NoObserver);
        }
    }
    prop_assert!(packets.next().is_none());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn thresholds_of_follow_lqd_are_the_queue_lengths_of_lqd((sequence, predictions) in predicted(30)) {
        check(&sequence, &predictions, Victim::Tail)?;
        check(&sequence, &predictions, Victim::Arrival)?;
    }

    /// The other readings, which the crate does not have.
    #[test]
    fn fifos_of_packets_take_the_steps_of_the_pseudocode(
        (sequence, predictions) in predicted(30),
        reading in readings(),
    ) {
        let mut pseudocode = Pseudocode::new(&sequence, reading);
        let nothing = vec![false; sequence.len()];
        let follow = fifo::follow_lqd(&sequence, reading, &nothing, Thresholds::OfAll);
        let credence = fifo::credence(&sequence, reading, &predictions);
        for (slot, packet) in sequence.packets() {
            pseudocode.advance(slot);
            let id = packet.id as usize;
            let accepted = pseudocode.arrival(packet.queue, predictions[id]);
            prop_assert_eq!(accepted, (follow[id], credence[id]), "packet {}", id);
        }
    }
}
