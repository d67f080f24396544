//! The earliest of a fixed set of clocks.

use std::hint::select_unpredictable;

/// A winner tree: each slot has a time, the earliest is known, a change costs O(log n) without
/// branches. Ties go to the lowest slot, which makes the order of simultaneous events a property of the
/// parameters.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The earliest of all.
    first: Node,
    /// A binary tree from `matches[1]` on: the winners of matches `2k` and `2k + 1` meet in match `k`. In
    /// the last half of them, the slots meet.
    matches: Vec<[Node; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    slot: u32,
}

impl Tournament {
    /// The time of a clock that is not set. Later times count as this: one more must be a time, too.
    pub const NEVER: u64 = u64::MAX - 1;

    /// `slots` clocks, none set.
    pub fn new(slots: usize) -> Self {
        let never = Node { time: Tournament::NEVER, slot: 0 };
        let matches = slots.next_power_of_two().max(2);
        Tournament { first: never, matches: vec![[never; 2]; matches] }
    }

    /// The earliest slot and its time, [`Tournament::NEVER`] if none is set.
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        let Node { time, slot } = self.first;
        (slot as usize, time)
    }

    /// Sets a slot's time.
    #[inline]
    pub fn set(&mut self, slot: usize, time: u64) {
        let mut winner = Node { time: time.min(Tournament::NEVER), slot: slot as u32 };
        let mut node = self.matches.len() + slot;
        while node > 1 {
            let side = node % 2;
            node /= 2;
            let both = &mut self.matches[node];
            both[side] = winner;
            let other = both[1 - side];
            // Of equals the left one wins.
            let loses = other.time < winner.time + side as u64;
            winner = select_unpredictable(loses, other, winner);
        }
        self.first = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Few times, so that many are equal, and the last ones.
    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..5, Tournament::NEVER - 1..=u64::MAX]
    }

    proptest! {
        #[test]
        fn finds_the_earliest_and_lowest(
            slots in 1usize..20,
            changes in prop::collection::vec((0usize..20, time()), 1..60),
        ) {
            let mut tree = Tournament::new(slots);
            let mut times = vec![Tournament::NEVER; slots];
            for (slot, time) in changes {
                times[slot % slots] = time.min(Tournament::NEVER);
                tree.set(slot % slots, time);
                let slow = (0..slots).map(|s| (times[s], s)).min().expect("not empty");
                prop_assert_eq!(tree.first().1, slow.0);
                if slow.0 != Tournament::NEVER {
                    prop_assert_eq!(tree.first().0, slow.1);
                }
            }
        }
    }
}
