//! The rows that forests are trained on, read once.

use crate::bins::sketch::ValueSketch;
use crate::row_numbers::RowNumbers;
use crate::rows::binned::{BinnedRows, ChunkWriter};
use crate::rows::sorted_rows::SortedRows;
use crate::rows::training_marks::TrainingMarks;
use crate::source::{RunRows, each_gathered};
use crate::splits::{Parts, RunTimes, SplitPlan};
use crate::{BatchSource, DataOrigin, SpillFile, Split, TrainError};
use dropcast_data::Threads;
use dropcast_features::FeatureSet;
use dropcast_forest::binning::Bins;
use dropcast_forest::{FeatureRange, SwitchContext};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Which rows to read, and what is known about them.
#[derive(Clone, Debug)]
pub struct ReadTask {
    /// The features, in the order of the batches' columns.
    pub features: FeatureSet,
    /// Which rows train and which test.
    pub split: Split,
    /// Seeds the split, if it is random.
    pub seed: u64,
    /// Maximum bins of a feature, 2 to 256.
    pub max_bins: u16,
    /// What is known of the switch.
    pub switch: SwitchContext,
    /// Where the rows come from, for the models' provenance.
    pub data: Vec<DataOrigin>,
    /// How many threads to use.
    pub threads: NonZeroUsize,
}

/// Labelled rows, binned and split: everything that [`crate::fit_many`] needs.
///
/// A row takes one byte per feature.
#[derive(Debug)]
pub struct TrainingRows {
    pub(crate) task: ReadTask,
    pub(crate) rows: BinnedRows,
    /// Of each feature.
    pub(crate) ranges: Vec<FeatureRange>,
    /// Accepted and dropped training rows, neither 0.
    pub(crate) classes: (u64, u64),
}

impl TrainingRows {
    /// Reads the source in passes: arrival times if the split needs them, values for the bins, then
    /// the rows.
    ///
    /// # Errors
    /// See [`TrainError`].
    pub fn read<S: BatchSource + ?Sized>(source: &S, task: ReadTask) -> Result<Self, TrainError> {
        TrainingRows::read_into(source, task, None)
    }

    /// Reads the source and keeps only about `limit_bytes` of its rows in memory; the others go to
    /// `file`, and each pass reads them from there.
    ///
    /// # Errors
    /// See [`TrainError`].
    pub fn read_spilling<S: BatchSource + ?Sized>(
        source: &S,
        task: ReadTask,
        limit_bytes: u64,
        file: Box<dyn SpillFile>,
    ) -> Result<Self, TrainError> {
        TrainingRows::read_into(source, task, Some((limit_bytes, file)))
    }

    fn read_into<S: BatchSource + ?Sized>(
        source: &S,
        task: ReadTask,
        spill: Option<(u64, Box<dyn SpillFile>)>,
    ) -> Result<Self, TrainError> {
        let features = task.features.len();
        if features == 0 {
            return Err(TrainError::NoFeatures);
        }
        let times = RunTimes::read(source, features, &task.split)?;
        let plan = SplitPlan::new(&task.split, task.seed, times);
        let (before, threads) = (RowNumbers::default(), Threads::new(task.threads));
        let pass = Pass { source, features, plan: &plan, before: &before, threads: &threads };
        let RowFacts { bins, ranges, classes } = find_bins(&pass, usize::from(task.max_bins) - 1)?;
        let rows = bin_rows(&pass, &bins, ChunkWriter::new(spill))?;
        drop(plan);
        Ok(TrainingRows { task, rows, ranges, classes })
    }

    /// What was read.
    pub fn task(&self) -> &ReadTask {
        &self.task
    }

    /// Bytes of the rows that are in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.rows.bytes_in_memory()
    }

    /// Bytes of the rows that are in a file.
    pub fn spilled_bytes(&self) -> u64 {
        self.rows.spilled_bytes()
    }

    /// Numbers of accepted and dropped training rows.
    pub fn training_rows(&self) -> (u64, u64) {
        self.classes
    }
}

/// What is found of the training rows.
struct RowFacts {
    /// Of each feature.
    bins: Vec<Bins>,
    /// Of each feature.
    ranges: Vec<FeatureRange>,
    /// Numbers of accepted and dropped rows.
    classes: (u64, u64),
}

/// Makes bins from the training rows.
fn find_bins<S: BatchSource + ?Sized>(
    pass: &Pass<'_, S>,
    most: usize,
) -> Result<RowFacts, TrainError> {
    let (sketches, counts) = count_values(pass, |_, _| (), |()| {})?;
    let classes = counts.check()?;
    let bins = |sketch: ValueSketch| {
        let values = sketch.finish();
        (Bins::new(values.edges(most)), values.middle_range())
    };
    let (bins, ranges) = pass.threads.map(sketches, bins).into_iter().unzip();
    Ok(RowFacts { bins, ranges, classes })
}

