//! Which rows each split gives to which part.

use super::*;
use crate::row_numbers::RowNumbers;
use crate::share::Share;
use crate::source::each_gathered;
use crate::{RunBatch, TrainError};
use dropcast_data::LabelledBatch;
use std::num::NonZeroU32;

fn run_of(run: u64, times: &[u64]) -> RunBatch {
    let mut batch = LabelledBatch::with_arrivals(0);
    let arrivals = batch.arrivals.as_mut().unwrap();
    arrivals.time_ns = times.to_vec();
    arrivals.switch_id = vec![3; times.len()];
    batch.drop = vec![false; times.len()];
    RunBatch { run, batch }
}

fn parts(split: &Split, batches: &[RunBatch]) -> Result<String, TrainError> {
    let plan = SplitPlan::new(split, 1, RunTimes::read(batches, 0, split)?);
    let mut numbers = RowNumbers::default();
    let mut text = String::new();
    each_gathered(batches, 0, |pieces| {
        for rows in pieces {
            let parts = plan.parts(rows, &numbers.number(rows))?;
            text.extend((0..rows.len()).map(|at| match parts.part(at) {
                Part::Train => 'r',
                Part::Validation => 'v',
                Part::Test => 'e',
                Part::Gap => '-',
            }));
        }
        Ok(())
    })?;
    Ok(text)
}

#[test]
fn time_splits_by_rows_and_not_by_the_clock() {
    let warm_up = run_of(7, &[0, 1_000_000, 1_000_001, 1_000_002, 1_000_003]);
    assert_eq!(parts(&Split::time(), &[warm_up]).unwrap(), "rrree");
}

#[test]
fn each_run_is_cut_on_its_own_clock() {
    let runs = [run_of(1, &[1, 2, 3, 4, 5]), run_of(2, &[901, 902, 903, 904, 905])];
    assert_eq!(parts(&Split::time(), &runs).unwrap(), "rrreerrree");
}

#[test]
fn rows_of_one_instant_stay_together() {
    assert_eq!(parts(&Split::time(), &[run_of(0, &[1, 2, 2, 2, 3])]).unwrap(), "reeee");
}

#[test]
fn a_guard_leaves_out_what_follows_a_cut() {
    let share = Share::new(0.5).unwrap();
    let split = Split::Time { train_share: share, validation_share: Share::ZERO, guard_ns: 2 };
    assert_eq!(parts(&split, &[run_of(0, &[0, 1, 2, 3, 4, 5, 6, 7])]).unwrap(), "rrrr--ee");
}

#[test]
fn blocks_take_turns() {
    let split = blocks(4, 0.0);
    assert_eq!(parts(&split, &[run_of(0, &[0, 1, 2, 3, 4, 5, 6, 7])]).unwrap(), "rreerree");
    let times: Vec<u64> = (0..40).collect();
    let twentieths = parts(&Split::time_blocks(), &[run_of(0, &times)]).unwrap();
    assert_eq!(twentieths, "rree".repeat(10));
}

#[test]
fn a_random_split_keeps_its_share_and_ignores_batches() {
    let times: Vec<u64> = (0..20_000).collect();
    let whole = parts(&Split::random(), &[run_of(5, &times)]).unwrap();
    let (head, tail) = times.split_at(777);
    let halves = parts(&Split::random(), &[run_of(5, head), run_of(5, tail)]).unwrap();
    assert_eq!(whole, halves);
    let train = whole.matches('r').count();
    assert!((11_700..12_300).contains(&train), "{train}");
}

#[test]
fn cuts_of_long_runs_are_off_by_little() {
    let rows = 1_000_003;
    let times: Vec<u64> = (0..rows).map(|row| row * row).collect();
    let split = parts(&Split::time(), &[run_of(5, &times)]).unwrap();
    let train = split.find('e').unwrap() as f64;
    assert!((train - 0.6 * rows as f64).abs() < rows as f64 / 16_384.0, "{train}");
    assert!(!split[train as usize..].contains('r'));
}

