//! The strongest counterexample to Theorem 1: packets accepted by the safeguard are never paid
//! back.

/// A sequence: ports and predictions (`true`: drop) of the packets of each slot.
pub(crate) type Predicted = Vec<Vec<(usize, bool)>>;

/// For `N >= 3` ports and a buffer `B >= N (N - 2)`: `rounds` of two slots in which LQD transmits
/// `N + 1` packets and Credence two. At most `N` packets arrive in a slot.
///
/// In the first slot the safeguard accepts `N - 1` packets that are predicted to be dropped. Then
/// queue 0 is filled: Credence's to `B`, that of FollowLQD without the positives to `B - N + 1`.
/// In the first slot of a round each port gets a packet; LQD pushes out of queue 0, FollowLQD has
/// room, Credence is full. In the second, queue 0 gets `N - 1` packets that LQD would have room for
/// and that are predicted to be dropped, and one more: Credence stays full.
pub(crate) fn starvation(ports: usize, buffer: usize, rounds: usize) -> Predicted {
    let refill: Vec<_> = (1..=ports).map(|k| (0, k < ports)).collect();
    let each: Vec<_> = (0..ports).map(|port| (port, false)).collect();
    let mut slots = vec![refill.clone()];
    // Before the departures of the last slot.
    let mut held = ports;
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
