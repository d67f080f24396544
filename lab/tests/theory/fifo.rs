//! A second, slow implementation: real FIFOs of numbered packets, for every reading.
//!
//! Shares only the tie rule and the share with the pseudocode; buffers of any size.

use crate::games::Thresholds;
use crate::reading::{Reading, Victims};
use crate::safeguards::{Limit, Safeguard};
use crate::sequence::Sequence;

type Fifos = Vec<Vec<usize>>;

fn held(fifos: &Fifos) -> usize {
    fifos.iter().map(Vec::len).sum()
}

fn lengths(fifos: &Fifos) -> Vec<usize> {
    fifos.iter().map(Vec::len).collect()
}

fn serve(fifos: &mut Fifos) {
    fifos.iter_mut().filter(|fifo| !fifo.is_empty()).for_each(|fifo| {
        fifo.remove(0);
    });
}

/// Push-out LQD: adds packet `id`; returns the packet that is dropped for it.
fn push(
    fifos: &mut Fifos,
    sequence: &Sequence,
    reading: Reading,
    id: usize,
    i: usize,
) -> Option<usize> {
    let is_full = held(fifos) == sequence.buffer as usize;
    let mut counted = lengths(fifos);
    if reading.victims == Victims::Arrival {
        counted[i] += 1;
    }
    let longest = reading.ties.highest(&counted, i);
    if is_full && longest == i && reading.victims == Victims::Arrival {
        return Some(id);
    }
    let dropped = if is_full { fifos[longest].pop() } else { None };
    fifos[i].push(id);
    dropped
}

/// For each packet, whether LQD transmits it.
pub(crate) fn lqd(sequence: &Sequence, reading: Reading) -> Vec<bool> {
    let mut fifos = vec![Vec::new(); sequence.ports];
    let mut transmitted = vec![true; sequence.len()];
    let mut id = 0;
    for slot in &sequence.slots {
        for &i in slot {
            if let Some(dropped) = push(&mut fifos, sequence, reading, id, i) {
                transmitted[dropped] = false;
            }
            id += 1;
        }
        serve(&mut fifos);
    }
    transmitted
}

/// For each packet, whether a drop-tail policy accepts it, and so transmits it. It is asked with
/// the queue lengths, the thresholds of all of the sequence, those of the packets that are not
/// predicted to be dropped, the packet's number and its queue.
fn drop_tail(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
    mut accepts: impl FnMut(&[usize], &[usize], &[usize], usize, usize) -> bool,
) -> Vec<bool> {
    let empty = vec![Vec::new(); sequence.ports];
    let (mut fifos, mut all, mut rest) = (empty.clone(), empty.clone(), empty);
    let mut accepted = Vec::new();
    for slot in &sequence.slots {
        for &i in slot {
            let id = accepted.len();
            push(&mut all, sequence, reading, id, i);
            if !predicted_drop[id] {
                push(&mut rest, sequence, reading, id, i);
            }
            let fits = held(&fifos) < sequence.buffer as usize;
            let accept = fits && accepts(&lengths(&fifos), &lengths(&all), &lengths(&rest), id, i);
            if accept {
                fifos[i].push(id);
            }
            accepted.push(accept);
        }
        [&mut fifos, &mut all, &mut rest].into_iter().for_each(serve);
    }
    accepted
}

/// For each packet, whether FollowLQD transmits it, of those that are not predicted to be dropped.
pub(crate) fn follow_lqd(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
    thresholds: Thresholds,
) -> Vec<bool> {
    drop_tail(sequence, reading, predicted_drop, |queues, all, rest, id, i| {
        let thresholds = if thresholds == Thresholds::OfAll { all } else { rest };
        !predicted_drop[id] && queues[i] < thresholds[i]
    })
}

/// For each packet, whether Credence transmits it.
pub(crate) fn credence(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
) -> Vec<bool> {
    drop_tail(sequence, reading, predicted_drop, |queues, all, _, id, i| {
        let longest = queues.iter().copied().max().unwrap_or(0) as u32;
        reading.share.is_above(longest, sequence.ports as u32, sequence.buffer)
            || (queues[i] < all[i] && !predicted_drop[id])
    })
}