#[test]
fn switches_of_a_run_are_cut_at_the_same_time() {
    let mut run = run_of(5, &[1, 2, 3, 4, 5, 5, 6, 7, 8, 9]);
    run.batch.arrivals.as_mut().unwrap().switch_id = vec![0, 1, 0, 0, 1, 0, 1, 1, 1, 1];
    assert_eq!(parts(&Split::time(), &[run]).unwrap(), "rrrrrreeee");
}

#[test]
fn runs_are_kept_apart_whole() {
    let runs = [run_of(1, &[1, 2]), run_of(2, &[1]), run_of(1, &[3])];
    assert_eq!(parts(&Split::Runs { test: vec![2], validation: vec![] }, &runs).unwrap(), "rrer");
}

#[test]
fn splits_by_time_refuse_rows_without_times() {
    let mut batch = run_of(4, &[1, 2]);
    batch.batch.arrivals = None;
    let error = parts(&Split::time(), &[batch.clone()]).unwrap_err();
    assert!(matches!(error, TrainError::NoTimes { split: "time", run: 4 }), "{error}");
    assert_eq!(parts(&Split::None, &[batch]).unwrap(), "rr");
}

fn blocks(blocks: u32, validation_share: f64) -> Split {
    let validation_share = Share::new(validation_share).unwrap();
    Split::TimeBlocks { blocks: NonZeroU32::new(blocks).unwrap(), validation_share, guard_ns: 0 }
}

#[test]
fn validation_rows_lie_between_training_and_test_rows() {
    let (train_share, validation_share) = (Share::new(0.5).unwrap(), Share::new(0.2).unwrap());
    let times: Vec<u64> = (0..10).collect();
    let split = |guard_ns| Split::Time { train_share, validation_share, guard_ns };
    assert_eq!(parts(&split(0), &[run_of(0, &times)]).unwrap(), "rrrrrvveee");
    assert_eq!(parts(&split(1), &[run_of(0, &times)]).unwrap(), "rrrrr-v-ee");
    let train_share = Share::new(0.8).unwrap();
    let no_test = Split::Time { train_share, validation_share, guard_ns: 0 };
    assert_eq!(parts(&no_test, &[run_of(0, &times)]).unwrap(), "rrrrrrrrvv");
}

#[test]
fn some_of_the_even_blocks_validate() {
    let run = || [run_of(0, &(0..20).collect::<Vec<u64>>())];
    assert_eq!(parts(&blocks(20, 0.1), &run()).unwrap(), "rererereverererereve");
    assert_eq!(parts(&blocks(20, 0.25), &run()).unwrap(), "reve".repeat(5));
    assert_eq!(parts(&blocks(20, 0.0), &run()).unwrap(), "re".repeat(10));
}

#[test]
fn a_random_split_keeps_both_its_shares() {
    let (train_share, validation_share) = (Share::new(0.5).unwrap(), Share::new(0.3).unwrap());
    let times: Vec<u64> = (0..20_000).collect();
    let split = Split::Random { train_share, validation_share };
    let split = parts(&split, &[run_of(5, &times)]).unwrap();
    let (train, validation) = (split.matches('r').count(), split.matches('v').count());
    assert!((9_700..10_300).contains(&train), "{train}");
    assert!((5_750..6_250).contains(&validation), "{validation}");
}

#[test]
fn switches_are_kept_apart_whole_in_every_run() {
    let mut runs = [run_of(1, &[1, 2, 3, 4]), run_of(2, &[1, 2])];
    runs[0].batch.arrivals.as_mut().unwrap().switch_id = vec![0, 1, 2, 1];
    runs[1].batch.arrivals.as_mut().unwrap().switch_id = vec![2, 1];
    let split = Split::Switches { test: vec![1], validation: vec![2] };
    assert_eq!(parts(&split, &runs).unwrap(), "reveve");
    runs[0].batch.arrivals = None;
    let error = parts(&split, &runs).unwrap_err();
    assert!(matches!(error, TrainError::NoSwitches { run: 1 }), "{error}");
}

