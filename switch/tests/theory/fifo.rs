//! A second, slow implementation: real FIFOs of numbered packets, for every reading.
//!
//! Shares only the tie rule and the share with the pseudocode; buffers of any size.

use crate::games::Thresholds;
use crate::reading::{Reading, Victims};
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

/// For each packet, whether the policy that pays back transmits it: it follows the queues of
/// FollowLQD on the packets that are not predicted to be dropped.
pub(crate) fn paying_back(
    sequence: &Sequence,
    reading: Reading,
    predicted_drop: &[bool],
) -> Vec<bool> {
    let followed = follow_lqd(sequence, reading, predicted_drop, Thresholds::OfTheRest);
    let (ports, buffer) = (sequence.ports as u32, sequence.buffer);
    let empty = vec![Vec::new(); sequence.ports];
    let (mut fifos, mut reference) = (empty.clone(), empty);
    let mut accepted = Vec::new();
    for slot in &sequence.slots {
        for &i in slot {
            let id = accepted.len();
            if followed[id] {
                reference[i].push(id);
            }
            let packets = held(&fifos) as u32;
            let is_safeguarded = reading.share.is_above(packets, ports, buffer);
            let accept =
                packets < buffer && (is_safeguarded || fifos[i].len() < reference[i].len());
            if accept {
                fifos[i].push(id);
            }
            accepted.push(accept);
        }
        [&mut fifos, &mut reference].into_iter().for_each(serve);
    }
    accepted
}
