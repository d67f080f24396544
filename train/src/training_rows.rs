//! The rows that forests are trained on, read once.

use crate::binned::BinnedRows;
use crate::bins::BinSketch;
use crate::source::each_batch;
use crate::split::{RunTimes, SplitPlan};
use crate::{BatchSource, DataOrigin, Part, Split, SwitchContext, TrainError};
use dropcast_features::FeatureSet;

/// Which rows to read, and what is known of them.
#[derive(Clone, Debug)]
pub struct ReadTask {
    /// The features, in the order of the batches' columns.
    pub features: FeatureSet,
    /// Which rows train and which test.
    pub split: Split,
    /// Seeds the split, if it is random.
    pub seed: u64,
    /// Most bins of a feature, 2 to 256.
    pub max_bins: u16,
    /// What is known of the switch.
    pub switch: SwitchContext,
    /// Where the rows come from, for the models' provenance.
    pub data: Vec<DataOrigin>,
}

/// Labelled rows, binned and split: everything that [`crate::fit_many`] needs of them.
///
/// A row takes as many bytes as there are features, and one.
#[derive(Debug)]
pub struct TrainingRows {
    pub(crate) task: ReadTask,
    pub(crate) rows: BinnedRows,
    /// Training rows that were accepted and that were dropped, neither of them 0.
    pub(crate) classes: (u64, u64),
}

impl TrainingRows {
    /// Reads the source: first its times if the split needs them, then what the bins are made
    /// from, then the rows.
    ///
    /// # Errors
    /// See [`TrainError`].
    pub fn read<S: BatchSource + ?Sized>(source: &S, task: ReadTask) -> Result<Self, TrainError> {
        let features = task.features.len();
        if features == 0 {
            return Err(TrainError::NoFeatures);
        }
        let mut times = RunTimes::default();
        if task.split.needs_times() {
            each_batch(source, features, |batch, ids| times.add(&task.split, batch, ids))?;
        }
        let plan = SplitPlan::new(&task.split, task.seed, times);
        let mut parts = Vec::new();

        let mut sketch = BinSketch::new(features, task.max_bins);
        let mut counts = RowCounts::default();
        each_batch(source, features, |batch, ids| {
            plan.parts(batch, ids, &mut parts)?;
            let batch = &batch.batch;
            counts.all += ids.len() as u64;
            for (at, (&part, &drop)) in parts.iter().zip(&batch.drop).enumerate() {
                if part == Part::Train {
                    counts.train[usize::from(drop)] += 1;
                    sketch.add(&batch.features, at, drop);
                }
            }
            Ok(())
        })?;
        let classes = counts.check()?;

        let mut rows = BinnedRows::new(sketch.finish());
        each_batch(source, features, |batch, ids| {
            plan.parts(batch, ids, &mut parts)?;
            rows.add(ids, &batch.batch.features, &batch.batch.drop, &parts);
            Ok(())
        })?;
        drop(plan);
        Ok(TrainingRows { task, rows, classes })
    }

    /// What was read.
    pub fn task(&self) -> &ReadTask {
        &self.task
    }

    /// Number of training rows that were accepted and that were dropped.
    pub fn training_rows(&self) -> (u64, u64) {
        self.classes
    }
}

/// Rows of the source.
#[derive(Clone, Copy, Debug, Default)]
struct RowCounts {
    all: u64,
    /// Training rows that were accepted and that were dropped.
    train: [u64; 2],
}

impl RowCounts {
    /// Accepted and dropped training rows, if a forest can be made of them.
    fn check(self) -> Result<(u64, u64), TrainError> {
        match self {
            RowCounts { all: 0, .. } => Err(TrainError::NoRows),
            RowCounts { all, train: [0, 0] } => Err(TrainError::NoTrainingRows { rows: all }),
            RowCounts { train: [rows, 0], .. } => Err(TrainError::NoDrops { rows }),
            RowCounts { train: [0, rows], .. } => Err(TrainError::NoAccepts { rows }),
            RowCounts { train: [accepts, drops], .. } => Ok((accepts, drops)),
        }
    }
}
