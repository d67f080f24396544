//! Algorithms 1 and 2 of the Credence paper, transcribed line by line, and LQD beside them.
//!
//! The paper leaves open which of several highest thresholds moves; here, as in the crate, the
//! lowest queue number does. Nothing is shared with the crate: the tests hold it to this.

/// Index of the highest value; ties go to the lowest index.
pub(crate) fn highest(values: &[u8]) -> usize {
    let mut best = 0;
    for j in 0..values.len() {
        if values[j] > values[best] {
            best = j;
        }
    }
    best
}

pub(crate) fn sum(values: &[u8]) -> u32 {
    values.iter().map(|&value| u32::from(value)).sum()
}

/// UpdateThreshold(i, arrival): Algorithm 1 lines 22 to 30, Algorithm 2 lines 15 to 22. Returns
/// the queue whose threshold was lowered.
pub(crate) fn update_threshold_arrival(
    thresholds: &mut [u8],
    buffer: u8,
    i: usize,
) -> Option<usize> {
    if sum(thresholds) == u32::from(buffer) {
        let j = highest(thresholds);
        thresholds[j] -= 1;
        thresholds[i] += 1;
        Some(j)
    } else {
        thresholds[i] += 1;
        None
    }
}

/// The same with the arriving packet counted in its own queue (the crate's `Victim::Arrival`):
/// if that makes its queue the longest, nothing moves. Returns the queue that loses a packet.
pub(crate) fn update_threshold_arrival_counted(
    thresholds: &mut [u8],
    buffer: u8,
    i: usize,
) -> Option<usize> {
    thresholds[i] += 1;
    if sum(thresholds) > u32::from(buffer) {
        let j = highest(thresholds);
        thresholds[j] -= 1;
        Some(j)
    } else {
        None
    }
}

/// UpdateThreshold(i, departure) of every queue: Algorithm 1 lines 31 to 34.
pub(crate) fn update_threshold_departures(thresholds: &mut [u8]) {
    for threshold in thresholds {
        if *threshold > 0 {
            *threshold -= 1;
        }
    }
}

/// Algorithm 1, lines 5 to 16, for a packet to queue `i` after UpdateThreshold. Returns whether
/// it is accepted.
pub(crate) fn credence_arrival(
    queues: &mut [u8],
    thresholds: &[u8],
    buffer: u8,
    i: usize,
    predicted_drop: bool,
) -> bool {
    let n = queues.len() as u32;
    let j = highest(queues);
    if u32::from(queues[j]) * n < u32::from(buffer) {
        queues[i] += 1;
        return true;
    }
    if queues[i] < thresholds[i] && sum(queues) < u32::from(buffer) && !predicted_drop {
        queues[i] += 1;
        return true;
    }
    false
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

/// Procedure Departure of every queue, without its threshold: one packet leaves each.
pub(crate) fn departures(queues: &mut [u8]) {
    for queue in queues {
        if *queue > 0 {
            *queue -= 1;
        }
    }
}
