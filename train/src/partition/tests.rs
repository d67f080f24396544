//! Any partitioning gives the model of the whole.

use super::*;
use crate::{
    BatchSource, Batches, FitTask, Fitted, ForestParams, RunBatch, Share, Split, TrainError,
    TrainingRows, VoteRule, fit_many,
};
use dropcast_data::LabelledBatch;
use dropcast_data::random::Stream;
use dropcast_features::FeatureSet;
use dropcast_forest::SwitchContext;
use proptest::prelude::*;
use std::convert::Infallible;
use std::num::NonZeroUsize;

/// Rows of a partition.
#[derive(Clone, Debug, Default)]
struct Rows(Vec<RunBatch>);

impl BatchSource for Rows {
    type Error = Infallible;

    fn batches(&self) -> Result<Batches<'_, Infallible>, Infallible> {
        Ok(Box::new(self.0.iter().cloned().map(Ok)))
    }
}

/// Two runs at three switches. The second feature has few values, the third more than fit a sketch.
fn runs(seed: u64, rows: u64) -> Vec<RunBatch> {
    let run = |run: u64| {
        let draw = Stream::new(seed, run, &[]);
        let mut batch = LabelledBatch::with_arrivals(3);
        let arrivals = batch.arrivals.as_mut().unwrap();
        for row in 0..rows {
            let bits = draw.at(row);
            arrivals.time_ns.push(row * 10 + bits % 10);
            arrivals.switch_id.push((bits >> 8 & 0xf) as u16 / 6);
            let length = (bits >> 16) as u32 % 3_000;
            batch.features[0].push(length);
            batch.features[1].push((bits >> 40) as u32 % 7);
            batch.features[2].push((bits >> 32) as u32 >> (bits % 20));
            batch.drop.push(length + (bits >> 50) as u32 % 1_500 > 3_200);
        }
        RunBatch { run, batch }
    };
    vec![run(3), run(71)]
}

fn whole(runs: &[RunBatch], task: &FitTask) -> Result<Fitted, TrainError> {
    let rows = TrainingRows::read(runs, task.reading())?;
    Ok(fit_many(&rows, &[task.forest()], task.threads)?.remove(0))
}

fn cut(batch: &LabelledBatch, from: usize, to: usize) -> LabelledBatch {
    let mut piece = batch.clone();
    let keep: Vec<bool> = (0..batch.len()).map(|row| (from..to).contains(&row)).collect();
    piece.retain(&keep);
    piece
}

/// Neighbouring rows in one partition each; `ends` are shares of each run, in thousandths.
fn partitions(runs: &[RunBatch], ends: &[usize]) -> Vec<Rows> {
    let mut ends = ends.to_vec();
    ends.push(1000);
    ends.sort_unstable();
    let mut partitions = Vec::new();
    let mut begin = 0;
    for end in ends {
        let piece = |RunBatch { run, batch }: &RunBatch| {
            let at = |share: usize| batch.len() * share / 1000;
            RunBatch { run: *run, batch: cut(batch, at(begin), at(end)) }
        };
        partitions.push(Rows(runs.iter().map(piece).collect()));
        begin = end;
    }
    partitions
}

/// Trains on partitions. `forgets` begins a partition anew before each question; `turn` turns the
/// order in which answers are merged.
fn partitioned(
    rows: &[Rows],
    tasks: &[FitTask],
    forgets: bool,
    turn: usize,
) -> Result<Vec<Fitted>, TrainError> {
    let new = |place: usize| Partition::new(rows[place].clone(), place as u64, NonZeroUsize::MIN);
    let mut workers: Vec<Partition<Rows>> = (0..rows.len()).map(new).collect();
    let forests = tasks.iter().map(FitTask::forest).collect();
    let mut training = PartitionedFit::new(tasks[0].reading(), forests)?;
    while let Some(question) = training.question() {
        if forgets {
            workers[turn % rows.len()] = new(turn % rows.len());
        }
        let mut answers = Vec::new();
        for worker in &mut workers {
            answers.push(worker.answer(&question)?);
        }
        let in_order = merge_answers(&answers)?;
        answers.rotate_left(turn % rows.len());
        let (head, tail) = answers.split_at(answers.len() / 2);
        let halves = [head, tail].into_iter().filter(|half| !half.is_empty()).map(merge_answers);
        let merged = merge_answers(&halves.collect::<Result<Vec<_>, _>>()?)?;
        assert_eq!(merged, in_order, "addition");
        training.receive(&merged)?;
    }
    Ok(training.finish().unwrap())
}

