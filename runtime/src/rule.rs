//! The untrained rule over Dynamic Thresholds: a decision without an oracle and without virtual LQD (`docs/rule.md`).

use crate::NotReady;
use crate::confirmation::Waiting;
use crate::filter::{Filter, FilterConstants, FilterQueue, OwnQueues, Predicts};

/// Dynamic Thresholds with the untrained rule.
pub type Rule<L, Q, W> = Filter<L, Q, W, LevelAhead>;

/// The untrained rule: a drop is predicted if the level, projected to the horizon, reaches the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelAhead;

impl Predicts for LevelAhead {
    const WINDOWS: u32 = 2;

    /// The level is what all queues would hold at the horizon, if each were cut down to what the packet's holds now.
    fn predicts(&self, own: OwnQueues<'_>, queue: usize) -> bool {
        let buffer_bytes = u64::from(own.buffer_bytes);
        if own.expected_bytes < buffer_bytes {
            return false;
        }
        let cut_bytes = own.queues[queue].bytes;
        let up_to = |of: &FilterQueue| u64::from(of.expected_bytes.min(cut_bytes));
        own.queues.iter().map(up_to).sum::<u64>() >= buffer_bytes
    }
}

impl<L, Q, W> Rule<L, Q, W>
where
    L: AsRef<[u32]>,
    Q: AsRef<[FilterQueue]> + AsMut<[FilterQueue]>,
    W: AsRef<[Waiting]> + AsMut<[Waiting]>,
{
    /// The rule at an empty switch. What the memory holds is overwritten.
    ///
    /// # Errors
    /// As [`over`](Filter::over).
    pub fn new(constants: FilterConstants<L>, queues: Q, waiting: W) -> Result<Self, NotReady> {
        Filter::over(constants, queues, waiting, LevelAhead)
    }
}
