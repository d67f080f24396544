//! OPT: the most that an offline algorithm can transmit.
//!
//! OPT needs no push-out, since it can reject those packets on arrival. So it is the largest set of
//! packets that never exceeds the buffer, with every queue sending one packet per slot.

use crate::pseudocode::departures;
use crate::sequence::{Sequence, count, readings, sequences};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Most packets accepted, by dynamic programming over queue lengths.
pub(crate) fn optimum(sequence: &Sequence) -> usize {
    let mut most = BTreeMap::from([(vec![0u8; sequence.ports], 0)]);
    for slot in &sequence.slots {
        for &port in slot {
            let before: Vec<_> = most.iter().map(|(lengths, &n)| (lengths.clone(), n)).collect();
            for (mut lengths, accepted) in before {
                if u32::from(lengths.iter().sum::<u8>()) < sequence.buffer {
                    lengths[port] += 1;
                    let entry = most.entry(lengths).or_insert(0);
                    *entry = (*entry).max(accepted + 1);
                }
            }
        }
        let mut after = BTreeMap::new();
        for (mut lengths, accepted) in most {
            departures(&mut lengths);
            let entry = after.entry(lengths).or_insert(0);
            *entry = accepted.max(*entry);
        }
        most = after;
    }
    most.into_values().max().unwrap_or(0)
}

impl Sequence {
    /// Whether a drop-tail switch can accept these packets, and no others.
    pub(crate) fn can_hold(&self, accepts: impl Fn(usize) -> bool) -> bool {
        let mut lengths = vec![0u8; self.ports];
        let mut id = 0;
        self.slots.iter().all(|slot| {
            for &port in slot {
                lengths[port] += u8::from(accepts(id));
                id += 1;
            }
            let fits = u32::from(lengths.iter().sum::<u8>()) <= self.buffer;
            departures(&mut lengths);
            fits
        })
    }
}

/// The same by trying every set of packets.
fn brute_force(sequence: &Sequence) -> usize {
    (0u32..1 << sequence.len())
        .filter(|set| sequence.can_hold(|id| set >> id & 1 == 1))
        .map(u32::count_ones)
        .max()
        .unwrap_or(0) as usize
}

proptest! {
    #[test]
    fn optimum_is_the_best_of_all_sets(sequence in sequences(6)) {
        let sequence = Sequence { slots: first(14, &sequence.slots), ..sequence };
        prop_assert_eq!(optimum(&sequence), brute_force(&sequence));
    }

    /// A packet that OPT accepts occupies one of B places until it leaves; the b places with the most packets
    /// have at least b/B of them, and these fit into a buffer of b.
    #[test]
    fn optimum_with_a_part_of_the_buffer_is_at_least_that_part(
        sequence in sequences(10),
        part in 1u32..=6,
    ) {
        let part = part.min(sequence.buffer);
        let of_part = optimum(&Sequence { buffer: part, ..sequence.clone() });
        prop_assert!(of_part * sequence.buffer as usize >= optimum(&sequence) * part as usize);
    }

    #[test]
    fn optimum_is_at_least_what_any_policy_transmits(
        sequence in sequences(10),
        reading in readings(),
    ) {
        let optimum = optimum(&sequence);
        prop_assert!(count(&sequence.lqd(reading)) <= optimum);
        for (policy, transmitted) in sequence.others() {
            prop_assert!(transmitted <= optimum, "{policy}");
        }
    }
}

/// The slots up to `packets` packets.
fn first(packets: usize, slots: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut total = 0;
    slots
        .iter()
        .take_while(|slot| {
            total += slot.len();
            total <= packets
        })
        .cloned()
        .collect()
}
