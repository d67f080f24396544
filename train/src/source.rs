//! Where labelled rows come from, and how a row is known.

use crate::split::SplitPlan;
use crate::{Part, TrainError};
use dropcast_data::LabelledBatch;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A run's rows, or some of them, in the order of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunBatch {
    /// Which run. Any number that stays with the run wherever its file is and however many others
    /// are read with it, such as the first bytes of the file's hash.
    pub run: u64,
    /// The rows.
    pub batch: LabelledBatch,
}

/// An iterator over the batches of a source.
pub type Batches<'a, E> = Box<dyn Iterator<Item = Result<RunBatch, E>> + 'a>;

/// Labelled rows that can be read again: training makes two passes, three for splits by time.
///
/// How rows are cut into batches, and the order of different runs, change nothing; the rows of
/// one run and switch must come in the same order in every pass.
pub trait BatchSource {
    /// What can go wrong when reading.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Starts a pass over all rows.
    ///
    /// # Errors
    /// Where the source cannot be opened. Errors met later are items of the iterator, and end
    /// the training.
    fn batches(&self) -> Result<Batches<'_, Self::Error>, Self::Error>;
}

/// Batches in memory.
impl BatchSource for [RunBatch] {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        Ok(Box::new(self.iter().cloned().map(Ok)))
    }
}

/// Identity of a row. All randomness about a row is a function of the seed and of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId {
    /// The run.
    pub run: u64,
    /// The switch; 0 where the input does not tell.
    pub switch: u16,
    /// Place among the rows of this run and switch, from 0.
    pub row: u64,
}

/// Makes one pass over `source`: checks each batch, names its rows, and shows both to `visit`.
///
/// # Errors
/// Those of the source and of `visit`, and [`TrainError::Columns`] where a batch does not have
/// `features` features or its columns differ in length.
pub(crate) fn each_batch<S: BatchSource + ?Sized>(
    source: &S,
    features: usize,
    mut visit: impl FnMut(&RunBatch, &[RowId]) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut numbers = RowNumbers::default();
    let mut ids = Vec::new();
    for batch in source.batches().map_err(TrainError::source)? {
        let batch = batch.map_err(TrainError::source)?;
        check_columns(&batch, features)?;
        numbers.name(&batch, &mut ids);
        visit(&batch, &ids)?;
    }
    Ok(())
}

/// A batch whose rows have names.
pub(crate) struct NamedBatch {
    pub(crate) batch: RunBatch,
    pub(crate) parts: Vec<Part>,
}

/// Batches are gathered to so many rows, so that there is work for several threads.
const GATHERED_ROWS: usize = 1 << 18;

/// Makes one pass over `source` as [`each_batch`] does, and shows several batches at a time, with
/// the parts that `plan` gives to their rows.
pub(crate) fn each_gathered<S: BatchSource + ?Sized>(
    source: &S,
    features: usize,
    plan: &SplitPlan<'_>,
    mut visit: impl FnMut(&[NamedBatch]) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut numbers = RowNumbers::default();
    let mut ids = Vec::new();
    let (mut gathered, mut rows) = (Vec::new(), 0);
    for batch in source.batches().map_err(TrainError::source)? {
        let batch = batch.map_err(TrainError::source)?;
        check_columns(&batch, features)?;
        numbers.name(&batch, &mut ids);
        let mut parts = Vec::new();
        plan.parts(&batch, &ids, &mut parts)?;
        rows += ids.len();
        gathered.push(NamedBatch { batch, parts });
        if rows >= GATHERED_ROWS {
            visit(&gathered)?;
            gathered.clear();
            rows = 0;
        }
    }
    visit(&gathered)
}

pub(crate) fn check_columns(batch: &RunBatch, features: usize) -> Result<(), TrainError> {
    let rows = batch.batch.len();
    let mut lengths: Vec<usize> = batch.batch.features.iter().map(Vec::len).collect();
    if let Some(arrivals) = &batch.batch.arrivals {
        lengths.extend([arrivals.time_ns.len(), arrivals.switch_id.len()]);
    }
    let even = lengths.iter().all(|&length| length == rows);
    if even && batch.batch.features.len() == features {
        return Ok(());
    }
    Err(TrainError::Columns { run: batch.run, features, found: batch.batch.features.len() })
}

/// Counts the rows of each run and switch.
#[derive(Default)]
pub(crate) struct RowNumbers {
    next: BTreeMap<(u64, u16), u64>,
}

impl RowNumbers {
    /// Replaces `ids` by those of the batch's rows.
    pub(crate) fn name(&mut self, batch: &RunBatch, ids: &mut Vec<RowId>) {
        ids.clear();
        let run = batch.run;
        let rows = batch.batch.len();
        let Some(arrivals) = &batch.batch.arrivals else {
            let next = self.next.entry((run, 0)).or_default();
            ids.extend((*next..).take(rows).map(|row| RowId { run, switch: 0, row }));
            *next += rows as u64;
            return;
        };
        for same in arrivals.switch_id.chunk_by(|a, b| a == b) {
            let switch = same[0];
            let next = self.next.entry((run, switch)).or_default();
            ids.extend((*next..).take(same.len()).map(|row| RowId { run, switch, row }));
            *next += same.len() as u64;
        }
    }
}
