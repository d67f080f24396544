//! Which predictions come true: that of devices, for a switch's buffer.

use crate::{BuildError, Packet};
use dropcast_runtime::Waiting;

/// Follows predictions only while enough of them are confirmed ([`dropcast_runtime::Confirmation`]).
#[derive(Clone, Debug)]
pub struct Confirmation(dropcast_runtime::Confirmation<Vec<Waiting>>);

impl Confirmation {
    /// The moving average stays below 65,522 of 65,536: it moves by whole parts, rounded down.
    pub const HIGHEST_GATE: f64 = 0.999;

    /// Follows predictions while at least `gate` of them, 0 to [`Self::HIGHEST_GATE`], are confirmed; at first none is.
    ///
    /// # Errors
    /// If `gate` is no such share.
    pub fn new(gate: f64, queues: usize) -> Result<Self, BuildError> {
        if !(0.0..=Self::HIGHEST_GATE).contains(&gate) {
            let problem = format!(
                "is {gate}, expected 0 to {}: the moving average of what is confirmed never reaches 1",
                Self::HIGHEST_GATE
            );
            return Err(BuildError::parameter("gate", problem));
        }
        let gate = (gate * f64::from(dropcast_runtime::Confirmation::ONE)) as u32;
        let waiting = vec![Waiting::NOTHING; queues];
        Ok(Confirmation(dropcast_runtime::Confirmation::new(gate, waiting)))
    }

    /// A packet arrives: if it overflows the buffer with all phantoms, what waits is confirmed. Whether so many bytes more
    /// fit is what `fits` tells.
    pub(crate) fn arrives(&mut self, packet: &Packet, fits: impl FnOnce(u32) -> bool) {
        self.0.arrives(packet.size_bytes, fits);
    }

    /// The packet is predicted to be dropped. Returns whether to drop it.
    pub(crate) fn predicted(&mut self, packet: &Packet) -> bool {
        self.0.predicted(packet.queue, packet.size_bytes)
    }

    /// The last packet of `queue` left.
    pub(crate) fn emptied(&mut self, queue: usize) {
        self.0.emptied(queue);
    }
}