fn task(split: Split, params: ForestParams) -> FitTask {
    let names = ["queue_length", "occupancy", "longest"].map(str::to_owned).to_vec();
    FitTask {
        features: FeatureSet::try_from(names).unwrap(),
        params: params.check().unwrap(),
        split,
        vote: VoteRule::F1,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads: NonZeroUsize::new(2).unwrap(),
    }
}

fn share(value: f64) -> Share {
    Share::new(value).unwrap()
}

fn splits() -> impl Strategy<Value = Split> {
    let shares = (share(0.5), share(0.25));
    prop::sample::select(vec![
        Split::None,
        Split::Time { train_share: shares.0, validation_share: shares.1, guard_ns: 15 },
        Split::time_blocks(),
        Split::Random { train_share: shares.0, validation_share: shares.1 },
        Split::Runs { test: vec![71], validation: Vec::new() },
        Split::Switches { test: vec![1], validation: vec![2] },
        Split::Only { switches: vec![(3, 0), (71, 2)], of: Box::new(Split::time()) },
    ])
}

fn text(fitted: &Fitted) -> String {
    fitted.model.to_json()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_partitioning_gives_the_model_of_the_whole(
        seed in any::<u64>(),
        rows in 50_u64..1500,
        ends in prop::collection::vec(0_usize..=1000, 0..6),
        split in splits(),
        trees in 1_u16..7,
        depth in 1_u8..6,
        min_samples_leaf in 1_u32..4,
        bootstrap in any::<bool>(),
        max_bins in 2_u16..=256,
        forgets in any::<bool>(),
        turn in 0_usize..9,
    ) {
        let params = ForestParams {
            n_estimators: trees,
            max_depth: depth,
            min_samples_leaf,
            bootstrap,
            max_bins,
            seed,
            ..ForestParams::default()
        };
        let (runs, task) = (runs(seed, rows), task(split, params));
        let parts = partitions(&runs, &ends);
        let expected = whole(&runs, &task);
        let found = partitioned(&parts, std::slice::from_ref(&task), forgets, turn);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                prop_assert_eq!(text(&expected), text(&found[0]));
                prop_assert_eq!(&expected.test_scores, &found[0].test_scores);
            }
            (Err(expected), Err(found)) => {
                prop_assert_eq!(expected.to_string(), found.to_string());
            }
            (expected, found) => prop_assert!(false, "{expected:?} {found:?}"),
        }
    }
}

#[test]
fn times_of_many_rows_are_those_of_the_whole() {
    let task = task(Split::time_blocks(), ForestParams::default());
    let runs = runs(5, 150_000);
    let parts = partitions(&runs, &[1, 333, 334, 800]);
    let found = partitioned(&parts, std::slice::from_ref(&task), false, 2).unwrap();
    assert_eq!(text(&whole(&runs, &task).unwrap()), text(&found[0]));
}

#[test]
fn many_forests_grow_in_one_training() {
    let sizes = [(1, 2), (6, 5), (3, 5), (40, 8)];
    let tasks = sizes.map(|(n_estimators, max_depth)| {
        task(Split::time(), ForestParams { n_estimators, max_depth, ..ForestParams::default() })
    });
    let runs = runs(9, 3000);
    let found = partitioned(&partitions(&runs, &[500]), &tasks, true, 1).unwrap();
    for (task, found) in tasks.iter().zip(&found) {
        assert_eq!(text(&whole(&runs, task).unwrap()), text(found));
    }
}

#[test]
fn rows_beyond_the_limit_are_spilled() {
    let task = task(Split::time(), ForestParams::default());
    let runs = runs(2, 40_000);
    let mut training = PartitionedFit::new(task.reading(), vec![task.forest()]).unwrap();
    let open = || Ok(Box::new(tempfile::tempfile()?) as Box<dyn crate::SpillFile>);
    let mut worker = Partition::new(Rows(runs.clone()), 0, task.threads).spilling(60_000, open);
    while let Some(question) = training.question() {
        training.receive(&worker.answer(&question).unwrap()).unwrap();
    }
    assert!(worker.spilled_bytes() > 100_000, "{}", worker.spilled_bytes());
    assert!(worker.bytes_in_memory() > 0);
    assert_eq!(text(&training.finish().unwrap()[0]), text(&whole(&runs, &task).unwrap()));
}