/// For each packet, whether a changed Credence transmits it: one with this limit and this safeguard.
pub(crate) fn changed(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
    limit: Limit,
    safeguard: Safeguard,
) -> Vec<bool> {
    let followed = follow_lqd(sequence, reading, predicted_drop, Thresholds::OfTheRest);
    let (ports, buffer) = (sequence.ports as u32, sequence.buffer);
    let empty = vec![Vec::new(); sequence.ports];
    let [mut fifos, mut all, mut rest, mut reference] = [(); 4].map(|()| empty.clone());
    let mut accepted = Vec::new();
    for slot in &sequence.slots {
        for &i in slot {
            let id = accepted.len();
            push(&mut all, sequence, reading, id, i);
            if !predicted_drop[id] {
                push(&mut rest, sequence, reading, id, i);
            }
            if followed[id] {
                reference[i].push(id);
            }
            let longest = fifos.iter().map(Vec::len).max().unwrap_or(0);
            let is_below_share =
                |packets: usize| reading.share.is_above(packets as u32, ports, buffer);
            let is_safeguarded = match safeguard {
                Safeguard::Never => false,
                Safeguard::Longest => is_below_share(longest),
                Safeguard::Own => is_below_share(fifos[i].len()),
                Safeguard::Occupancy => is_below_share(held(&fifos)),
                Safeguard::Empty => held(&fifos) == 0,
            };
            let is_followed = match limit {
                Limit::Thresholds => !predicted_drop[id] && fifos[i].len() < all[i].len(),
                Limit::ThresholdsOfTheRest => !predicted_drop[id] && fifos[i].len() < rest[i].len(),
                Limit::Reference => fifos[i].len() < reference[i].len(),
            };
            let accept = held(&fifos) < buffer as usize && (is_safeguarded || is_followed);
            if accept {
                fifos[i].push(id);
            }
            accepted.push(accept);
        }
        [&mut fifos, &mut all, &mut rest, &mut reference].into_iter().for_each(serve);
    }
    accepted
}

/// For each packet, whether Harmonic transmits it: the k-th longest queue holds at most `B / (k H_N)`.
pub(crate) fn harmonic(sequence: &Sequence) -> Vec<bool> {
    let harmonic: f64 = (1..=sequence.ports).map(|k| 1.0 / k as f64).sum();
    let none = vec![false; sequence.len()];
    // Without predictions, and thresholds that are not looked at.
    let reading = Reading::CRATE;
    drop_tail(sequence, reading, &none, |queues, _, _, _, i| {
        let mut after = queues.to_vec();
        after[i] += 1;
        after.sort_unstable();
        let within = |(k, &length): (usize, &usize)| {
            length as f64 * (k + 1) as f64 <= f64::from(sequence.buffer) / harmonic
        };
        after.iter().rev().enumerate().all(within)
    })
}

/// For each packet, whether FollowMax transmits it: it follows the longer of the queues of FollowLQD without
/// the packets predicted to be dropped, and of Harmonic with `harmonic_packets` of the buffer.
pub(crate) fn follow_max(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
    harmonic_packets: u32,
) -> Vec<bool> {
    let [of_follow, of_harmonic] = sequence.parts(harmonic_packets);
    let followed = follow_lqd(&of_follow, reading, predicted_drop, Thresholds::OfTheRest);
    let robust = harmonic(&of_harmonic);
    let empty = vec![Vec::new(); sequence.ports];
    let [mut fifos, mut first, mut second] = [(); 3].map(|()| empty.clone());
    let mut accepted = Vec::new();
    for slot in &sequence.slots {
        for &i in slot {
            let id = accepted.len();
            if followed[id] {
                first[i].push(id);
            }
            if robust[id] {
                second[i].push(id);
            }
            let longer = first[i].len().max(second[i].len());
            let accept = held(&fifos) < sequence.buffer as usize && fifos[i].len() < longer;
            if accept {
                fifos[i].push(id);
            }
            accepted.push(accept);
        }
        [&mut fifos, &mut first, &mut second].into_iter().for_each(serve);
    }
    accepted
}
