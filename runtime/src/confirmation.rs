//! Which predictions come true, told from the switch's own queues.

/// Follows predictions only while enough of them are confirmed.
///
/// A predicted drop is *confirmed* if the buffer then overflows, where packets that were dropped on predictions count as
/// held (phantoms) until their queue is empty. It is wrong if its queue is empty first. While predictions are not followed
/// they are counted all the same, so that they can be followed again.
///
/// No virtual LQD is needed: two counters for each queue, in memory of the caller's (an array, a mutable slice or a vector),
/// three for the switch.
#[derive(Clone, Debug)]
pub struct Confirmation<M> {
    /// Predictions are followed while `share` is at least this.
    gate: u32,
    /// The share of confirmed predictions, a moving average, in [`Confirmation::ONE`]s.
    share: u32,
    /// By queue.
    waiting: M,
    /// Sums of `waiting`.
    all: Waiting,
}

/// Predictions for a queue of which is not known whether they come true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    predictions: u32,
    /// Bytes of the packets that were dropped on them.
    phantom_bytes: u32,
}

impl Waiting {
    /// No prediction waits.
    pub const NOTHING: Self = Waiting { predictions: 0, phantom_bytes: 0 };
}

impl Confirmation<()> {
    /// A share of 1.
    pub const ONE: u32 = 1 << 16;
    /// The average moves a sixteenth of the way, rounded down.
    const WEIGHT_BITS: u32 = 4;
}

impl<M: AsMut<[Waiting]>> Confirmation<M> {
    /// Follows predictions while at least `gate` of them, in [`Confirmation::ONE`]s, are confirmed; at first none is.
    /// `waiting` has an element for each queue; it is overwritten.
    pub fn new(gate: u32, mut waiting: M) -> Self {
        waiting.as_mut().fill(Waiting::NOTHING);
        Confirmation { gate, share: 0, waiting, all: Waiting::NOTHING }
    }

    /// A packet arrives: if it overflows the buffer with all phantoms, what waits is confirmed.
    #[inline]
    pub fn arrives(&mut self, size_bytes: u32, fits: impl FnOnce(u32) -> bool) {
        let bytes = size_bytes.saturating_add(self.all.phantom_bytes);
        if self.all.predictions > 0 && !fits(bytes) {
            self.share += Confirmation::ONE.saturating_sub(self.share) >> Confirmation::WEIGHT_BITS;
            self.all = Waiting::NOTHING;
            self.waiting.as_mut().fill(Waiting::NOTHING);
        }
    }

    /// A packet for `queue` is predicted to be dropped. Returns whether to drop it.
    #[inline]
    pub fn predicted(&mut self, queue: usize, size_bytes: u32) -> bool {
        let is_followed = self.share >= self.gate;
        let phantom_bytes = if is_followed { size_bytes } else { 0 };
        for waiting in [&mut self.waiting.as_mut()[queue], &mut self.all] {
            waiting.predictions = waiting.predictions.saturating_add(1);
            waiting.phantom_bytes = waiting.phantom_bytes.saturating_add(phantom_bytes);
        }
        is_followed
    }

    /// The last packet of `queue` left: what waits for it was wrong.
    #[inline]
    pub fn emptied(&mut self, queue: usize) {
        let Waiting { predictions, phantom_bytes } =
            core::mem::take(&mut self.waiting.as_mut()[queue]);
        if predictions > 0 {
            self.share -= self.share >> Confirmation::WEIGHT_BITS;
            self.all.predictions = self.all.predictions.saturating_sub(predictions);
            self.all.phantom_bytes = self.all.phantom_bytes.saturating_sub(phantom_bytes);
        }
    }
}