/// Counts the training rows by value of each feature, and by class. In the same pass any thread
/// looks at each piece and the parts of its rows; `see` is called with what it found.
pub(crate) fn count_values<S: BatchSource + ?Sized, T: Send>(
    pass: &Pass<'_, S>,
    look: impl Fn(&RunRows<'_>, &Parts) -> T + Sync,
    mut see: impl FnMut(T),
) -> Result<(Vec<ValueSketch>, RowCounts), TrainError> {
    let mut sketches = vec![ValueSketch::new(); pass.features];
    let mut counts = RowCounts::default();
    let prepare =
        |rows: &RunRows<'_>, parts: &Parts| (TrainingMarks::new(rows, parts), look(rows, parts));
    pass.each_prepared(prepare, |pieces, prepared| {
        let (marks, found): (Vec<TrainingMarks>, Vec<T>) = prepared.into_iter().unzip();
        found.into_iter().for_each(&mut see);
        for (rows, marks) in pieces.iter().zip(&marks) {
            counts.add(rows, marks);
        }
        let work = sketches.iter_mut().enumerate().collect();
        pass.threads.map(work, |(feature, sketch): (usize, &mut ValueSketch)| {
            for (rows, marks) in pieces.iter().zip(&marks) {
                sketch.add(rows.features[feature], marks);
            }
        });
        Ok(())
    })?;
    Ok((sketches, counts))
}

/// Bins and stores all rows.
pub(crate) fn bin_rows<S: BatchSource + ?Sized>(
    pass: &Pass<'_, S>,
    bins: &[Bins],
    mut writer: ChunkWriter,
) -> Result<BinnedRows, TrainError> {
    let sort = |rows: &RunRows<'_>, parts: &Parts| SortedRows::new(rows, parts, bins);
    pass.each_prepared(sort, |_, sorted| {
        sorted.into_iter().try_for_each(|sorted| writer.add(sorted))
    })?;
    writer.finish(bins.to_vec())
}

/// The settings of a pass over a source.
pub(crate) struct Pass<'a, S: ?Sized> {
    pub(crate) source: &'a S,
    /// Number of features.
    pub(crate) features: usize,
    pub(crate) plan: &'a SplitPlan<'a>,
    /// The numbers of the rows that come before, elsewhere.
    pub(crate) before: &'a RowNumbers,
    pub(crate) threads: &'a Threads,
}

impl<S: BatchSource + ?Sized> Pass<'_, S> {
    /// Makes one pass over the source: calls back with its pieces, several at a time, and with the
    /// results of `prepare` on each piece and the parts of its rows, which any thread computes.
    fn each_prepared<T: Send>(
        &self,
        prepare: impl Fn(&RunRows<'_>, &Parts) -> T + Sync,
        mut visit: impl FnMut(&[RunRows<'_>], Vec<T>) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let mut numbers = self.before.clone();
        let plan = self.plan;
        each_gathered(self.source, self.features, |pieces| {
            let mut number =
                |rows| if plan.needs_numbers() { numbers.number(rows) } else { Vec::new() };
            let numbered: Vec<_> = pieces.iter().map(|rows| (rows, number(rows))).collect();
            let prepared: Vec<Result<T, TrainError>> = self
                .threads
                .map(numbered, |(rows, numbers)| Ok(prepare(rows, &plan.parts(rows, &numbers)?)));
            visit(pieces, prepared.into_iter().collect::<Result<_, _>>()?)
        })
    }
}

/// Rows of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowCounts {
    pub(crate) all: u64,
    /// Accepted and dropped training rows.
    pub(crate) train: [u64; 2],
}

impl RowCounts {
    fn add(&mut self, rows: &RunRows<'_>, marks: &TrainingMarks) {
        self.all += rows.len() as u64;
        let drops = marks.drops().len() as u64;
        self.train[0] += marks.rows() - drops;
        self.train[1] += drops;
    }

    /// Adds the counts of other rows.
    pub(crate) fn merge(&mut self, other: RowCounts) {
        self.all += other.all;
        self.train = [self.train[0] + other.train[0], self.train[1] + other.train[1]];
    }

    /// Accepted and dropped training rows, if a forest can be trained on them.
    pub(crate) fn check(self) -> Result<(u64, u64), TrainError> {
        match self {
            RowCounts { all: 0, .. } => Err(TrainError::NoRows),
            RowCounts { all, train: [0, 0] } => Err(TrainError::NoTrainingRows { rows: all }),
            RowCounts { train: [rows, 0], .. } => Err(TrainError::NoDrops { rows }),
            RowCounts { train: [0, rows], .. } => Err(TrainError::NoAccepts { rows }),
            RowCounts { train: [accepts, drops], .. } => Ok((accepts, drops)),
        }
    }
}
