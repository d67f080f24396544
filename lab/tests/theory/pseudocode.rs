//! Algorithms 1 and 2 of the Credence paper, transcribed line by line, and LQD.
//!
//! What the paper leaves open is a [`Reading`]. This shares no code with the crate: the tests
//! compare both.

use crate::reading::{Reading, Victims};

pub(crate) fn sum(values: &[u8]) -> u32 {
    values.iter().map(|&value| u32::from(value)).sum()
}

/// UpdateThreshold(i, arrival): Algorithm 1 lines 22 to 30, Algorithm 2 lines 15 to 22, or with the
/// arriving packet counted in its own queue first. Returns the queue whose threshold was lowered.
pub(crate) fn update_threshold_arrival(
    reading: Reading,
    thresholds: &mut [u8],
    buffer: u8,
    i: usize,
) -> Option<usize> {
    let is_full = sum(thresholds) == u32::from(buffer);
    if reading.victims == Victims::Arrival {
        thresholds[i] += 1;
    }
    let lowered = is_full.then(|| reading.ties.highest(thresholds, i));
    if let Some(j) = lowered {
        thresholds[j] -= 1;
    }
    if reading.victims == Victims::Tail {
        thresholds[i] += 1;
    }
    lowered
}

/// Algorithm 1, lines 5 to 16, for a packet to queue `i` after UpdateThreshold. Returns whether
/// it is accepted.
pub(crate) fn credence_arrival(
    reading: Reading,
    queues: &mut [u8],
    thresholds: &[u8],
    buffer: u8,
    i: usize,
    predicted_drop: bool,
) -> bool {
    if is_safeguarded(reading, queues, buffer) {
        queues[i] += 1;
        return true;
    }
    !predicted_drop && follow_lqd_arrival(queues, thresholds, buffer, i)
}

/// Algorithm 1, line 7: the longest queue is below `B/N`.
pub(crate) fn is_safeguarded(reading: Reading, queues: &[u8], buffer: u8) -> bool {
    let longest = queues.iter().copied().max().unwrap_or(0);
    reading.share.is_above(u32::from(longest), queues.len() as u32, u32::from(buffer))
}

/// Algorithm 2, lines 5 to 9, for a packet to queue `i` after UpdateThreshold. Returns whether it
/// is accepted.
pub(crate) fn follow_lqd_arrival(
    queues: &mut [u8],
    thresholds: &[u8],
    buffer: u8,
    i: usize,
) -> bool {
    if queues[i] < thresholds[i] && sum(queues) < u32::from(buffer) {
        queues[i] += 1;
        return true;
    }
    false
}

/// Procedure Departure of every queue, or UpdateThreshold(i, departure) of every threshold (lines
/// 31 to 34): one packet leaves each.
pub(crate) fn departures(queues: &mut [u8]) {
    for queue in queues {
        if *queue > 0 {
            *queue -= 1;
        }
    }
}
