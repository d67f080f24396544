//! The longest of many queues, found when it is asked for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Queues whose longest is remembered together.
const BLOCK: usize = 64;
/// The longest queue of a block must be looked for.
const UNKNOWN: u64 = u64::MAX;

/// Queue lengths and the longest of each block of them. Setting a length is O(1); the winner takes a
/// scan of the blocks, and of those whose longest queue has shrunk since.
///
/// Ties go to the lowest index, which is the lowest port, then queue.
#[derive(Debug)]
pub(crate) struct Longest {
    /// Lengths by queue.
    bytes: Vec<u32>,
    /// By block: the longest queue and its length ([`packed`]), or [`UNKNOWN`]. Asking for the winner
    /// fills it in; atomic, so that a shared buffer may be asked.
    blocks: Vec<AtomicU64>,
}

/// Compares as length, then as lower index.
fn packed(queue: usize, bytes: u32) -> u64 {
    u64::from(bytes) << 32 | u64::from(u32::MAX - queue as u32 - 1)
}

fn unpacked(packed: u64) -> (usize, u32) {
    ((u32::MAX - 1 - packed as u32) as usize, (packed >> 32) as u32)
}

impl Longest {
    pub(crate) fn new(queues: usize) -> Self {
        let first = |block| AtomicU64::new(packed(block * BLOCK, 0));
        Longest {
            bytes: vec![0; queues],
            blocks: (0..queues.div_ceil(BLOCK).max(1)).map(first).collect(),
        }
    }
    #[inline]
    pub(crate) fn set(&mut self, queue: usize, bytes: u32) {
        let before = std::mem::replace(&mut self.bytes[queue], bytes);
        let longest = self.blocks[queue / BLOCK].get_mut();
        if *longest == UNKNOWN {
            return;
        }
        if *longest == packed(queue, before) && bytes < before {
            *longest = UNKNOWN;
        } else {
            *longest = (*longest).max(packed(queue, bytes));
        }
    }

    /// The longest queue and its length; any queue, with length 0, when all are empty.
    #[inline]
    pub(crate) fn winner(&self) -> (usize, u32) {
        let blocks = self.blocks.iter().enumerate();
        unpacked(blocks.map(|(block, longest)| self.of_block(block, longest)).max().unwrap_or(0))
    }

    fn of_block(&self, block: usize, longest: &AtomicU64) -> u64 {
        let known = longest.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return known;
        }
        let first = block * BLOCK;
        let bytes = &self.bytes[first..self.bytes.len().min(first + BLOCK)];
        let most = bytes.iter().copied().max().unwrap_or(0);
        let queue = bytes.iter().position(|&bytes| bytes == most).unwrap_or(0);
        let found = packed(first + queue, most);
        longest.store(found, Ordering::Relaxed);
        found
    }
}

impl Clone for Longest {
    fn clone(&self) -> Self {
        let copied = |longest: &AtomicU64| AtomicU64::new(longest.load(Ordering::Relaxed));
        Longest { bytes: self.bytes.clone(), blocks: self.blocks.iter().map(copied).collect() }
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
                lengths[queue] = bytes;
                longest.set(queue, bytes);
                if asks {
                    let max = lengths.iter().copied().max().unwrap_or(0);
                    let first = lengths.iter().position(|&bytes| bytes == max).unwrap_or(0);
                    prop_assert_eq!(longest.winner(), (first, max));
                    prop_assert_eq!(longest.clone().winner(), (first, max));
                }
            }
        }
    }
}
