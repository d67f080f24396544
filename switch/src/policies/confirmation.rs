//! Which predictions come true: that of devices, for a switch's buffer.

use crate::{Buffer, BuildError, Packet};
use dropcast_oracle::Waiting;

/// Follows predictions only while enough of them are confirmed ([`dropcast_oracle::Confirmation`]).
#[derive(Clone, Debug)]
pub struct Confirmation(dropcast_oracle::Confirmation<Vec<Waiting>>);

impl Confirmation {
    /// Follows predictions while at least `gate` of them, 0 to 1, are confirmed; at first it does.
    ///
    /// # Errors
    /// If `gate` is no share.
    pub fn new(gate: f64, queues: usize) -> Result<Self, BuildError> {
        if !(0.0..=1.0).contains(&gate) {
            let problem = format!("is {gate}, expected 0 to 1");
            return Err(BuildError::parameter("gate", problem));
        }
        let gate = (gate * f64::from(dropcast_oracle::Confirmation::ONE)) as u32;
        let waiting = vec![Waiting::NOTHING; queues];
        Ok(Confirmation(dropcast_oracle::Confirmation::new(gate, waiting)))
    }

    /// A packet arrives: if it overflows the buffer with all phantoms, what waits is confirmed.
    pub(crate) fn arrives(&mut self, buffer: &Buffer, packet: &Packet) {
        self.0.arrives(packet.size_bytes, |bytes| buffer.fits(bytes));
    }

    /// The packet is predicted to be dropped. Returns whether to drop it.
    pub(crate) fn predicted(&mut self, packet: &Packet) -> bool {
        self.0.predicted(packet.queue, packet.size_bytes)
    }

    /// A packet left `queue`.
    pub(crate) fn departed(&mut self, buffer: &Buffer, queue: usize) {
        if buffer.lengths()[queue] == 0 {
            self.0.emptied(queue);
        }
    }
}
