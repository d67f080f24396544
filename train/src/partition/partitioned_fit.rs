//! The training that asks partitions.

use super::answer::{Answer, Values};
use super::bytes::encode;
use super::question::{Asks, Binning, Division, Question, Reading, Scoring};
use crate::bins::edges::ValueCounts;
use crate::fit::{Grown, finish_all, nest};
use crate::growth::forest_fit::{ForestPlan, GrowingForests};
use crate::growth::growing::GrowingTree;
use crate::growth::histogram::LevelCounts;
use crate::growth::part_scores::PartScores;
use crate::splits::run_cuts;
use crate::{Fitted, ForestTask, Part, ReadTask, RunSwitch, TrainError};
use dropcast_forest::FeatureRange;
use dropcast_forest::binning::Bins;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// A training whose rows are in partitions: it asks all of them one question after the other, and
/// grows the forests from the sums of their answers.
///
/// The models are those of [`fit_many`](crate::fit_many) on all rows, byte for byte, however rows
/// are divided. The order of partitions, their workers, and answers that are computed again do not
/// matter. Nothing but bytes goes from here to a [`Partition`](crate::Partition) and back, so any
/// engine can carry them.
///
/// ```
/// # use dropcast_data::LabelledBatch;
/// # use dropcast_features::FeatureSet;
/// # use dropcast_forest::SwitchContext;
/// use dropcast_train::{Partition, PartitionedFit, RunBatch, merge_answers};
/// # use dropcast_train::{ForestParams, ForestTask, ReadTask, Split, VoteRule};
/// # struct Rows(Vec<RunBatch>);
/// # impl dropcast_train::BatchSource for Rows {
/// #     type Error = std::convert::Infallible;
/// #     fn batches(&self) -> Result<dropcast_train::Batches<'_, Self::Error>, Self::Error> {
/// #         Ok(Box::new(self.0.iter().cloned().map(Ok)))
/// #     }
/// # }
/// # let features = FeatureSet::try_from(vec!["queue_length".to_owned()])?;
/// # let rows = |from: u32| {
/// #     let mut batch = LabelledBatch::default();
/// #     batch.features = vec![(from..from + 500).map(|row| row * 37 % 2_000).collect()];
/// #     batch.drop = batch.features[0].iter().map(|&length| length > 1_500).collect();
/// #     Rows(vec![RunBatch { run: 1, batch }])
/// # };
/// # let read = ReadTask {
/// #     features: features.clone(), split: Split::None, seed: 1, max_bins: 256,
/// #     switch: SwitchContext::default(), data: Vec::new(), threads: 1.try_into()?,
/// # };
/// # let params = ForestParams { max_depth: 2, ..ForestParams::default() }.check()?;
/// # let task = ForestTask { features, params, vote: VoteRule::F1 };
///
/// // 500 rows here and 500 rows there.
/// let mut partitions = [
///     Partition::new(rows(0), 0, 1.try_into()?),
///     Partition::new(rows(500), 1, 1.try_into()?),
/// ];
/// let mut training = PartitionedFit::new(read, vec![task])?;
/// while let Some(question) = training.question() {
///     let answers = partitions.iter_mut().map(|partition| partition.answer(&question));
///     let answers = answers.collect::<Result<Vec<_>, _>>()?;
///     training.receive(&merge_answers(&answers)?)?;
/// }
/// let model = &training.finish().ok_or("all questions were answered")?[0].model;
/// assert_eq!(model.metrics.as_ref().and_then(|metrics| metrics.train.f1), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PartitionedFit {
    read: ReadTask,
    tasks: Vec<ForestTask>,
    stage: Stage,
    /// All rows, if their number is known.
    all: Option<u64>,
    /// The same by run and switch; none if nobody counted them.
    counted: BTreeMap<RunSwitch, u64>,
    /// By part, run and switch; known with the bins.
    rows: BTreeMap<(Part, RunSwitch), u64>,
}

/// What is known so far.
#[derive(Debug)]
enum Stage {
    Rows,
    Times(Division),
    Values(Division),
    Growing { binned: Binned, plans: Vec<ForestPlan>, growing: GrowingForests },
    Scoring { binned: Binned, forests: Vec<Scoring> },
    Fitted(Vec<Fitted>),
    Failed,
}

/// How rows are binned, the bins, and each feature's range.
#[derive(Debug)]
struct Binned {
    binning: Binning,
    bins: Vec<Bins>,
    ranges: Vec<FeatureRange>,
}

impl PartitionedFit {
    /// A training of a forest for each task on rows that are read like this; `threads` of `read`
    /// does not matter.
    ///
    /// # Errors
    /// [`TrainError::NoFeatures`], and [`TrainError::Rows`] if rows that are read like this do not
    /// serve a task.
    pub fn new(read: ReadTask, tasks: Vec<ForestTask>) -> Result<Self, TrainError> {
        if read.features.is_empty() {
            return Err(TrainError::NoFeatures);
        }
        tasks.iter().try_for_each(|task| task.check(&read))?;
        Ok(PartitionedFit::of(read, tasks))
    }

