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

    /// The longest queue and its length; any queue, with length 0, when all are empty. `bytes` has the lengths
    /// of all queues, `is_one` says which of them count.
    #[inline]
    pub(crate) fn winner(&self, bytes: &[u32], is_one: impl Fn(usize) -> bool) -> (usize, u32) {
        let of_block = |(block, longest): (usize, &AtomicU64)| {
            let known = longest.load(Ordering::Relaxed);
            if known != UNKNOWN {
                return known;
            }
            let first = block * BLOCK;
            let found = longest_of(first, &bytes[first..bytes.len().min(first + BLOCK)], &is_one);
            longest.store(found, Ordering::Relaxed);
            found
        };
        unpacked(self.blocks.iter().enumerate().map(of_block).max().unwrap_or(0))
    }
}

/// The longest queue of a block that counts, [`packed`]. Mostly that is the longest of all, which is found
/// in less time than by asking for each queue whether it counts.
fn longest_of(first: usize, bytes: &[u32], is_one: impl Fn(usize) -> bool) -> u64 {
    let most = bytes.iter().copied().max().unwrap_or(0);
    let is_it = |(at, &bytes): (usize, &u32)| bytes == most && is_one(first + at);
    if let Some(at) = bytes.iter().enumerate().position(is_it) {
        return packed(first + at, most);
    }
    let ones = bytes.iter().enumerate().filter(|(at, _)| is_one(first + at));
    ones.map(|(at, &bytes)| packed(first + at, bytes)).max().unwrap_or(packed(first, 0))
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
            counts in prop::collection::vec(any::<bool>(), 1..200),
            changes in prop::collection::vec((0usize..200, 0u32..6, any::<bool>()), 0..400),
        ) {
            let queues = counts.len();
            let mut longest = Longest::new(queues);
            let mut lengths = vec![0; queues];
            for (queue, bytes, asks) in changes {
                let queue = queue % queues;
                let before = std::mem::replace(&mut lengths[queue], bytes);
                if counts[queue] && before > bytes {
                    longest.shrank(queue, before);
                } else if counts[queue] {
                    longest.grew(queue, bytes);
                }
                if asks {
                    let ones = (0..queues).filter(|&queue| counts[queue]);
                    let expected = ones.map(|queue| (lengths[queue], queues - queue)).max();
                    let (most, from_end) = expected.unwrap_or((0, queues));
                    for longest in [&longest.clone(), &longest] {
                        let (queue, bytes) = longest.winner(&lengths, |queue| counts[queue]);
                        prop_assert_eq!(bytes, most);
                        prop_assert!(most == 0 || queue == queues - from_end);
                    }
                }
            }
        }
    }
}
