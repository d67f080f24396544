//! The longest of many queues, found when it is asked for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Queues whose longest is remembered together.
const BLOCK: usize = 64;
/// The longest queue of a block must be looked for.
const UNKNOWN: u64 = u64::MAX;

/// The longest of each block of some queues. A change of a length is O(1); the winner takes a scan of the
/// blocks, and of those whose longest queue has shrunk since.
///
/// Ties go to the lowest index, which is the lowest port, then queue.
#[derive(Debug)]
pub(crate) struct Longest {
    /// By block: the longest queue and its length ([`packed`]), or [`UNKNOWN`]. Asking for the winner
    /// fills it in; atomic, so that a shared buffer may be asked.
    blocks: Vec<AtomicU64>,
}

/// Compares as length, then as lower index.
#[inline]
fn packed(queue: usize, bytes: u32) -> u64 {
    u64::from(bytes) << 32 | u64::from(!(queue as u32))
}

fn unpacked(packed: u64) -> (usize, u32) {
    (!(packed as u32) as usize, (packed >> 32) as u32)
}

impl Longest {
    /// Of this many empty queues.
    pub(crate) fn new(queues: usize) -> Self {
        let first = |block| AtomicU64::new(packed(block * BLOCK, 0));
        Longest { blocks: (0..queues.div_ceil(BLOCK).max(1)).map(first).collect() }
    }

    /// A queue has grown to this length.
    #[inline]
    pub(crate) fn grew(&mut self, queue: usize, bytes: u32) {
        let longest = self.blocks[queue / BLOCK].get_mut();
        // What is unknown is more than any length.
        *longest = (*longest).max(packed(queue, bytes));
    }

    /// A queue has shrunk from this length.
    #[inline]
    pub(crate) fn shrank(&mut self, queue: usize, before: u32) {
        let longest = self.blocks[queue / BLOCK].get_mut();
        if *longest == packed(queue, before) {
            *longest = UNKNOWN;
        }
    }

    /// The longest queue and its length; any queue, with length 0, when all are empty. `bytes` is the length
    /// of a queue, 0 if it is not one of these.
    #[inline]
    pub(crate) fn winner(&self, queues: usize, bytes: impl Fn(usize) -> u32) -> (usize, u32) {
        let of_block = |(block, longest): (usize, &AtomicU64)| {
            let known = longest.load(Ordering::Relaxed);
            if known != UNKNOWN {
                return known;
            }
            let block = block * BLOCK..queues.min((block + 1) * BLOCK);
            let found = block.map(|queue| packed(queue, bytes(queue))).max().unwrap_or(0);
            longest.store(found, Ordering::Relaxed);
            found
        };
        unpacked(self.blocks.iter().enumerate().map(of_block).max().unwrap_or(0))
    }
}

impl Clone for Longest {
    fn clone(&self) -> Self {
        let copied = |longest: &AtomicU64| AtomicU64::new(longest.load(Ordering::Relaxed));
        Longest { blocks: self.blocks.iter().map(copied).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_scan(
            queues in 1usize..200,
            changes in prop::collection::vec((0usize..200, 0u32..6, any::<bool>()), 0..400),
        ) {
            let mut longest = Longest::new(queues);
            let mut lengths = vec![0; queues];
            for (queue, bytes, asks) in changes {
                let queue = queue % queues;
                match std::mem::replace(&mut lengths[queue], bytes) {
                    before if before > bytes => longest.shrank(queue, before),
                    _ => longest.grew(queue, bytes),
                }
                if asks {
                    let max = lengths.iter().copied().max().unwrap_or(0);
                    let first = lengths.iter().position(|&bytes| bytes == max).unwrap_or(0);
                    let winner = |longest: &Longest| longest.winner(queues, |queue| lengths[queue]);
                    prop_assert_eq!(winner(&longest.clone()), (first, max));
                    prop_assert_eq!(winner(&longest), (first, max));
                }
            }
        }
    }
}