#[test]
fn other_bytes_are_refused() {
    let task = task(Split::time(), ForestParams::default());
    let mut training = PartitionedFit::new(task.reading(), vec![task.forest()]).unwrap();
    let question = training.question().unwrap();
    let mut worker = Partition::new(Rows(runs(1, 99)), 0, task.threads);
    let answer = worker.answer(&question).unwrap();
    let refused = |result: Result<Vec<u8>, TrainError>| result.unwrap_err().to_string();
    let damaged = "is damaged";
    for end in [0, 1, 5, question.len() / 2, question.len() - 1] {
        assert!(refused(worker.answer(&question[..end])).contains(damaged), "{end}");
    }
    for end in [0, 1, 5, answer.len() - 1] {
        assert!(refused(merge_answers([&answer[..end]])).contains(damaged), "{end}");
    }
    let longer = [answer.clone(), vec![0]].concat();
    assert!(refused(merge_answers([longer])).contains(damaged));
    let older = question.iter().map(|&byte| if byte == b'.' { b'7' } else { byte });
    let older: Vec<u8> = older.collect();
    assert!(refused(worker.answer(&older)).contains("use one version everywhere"));
    assert!(refused(merge_answers::<Vec<u8>>([])).contains("no partition answered"));

    training.receive(&answer).unwrap();
    let times = worker.answer(&training.question().unwrap()).unwrap();
    assert!(refused(merge_answers([&answer, &times])).contains("another question"));
    let error = training.receive(&answer).unwrap_err().to_string();
    assert!(error.contains("not to the question"), "{error}");
    assert_eq!(training.question(), None);
}

/// Every question and every answer of a training, as it is and with one byte changed.
#[test]
fn a_changed_byte_is_refused() {
    let task = task(Split::time(), ForestParams { max_depth: 2, ..ForestParams::default() });
    let mut training = PartitionedFit::new(task.reading(), vec![task.forest()]).unwrap();
    let mut worker = Partition::new(Rows(runs(1, 99)), 0, task.threads);
    let mut asked = 0;
    while let Some(question) = training.question() {
        let answer = worker.answer(&question).unwrap();
        for bit in [0x01, 0x10, 0x80] {
            for place in 0..answer.len() {
                let mut changed = answer.clone();
                changed[place] ^= bit;
                assert!(merge_answers([&changed]).is_err(), "answer {asked}, byte {place}");
            }
            for place in 0..question.len() {
                let mut changed = question.clone();
                changed[place] ^= bit;
                assert!(worker.answer(&changed).is_err(), "question {asked}, byte {place}");
            }
        }
        training.receive(&answer).unwrap();
        asked += 1;
    }
    assert!(asked > 4, "{asked}");
}

/// Answers that are whole, but of other rows than before: one comes twice or not at all, or a
/// partition has other rows when it is asked again.
#[test]
fn answers_of_other_rows_are_refused() {
    let (task, rows) = (task(Split::time(), ForestParams::default()), runs(1, 400));
    let parts = partitions(&rows, &[300, 700]);
    let others = partitions(&runs(2, 400), &[300, 700]);
    let shorter = partitions(&runs(1, 390), &[300, 700]);
    let worker = |part: &Rows, place| Partition::new(part.clone(), place, NonZeroUsize::MIN);
    type Bad<'a> = (&'a str, Box<dyn Fn(&[u8], Vec<Vec<u8>>) -> Vec<Vec<u8>> + 'a>);
    let again = |part: &Rows, question: &[u8], mut answers: Vec<Vec<u8>>| {
        answers[1] = worker(part, 1).answer(question).unwrap();
        answers
    };
    let cases: [Bad<'_>; 4] = [
        ("twice", Box::new(|_, answers| [answers.clone(), vec![answers[1].clone()]].concat())),
        ("missing", Box::new(|_, answers| vec![answers[0].clone(), answers[2].clone()])),
        ("other rows", Box::new(|question, answers| again(&others[1], question, answers))),
        ("fewer rows", Box::new(|question, answers| again(&shorter[1], question, answers))),
    ];
    for (what, spoil) in cases {
        for stage in ["count rows", "count values", "score"] {
            let mut training =
                PartitionedFit::new(task.reading(), vec![task.forest()]).unwrap().of_rows(800);
            let mut workers: Vec<_> =
                (0..).zip(&parts).map(|(at, part)| worker(part, at)).collect();
            let mut error = None;
            while let Some(question) = training.question() {
                let answers = workers.iter_mut().map(|worker| worker.answer(&question).unwrap());
                let mut answers: Vec<_> = answers.collect();
                let is_spoilt = training.stage() == stage;
                if is_spoilt {
                    answers = spoil(&question, answers);
                }
                let received = training.receive(&merge_answers(answers).unwrap());
                error = error.or(received.err().map(|refused| refused.to_string()));
            }
            let error = error.unwrap_or_default();
            assert!(error.contains("contradicts the number of rows"), "{what} {stage}: {error}");
        }
    }
}
