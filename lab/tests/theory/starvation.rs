//! The strongest counterexample to Theorem 1: packets accepted by the safeguard are never paid
//! back.

/// A sequence: ports and predictions (`true`: drop) of the packets of each slot.
pub(crate) type Predicted = Vec<Vec<(usize, bool)>>;

/// The most packets that Credence's safeguard accepts for one queue, one below the number of ports at
/// most; `B/N` is a fraction.
pub(crate) fn most_extras(ports: usize, buffer: usize) -> usize {
    buffer.div_ceil(ports).min(ports - 1)
}

/// `rounds` of two slots in which LQD transmits `extras + 2` packets and Credence two. At most `N`
/// packets arrive in a slot.
///
/// In the first slot the safeguard accepts `extras` packets that are predicted to be dropped. Then
/// queue 0 is filled: Credence's to `B`, that of FollowLQD without the positives to `B - extras`.
/// In the first slot of a round `extras + 1` ports get a packet; LQD pushes out of queue 0, FollowLQD
/// has room, Credence is full. In the second, queue 0 gets `extras` packets that LQD would have room
/// for and that are predicted to be dropped, and one more: Credence stays full.
pub(crate) fn starvation(ports: usize, buffer: usize, extras: usize, rounds: usize) -> Predicted {
    let refill: Vec<_> = (0..=extras).map(|k| (0, k < extras)).collect();
    let each: Vec<_> = (0..=extras).map(|port| (port, false)).collect();
    // Before the departures of the last slot.
    let mut held = refill.len();
    let mut slots = vec![refill.clone()];
    while held < buffer {
        let packets = ports.min(buffer - held + 1);
        slots.push(vec![(0, false); packets]);
        held = held - 1 + packets;
    }
    for _ in 0..rounds {
        slots.push(each.clone());
        slots.push(refill.clone());
    }
    slots
}

/// Sequences on which guarantees differ, by name, for a buffer that `N` divides.
///
/// 1. [`starvation`].
/// 2. The same without predicted drops: all of LQD's drops are missed.
/// 3. All packets are predicted drops: queue 0 is filled up to the safeguard's limit, then every port gets a
///    packet in each slot, queue 0 first.
/// 4. Perfect predictions: bursts of the whole buffer for one port after the other, `N` packets in a slot.
pub(crate) fn guarantees(ports: usize, buffer: usize) -> [(&'static str, Predicted); 4] {
    const ROUNDS: usize = 1000;
    let starving = starvation(ports, buffer, most_extras(ports, buffer), ROUNDS);
    let all = |slots: &Predicted, drop: bool| -> Predicted {
        slots.iter().map(|slot| slot.iter().map(|&(port, _)| (port, drop)).collect()).collect()
    };
    let missed = all(&starving, false);
    let mut load = vec![vec![(0, true); ports]];
    load.extend(vec![(0..ports).map(|port| (port, true)).collect(); 2 * ROUNDS]);
    let in_slots = buffer / ports;
    let burst = |number: usize| {
        let port = number * 5 % ports;
        let idle = vec![Vec::new(); in_slots];
        std::iter::repeat_n(vec![(port, false); ports], in_slots).chain(idle)
    };
    let bursts = labelled((0..ROUNDS / 10).flat_map(burst).collect(), ports, buffer);
    [
        ("starvation", starving),
        ("the same, no drop predicted", missed),
        ("all drops, even load", load),
        ("perfect, bursts of the buffer", bursts),
    ]
}

/// With LQD's drops as predictions: the tail of the longest queue, the lowest if several are, makes room.
fn labelled(mut slots: Predicted, ports: usize, buffer: usize) -> Predicted {
    let mut queues = vec![Vec::new(); ports];
    for slot in 0..slots.len() {
        for at in 0..slots[slot].len() {
            if queues.iter().map(Vec::len).sum::<usize>() == buffer {
                let longest = (0..ports).rev().max_by_key(|&port| queues[port].len());
                let pushed: Option<(usize, usize)> = queues[longest.unwrap_or(0)].pop();
                let (then, place) = pushed.expect("a full buffer has a packet");
                slots[then][place].1 = true;
            }
            queues[slots[slot][at].0].push((slot, at));
        }
        queues.iter_mut().filter(|queue| !queue.is_empty()).for_each(|queue| {
            queue.remove(0);
        });
    }
    slots
}
