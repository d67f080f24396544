//! Lengths of the queues that hold something, side by side.

/// A queue that holds nothing.
const NOWHERE: u32 = u32::MAX;

/// `N` lengths of each queue that has any, bytes. Most queues of a switch are empty most of the time:
/// sums over all queues are over these.
#[derive(Clone, Debug)]
pub struct Backlog<const N: usize> {
    /// By queue: its place in `bytes`, or [`NOWHERE`].
    places: Vec<u32>,
    /// By place: the queue.
    queues: Vec<u32>,
    /// By place, in no order that matters.
    bytes: [Vec<u32>; N],
}

impl<const N: usize> Backlog<N> {
    /// This many empty queues.
    pub fn new(queues: usize) -> Self {
        Backlog {
            places: vec![NOWHERE; queues],
            queues: Vec::new(),
            bytes: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Sets the lengths of a queue.
    #[inline]
    pub fn set(&mut self, queue: usize, lengths: [u32; N]) {
        let place = self.places[queue] as usize;
        if lengths == [0; N] {
            self.remove(queue);
        } else if self.places[queue] == NOWHERE {
            self.places[queue] = self.queues.len() as u32;
            self.queues.push(queue as u32);
            self.bytes.iter_mut().zip(lengths).for_each(|(bytes, length)| bytes.push(length));
        } else {
            self.bytes.iter_mut().zip(lengths).for_each(|(bytes, length)| bytes[place] = length);
        }
    }

    fn remove(&mut self, queue: usize) {
        let place = std::mem::replace(&mut self.places[queue], NOWHERE);
        if place == NOWHERE {
            return;
        }
        self.queues.swap_remove(place as usize);
        for bytes in &mut self.bytes {
            bytes.swap_remove(place as usize);
        }
        if let Some(&moved) = self.queues.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    /// The `nth` lengths of all queues that have any, in no order.
    pub fn bytes(&self, nth: usize) -> &[u32] {
        &self.bytes[nth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_every_length_that_is_not_zero(
            changes in prop::collection::vec((0_usize..6, [0_u32..3, 0_u32..3]), 0..100),
        ) {
            let mut backlog = Backlog::<2>::new(6);
            let mut all = [[0; 2]; 6];
            for (queue, lengths) in changes {
                backlog.set(queue, lengths);
                all[queue] = lengths;
                let mut held: Vec<_> =
                    backlog.bytes(0).iter().zip(backlog.bytes(1)).map(|(&a, &b)| [a, b]).collect();
                let mut expected: Vec<_> = all.into_iter().filter(|&of| of != [0, 0]).collect();
                held.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(held, expected);
            }
        }
    }
}
