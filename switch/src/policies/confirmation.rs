//! Which predictions come true, told from the switch's own queues.

use crate::{Buffer, BuildError, Packet};

/// Follows predictions only while enough of them are confirmed.
///
/// A predicted drop is *confirmed* if the buffer then overflows, where packets that were dropped on predictions count as
/// held (phantoms) until their queue is empty. It is wrong if its queue is empty first. While predictions are not followed
/// they are counted all the same, so that they can be followed again.
///
/// No virtual LQD is needed: two counters for each queue, three for the switch.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// Predictions are followed while `share` is at least this.
    gate: u32,
    /// The share of confirmed predictions, a moving average, in [`Confirmation::ONE`]s.
    share: u32,
    /// By queue: predictions of which is not known whether they come true, and the phantoms among them, bytes.
    waiting: Vec<Waiting>,
    /// Sums of `waiting`.
    all: Waiting,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    predictions: u32,
    phantom_bytes: u32,
}

impl Confirmation {
    /// A share of 1.
    const ONE: u32 = 1 << 16;
    /// The average moves a sixteenth of the way, rounded down.
    const WEIGHT_BITS: u32 = 4;

    /// Follows predictions while at least `gate` of them, 0 to 1, are confirmed; at first it does.
    ///
    /// # Errors
    /// If `gate` is no share.
    pub fn new(gate: f64, queues: usize) -> Result<Self, BuildError> {
        if !(0.0..=1.0).contains(&gate) {
            let problem = format!("is {gate}, expected 0 to 1");
            return Err(BuildError::parameter("gate", problem));
        }
        let gate = (gate * f64::from(Self::ONE)) as u32;
        let waiting = vec![Waiting::default(); queues];
        Ok(Confirmation { gate, share: gate, waiting, all: Waiting::default() })
    }

    /// A packet arrives: if it overflows the buffer with all phantoms, what waits is confirmed.
    pub(crate) fn arrives(&mut self, buffer: &Buffer, packet: &Packet) {
        let bytes = packet.size_bytes.saturating_add(self.all.phantom_bytes);
        if self.all.predictions > 0 && !buffer.fits(bytes) {
            self.share += (Self::ONE - self.share) >> Self::WEIGHT_BITS;
            self.all = Waiting::default();
            self.waiting.fill(Waiting::default());
        }
    }

    /// The packet is predicted to be dropped. Returns whether to drop it.
    pub(crate) fn predicted(&mut self, packet: &Packet) -> bool {
        let is_followed = self.share >= self.gate;
        let phantom_bytes = if is_followed { packet.size_bytes } else { 0 };
        for waiting in [&mut self.waiting[packet.queue], &mut self.all] {
            waiting.predictions = waiting.predictions.saturating_add(1);
            waiting.phantom_bytes = waiting.phantom_bytes.saturating_add(phantom_bytes);
        }
        is_followed
    }

    /// A packet left `queue`.
    pub(crate) fn departed(&mut self, buffer: &Buffer, queue: usize) {
        if buffer.lengths()[queue] > 0 {
            return;
        }
        let Waiting { predictions, phantom_bytes } = std::mem::take(&mut self.waiting[queue]);
        if predictions > 0 {
            self.share -= self.share >> Self::WEIGHT_BITS;
            self.all.predictions = self.all.predictions.saturating_sub(predictions);
            self.all.phantom_bytes = self.all.phantom_bytes.saturating_sub(phantom_bytes);
        }
    }
}