#[test]
fn folds_test_every_run_once() {
    let test = |runs: &[u64], folds| -> Vec<Vec<u64>> {
        let folds = Split::folds_of_runs(runs, folds).into_iter();
        let test = |split| match split {
            Split::Runs { test, validation } if validation.is_empty() => test,
            other => panic!("{other:?}"),
        };
        folds.map(test).collect()
    };
    assert_eq!(test(&[9, 3, 5, 7], 2), [[3, 7], [5, 9]]);
    assert_eq!(test(&[9, 3, 5], 99), [[3], [5], [9]], "leave one out");
    assert_eq!(test(&[9, 3, 5], 0), [[3, 5, 9]]);
}

#[test]
fn a_split_without_validation_rows_is_written_as_before_there_were_any() {
    let text = serde_json::to_string(&Split::time()).unwrap();
    assert_eq!(text, r#"{"by":"time","train_share":0.6,"guard_ns":0}"#);
    assert_eq!(serde_json::from_str::<Split>(&text).unwrap(), Split::time());
}

#[test]
fn a_split_says_which_parts_it_keeps() {
    let keeps = |split: &Split| {
        [Part::Train, Part::Validation, Part::Test, Part::Gap].map(|part| split.keeps(part))
    };
    assert_eq!(keeps(&Split::None), [true, false, false, false]);
    assert_eq!(keeps(&Split::time()), [true, false, true, false]);
    assert_eq!(keeps(&blocks(20, 0.1)), [true, true, true, false]);
    let validation_share = Share::HALF;
    let all = Split::Time { train_share: Share::HALF, validation_share, guard_ns: 1 };
    assert_eq!(keeps(&all), [true, true, false, true]);
    let runs = Split::Runs { test: vec![3], validation: vec![] };
    assert_eq!(keeps(&runs), [true, false, true, false]);
    assert_eq!(runs.part_of_run(3), Some(Part::Test));
    assert_eq!(runs.part_of_run(4), Some(Part::Train));
    assert_eq!(all.part_of_run(4), None);
}

#[test]
fn switches_by_themselves_are_divided_as_among_all() {
    let mut run = run_of(5, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    run.batch.arrivals.as_mut().unwrap().switch_id = vec![0, 0, 0, 0, 0, 0, 1, 0, 1, 1];
    let only = |switch| Split::Only { switches: vec![(5, switch)], of: Box::new(Split::time()) };
    assert_eq!(parts(&Split::time(), &[run.clone()]).unwrap(), "rrrrrreeee");
    assert_eq!(parts(&only(0), &[run.clone()]).unwrap(), "rrrrrr-e--");
    assert_eq!(parts(&only(1), &[run]).unwrap(), "------e-ee");
    assert_eq!(only(1).part_of_run(6), Some(Part::Gap));
    let text = serde_json::to_string(&only(1)).unwrap();
    assert_eq!(serde_json::from_str::<Split>(&text).unwrap(), only(1));
}

/// Drops at these times, among rows at every nanosecond up to `rows`.
fn dropping(run: u64, rows: u64, drops: &[u64]) -> RunBatch {
    let mut batch = run_of(run, &(0..rows).collect::<Vec<u64>>());
    drops.iter().for_each(|&at| batch.batch.drop[at as usize] = true);
    batch
}

fn chosen(settings: SplitSettings, batches: &[RunBatch]) -> Result<ChosenSplit, TrainError> {
    settings.check().unwrap().choose(batches, 0)
}

#[test]
fn the_first_split_with_drops_in_every_part_is_chosen() {
    let default = |drops: &[u64]| chosen(SplitSettings::default(), &[dropping(7, 100, drops)]);
    let by = |drops: &[u64]| {
        let ChosenSplit { split, passed_over, .. } = default(drops).unwrap();
        let passed = passed_over.iter().map(|of| (of.by, of.without_drops)).collect::<Vec<_>>();
        (split.name(), passed)
    };
    let no_validation = (SplitBy::Time, Part::Validation);
    assert_eq!(by(&[3, 65, 85]), ("time", vec![]));
    assert_eq!(by(&[3, 40, 41, 42, 43, 44, 45, 85]), ("time-blocks", vec![no_validation]));
    let blocks = (SplitBy::TimeBlocks, Part::Validation);
    assert_eq!(by(&[31, 32, 33]), ("episodes", vec![no_validation, blocks]));
    let why = default(&[31, 32, 33]).unwrap().why().unwrap();
    let reasons =
        "by time no validation row is a drop and by time-blocks no validation row is a drop";
    assert_eq!(why, format!("split by episodes, because {reasons}"));
    assert_eq!(default(&[3, 65, 85]).unwrap().why(), None);
    assert!(matches!(default(&[31, 33]), Err(TrainError::NoSplit { drops: 2 })));
    assert!(matches!(default(&[]), Err(TrainError::NoDrops { rows: 100 })));
    assert!(matches!(chosen(SplitSettings::default(), &[]), Err(TrainError::NoRows)));
}

#[test]
fn a_stated_split_is_taken_as_it_is() {
    let rows = [dropping(7, 100, &[31])];
    let stated = SplitSettings { by: SplitBy::Time, ..SplitSettings::default() };
    let ChosenSplit { split, passed_over, .. } = chosen(stated, &rows).unwrap();
    assert_eq!((split.name(), passed_over), ("time", Vec::new()));
}

#[test]
fn episodes_are_cut_between_drops() {
    let rows = [dropping(7, 60, &[10, 11, 12, 30, 31, 50])];
    let episodes =
        |guard_ns| SplitSettings { by: SplitBy::Episodes, guard_ns, ..SplitSettings::default() };
    let split = chosen(episodes(0), &rows).unwrap().split;
    let of = parts(&split, &rows).unwrap();
    assert_eq!(of, ["r".repeat(21), "v".repeat(20), "e".repeat(19)].concat());
    assert_eq!(parts(&split, &[run_of(6, &[1]), run_of(8, &[1])]).unwrap(), "re");
    assert_eq!(
        [6, 7, 8].map(|run| split.part_of_run(run)),
        [Some(Part::Train), None, Some(Part::Test)]
    );
    let guarded = chosen(episodes(5), &rows).unwrap().split;
    let of = parts(&guarded, &rows).unwrap();
    assert_eq!(of, format!("{}-----{}-----{}", "r".repeat(21), "v".repeat(15), "e".repeat(14)));
    assert!(guarded.keeps(Part::Gap) && !split.keeps(Part::Gap));
    let text = serde_json::to_string(&split).unwrap();
    assert_eq!(serde_json::from_str::<Split>(&text).unwrap(), split);
    // A guard that leaves out the drops is no split.
    assert!(chosen(episodes(15), &rows).is_err());
}

#[test]
fn of_very_many_drops_the_few_of_a_part_are_found() {
    // More drops than are kept, one of them in the validation rows.
    let rows = 200_000;
    let mut drops: Vec<u64> = (0..70_000).map(|row| 1 + row).collect();
    drops.push(140_001);
    drops.extend(190_000..199_000);
    let split = chosen(SplitSettings::default(), &[dropping(7, rows, &drops)]).unwrap().split;
    assert_eq!(split.name(), "time");
}

#[test]
fn batches_do_not_change_what_is_chosen() {
    let whole = dropping(7, 900, &[310, 311, 320, 321, 700, 701]);
    let mut halves = [whole.clone(), whole.clone()];
    for (nth, half) in halves.iter_mut().enumerate() {
        half.batch.retain(&(0..900).map(|row| (row < 317) == (nth == 0)).collect::<Vec<bool>>());
    }
    let [one, two] = [&[whole][..], &halves[..]]
        .map(|batches| chosen(SplitSettings::default(), batches).unwrap());
    assert_eq!(one, two);
}
