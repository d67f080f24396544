//! Queues in the order of their lengths.

use crate::view::saturated;

/// An event moves its queue past at most this many others.
pub(crate) const PLACES_AN_EVENT: u32 = 4;

/// The queues that hold something, longest first.
///
/// A queue comes in last. An event moves its queue past neighbours that are shorter or longer, and
/// [`PLACES_AN_EVENT`] is most often enough, since lengths change by a packet at a time; what is left waits for
/// the queue's next event. The last queue takes the place of one that is empty now.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// By queue.
    queues: Vec<Ordered>,
    /// By place, the queue.
    places: Vec<usize>,
}

/// A queue.
#[derive(Clone, Copy, Debug, Default)]
struct Ordered {
    /// Its length.
    bytes: u32,
    /// Its length in a quarter of a base RTT, at most the buffer.
    expected_bytes: u32,
    /// Its place, if it holds something.
    place: usize,
}

impl Order {
    /// This many empty queues.
    pub(crate) fn new(queues: usize) -> Self {
        Order { queues: vec![Ordered::default(); queues], places: Vec::new() }
    }

    /// An event of a queue that draws on the shared buffer: its length is now `bytes`.
    pub(crate) fn changed(
        &mut self,
        queue: usize,
        bytes: u32,
        expected_bytes: u64,
        capacity_bytes: u32,
    ) {
        let expected_bytes = saturated(expected_bytes).min(capacity_bytes);
        let before = self.queues[queue];
        self.queues[queue] = Ordered { bytes, expected_bytes, ..before };
        let mut place = before.place;
        if bytes == 0 {
            if before.bytes > 0 {
                self.places.swap_remove(place);
                if let Some(&last) = self.places.get(place) {
                    self.queues[last].place = place;
                }
            }
            return;
        }
        if before.bytes == 0 {
            place = self.places.len();
            self.places.push(queue);
        }
        for _ in 0..PLACES_AN_EVENT {
            let next = match place.checked_sub(1) {
                Some(longer) if self.bytes_at(longer) < Some(bytes) => longer,
                _ if self.bytes_at(place + 1) > Some(bytes) => place + 1,
                _ => break,
            };
            self.places.swap(place, next);
            self.queues[self.places[place]].place = place;
            place = next;
        }
        self.queues[queue].place = place;
    }

    fn bytes_at(&self, place: usize) -> Option<u32> {
        self.places.get(place).map(|&queue| self.queues[queue].bytes)
    }

    /// Bytes expected in a quarter of a base RTT if then all queues behind `queue` were as expected, and it and
    /// those before it cut down to `level_bytes`, its length.
    pub(crate) fn bytes_up_to(&self, queue: usize, level_bytes: u32) -> u32 {
        let own = self.queues[queue];
        if own.bytes == 0 {
            return 0;
        }
        let behind = self.places[own.place + 1..].iter();
        let behind_bytes: u64 = behind.map(|&of| u64::from(self.queues[of].expected_bytes)).sum();
        let before_bytes = own.place as u64 * u64::from(level_bytes);
        saturated(behind_bytes + before_bytes + u64::from(own.expected_bytes.min(level_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: u32 = 50_000;

    proptest! {
        /// Every queue that holds something has one place, which it knows. Once events no longer change
        /// lengths, the order is that of the lengths, and the value is the sum over all queues.
        #[test]
        fn settles_in_the_order_of_lengths(
            events in prop::collection::vec((0_usize..8, 0_u32..30, 0_u64..60_000), 1..300),
        ) {
            let mut order = Order::new(8);
            let mut queues = [(0, 0); 8];
            let mut change = |order: &mut Order, (queue, packets, expected): (usize, u32, u64)| {
                queues[queue] = (1000 * packets, expected.min(CAPACITY.into()));
                order.changed(queue, 1000 * packets, expected, CAPACITY);
                let mut held = order.places.clone();
                held.sort_unstable();
                let expected: Vec<usize> = (0..8).filter(|&queue| queues[queue].0 > 0).collect();
                prop_assert_eq!(held, expected);
                for (place, &queue) in order.places.iter().enumerate() {
                    prop_assert_eq!(order.queues[queue].place, place);
                }
                Ok(queues)
            };
            for &(queue, packets, expected) in &events {
                // Nothing is expected in a queue that is empty.
                change(&mut order, (queue, packets, if packets > 0 { expected } else { 0 }))?;
            }
            let mut settled = [(0, 0); 8];
            for event in (0..64).map(|at| at % 8) {
                let of = order.queues[event];
                settled =
                    change(&mut order, (event, of.bytes / 1000, of.expected_bytes.into()))?;
            }
            let lengths: Vec<u32> = order.places.iter().map(|&queue| settled[queue].0).collect();
            prop_assert!(lengths.is_sorted_by(|one, next| one >= next), "{:?}", lengths);
            for (queue, &(own, expected)) in settled.iter().enumerate() {
                let is_tied = |&(bytes, _): &(u32, u64)| bytes == own;
                if own == 0 || settled.iter().filter(|&of| is_tied(of)).count() > 1 {
                    continue;
                }
                let shorter = settled.iter().filter(|of| of.0 < own).map(|of| of.1).sum::<u64>();
                let longer = settled.iter().filter(|of| of.0 > own).count() as u64;
                let exact = shorter + longer * u64::from(own) + expected.min(own.into());
                prop_assert_eq!(u64::from(order.bytes_up_to(queue, own)), exact);
            }
        }
    }
}
