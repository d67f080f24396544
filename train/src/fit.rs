//! Training: from labelled rows to a measured model.

use crate::binned::{BinnedRows, on_threads};
use crate::bins::BinSketch;
use crate::forest_fit::grow_forest;
use crate::growing::GrowingTree;
use crate::source::each_batch;
use crate::split::{RunTimes, SplitPlan};
use crate::{
    BatchSource, CheckedForestParams, DataOrigin, Forest, Metrics, Model, Part, PartMetrics,
    Provenance, ScoreHistogram, Split, SwitchContext, TrainError, VoteRule,
};
use dropcast_features::FeatureSet;
use std::num::NonZeroUsize;

/// What to train, and how. The model depends on all of it but `threads`.
#[derive(Clone, Debug)]
pub struct FitTask {
    /// The features, in the order of the batches' columns.
    pub features: FeatureSet,
    /// The forest's parameters; `random_state` seeds the split too.
    pub params: CheckedForestParams,
    /// Which rows train and which test.
    pub split: Split,
    /// How the vote threshold is chosen.
    pub vote: VoteRule,
    /// What is known of the switch.
    pub switch: SwitchContext,
    /// Where the rows come from, for the model's provenance.
    pub data: Vec<DataOrigin>,
    /// How many threads to use.
    pub threads: NonZeroUsize,
}

/// A trained model and how its scores are distributed.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model, with its metrics.
    pub model: Model,
    /// Scores of the training rows.
    pub train_scores: ScoreHistogram,
    /// Scores of the test rows.
    pub test_scores: ScoreHistogram,
}

/// Trains a forest on the training rows of `source`, chooses its vote threshold on them, and
/// measures it on both parts.
///
/// The same rows and task give the same model, to the byte of its `model.json`, however the rows
/// are cut into batches, in whatever order runs come, and on any number of threads. Rows are kept
/// in memory, binned: as many bytes each as there are features, and one.
///
/// # Errors
/// See [`TrainError`].
pub fn fit<S: BatchSource + ?Sized>(source: &S, task: &FitTask) -> Result<Fitted, TrainError> {
    if task.features.is_empty() {
        return Err(TrainError::NoFeatures);
    }
    let (rows, counts) = bin_rows(source, task)?;
    let classes = counts.check()?;
    let threads = task.threads.get();
    let trees = grow_forest(&rows, &task.params, classes, threads);
    let (train_scores, test_scores) = score_rows(&rows, &trees, threads);
    let decision = task.vote.choose(&train_scores, trees.len(), task.switch.ports)?;
    let forest = Forest {
        features: task.features.names(),
        vote_threshold: decision.threshold,
        trees: trees.iter().map(|tree| tree.finish(rows.bins())).collect(),
    };
    let measure =
        |scores: &ScoreHistogram| PartMetrics::of(scores, decision.threshold, task.switch.ports);
    let test = (test_scores.totals() != (0, 0)).then(|| measure(&test_scores));
    let metrics = Metrics { train: measure(&train_scores), test };
    let provenance = Provenance {
        tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: task.data.clone(),
        parameters: task.params.clone(),
        split: task.split.clone(),
        vote: task.vote,
    };
    let model = Model {
        metrics: Some(metrics),
        provenance: Some(provenance),
        ..Model::new(forest, task.features.clone(), task.switch.clone())
    };
    Ok(Fitted { model, train_scores, test_scores })
}

/// Reads the source: first its times if the split needs them, then what the bins are made from,
/// then the rows.
fn bin_rows<S: BatchSource + ?Sized>(
    source: &S,
    task: &FitTask,
) -> Result<(BinnedRows, RowCounts), TrainError> {
    let features = task.features.len();
    let params = task.params.get();
    let seed = params.random_state;
    let mut times = RunTimes::default();
    if task.split.needs_times() {
        each_batch(source, features, |batch, ids| times.add(&task.split, batch, ids))?;
    }
    let plan = SplitPlan::new(&task.split, seed, times);
    let mut parts = Vec::new();

    let mut sketch = BinSketch::new(features, params.max_bins);
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
    counts.check()?;

    let mut rows = BinnedRows::new(sketch.finish());
    each_batch(source, features, |batch, ids| {
        plan.parts(batch, ids, &mut parts)?;
        rows.add(ids, &batch.batch.features, &batch.batch.drop, &parts);
        Ok(())
    })?;
    Ok((rows, counts))
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

/// The scores of the training rows and of the test rows.
fn score_rows(
    rows: &BinnedRows,
    trees: &[GrowingTree],
    threads: usize,
) -> (ScoreHistogram, ScoreHistogram) {
    let weights: Vec<Vec<u8>> = trees.iter().map(GrowingTree::leaf_weights).collect();
    let blocks = rows.blocks();
    let parts = on_threads(&blocks, threads, |blocks| {
        let empty = || ScoreHistogram::new(trees.len());
        let (mut train, mut test) = (empty(), empty());
        let (mut places, mut scores) = (Vec::new(), Vec::new());
        for block in blocks {
            scores.clear();
            scores.resize(block.rows.len(), 0_u32);
            for (tree, weights) in trees.iter().zip(&weights) {
                tree.place(block, tree.depth(), &mut places);
                for (score, &place) in scores.iter_mut().zip(&places) {
                    *score += u32::from(weights[usize::from(place)]);
                }
            }
            for (&score, mark) in scores.iter().zip(&block.group.marks[block.rows.clone()]) {
                if mark.is_train() {
                    train.add(score, mark.is_drop());
                } else if mark.is_test() {
                    test.add(score, mark.is_drop());
                }
            }
        }
        (train, test)
    });
    let empty = || ScoreHistogram::new(trees.len());
    parts.into_iter().fold((empty(), empty()), |(mut train, mut test), (more_train, more_test)| {
        train.merge(&more_train);
        test.merge(&more_test);
        (train, test)
    })
}
