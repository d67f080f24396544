//! The rows that forests are trained on, read once.

use crate::binned::{BinnedRows, ChunkWriter, Kind};
use crate::bins::Bins;
use crate::sketch::ValueSketch;
use crate::source::{NamedBatch, each_batch, each_gathered};
use crate::split::{RunTimes, SplitPlan};
use crate::threads::map_on_threads;
use crate::{BatchSource, DataOrigin, Part, RunBatch, SpillFile, Split, SwitchContext, TrainError};
use dropcast_features::FeatureSet;
use std::num::NonZeroUsize;

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
    /// How many threads to use.
    pub threads: NonZeroUsize,
}

/// Labelled rows, binned and split: everything that [`crate::fit_many`] needs of them.
///
/// A row takes as many bytes as there are features.
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
        TrainingRows::read_into(source, task, None)
    }

    /// Reads the source and keeps only about `limit_bytes` of its rows in memory; the others go to
    /// `file`, and each pass over the rows reads them from there.
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
        let mut times = RunTimes::default();
        if task.split.needs_times() {
            each_batch(source, features, |batch, ids| times.add(&task.split, batch, ids))?;
        }
        let plan = SplitPlan::new(&task.split, task.seed, times);
        let (bins, classes) = find_bins(source, &task, &plan)?;
        let rows = bin_rows(source, &task, &plan, ChunkWriter::new(bins, spill))?;
        drop(plan);
        Ok(TrainingRows { task, rows, classes })
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

    /// Number of training rows that were accepted and that were dropped.
    pub fn training_rows(&self) -> (u64, u64) {
        self.classes
    }
}

/// Makes bins from the training rows; with the number of those accepted and dropped.
fn find_bins<S: BatchSource + ?Sized>(
    source: &S,
    task: &ReadTask,
    plan: &SplitPlan<'_>,
) -> Result<(Vec<Bins>, (u64, u64)), TrainError> {
    let threads = task.threads.get();
    let mut sketches = vec![ValueSketch::new(); task.features.len()];
    let mut counts = RowCounts::default();
    each_gathered(source, task.features.len(), plan, |batches| {
        let classes: Vec<Vec<u8>> = batches.iter().map(|batch| counts.add(batch)).collect();
        let work = sketches.iter_mut().enumerate().collect();
        map_on_threads(work, threads, |(feature, sketch): (usize, &mut ValueSketch)| {
            for (batch, classes) in batches.iter().zip(&classes) {
                sketch.add(&batch.batch.batch.features[feature], classes);
            }
        });
        Ok(())
    })?;
    let classes = counts.check()?;
    let most = usize::from(task.max_bins) - 1;
    let bins = |sketch: ValueSketch| Bins::new(sketch.finish().edges(most));
    Ok((map_on_threads(sketches, threads, bins), classes))
}

/// Bins all rows and puts them in their place.
fn bin_rows<S: BatchSource + ?Sized>(
    source: &S,
    task: &ReadTask,
    plan: &SplitPlan<'_>,
    mut writer: ChunkWriter,
) -> Result<BinnedRows, TrainError> {
    let features = task.features.len();
    each_gathered(source, features, plan, |batches| {
        let sorted: Vec<Vec<(Kind, Vec<u32>)>> = batches.iter().map(by_kind).collect();
        let bin = |feature: usize| {
            let bins = &writer.bins()[feature];
            let batches = batches.iter().zip(&sorted).map(|(batch, kinds)| {
                let values = &batch.batch.batch.features[feature];
                let of_kind = |(_, rows): &(Kind, Vec<u32>)| bins.bin_rows(values, rows);
                kinds.iter().map(of_kind).collect::<Vec<Vec<u8>>>()
            });
            batches.flatten().collect::<Vec<Vec<u8>>>().into_iter()
        };
        let mut binned = map_on_threads(Vec::from_iter(0..features), task.threads.get(), bin);
        for (kind, _) in sorted.iter().flatten() {
            let columns: Vec<Vec<u8>> = binned.iter_mut().filter_map(Iterator::next).collect();
            writer.add(*kind, &columns)?;
        }
        Ok(())
    })?;
    writer.finish()
}

/// The rows of a batch by kind, each in order.
fn by_kind(batch: &NamedBatch) -> Vec<(Kind, Vec<u32>)> {
    let NamedBatch { batch: RunBatch { run, batch }, parts } = batch;
    let mut kinds: Vec<(Kind, Vec<u32>)> = Vec::new();
    // By switch, part and class, where in the list it is.
    let mut places: Vec<u32> = Vec::new();
    for (row, (&part, &drop)) in (0..).zip(parts.iter().zip(&batch.drop)) {
        if part == Part::Gap {
            continue;
        }
        let switch = batch.arrivals.as_ref().map_or(0, |arrivals| arrivals.switch_id[row as usize]);
        let code = usize::from(switch) << 3 | (part as usize) << 1 | usize::from(drop);
        if code >= places.len() {
            places.resize(code + 1, u32::MAX);
        }
        let place = &mut places[code];
        if *place == u32::MAX {
            *place = kinds.len() as u32;
            kinds.push((Kind { run: *run, switch, part, drop }, Vec::new()));
        }
        kinds[*place as usize].1.push(row);
    }
    kinds
}

/// Rows of the source.
#[derive(Clone, Copy, Debug, Default)]
struct RowCounts {
    all: u64,
    /// Training rows that were accepted and that were dropped.
    train: [u64; 2],
}

impl RowCounts {
    /// Counts a batch; its rows' classes, 2 for those that do not train.
    fn add(&mut self, batch: &NamedBatch) -> Vec<u8> {
        self.all += batch.parts.len() as u64;
        let rows = batch.parts.iter().zip(&batch.batch.batch.drop);
        let class = |(&part, &drop): (&Part, &bool)| {
            if part == Part::Train { u8::from(drop) } else { 2 }
        };
        let classes: Vec<u8> = rows.map(class).collect();
        for (class, rows) in (0..).zip(&mut self.train) {
            *rows += classes.iter().filter(|&&c| c == class).count() as u64;
        }
        classes
    }

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
