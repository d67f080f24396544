//! The slotted model (appendix A) of one switch under one reading: rows of queue lengths.

use crate::pseudocode::{
    credence_arrival, departures, follow_lqd_arrival, sum, update_threshold_arrival,
};
use crate::reading::Reading;

/// Ports a model may have.
pub(crate) const MAX_PORTS: usize = 4;
/// Queue lengths, or thresholds, of a switch; those beyond `N` stay 0.
pub(crate) type Lengths = [u8; MAX_PORTS];

/// `N`, `B`, the reading, and how many packets a slot may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) ports: usize,
    pub(crate) buffer: u8,
    pub(crate) reading: Reading,
    /// The most packets that arrive in a slot; appendix A's limit is `N`.
    pub(crate) most_arrivals: Option<u8>,
}

impl Model {
    /// With the limit of appendix A.
    pub(crate) fn new((ports, buffer): (usize, u8), reading: Reading) -> Self {
        Model { ports, buffer, reading, most_arrivals: Some(ports as u8) }
    }

    /// A packet for `i` at LQD, or UpdateThreshold; returns the queue that loses a packet.
    pub(crate) fn lqd(&self, lengths: &mut Lengths, i: usize) -> Option<usize> {
        update_threshold_arrival(self.reading, &mut lengths[..self.ports], self.buffer, i)
    }

    /// A packet for `i` at FollowLQD, after its thresholds moved; returns whether it is accepted.
    pub(crate) fn follow(&self, queues: &mut Lengths, thresholds: &Lengths, i: usize) -> bool {
        let ports = self.ports;
        follow_lqd_arrival(&mut queues[..ports], &thresholds[..ports], self.buffer, i)
    }

    /// The same at Credence.
    pub(crate) fn credence(
        &self,
        queues: &mut Lengths,
        thresholds: &Lengths,
        i: usize,
        predicted_drop: bool,
    ) -> bool {
        let Model { ports, buffer, reading, .. } = *self;
        let queues = &mut queues[..ports];
        credence_arrival(reading, queues, &thresholds[..ports], buffer, i, predicted_drop)
    }

    /// A packet for `i` is added if there is room.
    pub(crate) fn add(&self, queues: &mut Lengths, i: usize) -> bool {
        let fits = sum(queues) < u32::from(self.buffer);
        queues[i] += u8::from(fits);
        fits
    }
}

/// The departure phase of every row.
pub(crate) fn all_depart<const ROWS: usize>(rows: &[Lengths; ROWS]) -> [Lengths; ROWS] {
    let mut rows = *rows;
    rows.iter_mut().for_each(|queues| departures(queues));
    rows
}