    /// A training of a forest with the task's seed and with the ones after it, `seeds` in all, as
    /// [`fit_seeds`](crate::fit_seeds) does it.
    ///
    /// # Errors
    /// Those of [`PartitionedFit::new`].
    pub fn over_seeds(read: ReadTask, task: &ForestTask, seeds: u16) -> Result<Self, TrainError> {
        task.check(&read)?;
        Ok(PartitionedFit::of(read, task.over_seeds(seeds)))
    }

    fn of(read: ReadTask, tasks: Vec<ForestTask>) -> Self {
        let needs_rows = read.split.needs_times() || read.split.is_random();
        let stage = if needs_rows { Stage::Rows } else { Stage::Values(Division::default()) };
        let (counted, rows) = (BTreeMap::new(), BTreeMap::new());
        PartitionedFit { read, tasks, stage, all: None, counted, rows }
    }

    /// Answers must be of this many rows together.
    #[must_use]
    pub fn of_rows(self, all: u64) -> Self {
        PartitionedFit { all: Some(all), ..self }
    }

    /// The next question to every partition; `None` once there is nothing left to ask.
    pub fn question(&self) -> Option<Vec<u8>> {
        let asks = match &self.stage {
            Stage::Rows => Asks::Rows,
            Stage::Times(division) => Asks::Times(division.rows.clone()),
            Stage::Values(division) => Asks::Values(division.clone()),
            Stage::Growing { binned, growing, .. } => {
                Asks::Counts(binned.binning.clone(), growing.to_count()?)
            }
            Stage::Scoring { binned, forests } => {
                Asks::Scores(binned.binning.clone(), forests.clone())
            }
            Stage::Fitted(_) | Stage::Failed => return None,
        };
        let ReadTask { features, split, seed, .. } = &self.read;
        let reading = Reading { features: features.len(), split: split.clone(), seed: *seed };
        Some(encode(&Question { reading, asks }))
    }

    /// What the question is about, in words for people.
    pub fn stage(&self) -> String {
        match &self.stage {
            Stage::Rows => "count rows".to_owned(),
            Stage::Times(_) => "read arrival times".to_owned(),
            Stage::Values(_) => "count values".to_owned(),
            Stage::Growing { growing, .. } => match growing.to_count() {
                Some(level) => format!("grow level {}", level.level + 1),
                None => "grow".to_owned(),
            },
            Stage::Scoring { .. } => "score".to_owned(),
            Stage::Fitted(_) => "trained".to_owned(),
            Stage::Failed => "failed".to_owned(),
        }
    }

    /// Where the rows of a part are: numbers of rows by run and switch. None before bins are made.
    pub fn rows_of_part(&self, part: Part) -> BTreeMap<RunSwitch, u64> {
        let of_part = self.rows.iter().filter(|((of, _), _)| *of == part);
        of_part.map(|(&(_, at), &rows)| (at, rows)).collect()
    }

    /// Takes the merged answer of all partitions to the question.
    ///
    /// # Errors
    /// [`TrainError::Message`] if these are not the bytes of such an answer, and those of
    /// [`fit_many`](crate::fit_many). After an error there is nothing left to ask.
    pub fn receive(&mut self, answer: &[u8]) -> Result<(), TrainError> {
        let answer = Answer::from_bytes(answer)?;
        let stage = std::mem::replace(&mut self.stage, Stage::Failed);
        self.stage = match (stage, answer) {
            (Stage::Rows, Answer::Rows(rows)) => {
                self.counted = rows.totals();
                self.expect_rows(sum(self.counted.values().copied()))?;
                let division = Division { rows, ..Division::default() };
                match self.read.split.needs_times() {
                    true => Stage::Times(division),
                    false => Stage::Values(division),
                }
            }
            (Stage::Times(_), Answer::Times(times)) => {
                // Cuts are enough from here on.
                let cuts = run_cuts(&self.read.split, times);
                Stage::Values(Division { cuts, ..Division::default() })
            }
            (Stage::Values(division), Answer::Values(values)) => self.begin(division, values)?,
            (Stage::Growing { binned, plans, growing }, Answer::Counts(counts)) => {
                self.grow(binned, plans, growing, counts)?
            }
            (Stage::Scoring { binned, forests }, Answer::Scores(scores)) => {
                let sizes = forests.iter().map(|forest| forest.sizes.len());
                if !sizes.eq(scores.iter().map(Vec::len)) {
                    return Err(wrong());
                }
                if !scores.iter().flatten().all(|scores| self.are_of_all_rows(scores)) {
                    return Err(contradicts());
                }
                let grown = forests.into_iter().zip(scores).map(|(forest, scores)| Grown {
                    columns: forest.columns,
                    trees: forest.trees,
                    scores,
                });
                let nested = nest(&self.tasks);
                let grown = Vec::from_iter(grown);
                let known = (binned.bins.as_slice(), binned.ranges.as_slice());
                Stage::Fitted(finish_all(&self.read, known, &nested, &grown)?)
            }
            _ => return Err(wrong()),
        };
        Ok(())
    }

