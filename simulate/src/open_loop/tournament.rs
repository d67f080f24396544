//! The earliest of a fixed set of clocks.

/// A clock that is not set.
pub(crate) const NEVER: u64 = u64::MAX;

/// A winner tree: each slot has a time, the earliest is known, a change costs O(log n). Ties go to
/// the lowest slot, which makes the order of simultaneous events a property of the parameters.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    times: Vec<u64>,
    /// `winners[1]` is the earliest slot; node `k` is the better of nodes `2k` and `2k + 1`; slot
    /// `s` is leaf `times.len() + s`.
    winners: Vec<u32>,
}

impl Tournament {
    /// `slots` clocks, none set.
    pub(crate) fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (slot, leaf) in (0..).zip(&mut winners[leaves..]) {
            *leaf = slot;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Tournament { times: vec![NEVER; leaves], winners }
    }

    /// The earliest slot and its time, [`NEVER`] if none is set.
    pub(crate) fn first(&self) -> (usize, u64) {
        let slot = self.winners[1] as usize;
        (slot, self.times[slot])
    }

    /// Sets a slot's time.
    pub(crate) fn set(&mut self, slot: usize, time: u64) {
        self.times[slot] = time;
        let mut node = (self.times.len() + slot) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let left_first = self.times[left as usize] <= self.times[right as usize];
            self.winners[node] = if left_first { left } else { right };
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_earliest_and_lowest(
            slots in 1usize..20,
            changes in prop::collection::vec((0usize..20, 0u64..6), 1..60),
        ) {
            let mut tree = Tournament::new(slots);
            let mut times = vec![NEVER; slots];
            for (slot, time) in changes {
                let time = if time == 5 { NEVER } else { time };
                times[slot % slots] = time;
                tree.set(slot % slots, time);
                let slow = (0..slots).map(|s| (times[s], s)).min().expect("not empty");
                prop_assert_eq!(tree.first().1, slow.0);
                if slow.0 != NEVER {
                    prop_assert_eq!(tree.first().0, slow.1);
                }
            }
        }
    }
}
