//! The earliest of a fixed set of clocks.

/// A winner tree: each slot has a time, the earliest is known, a change costs O(log n) without
/// branches. Ties go to the lowest slot, which makes the order of simultaneous events a property of the
/// parameters.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// `nodes[1]` is the earliest; node `k` is the better of nodes `2k` and `2k + 1`; the slots are the
    /// last half.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    slot: u32,
}

impl Tournament {
    /// The time of a clock that is not set.
    pub const NEVER: u64 = u64::MAX;

    /// `slots` clocks, none set.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let never = |slot| Node { time: Tournament::NEVER, slot };
        let mut nodes = vec![never(0); 2 * leaves];
        for (slot, leaf) in (0..).zip(&mut nodes[leaves..]) {
            *leaf = never(slot);
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Tournament { nodes }
    }

    /// The earliest slot and its time, [`Tournament::NEVER`] if none is set.
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        let Node { time, slot } = self.nodes[1];
        (slot as usize, time)
    }

    /// Sets a slot's time.
    #[inline]
    pub fn set(&mut self, slot: usize, time: u64) {
        let mut node = self.nodes.len() / 2 + slot;
        self.nodes[node].time = time;
        let mut winner = self.nodes[node];
        while node > 1 {
            let other = self.nodes[node ^ 1];
            // Of equals the left one wins, which has an even number.
            let loses = other.time < winner.time + (node as u64 & 1).min(!winner.time);
            winner = if loses { other } else { winner };
            node /= 2;
            self.nodes[node] = winner;
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
            let mut times = vec![Tournament::NEVER; slots];
            for (slot, time) in changes {
                let time = if time == 5 { Tournament::NEVER } else { time };
                times[slot % slots] = time;
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
