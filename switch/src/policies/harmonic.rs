//! Harmonic (Kesselman and Mansour, "Harmonic buffer management policy for shared memory
//! switches", TCS 2004).

use crate::{Buffer, Decision, Packet, Policy};
use dropcast_features::BufferView;

/// Keeps the k-th longest queue within `B / (k * H_N)`, `H_N` the N-th harmonic number, N the
/// number of queues that share the buffer. (ln N + 2)-competitive.
#[derive(Clone, Debug, Default)]
pub struct Harmonic {
    /// Lengths after the packet, longest first; kept to save the allocation.
    sorted: Vec<u32>,
}

impl Policy for Harmonic {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if !buffer.fits(packet.size_bytes) {
            return Decision::Reject;
        }
        self.sorted.clear();
        let mut sharers = 0;
        for (queue, &bytes) in buffer.shared_lengths().iter().enumerate() {
            let added = if queue == packet.queue { packet.size_bytes } else { 0 };
            self.sorted.push(bytes + added);
            sharers += usize::from(buffer.shares(queue));
        }
        self.sorted.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=sharers).map(|k| 1.0 / k as f64).sum();
        let share = f64::from(buffer.capacity_bytes()) / harmonic;
        let is_within = self
            .sorted
            .iter()
            .take_while(|&&bytes| bytes > 0)
            .enumerate()
            .all(|(k, &bytes)| f64::from(bytes) * (k + 1) as f64 <= share);
        if is_within { Decision::Accept } else { Decision::Reject }
    }
}
