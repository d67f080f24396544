//! An oracle as a filter over Dynamic Thresholds, without virtual LQD (`docs/filter.md`).

use crate::confirmation::Waiting;
use crate::filter::{Filter, FilterConstants, FilterQueue, OwnQueues, Predicts};
use crate::memory::expected_bytes;
use crate::row::{Columns, Queues, keeps};
use crate::{DropOracle, NotReady, Table};

/// An oracle that sees the switch's own queues.
#[derive(Clone, Copy, Debug)]
pub struct Trained<O> {
    oracle: O,
    columns: Columns,
}

impl<O> Trained<O> {
    /// An oracle whose features have these codes ([`Table::feature_codes`]), in the order of its rows.
    ///
    /// # Errors
    /// If a feature is not known, or is an average or a sum by length class, which are not kept here.
    pub fn new(feature_codes: &[u8], oracle: O) -> Result<Self, NotReady> {
        for &code in feature_codes {
            let kept = keeps(code).filter(|keeps| !keeps.averages && !keeps.classes);
            kept.ok_or(NotReady::UnknownFeature(code))?;
        }
        Ok(Trained { oracle, columns: Columns::new(feature_codes)? })
    }
}

impl<O: DropOracle> Predicts for Trained<O> {
    const WINDOWS: u32 = 16;

    fn predicts(&self, own: OwnQueues<'_>, queue: usize) -> bool {
        let row = self.columns.observe(&own, queue);
        self.oracle.predicts_drop(&row[..self.columns.length()])
    }
}

impl Queues for OwnQueues<'_> {
    fn queue_bytes(&self, queue: usize) -> u32 {
        self.queues[queue].bytes
    }

    fn lengths(&self) -> impl Iterator<Item = u32> {
        self.queues.iter().map(|queue| queue.bytes)
    }

    fn expected(&self, windows: u32) -> impl Iterator<Item = u64> {
        let ports = self.queues.chunks_exact(self.queues.len() / self.drain_bytes.len());
        ports.zip(self.drain_bytes).flat_map(move |(queues, &drain_bytes)| {
            let drain_bytes = u64::from(drain_bytes / (16 / windows));
            queues.iter().map(move |queue| {
                expected_bytes(queue.bytes, queue.recent_bytes, windows, drain_bytes)
            })
        })
    }

    fn occupancy_bytes(&self) -> u32 {
        self.occupancy_bytes
    }
}

impl<'a, L, Q, W> Filter<L, Q, W, Trained<Table<'a>>>
where
    L: AsRef<[u32]>,
    Q: AsRef<[FilterQueue]> + AsMut<[FilterQueue]>,
    W: AsRef<[Waiting]> + AsMut<[Waiting]>,
{
    /// The forest of a table at an empty switch. What the memory holds is overwritten.
    ///
    /// # Errors
    /// If the window is not an eighth of the table's base RTT, or as [`Trained::new`] and [`over`](Filter::over).
    pub fn with_table(
        constants: FilterConstants<L>,
        queues: Q,
        waiting: W,
        table: Table<'a>,
    ) -> Result<Self, NotReady> {
        let trained = Trained::new(table.feature_codes(), table)?;
        match table.average_ns() {
            Some(ns) if (ns / 8).max(1) != constants.window_ns => Err(NotReady::OtherAverage(ns)),
            _ => Filter::over(constants, queues, waiting, trained),
        }
    }
}
