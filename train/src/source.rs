//! Sources of labelled rows.

use crate::TrainError;
use dropcast_data::LabelledBatch;
use std::convert::Infallible;
use std::ops::Range;

/// A run's rows, or some of them, in the order of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunBatch {
    /// Which run. Any number that identifies the run independently of its file's path and of the
    /// other files read, such as the first bytes of the file's hash.
    pub run: u64,
    /// The rows.
    pub batch: LabelledBatch,
}

/// Borrowed rows of a run.
#[derive(Clone, Debug)]
pub struct RunRows<'a> {
    /// Which run.
    pub run: u64,
    /// When and where the packets arrived, if known.
    pub arrivals: Option<RowArrivals<'a>>,
    /// One column per feature, each as long as `drop`.
    pub features: Vec<&'a [u32]>,
    /// The label: whether LQD dropped the packet.
    pub drop: &'a [bool],
}

/// When and where packets arrived: one value per row in each column.
#[derive(Clone, Copy, Debug)]
pub struct RowArrivals<'a> {
    /// Arrival time, nanoseconds.
    pub time_ns: &'a [u64],
    /// Switch.
    pub switch_id: &'a [u16],
}

/// An iterator over the batches of a source.
pub type Batches<'a, E> = Box<dyn Iterator<Item = Result<RunBatch, E>> + 'a>;

/// Labelled rows that can be read again: training makes two passes, three for splits by time.
///
/// The division into batches and the order of runs do not matter; the rows of one run and switch
/// must come in the same order in every pass.
pub trait BatchSource {
    /// The error of a failed read.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Starts a pass over all rows.
    ///
    /// # Errors
    /// If the source cannot be opened. Later errors are items of the iterator and end the training.
    fn batches(&self) -> Result<Batches<'_, Self::Error>, Self::Error>;

    /// The same rows, if they are all in memory: all threads read them in place, and
    /// [`BatchSource::batches`] is not called.
    fn lent(&self) -> Option<Vec<RunRows<'_>>> {
        None
    }

    /// The batches, if they are all in memory: replays read them in place.
    fn kept(&self) -> Option<Vec<&RunBatch>> {
        None
    }
}

/// Batches in memory.
impl BatchSource for [RunBatch] {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        Ok(Box::new(self.iter().cloned().map(Ok)))
    }

    fn lent(&self) -> Option<Vec<RunRows<'_>>> {
        Some(self.iter().map(RunRows::from).collect())
    }

    fn kept(&self) -> Option<Vec<&RunBatch>> {
        Some(self.iter().collect())
    }
}

impl<'a> From<&'a RunBatch> for RunRows<'a> {
    fn from(RunBatch { run, batch }: &'a RunBatch) -> Self {
        let arrivals = batch.arrivals.as_ref().map(|arrivals| RowArrivals {
            time_ns: &arrivals.time_ns,
            switch_id: &arrivals.switch_id,
        });
        let features = batch.features.iter().map(Vec::as_slice).collect();
        RunRows { run: *run, arrivals, features, drop: &batch.drop }
    }
}

impl<'a> RunRows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.drop.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.drop.is_empty()
    }

    /// The same rows in pieces of limited length.
    pub(crate) fn pieces(&self, most: usize) -> impl Iterator<Item = RunRows<'a>> {
        let all = self.len();
        (0..all).step_by(most).map(move |from| self.piece(from..all.min(from + most)))
    }

    fn piece(&self, rows: Range<usize>) -> RunRows<'a> {
        let arrivals = self.arrivals.map(|arrivals| RowArrivals {
            time_ns: &arrivals.time_ns[rows.clone()],
            switch_id: &arrivals.switch_id[rows.clone()],
        });
        let features = self.features.iter().map(|column| &column[rows.clone()]).collect();
        RunRows { run: self.run, arrivals, features, drop: &self.drop[rows] }
    }

    /// Checks that there are `features` features and that all columns have one length.
    pub(crate) fn check(&self, features: usize) -> Result<(), TrainError> {
        let rows = self.len();
        let mut lengths: Vec<usize> = self.features.iter().map(|column| column.len()).collect();
        if let Some(arrivals) = &self.arrivals {
            lengths.extend([arrivals.time_ns.len(), arrivals.switch_id.len()]);
        }
        let even = lengths.iter().all(|&length| length == rows);
        if even && self.features.len() == features {
            return Ok(());
        }
        Err(TrainError::Columns { run: self.run, features, found: self.features.len() })
    }
}

/// Maximum rows of a piece: one thread's work stays in its cache.
pub(crate) const PIECE_ROWS: usize = 1 << 15;

/// Makes one pass over `source`: checks its rows and passes them on in groups of pieces, so that
/// several threads have work.
///
/// # Errors
/// Those of the source and of `visit`, and [`TrainError::Columns`] if rows do not have `features`
/// features or their columns differ in length.
pub(crate) fn each_gathered<S: BatchSource + ?Sized>(
    source: &S,
    features: usize,
    mut visit: impl FnMut(&[RunRows<'_>]) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    if let Some(lent) = source.lent() {
        lent.iter().try_for_each(|rows| rows.check(features))?;
        let pieces: Vec<RunRows<'_>> =
            lent.iter().flat_map(|rows| rows.pieces(PIECE_ROWS)).collect();
        return pieces.chunks(LENT_PIECES).try_for_each(visit);
    }
    let mut visit_batches = |batches: &[RunBatch]| {
        let lent: Vec<RunRows<'_>> = batches.iter().map(RunRows::from).collect();
        let pieces: Vec<RunRows<'_>> =
            lent.iter().flat_map(|rows| rows.pieces(PIECE_ROWS)).collect();
        visit(&pieces)
    };
    let (mut gathered, mut rows) = (Vec::new(), 0);
    for batch in source.batches().map_err(TrainError::source)? {
        let batch = batch.map_err(TrainError::source)?;
        RunRows::from(&batch).check(features)?;
        rows += batch.batch.len();
        gathered.push(batch);
        if rows >= GATHERED_ROWS {
            visit_batches(&gathered)?;
            gathered.clear();
            rows = 0;
        }
    }
    visit_batches(&gathered)
}

/// Batches are collected up to this many rows.
const GATHERED_ROWS: usize = 1 << 18;

/// Borrowed pieces per group. They take no memory; this many keep 16 threads busy.
const LENT_PIECES: usize = 64;
