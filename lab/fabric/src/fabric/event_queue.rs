//! The event queue, a calendar queue.
//!
//! `cargo bench -p dropcast-fabric --bench fabric` compares it with a binary heap on the same
//! events; lab/notes/fabric.md keeps both numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Width of a day, nanoseconds, as a power of two.
const DAY_BITS: u32 = 7;
/// Days of a year.
const DAYS: usize = 1024;
/// Bit of the numbers of events that are not urgent.
const NOT_URGENT: u64 = 1 << 63;

/// Events in time order; at equal times urgent ones first, then in order of scheduling.
///
/// Days of 128 ns hold the events of the next year (131 us: transmissions and propagation), a heap
/// holds those beyond it (timers). A day is sorted when it starts.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    days: Vec<Vec<Entry<E>>>,
    /// Bit `d` of word `w`: day `64 w + d` of the year has events.
    occupied: [u64; DAYS / 64],
    /// The number of the current day since time 0.
    today: u64,
    /// Remaining events of today, the next one last.
    left: Vec<Entry<E>>,
    later: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time_ns: u64,
    number: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (u64, u64) {
        (self.time_ns, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            days: vec![Vec::new(); DAYS],
            occupied: [0; DAYS / 64],
            today: 0,
            left: Vec::new(),
            later: BinaryHeap::new(),
            scheduled: 0,
            len: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Adds an event, not before the one last taken.
    pub fn schedule(&mut self, time_ns: u64, event: E) {
        self.insert(Entry { time_ns, number: NOT_URGENT | self.scheduled, event });
    }

    /// Adds an urgent event, not before the one last taken.
    pub fn schedule_urgent(&mut self, time_ns: u64, event: E) {
        self.insert(Entry { time_ns, number: self.scheduled, event });
    }

    fn insert(&mut self, entry: Entry<E>) {
        let time_ns = entry.time_ns;
        self.scheduled += 1;
        self.len += 1;
        let day = time_ns >> DAY_BITS;
        debug_assert!(day >= self.today, "an event in the past");
        if day <= self.today {
            let place = self.left.partition_point(|other| other.key() > entry.key());
            self.left.insert(place, entry);
        } else if day < self.today + DAYS as u64 {
            self.note(day, entry);
        } else {
            self.later.push(Reverse(entry));
        }
    }

    /// Takes out the next event.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        while self.left.is_empty() {
            self.begin_next_day()?;
        }
        let entry = self.left.pop()?;
        self.len -= 1;
        Some((entry.time_ns, entry.event))
    }

    /// Time of the next event, nanoseconds.
    pub fn next_ns(&mut self) -> Option<u64> {
        while self.left.is_empty() {
            self.begin_next_day()?;
        }
        self.left.last().map(|entry| entry.time_ns)
    }

    /// Events that are scheduled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn note(&mut self, day: u64, entry: Entry<E>) {
        let place = day as usize % DAYS;
        self.days[place].push(entry);
        self.occupied[place / 64] |= 1 << (place % 64);
    }

    fn begin_next_day(&mut self) -> Option<()> {
        let later = self.later.peek().map(|entry| entry.0.time_ns >> DAY_BITS);
        self.today = match (self.next_occupied(), later) {
            (Some(day), Some(later)) => day.min(later),
            (day, later) => day.or(later)?,
        };
        while let Some(Reverse(entry)) = self.later.peek()
            && (entry.time_ns >> DAY_BITS) < self.today + DAYS as u64
            && let Some(Reverse(entry)) = self.later.pop()
        {
            self.note(entry.time_ns >> DAY_BITS, entry);
        }
        let place = self.today as usize % DAYS;
        std::mem::swap(&mut self.left, &mut self.days[place]);
        self.occupied[place / 64] &= !(1 << (place % 64));
        self.left.sort_unstable_by_key(|entry| Reverse(entry.key()));
        Some(())
    }

    /// The first day after today, within the year, that has events.
    fn next_occupied(&self) -> Option<u64> {
        let start = (self.today as usize + 1) % DAYS;
        let (word, bit) = (start / 64, start % 64);
        let words = DAYS / 64;
        let first = self.occupied[word] >> bit << bit;
        let found = std::iter::once((word, first))
            .chain((1..=words).map(|step| {
                let at = (word + step) % words;
                (at, self.occupied[at])
            }))
            .find(|(_, bits)| *bits != 0)?;
        let place = found.0 * 64 + found.1.trailing_zeros() as usize;
        let ahead = (place + DAYS - start) % DAYS;
        Some(self.today + 1 + ahead as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_urgency_and_scheduling(
            steps in prop::collection::vec((0u64..6, 0u64..400, 0u32..8, prop::bool::ANY), 1..400),
        ) {
            let mut queue = EventQueue::default();
            let mut slow: Vec<(u64, bool, u64)> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for (pops, delay, scale, is_urgent) in steps {
                let time = now + (delay << (2 * scale));
                if is_urgent {
                    queue.schedule_urgent(time, number);
                } else {
                    queue.schedule(time, number);
                }
                slow.push((time, !is_urgent, number));
                number += 1;
                for _ in 0..pops.saturating_sub(4) {
                    let expected = slow.iter().copied().min();
                    slow.retain(|event| Some(*event) != expected);
                    let got = queue.pop();
                    prop_assert_eq!(got, expected.map(|(time, _, number)| (time, number)));
                    now = got.map_or(now, |event| event.0);
                }
            }
            slow.sort_unstable();
            for (time, _, number) in slow {
                prop_assert_eq!(queue.pop(), Some((time, number)));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
