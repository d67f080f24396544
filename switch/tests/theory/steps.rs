//! The crate's policies take the pseudocode's steps.

use crate::games::{Size, Victims};
use crate::pseudocode::{
    credence_arrival, departures, follow_lqd_arrival, update_threshold_departures,
};
use crate::sequence::{Sequence, predicted};
use dropcast_switch::{
    Credence, Fit, FollowLqd, Lqd, NoObserver, Recorded, Slotted, Switch, Victim,
};
use proptest::prelude::*;

/// The pseudocode's state: thresholds, FollowLQD's queues and Credence's queues.
struct Pseudocode {
    size: Size,
    victims: Victims,
    slot: u64,
    thresholds: Vec<u8>,
    follow: Vec<u8>,
    credence: Vec<u8>,
}

impl Pseudocode {
    fn new(sequence: &Sequence, victims: Victims) -> Self {
        let size = Size { ports: sequence.ports, buffer: sequence.buffer };
        let empty = vec![0; size.ports];
        let (thresholds, follow, credence) = (empty.clone(), empty.clone(), empty);
        Pseudocode { size, victims, slot: 0, thresholds, follow, credence }
    }

    fn advance(&mut self, slot: u64) {
        for _ in self.slot..slot {
            update_threshold_departures(&mut self.thresholds);
            departures(&mut self.follow);
            departures(&mut self.credence);
        }
        self.slot = slot;
    }

    fn arrival(&mut self, port: usize, predicted_drop: bool) {
        let buffer = self.size.buffer;
        self.victims.update(&mut self.thresholds, buffer, port);
        follow_lqd_arrival(&mut self.follow, &self.thresholds, buffer, port);
        credence_arrival(&mut self.credence, &self.thresholds, buffer, port, predicted_drop);
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
    let mut pseudocode = Pseudocode::new(sequence, victims);
    let spec = sequence.spec();
    let (fit, service) = (Fit::Exact, Slotted::default);
    let predictor = Recorded(|id: u64| predicted_drop[id as usize]);
    let mut lqd = Switch::new(&spec, fit, Lqd::new(victim), service());
    let policy = FollowLqd::new(&spec, victim, fit, service());
    let mut follow = Switch::new(&spec, fit, policy, service());
    let policy = Credence::new(&spec, victim, fit, service(), predictor);
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
}
