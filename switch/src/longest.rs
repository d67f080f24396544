//! The longest of many queues, without a scan.

/// A tournament over queue lengths: setting one costs O(log N), the winner O(1).
///
/// Ties go to the lowest index, which is the lowest port, then queue.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// Number of leaves, a power of two.
    leaves: usize,
    /// `winner[k]` is the queue that wins the subtree at `k`; the root is 1, leaves start at
    /// `leaves`.
    winner: Vec<u32>,
    /// Lengths by queue; queues outside the tournament stay 0.
    bytes: Vec<u32>,
}

impl Longest {
    pub(crate) fn new(queues: usize) -> Self {
        let leaves = queues.next_power_of_two().max(1);
        let mut winner = vec![0; 2 * leaves];
        for (queue, slot) in winner[leaves..].iter_mut().enumerate() {
            *slot = queue as u32;
        }
        for at in (1..leaves).rev() {
            winner[at] = winner[2 * at];
        }
        Longest { leaves, winner, bytes: vec![0; leaves] }
    }

    pub(crate) fn set(&mut self, queue: usize, bytes: u32) {
        self.bytes[queue] = bytes;
        let mut at = (self.leaves + queue) / 2;
        while at > 0 {
            let (left, right) = (self.winner[2 * at], self.winner[2 * at + 1]);
            let right_wins = self.bytes[right as usize] > self.bytes[left as usize];
            self.winner[at] = if right_wins { right } else { left };
            at /= 2;
        }
    }

    /// The longest queue and its length; any queue, with length 0, when all are empty.
    pub(crate) fn winner(&self) -> (usize, u32) {
        let queue = self.winner[1] as usize;
        (queue, self.bytes[queue])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_scan(
            queues in 1usize..40,
            changes in prop::collection::vec((0usize..40, 0u32..6), 0..200),
        ) {
            let mut longest = Longest::new(queues);
            let mut lengths = vec![0; queues];
            for (queue, bytes) in changes {
                let queue = queue % queues;
                lengths[queue] = bytes;
                longest.set(queue, bytes);
                let max = lengths.iter().copied().max().unwrap_or(0);
                let first = lengths.iter().position(|&bytes| bytes == max).unwrap_or(0);
                prop_assert_eq!(longest.winner(), (first, max));
            }
        }
    }
}