    /// The model of each task, once there is nothing left to ask; `None` before, and after an error.
    pub fn finish(self) -> Option<Vec<Fitted>> {
        match self.stage {
            Stage::Fitted(fitted) => Some(fitted),
            _ => None,
        }
    }

    /// Refuses an answer of another number of rows than before, or than is known.
    fn expect_rows(&mut self, rows: u64) -> Result<(), TrainError> {
        if *self.all.get_or_insert(rows) == rows { Ok(()) } else { Err(contradicts()) }
    }

    /// Whether scores are of all rows of each part.
    fn are_of_all_rows(&self, scores: &PartScores) -> bool {
        let parts = [Part::Train, Part::Validation, Part::Test];
        parts.into_iter().zip(&scores.0).all(|(part, scores)| {
            let of_part = scores.accepts().iter().chain(scores.drops());
            sum(of_part.copied()) == sum(self.rows_of_part(part).into_values())
        })
    }

    /// Makes bins, and begins to grow.
    fn begin(&mut self, division: Division, values: Values) -> Result<Stage, TrainError> {
        let Values { rows, kinds, features } = values;
        if features.len() != self.read.features.len() {
            return Err(wrong());
        }
        self.expect_rows(rows.all)?;
        let (mut train, mut of_switches) = ([0_u64; 2], BTreeMap::<RunSwitch, u64>::new());
        for (kind, rows) in kinds.totals() {
            let at = (kind.run, kind.switch);
            let of_part = self.rows.entry((kind.part, at)).or_default();
            let mut sums = vec![of_part, of_switches.entry(at).or_default()];
            if kind.part == Part::Train {
                sums.push(&mut train[kind.class()]);
            }
            sums.into_iter().for_each(|sum| *sum = sum.saturating_add(rows));
        }
        // Rows that are left out are of no kind.
        let too_many = |(at, &rows): (&RunSwitch, &u64)| {
            !self.counted.is_empty() && rows > self.counted.get(at).copied().unwrap_or(0)
        };
        let of_features = features.iter().map(ValueCounts::rows);
        if sum(of_switches.values().copied()) > rows.all
            || of_switches.iter().any(too_many)
            || [rows.train].into_iter().chain(of_features).any(|rows| rows != train)
        {
            return Err(contradicts());
        }
        let classes = rows.check()?;
        let most = usize::from(self.read.max_bins) - 1;
        let edges: Vec<Vec<u32>> = features.iter().map(|values| values.edges(most)).collect();
        let bins: Vec<Bins> = edges.iter().cloned().map(Bins::new).collect();
        let nested = nest(&self.tasks);
        let plans = nested.iter().map(|group| group.plan(&self.read, &bins, classes));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let growing = GrowingForests::new(plans.clone(), NonZeroUsize::MIN.get());
        let ranges = features.iter().map(|values| values.middle_range()).collect();
        let binned = Binned { binning: Binning { division, edges, kinds }, bins, ranges };
        Ok(Stage::Growing { binned, plans, growing })
    }

    /// Splits a level; after the last, scores.
    fn grow(
        &self,
        binned: Binned,
        plans: Vec<ForestPlan>,
        mut growing: GrowingForests,
        counts: LevelCounts,
    ) -> Result<Stage, TrainError> {
        let asked = growing.to_count().ok_or_else(wrong)?;
        if !counts.is_like(&LevelCounts::new(&asked.quads)) {
            return Err(wrong());
        }
        growing.split(counts)?;
        if growing.to_count().is_some() {
            return Ok(Stage::Growing { binned, plans, growing });
        }
        let nested = nest(&self.tasks);
        let scoring = |((group, plan), trees): ((_, &ForestPlan), Vec<GrowingTree>)| {
            let group: &crate::fit::NestedTasks<'_> = group;
            Scoring { columns: plan.columns().to_vec(), trees, sizes: group.sizes() }
        };
        let forests = nested.iter().zip(&plans).zip(growing.finish()).map(scoring).collect();
        Ok(Stage::Scoring { binned, forests })
    }
}

fn sum(rows: impl IntoIterator<Item = u64>) -> u64 {
    rows.into_iter().fold(0, u64::saturating_add)
}

/// An answer whose counts cannot be those of the rows that others counted.
fn contradicts() -> TrainError {
    let problem =
        "contradicts the number of rows: each partition must answer once, and its rows may \
                   not change; begin again"
            .to_owned();
    TrainError::Message { what: "an answer", problem }
}

/// An answer that does not answer.
fn wrong() -> TrainError {
    let problem = "is not to the question that was asked".to_owned();
    TrainError::Message { what: "an answer", problem }
}
