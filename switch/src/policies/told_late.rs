//! Departures that are told late, as to a program beside the switch.

use crate::Buffer;
use dropcast_features::{BufferView, bytes_up_to};
use std::collections::VecDeque;

/// Departures that a program has not heard of yet.
#[derive(Clone, Debug)]
pub(crate) struct ToldLate {
    delay_ns: u64,
    /// In order.
    waiting: VecDeque<Departure>,
    /// By queue: bytes that left, and count as held until they are told.
    untold_bytes: Vec<u32>,
}

/// A packet that left.
#[derive(Clone, Copy, Debug)]
struct Departure {
    told_ns: u64,
    queue: usize,
    size_bytes: u32,
}

impl ToldLate {
    /// Every departure is told `delay_ns` after it.
    pub(crate) fn new(delay_ns: u64, queues: usize) -> Self {
        ToldLate { delay_ns, waiting: VecDeque::new(), untold_bytes: vec![0; queues] }
    }

    /// A packet left `queue` at `time_ns`.
    pub(crate) fn left(&mut self, queue: usize, size_bytes: u32, time_ns: u64) {
        let told_ns = time_ns.saturating_add(self.delay_ns);
        self.waiting.push_back(Departure { told_ns, queue, size_bytes });
        self.untold_bytes[queue] += size_bytes;
    }

    /// The queue and time of the next departure that is told by `now_ns`.
    pub(crate) fn next(&mut self, now_ns: u64) -> Option<(usize, u64)> {
        let &Departure { told_ns, queue, size_bytes } = self.waiting.front()?;
        if told_ns > now_ns {
            return None;
        }
        self.waiting.pop_front();
        self.untold_bytes[queue] -= size_bytes;
        Some((queue, told_ns))
    }

    /// The buffer with what left untold.
    pub(crate) fn view<'a>(&'a self, buffer: &'a Buffer) -> LateView<'a> {
        LateView { buffer, untold_bytes: &self.untold_bytes }
    }
}

/// A buffer as a program believes that it is: what left untold counts as held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateView<'a> {
    buffer: &'a Buffer,
    untold_bytes: &'a [u32],
}

impl LateView<'_> {
    /// Whether so many bytes more fit.
    pub(crate) fn fits(&self, bytes: u32) -> bool {
        let shared = (0..self.untold_bytes.len()).filter(|&queue| self.shares(queue));
        let untold: u32 = shared.map(|queue| self.untold_bytes[queue]).sum();
        self.buffer.fits(bytes.saturating_add(untold))
    }

    /// Whether a queue holds nothing.
    pub(crate) fn is_empty(&self, queue: usize) -> bool {
        self.buffer.lengths()[queue] == 0 && self.untold_bytes[queue] == 0
    }

    /// By queue that draws on the shared buffer.
    fn shared_bytes(&self) -> impl Iterator<Item = u32> {
        let queues = (0..self.buffer.queues()).filter(|&queue| self.shares(queue));
        queues.map(|queue| self.queue_bytes(queue))
    }
}

impl BufferView for LateView<'_> {
    fn queues(&self) -> usize {
        BufferView::queues(self.buffer)
    }

    fn queue_bytes(&self, queue: usize) -> u32 {
        BufferView::queue_bytes(self.buffer, queue) + self.untold_bytes[queue]
    }

    fn shares(&self, queue: usize) -> bool {
        BufferView::shares(self.buffer, queue)
    }

    fn capacity_bytes(&self) -> u32 {
        BufferView::capacity_bytes(self.buffer)
    }

    fn occupancy_bytes(&self) -> u32 {
        self.shared_bytes().sum()
    }

    fn longest_queue_bytes(&self) -> u32 {
        self.shared_bytes().max().unwrap_or(0)
    }

    fn queues_longer_than(&self, bytes: u32) -> u32 {
        self.shared_bytes().map(|length| u32::from(length > bytes)).sum()
    }

    fn bytes_up_to(&self, level_bytes: u32) -> u64 {
        bytes_up_to(&self.shared_bytes().collect::<Vec<_>>(), level_bytes)
    }
}
